//! Scripted jobs: the test defines what each attempt does.

#![allow(clippy::unused_async, clippy::needless_pass_by_value)] // required by the signature of a job

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ratchet_core::{
    Finished, Job, JobContext, JobError, JobId, Registration, State, fatal, invalid, reject,
    retry_after, snooze,
};
use ratchet_macros::{do_not_retry, job};
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

/// The behavior of one attempt.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Step {
    Ok,
    /// Returns a text of this many bytes.
    Big(usize),
    Error(String),
    /// Fails with a message of this many bytes.
    LongError(usize),
    /// Panics with a message of this many bytes.
    LongPanic(usize),
    Permanent,
    Panic(String),
    Snooze,
    Reject,
    Fatal,
    Invalid,
    RetryAfter(u64),
    /// Waits for the gate, then succeeds.
    Gate,
    /// Waits forever and ignores cancellation.
    Hang,
    /// Waits for cancellation, then fails.
    Listen,
    /// Blocks its thread until the gate opens.
    Block,
    /// Enqueues children, then succeeds.
    Spawn(u32),
    /// Submits a batch of this many jobs, then succeeds.
    SpawnBatch(u32),
    /// Enqueues children, then fails.
    SpawnAndFail(u32),
    /// Enqueues a child with this business key and one without, then succeeds.
    SpawnKeyed(String),
    /// Saves a checkpoint and reports progress, then fails.
    Checkpoint(u32),
    /// Reports progress and logs a line, then waits for the gate.
    ProgressThenGate,
    /// Records its keys, then fails.
    TellKeys,
    /// Stores its context on the stage, then succeeds.
    LeakContext,
    /// Panics when its future is dropped or completed.
    DropBomb,
}

/// The state shared by scripted jobs and their test: notes, run counts and the gate.
#[derive(Debug, Clone)]
pub(super) struct Stage {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    gate: Semaphore,
    open: Mutex<bool>,
    running: AtomicU32,
    most: AtomicU32,
    runs: Mutex<BTreeMap<JobId, u32>>,
    notes: Mutex<Vec<String>>,
    leaked: Mutex<Option<JobContext>>,
}

impl Default for Stage {
    fn default() -> Self {
        let inner = Inner {
            gate: Semaphore::new(0),
            open: Mutex::new(false),
            running: AtomicU32::new(0),
            most: AtomicU32::new(0),
            runs: Mutex::default(),
            notes: Mutex::default(),
            leaked: Mutex::default(),
        };
        Self { inner: Arc::new(inner) }
    }
}

impl Stage {
    /// Lets one waiting run continue.
    pub(super) fn let_one_pass(&self) {
        self.inner.gate.add_permits(1);
    }

    /// Lets all current and future runs continue.
    pub(super) fn open_gate(&self) {
        *self.inner.open.lock().expect("lock") = true;
        self.inner.gate.add_permits(100_000);
    }

    pub(super) fn running(&self) -> u32 {
        self.inner.running.load(Ordering::SeqCst)
    }

    /// Returns the highest number of concurrent runs so far.
    pub(super) fn most_at_once(&self) -> u32 {
        self.inner.most.load(Ordering::SeqCst)
    }

    /// Returns the number of calls of a job's handler.
    pub(super) fn runs(&self, id: JobId) -> u32 {
        self.inner.runs.lock().expect("lock").get(&id).copied().unwrap_or(0)
    }

    pub(super) fn notes(&self) -> Vec<String> {
        self.inner.notes.lock().expect("lock").clone()
    }

    /// Returns the context that a run stored.
    pub(super) fn leaked(&self) -> JobContext {
        self.inner.leaked.lock().expect("lock").clone().expect("a context was handed out")
    }

    pub(super) fn note(&self, note: impl Into<String>) {
        self.inner.notes.lock().expect("lock").push(note.into());
    }

    async fn gate(&self) {
        self.inner.gate.acquire().await.expect("never closed").forget();
    }

    pub(super) fn enter(&self, id: JobId) -> Inside {
        *self.inner.runs.lock().expect("lock").entry(id).or_default() += 1;
        let now = self.inner.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.inner.most.fetch_max(now, Ordering::SeqCst);
        Inside { stage: self.clone() }
    }

    /// Blocks the thread until the gate is open.
    fn block(&self) {
        while !*self.inner.open.lock().expect("lock") {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Counts a run as running until it is dropped.
pub(super) struct Inside {
    stage: Stage,
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.stage.inner.running.fetch_sub(1, Ordering::SeqCst);
    }
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "a panic in Drop");
    }
}

#[do_not_retry(reason = "never works", crate = ::ratchet_core)]
#[derive(Debug, thiserror::Error)]
#[error("this never works")]
struct Never;

#[derive(Debug, thiserror::Error)]
#[error("the gateway said no")]
struct Wrapped(#[source] Never);

/// Executes one step per attempt. The last step is repeated.
#[job(name = "test.script", max_retries = 5, crate = ::ratchet_core)]
pub(super) async fn script(
    #[inject] ctx: JobContext,
    #[inject] stage: State<Stage>,
    steps: Vec<Step>,
) -> Result<String, JobError> {
    let _inside = stage.enter(ctx.job_id());
    let turn = stage.runs(ctx.job_id()) as usize - 1;
    let step = steps.get(turn).or(steps.last()).cloned().unwrap_or(Step::Ok);
    play(&ctx, &stage, step).await
}

async fn play(ctx: &JobContext, stage: &Stage, step: Step) -> Result<String, JobError> {
    let done = || Ok("done".to_owned());
    match step {
        Step::Ok => done(),
        Step::Big(bytes) => Ok("x".repeat(bytes)),
        Step::Error(message) => Err(JobError::msg(message)),
        Step::LongError(bytes) => Err(JobError::msg("x".repeat(bytes))),
        Step::LongPanic(bytes) => panic!("{}", "x".repeat(bytes)),
        Step::Permanent => Err(Wrapped(Never).into()),
        Step::Panic(message) => panic!("{message}"),
        Step::Snooze => Err(snooze(Duration::from_secs(5)).into()),
        Step::Reject => Err(reject("no room").into()),
        Step::Fatal => Err(fatal("fatal").into()),
        Step::Invalid => Err(invalid("invalid").into()),
        Step::RetryAfter(seconds) => Err(retry_after("later", Duration::from_secs(seconds)).into()),
        Step::Gate => {
            stage.gate().await;
            done()
        }
        Step::Hang => std::future::pending().await,
        Step::Listen => {
            ctx.cancellation().cancelled().await;
            stage.note("heard");
            Err(JobError::msg("stopped because it was asked to"))
        }
        Step::Block => {
            stage.block();
            done()
        }
        Step::Spawn(children) => {
            spawn(ctx, children).await?;
            done()
        }
        Step::SpawnBatch(children) => {
            let jobs = (0..children).map(|_| Script::of([Step::Ok]));
            ctx.batch("spawned").jobs(jobs).await?;
            done()
        }
        Step::SpawnAndFail(children) => {
            spawn(ctx, children).await?;
            Err(JobError::msg("after spawning"))
        }
        Step::SpawnKeyed(key) => {
            ctx.enqueue(Script::of([Step::Ok])).business_key(key).await?;
            spawn(ctx, 1).await?;
            done()
        }
        Step::Checkpoint(value) => {
            let before: Option<u32> = ctx.checkpoint()?;
            stage.note(format!("checkpoint {before:?}"));
            ctx.set_checkpoint(&value)?;
            ctx.set_progress(40.0, "part one");
            ctx.info("a line");
            Err(JobError::msg("again"))
        }
        Step::ProgressThenGate => {
            ctx.set_progress(50.0, "half");
            ctx.info("on the way");
            stage.gate().await;
            done()
        }
        Step::TellKeys => {
            let keys = format!("{} {}", ctx.idempotency_key(), ctx.transition_key());
            stage.note(format!("{keys} {}/{} {}", ctx.attempt(), ctx.max_retries(), ctx.queue()));
            Err(JobError::msg("again"))
        }
        Step::LeakContext => {
            *stage.inner.leaked.lock().expect("lock") = Some(ctx.clone());
            done()
        }
        Step::DropBomb => {
            let _bomb = Bomb;
            done()
        }
    }
}

async fn spawn(ctx: &JobContext, children: u32) -> Result<(), JobError> {
    for _ in 0..children {
        ctx.enqueue(Script::of([Step::Ok])).tag("child").await?;
    }
    Ok(())
}

impl Script {
    pub(super) fn of(steps: impl IntoIterator<Item = Step>) -> Self {
        Self { steps: steps.into_iter().collect() }
    }
}

/// Blocks its thread until the gate is open.
#[job(name = "test.block", blocking, max_retries = 0, crate = ::ratchet_core)]
pub(super) fn block(#[inject] stage: State<Stage>) -> String {
    stage.block();
    "late".to_owned()
}

/// Panics on its blocking thread.
#[job(name = "test.block_panic", blocking, max_retries = 0, crate = ::ratchet_core)]
pub(super) fn block_panic() {
    panic!("on a thread");
}

/// Goes to the dead-letter queue after a panic, without a retry.
#[job(name = "test.fragile", panic = "dlq", crate = ::ratchet_core)]
pub(super) async fn fragile() {
    panic!("fragile");
}

/// Its validator rejects odd numbers.
#[job(name = "test.even", validate = even_only, crate = ::ratchet_core)]
pub(super) async fn even(number: u32) -> u32 {
    number
}

fn even_only(job: &Even) -> Result<(), String> {
    if job.number.is_multiple_of(2) { Ok(()) } else { Err(format!("{} is odd", job.number)) }
}

/// Returns a domain failure as a value.
#[job(name = "test.domain", crate = ::ratchet_core)]
pub(super) async fn domain() -> Result<Verdict, JobError> {
    Ok(Verdict::Declined)
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Verdict {
    Declined,
}

/// Returns a value that JSON cannot represent.
#[job(name = "test.odd_output", crate = ::ratchet_core)]
pub(super) async fn odd_output() -> BTreeMap<(u8, u8), u8> {
    BTreeMap::from([((1, 2), 3)])
}

/// Declares callbacks for success and failure.
#[job(name = "test.watched", max_retries = 1, on_success = Cheer, on_failure = Mourn, crate = ::ratchet_core)]
pub(super) async fn watched(fail: bool) -> Result<u32, JobError> {
    if fail { Err(JobError::msg("it failed")) } else { Ok(7) }
}

/// The success callback of [`watched`].
#[job(name = "test.cheer", crate = ::ratchet_core)]
pub(super) async fn cheer(#[inject] stage: State<Stage>, #[inject] finished: Finished<Watched>) {
    stage.note(format!(
        "cheer {:?} fail={} attempts={}",
        finished.outcome.ok(),
        finished.args.fail,
        finished.attempts
    ));
}

/// The failure callback of [`watched`].
#[job(name = "test.mourn", crate = ::ratchet_core)]
pub(super) async fn mourn(#[inject] stage: State<Stage>, #[inject] finished: Finished<Watched>) {
    let message = finished.outcome.err().map(|envelope| envelope.failure.message);
    stage.note(format!(
        "mourn {message:?} fail={} attempts={}",
        finished.args.fail, finished.attempts
    ));
}

/// Executes a script behind a circuit breaker.
#[job(name = "test.paying", max_retries = 5, crate = ::ratchet_core)]
#[circuit_breaker(service = "pay", min_calls = 3, probes = 2)]
pub(super) async fn paying(
    #[inject] ctx: JobContext,
    #[inject] stage: State<Stage>,
    steps: Vec<Step>,
) -> Result<String, JobError> {
    script(ctx, stage, steps).await
}

impl Paying {
    pub(super) fn of(steps: impl IntoIterator<Item = Step>) -> Self {
        Self { steps: steps.into_iter().collect() }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("busy")]
pub(super) struct Busy;

#[derive(Debug, thiserror::Error)]
pub(super) enum PickyError {
    #[error("turned away")]
    Busy(#[source] Busy),
    #[error("garbled")]
    Format(#[source] std::fmt::Error),
    #[error("other")]
    Other,
}

impl PickyError {
    fn of(what: &str) -> Self {
        match what {
            "busy" => Self::Busy(Busy),
            "format" => Self::Format(std::fmt::Error),
            _ => Self::Other,
        }
    }
}

/// Fails in one of three ways, one of which the breaker ignores.
#[job(name = "test.ignoring", max_retries = 0, crate = ::ratchet_core)]
#[circuit_breaker(service = "ignoring", ignore(Busy))]
pub(super) async fn ignoring(what: String) -> Result<(), PickyError> {
    Err(PickyError::of(&what))
}

/// Fails in one of three ways, one of which the breaker records.
#[job(name = "test.recording", max_retries = 0, crate = ::ratchet_core)]
#[circuit_breaker(service = "recording", record(std::fmt::Error))]
pub(super) async fn recording(what: String) -> Result<(), PickyError> {
    Err(PickyError::of(&what))
}

/// Fails; a profile configures its breaker.
#[job(name = "test.profiled", max_retries = 0, crate = ::ratchet_core)]
#[circuit_breaker(service = "slow", profile = "careful", open_for = "90s")]
pub(super) async fn profiled() -> Result<(), JobError> {
    Err(JobError::msg("down"))
}

/// Shares the service of [`profiled`] but configures it differently.
#[job(name = "test.contrary", crate = ::ratchet_core)]
#[circuit_breaker(service = "slow", open_for = "10s")]
pub(super) async fn contrary() {}

/// Runs on another queue.
#[job(name = "test.elsewhere", queue = "elsewhere", crate = ::ratchet_core)]
pub(super) async fn elsewhere() {}

/// Returns all jobs of this module.
pub(super) fn jobs() -> Vec<Registration> {
    vec![
        Script::JOB,
        Paying::JOB,
        Ignoring::JOB,
        Recording::JOB,
        Block::JOB,
        BlockPanic::JOB,
        Fragile::JOB,
        Even::JOB,
        Domain::JOB,
        OddOutput::JOB,
        Watched::JOB,
        Cheer::JOB,
        Mourn::JOB,
    ]
}
