use ratchet::job;

#[job]
#[circuit_breaker(service = "pay", ignore())]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
