use ratchet::do_not_retry;

#[do_not_retry(all)]
#[do_not_retry(reason = "the issuer said no")]
#[derive(Debug, thiserror::Error)]
pub enum PayError {
    #[error("declined")]
    Declined,
    #[error("timed out")]
    Timeout,
}

fn main() {}
