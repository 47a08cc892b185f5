use ratchet::job;

#[job]
#[circuit_breaker(service = "pay", ignore = NotFound)]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
