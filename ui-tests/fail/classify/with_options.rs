use ratchet::classify;

#[classify(reason = "no")]
#[derive(Debug, thiserror::Error)]
pub enum PayError {
    #[error("timed out")]
    #[retry]
    Timeout,
}

fn main() {}
