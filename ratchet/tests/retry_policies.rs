//! Retry policies of a job, of a queue and of all jobs.

use ratchet::hooks::{FailedJob, Failure, RetryPolicy};
use ratchet::prelude::*;
use ratchet::testing::Sandbox;

#[job(name = "policies.first", backoff = none)]
async fn first() -> Result<(), JobError> {
    Err(JobError::msg("no"))
}

#[job(name = "policies.second", alias = "policies.old_second", backoff = none)]
async fn second() -> Result<(), JobError> {
    Err(JobError::msg("no"))
}

/// Allows this many retries.
#[derive(Debug)]
struct Retries(u32);

impl RetryPolicy for Retries {
    fn should_retry(&self, job: &FailedJob<'_>, _: &Failure) -> bool {
        job.attempt <= self.0
    }
}

#[tokio::test]
async fn e_16_the_policy_of_a_job_precedes_that_of_its_queue_and_that_of_all_jobs() {
    let sandbox = Sandbox::builder()
        .jobs([First::JOB, Second::JOB])
        .configure(|builder| {
            builder
                .retry_policy(Retries(1))
                .queue_retry_policy("slow", Retries(2))
                .job_retry_policy::<Second>(Retries(3))
        })
        .build()
        .await
        .expect("builds");
    let plain = sandbox.enqueue(First {}).await.expect("enqueues").id();
    let slow = sandbox.enqueue(First {}).queue("slow").await.expect("enqueues").id();
    let own = sandbox.enqueue(Second {}).queue("slow").await.expect("enqueues").id();
    sandbox.drain().await.expect("drains");
    for (id, attempts) in [(plain, 2), (slow, 3), (own, 4)] {
        let job = sandbox.ratchet().jobs().get(id).await.expect("reads").expect("exists");
        assert_eq!((job.state, job.attempts), (JobState::Failed, attempts));
    }
}
