use ratchet::job;

const CALLS: u32 = 50;

#[job]
#[circuit_breaker(service = "pay", window = 10, min_calls = CALLS)]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
