//! Errors whose variants say what a failure means: `#[classify]`, `#[derive(DoNotRetry)]`, and variants in the lists of
//! a circuit breaker.
#![cfg(feature = "testing")]

use std::time::Duration;

use ratchet::failure::{Directive, HandlerError, snooze};
use ratchet::testing::Sandbox;
use ratchet::{DoNotRetry, Job, JobState, classify, job};

const LONG: Duration = Duration::from_hours(2);

#[classify]
#[derive(Debug, thiserror::Error)]
enum PayError {
    #[error("timed out")]
    #[retry]
    Timeout,
    #[error("declined by {bank}")]
    #[do_not_retry(reason = "the issuer said no")]
    Declined { bank: String },
    #[error("slow down")]
    #[retry_after("5m")]
    TooMany(u32),
    #[error("closed until tomorrow")]
    #[snooze(LONG)]
    Closed,
    #[error("no paper")]
    #[reject]
    Full,
    #[error("no such account")]
    #[invalid]
    NoAccount,
    #[error(transparent)]
    #[retry]
    Directive(#[from] Directive),
}

#[derive(Debug, thiserror::Error)]
#[error("step failed")]
struct Step(#[source] PayError);

#[job(max_retries = 1, backoff = fixed("1s"))]
async fn pay(kind: String) -> Result<(), Step> {
    Err(Step(match kind.as_str() {
        "timeout" => PayError::Timeout,
        "declined" => PayError::Declined { bank: "acme".to_owned() },
        "too many" => PayError::TooMany(3),
        "closed" => PayError::Closed,
        "full" => PayError::Full,
        "no account" => PayError::NoAccount,
        _ => snooze(Duration::from_mins(1)).into(),
    }))
}

/// Runs one attempt. Returns the state after it, the reason of a dead letter, and the delay before the next run.
async fn first_run(kind: &str) -> (JobState, Option<String>, Duration) {
    let sandbox = Sandbox::builder().build().await.expect("it can be built");
    let handle = sandbox.enqueue(Pay::new(kind)).await.expect("it is stored");
    sandbox.run_next().await.expect("the store works").expect("it is due");
    let job = handle.record().await.expect("the store works").expect("it is there");
    let reason = job.envelope.as_ref().map(|envelope| envelope.reason.to_string());
    let mut delay = Duration::ZERO;
    while job.state == JobState::Pending
        && sandbox.run_next().await.expect("the store works").is_none()
        && delay < Duration::from_hours(3)
    {
        sandbox.advance(Duration::from_secs(1));
        delay += Duration::from_secs(1);
    }
    (job.state, reason, delay)
}

#[tokio::test]
async fn e_15_a_variant_says_what_a_failure_means() {
    use JobState::{Failed, Pending};
    let dead = |reason: &str| (Failed, Some(reason.to_owned()), Duration::ZERO);
    assert_eq!(first_run("timeout").await, (Pending, None, Duration::from_secs(1)));
    assert_eq!(first_run("declined").await, dead("non_retryable"));
    assert_eq!(first_run("too many").await, (Pending, None, Duration::from_mins(5)));
    assert_eq!(first_run("closed").await, (Pending, None, LONG));
    assert_eq!(first_run("no account").await, dead("invalid"));
    assert_eq!(first_run("full").await.0, Pending);
}

#[tokio::test]
async fn e_15_a_directive_takes_precedence_over_the_mark() {
    assert_eq!(first_run("directive").await.2, Duration::from_mins(1));
}

#[test]
fn e_15_the_reason_is_that_of_the_variant() {
    let reason = |error: PayError| HandlerError::typed(error).permanent_reason();
    assert_eq!(reason(PayError::Declined { bank: String::new() }), Some("the issuer said no"));
    assert_eq!(reason(PayError::Timeout), None);
}

#[derive(Debug, thiserror::Error, DoNotRetry)]
enum Derived {
    #[error("timed out")]
    Timeout,
    #[error("declined")]
    #[do_not_retry(reason = "the issuer said no")]
    Declined,
}

#[derive(Debug, thiserror::Error, DoNotRetry)]
#[do_not_retry(reason = "it was deleted")]
#[error("gone")]
struct Gone;

#[test]
fn e_06_the_mark_can_be_derived() {
    assert_eq!(HandlerError::typed(Derived::Timeout).permanent_reason(), None);
    assert_eq!(
        HandlerError::typed(Derived::Declined).permanent_reason(),
        Some("the issuer said no")
    );
    assert_eq!(HandlerError::typed(Gone).permanent_reason(), Some("it was deleted"));
}

#[job]
#[circuit_breaker(service = "bank", ignore(Derived::Declined, PayError::TooMany, Gone))]
async fn guarded() {}

#[test]
fn e_13_a_breaker_can_ignore_one_variant() {
    let breaker = Guarded::DEF.breaker.expect("it has one");
    let ignored = |error: HandlerError| breaker.ignore.iter().any(|known| (known.matches)(&error));
    assert!(ignored(HandlerError::typed(Derived::Declined)));
    assert!(!ignored(HandlerError::typed(Derived::Timeout)));
    assert!(ignored(HandlerError::typed(Step(PayError::TooMany(1)))));
    assert!(!ignored(HandlerError::typed(Step(PayError::Timeout))));
    assert!(ignored(HandlerError::typed(Gone)));
    assert_eq!(breaker.ignore[0].name, "Derived::Declined");
}
