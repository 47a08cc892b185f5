//! What a worker logs.

mod logs;

use std::sync::Arc;
use std::time::Duration;

use logs::Logs;
use ratchet::definition::Registration;
use ratchet::env::OsEntropy;
use ratchet::model::{
    AttemptOutcome, ClaimRequest, KnownJobs, NodeInfo, QueueDemand, Settlement, Suspects, Verdict,
};
use ratchet::prelude::*;
use ratchet::store::Store as _;
use ratchet::{MemoryStore, Worker};

#[do_not_retry]
#[derive(Debug, thiserror::Error)]
enum ChargeError {
    #[error("the card was declined")]
    #[do_not_retry(reason = "the issuer has refused")]
    Declined,
    #[error("the gateway did not answer")]
    Timeout,
}

#[job(name = "logs.decline")]
async fn decline() -> Result<(), ChargeError> {
    Err(ChargeError::Declined)
}

#[job(name = "logs.fail_once", backoff = fixed("1ms"))]
async fn fail_once(#[inject] ctx: JobContext) -> Result<(), ChargeError> {
    if ctx.attempt() == 1 { Err(ChargeError::Timeout) } else { Ok(()) }
}

#[job(name = "logs.greet")]
async fn greet(#[inject] ctx: JobContext) {
    ctx.debug("to the debugger");
    ctx.info("hello from the handler");
    ctx.warn("careful");
    ctx.error("something is off");
}

#[job(name = "logs.hang")]
async fn hang(#[inject] ctx: JobContext) {
    ctx.info("hangs");
    std::future::pending::<()>().await;
}

#[job(name = "logs.crashed")]
async fn crashed() {}

#[allow(clippy::large_types_passed_by_value)] // a constant of the job
async fn start(store: &MemoryStore, job: Registration) -> (Ratchet, Worker) {
    let ratchet = Ratchet::builder(store.clone())
        .jobs([job])
        .program("log-lines")
        .binary_version("1.2.3")
        .config(|config| config.maintenance_interval = Duration::from_millis(5))
        .build()
        .await
        .expect("builds");
    let worker = ratchet.start().await.expect("starts");
    (ratchet, worker)
}

async fn until(logs: &Logs, texts: &[&str]) -> String {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(line) = logs.containing_all(texts).into_iter().next() {
            return line;
        }
        assert!(tokio::time::Instant::now() < deadline, "no line contains {texts:?}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test]
async fn d_01_a_dead_letter_is_logged_as_an_error_with_its_reason() {
    let logs = Logs::install();
    let (ratchet, worker) = start(&MemoryStore::new(), Decline::JOB).await;
    let job = ratchet.enqueue(Decline {}).await.expect("enqueues");
    job.wait().await.expect_err("fails");
    let line = until(&logs, &["a job has failed permanently", &job.id().to_string()]).await;
    worker.stop().await;
    assert!(line.starts_with("ERROR"), "{line}");
    for part in [
        "job.name=logs.decline",
        "reason=non_retryable",
        "explanation=\"the issuer has refused\"",
        "error=the card was declined",
    ] {
        assert!(line.contains(part), "{part} is missing: {line}");
    }
}

#[tokio::test]
async fn e_05_a_retry_is_logged_as_a_warning_with_the_time_of_the_next_attempt() {
    let logs = Logs::install();
    let (ratchet, worker) = start(&MemoryStore::new(), FailOnce::JOB).await;
    let job = ratchet.enqueue(FailOnce {}).await.expect("enqueues");
    job.wait().await.expect("succeeds");
    let line = until(&logs, &["will be retried", &job.id().to_string()]).await;
    worker.stop().await;
    assert!(line.starts_with("WARN"), "{line}");
    let record = ratchet.jobs().get(job.id()).await.expect("reads").expect("exists");
    let next = format!("next={}", record.due);
    assert!(line.contains(&next) && line.contains("attempt=1"), "{next}: {line}");
}

#[tokio::test]
async fn a_successful_job_is_not_logged_by_the_worker() {
    let logs = Logs::install();
    let (ratchet, worker) = start(&MemoryStore::new(), Crashed::JOB).await;
    let job = ratchet.enqueue(Crashed {}).await.expect("enqueues");
    job.wait().await.expect("succeeds");
    worker.stop().await;
    assert_eq!(logs.containing(&job.id().to_string()), [""; 0]);
}

#[tokio::test]
async fn what_a_handler_logs_reaches_tracing() {
    let logs = Logs::install();
    let (ratchet, worker) = start(&MemoryStore::new(), Greet::JOB).await;
    let job = ratchet.enqueue(Greet {}).await.expect("enqueues");
    job.wait().await.expect("succeeds");
    worker.stop().await;
    let id = format!("job.id={} job.name=logs.greet attempt=1", job.id());
    let mut lines = logs.containing(&id);
    for line in &mut lines {
        *line = line.replace(&format!(" {id}"), "").replace(" message=", " ");
    }
    assert_eq!(
        lines,
        [
            "DEBUG ratchet::job: to the debugger",
            "INFO ratchet::job: hello from the handler",
            "WARN ratchet::job: careful",
            "ERROR ratchet::job: something is off",
        ]
    );
    let stored = ratchet.jobs().logs(job.id()).await.expect("reads");
    assert_eq!(stored.len(), 4, "the lines are stored as well");
}

#[tokio::test]
async fn the_start_and_the_end_of_a_worker_are_logged() {
    let logs = Logs::install();
    let (ratchet, worker) = start(&MemoryStore::new(), Greet::JOB).await;
    ratchet.enqueue(Greet {}).await.expect("enqueues").wait().await.expect("succeeds");
    worker.stop().await;
    let node = worker.node().to_string();
    let line = until(&logs, &["a worker has started", &node]).await;
    assert!(line.starts_with("INFO"), "{line}");
    for part in [
        "program=\"log-lines\"",
        "version=\"1.2.3\"",
        "store=\"MemoryStore\"",
        "queues=[\"default\"]",
        "concurrency=50",
        "jobs=[\"logs.greet\"]",
    ] {
        assert!(line.contains(part), "{part} is missing: {line}");
    }
    let line = until(&logs, &["a worker has stopped", &node]).await;
    assert!(line.contains("succeeded=1") && line.contains("released=0"), "{line}");
}

#[tokio::test]
async fn x_07_jobs_that_are_returned_at_shutdown_are_counted_in_the_log() {
    let logs = Logs::install();
    let (ratchet, worker) = start(&MemoryStore::new(), Hang::JOB).await;
    for _ in 0..3 {
        let job = ratchet.enqueue(Hang {}).await.expect("enqueues");
        until(&logs, &["hangs", &job.id().to_string()]).await;
    }
    worker.stop_now().await;
    assert_eq!(worker.stats().released, 3);
    let line = until(&logs, &["returned to their queues at shutdown"]).await;
    assert!(line.starts_with("WARN") && line.contains("released=3"), "{line}");
}

#[tokio::test]
async fn p_02_a_job_that_runs_isolated_is_logged() {
    let logs = Logs::install();
    let store = MemoryStore::new();
    let ratchet = Ratchet::builder(store.clone()).jobs([Crashed::JOB]).build().await;
    let ratchet = ratchet.expect("builds");
    let job = ratchet.enqueue(Crashed {}).await.expect("enqueues");
    charge_with_crashes(&store, 9).await;
    let worker = ratchet.start().await.expect("starts");
    job.wait().await.expect("succeeds");
    worker.stop().await;
    let line = until(&logs, &["a job runs isolated", &job.id().to_string()]).await;
    assert!(line.contains("crashes=9"), "{line}");
}

/// Claims the only job and settles it as rescued after this many crashes.
async fn charge_with_crashes(store: &MemoryStore, crashes: u32) {
    let clock = Arc::new(ratchet::env::SystemClock::default());
    let node = ratchet::env::IdSource::new(clock, Arc::new(OsEntropy)).node();
    store.join(NodeInfo::new(node), Duration::from_mins(1)).await.expect("joins");
    let claim = ClaimRequest {
        node,
        queues: vec![QueueDemand { queue: "default".to_owned(), limit: 1 }],
        known: Arc::new(KnownJobs([("logs.crashed".to_owned(), 1)].into())),
        suspects: Suspects::idle(5),
        starting: true,
    };
    let claimed = store.claim(claim).await.expect("claims");
    let rescue = Verdict::Rescue { delay: Duration::ZERO, crashes };
    let settlement = Settlement::new(claimed.jobs[0].token, rescue, AttemptOutcome::Crashed);
    store.settle(vec![settlement]).await.expect("settles");
    store.leave(node).await.expect("leaves");
}

#[job(name = "logs.order")]
async fn order() -> u32 {
    5
}

#[job(name = "logs.pass_on")]
async fn pass_on() {}

#[condition(name = "logs.is_large")]
fn is_large(amount: &u32) -> bool {
    *amount > 1000
}

/// A join that can never run must not disappear silently: its workflow succeeds.
#[tokio::test]
async fn w_07_a_join_over_a_branch_not_taken_is_a_warning() {
    let logs = Logs::install();
    let store = MemoryStore::new();
    let jobs = [Order::JOB, PassOn::JOB];
    let ratchet = Ratchet::builder(store).jobs(jobs).build().await.expect("builds");
    let worker = ratchet.start().await.expect("starts");
    let mut flow = ratchet.workflow("order");
    let order = flow.step("order", Order {}, |step| step);
    let review = flow.step("review", PassOn {}, |step| step.after_if(&order, IS_LARGE));
    let pack = flow.step("pack", PassOn {}, |step| step.after(&order));
    let join = flow.step("join", PassOn {}, |step| step.after(&review).after(&pack));
    let (order, join) = (order.job_id().expect("a job"), join.job_id().expect("a job"));
    let flow = flow.await.expect("submits");
    flow.wait().await.expect("ends");
    let line = until(&logs, &["a branch before it was not taken", &join.to_string()]).await;
    assert!(line.contains("WARN") && line.contains(&order.to_string()), "{line}");
    assert_eq!(logs.containing("a branch before it was not taken").len(), 1, "only the join");
    let why = ratchet.jobs().explain(join).await.expect("reads").expect("is there");
    let why = why.to_string();
    assert!(why.contains("1 of them are on a branch") && why.contains(&order.to_string()), "{why}");
    worker.stop().await;
}
