#[classify]
#[derive(Debug, thiserror::Error)]
enum PayError {
    #[error("timed out")]
    #[retry]
    Timeout,
    #[error("declined")]
    #[do_not_retry(reason = "the issuer said no")]
    Declined { by: String },
    #[error("closed")]
    #[snooze("1h")]
    Closed,
}
