use ratchet::job;

const CALLS: u32 = 50;

#[job]
#[circuit_breaker(service = "pay", window = CALLS, min_calls = 100)]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
