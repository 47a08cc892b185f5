#[do_not_retry]
#[derive(Debug, thiserror::Error)]
enum PayError {
    #[error("timed out")]
    Timeout,
    #[error("declined")]
    #[do_not_retry(reason = "the issuer said no")]
    Declined,
    #[error("unknown card {0}")]
    #[do_not_retry]
    Unknown(u32),
}
