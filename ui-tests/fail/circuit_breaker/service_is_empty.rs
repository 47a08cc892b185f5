use ratchet::job;

#[job]
#[circuit_breaker(service = "")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
