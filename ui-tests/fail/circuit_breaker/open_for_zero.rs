use ratchet::job;

#[job]
#[circuit_breaker(service = "pay", open_for = "0s")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
