use ratchet::job;

#[job]
#[circuit_breaker(service = "pay", window = 0)]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
