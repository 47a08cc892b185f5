use ratchet::classify;

#[classify]
#[derive(Debug, thiserror::Error)]
pub enum PayError {
    #[error("timed out")]
    #[retry]
    Timeout,
    #[error("declined")]
    Declined,
}

fn main() {}
