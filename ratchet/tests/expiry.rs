//! Jobs that expire, and retries that are limited in time.

use std::time::Duration;

use ratchet::model::{CancelCause, TerminalReason};
use ratchet::prelude::*;
use ratchet::testing::Sandbox;
use ratchet::{SubmitError, WaitError};

#[job(name = "expiry.code", expires_in = "10m")]
async fn send_code(to: String) {
    let _ = to;
}

#[job(name = "expiry.charge", max_retries = 100, backoff = fixed("10m"), retry_within = "35m")]
async fn charge() -> Result<(), JobError> {
    Err(JobError::msg("the gateway is down"))
}

async fn sandbox() -> Sandbox {
    Sandbox::builder().jobs([SendCode::JOB, Charge::JOB]).build().await.expect("builds")
}

#[tokio::test]
async fn l_10_a_job_that_is_late_is_canceled() {
    let sandbox = sandbox().await;
    let late = sandbox.enqueue(SendCode::new("ada")).await.expect("enqueues");
    let longer = sandbox.enqueue(SendCode::new("bob")).expires_in(Duration::from_hours(1));
    let longer = longer.await.expect("enqueues");
    sandbox.advance(Duration::from_mins(10));
    let drained = sandbox.drain().await.expect("drains");
    assert_eq!(drained.runs(), 1, "only the one that does not expire yet");
    let record = late.record().await.expect("reads").expect("is stored");
    assert_eq!((record.state, record.canceled), (JobState::Canceled, Some(CancelCause::Expired)));
    assert!(matches!(late.wait().await, Err(WaitError::Canceled(id)) if id == late.id()));
    assert!(longer.wait().await.is_ok());
    let why = sandbox.ratchet().jobs().explain(late.id()).await.expect("reads").expect("exists");
    assert!(why.to_string().starts_with("it was canceled: it expired at "), "{why}");
}

#[tokio::test]
async fn l_10_retries_end_in_time() {
    let sandbox = sandbox().await;
    let job = sandbox.enqueue(Charge {}).await.expect("enqueues");
    let drained = sandbox.drain_for(Duration::from_hours(24)).await.expect("drains");
    assert_eq!((drained.retried, drained.failed), (3, 1), "at 0, 10, 20 and 30 minutes");
    match job.wait().await {
        Err(WaitError::Failed(envelope)) => {
            assert_eq!(envelope.reason, TerminalReason::RetryExhausted);
            assert_eq!(envelope.attempts, 4);
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn l_10_limits_of_zero_are_refused() {
    let sandbox = sandbox().await;
    let never = sandbox.enqueue(SendCode::new("ada")).expires_in(Duration::ZERO).await;
    assert!(matches!(never, Err(SubmitError::BadOption { .. })), "{never:?}");
    let never = sandbox.enqueue(Charge {}).retry_within(Duration::ZERO).await;
    assert!(matches!(never, Err(SubmitError::BadOption { .. })), "{never:?}");
}
