//! Expected failures as values: `Result<Result<T, F>, E>`.

use std::sync::{Arc, Mutex};

use ratchet::hooks::{OutcomeSink, SinkError};
use ratchet::model::{AttemptOutcome, JobOutcome, OutcomeKind};
use ratchet::prelude::*;
use ratchet::testing::Sandbox;

#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Receipt(u64);

#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
enum Declined {
    LimitExceeded { limit: u64 },
}

#[job(name = "domain.charge", max_retries = 3)]
async fn charge(amount: u64) -> Result<Result<Receipt, Declined>, JobError> {
    match amount {
        0 => Err(JobError::msg("the gateway is down")),
        1..=100 => Ok(Ok(Receipt(amount))),
        _ => Ok(Err(Declined::LimitExceeded { limit: 100 })),
    }
}

#[derive(Debug, Clone, Default)]
struct Published(Arc<Mutex<Vec<JobOutcome>>>);

#[ratchet::async_trait]
impl OutcomeSink for Published {
    async fn publish(&self, outcome: &JobOutcome) -> Result<(), SinkError> {
        self.0.lock().expect("not poisoned").push(outcome.clone());
        Ok(())
    }
}

#[tokio::test]
async fn e_12_a_domain_failure_is_a_value_with_its_own_kind() {
    let published = Published::default();
    let sandbox = Sandbox::builder().jobs([Charge::JOB]);
    let sandbox = sandbox.configure(|builder| builder.outcome_sink(published.clone()));
    let sandbox = sandbox.build().await.expect("builds");
    let declined = sandbox.enqueue(Charge { amount: 500 }).await.expect("enqueues");
    let paid = sandbox.enqueue(Charge { amount: 50 }).await.expect("enqueues");
    let down = sandbox.enqueue(Charge { amount: 0 }).max_retries(0).await.expect("enqueues");
    sandbox.drain().await.expect("drains");

    let answer = declined.wait().await.expect("the job succeeded");
    assert_eq!(answer, Err(Declined::LimitExceeded { limit: 100 }), "typed on read");
    assert_eq!(paid.wait().await.expect("the job succeeded"), Ok(Receipt(50)));
    assert!(down.wait().await.is_err());

    let record = declined.record().await.expect("reads").expect("is stored");
    assert_eq!((record.state, record.attempts), (JobState::Succeeded, 0));
    let history = sandbox.ratchet().jobs().attempts(declined.id()).await.expect("reads");
    assert_eq!(history[0].outcome, AttemptOutcome::DomainFailure);

    let kind = |id| {
        let published = published.0.lock().expect("not poisoned");
        let outcome = published.iter().find(|outcome| outcome.job_id == id).expect("was published");
        (outcome.kind, outcome.output.is_some(), outcome.envelope.is_some())
    };
    assert_eq!(kind(declined.id()), (OutcomeKind::DomainFailure, true, false));
    assert_eq!(kind(paid.id()), (OutcomeKind::Success, true, false));
    assert_eq!(kind(down.id()), (OutcomeKind::Failure, false, true));
}
