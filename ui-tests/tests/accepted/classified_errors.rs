//! The ways to classify errors, beside each other.
use ratchet::prelude::*;

#[derive(Debug, thiserror::Error, DoNotRetry)]
pub enum Derived {
    #[error("timed out")]
    Timeout,
    #[error("declined")]
    #[do_not_retry(reason = "the issuer said no")]
    Declined,
}

#[derive(Debug, thiserror::Error, ratchet::DoNotRetry)]
#[error("gone")]
pub struct Gone;

#[classify]
#[derive(Debug, thiserror::Error)]
pub enum Classified {
    #[error("timed out")]
    #[retry]
    Timeout,
    #[error("declined: {0}")]
    #[do_not_retry]
    Declined(String),
    #[error("slow down")]
    #[retry_after("5m")]
    TooMany { limit: u32 },
    #[error("closed")]
    #[snooze("1h")]
    Closed,
    #[error("full")]
    #[reject]
    Full,
    #[error("no such account")]
    #[invalid]
    NoAccount,
}

#[job]
#[circuit_breaker(service = "bank", ignore(Derived::Declined, Classified::TooMany, Gone))]
async fn pay(cents: u32) -> Result<u32, Classified> {
    Ok(cents)
}
