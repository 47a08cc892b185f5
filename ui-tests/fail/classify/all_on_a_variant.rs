use ratchet::classify;

#[classify]
#[derive(Debug, thiserror::Error)]
pub enum PayError {
    #[error("timed out")]
    #[retry]
    Timeout,
    #[error("declined")]
    #[do_not_retry(all)]
    Declined,
}

fn main() {}
