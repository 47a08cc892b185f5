use ratchet::DoNotRetry;

#[derive(Debug, thiserror::Error, DoNotRetry)]
pub enum PayError {
    #[error("declined")]
    Declined,
}

fn main() {}
