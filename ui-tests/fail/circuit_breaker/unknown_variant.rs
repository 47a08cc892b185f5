use ratchet::job;

#[derive(Debug, thiserror::Error)]
enum PayError {
    #[error("declined")]
    Declined,
}

const _: PayError = PayError::Declined;

#[job]
#[circuit_breaker(service = "pay", ignore(PayError::Delcined))]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
