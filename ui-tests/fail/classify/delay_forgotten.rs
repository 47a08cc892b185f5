use ratchet::classify;

#[classify]
#[derive(Debug, thiserror::Error)]
pub enum PayError {
    #[error("timed out")]
    #[retry]
    Timeout,
    #[error("declined")]
    #[retry_after]
    Declined,
}

fn main() {}
