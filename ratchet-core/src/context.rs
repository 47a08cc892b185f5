//! What a running job knows of itself, and what it can leave behind.

mod left;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

pub use self::left::KeepError;
pub(crate) use self::left::RunItems;
use self::left::{Left, line};
use crate::client::{Core, Enqueue};
use crate::failure::JobError;
use crate::job::{Job, State};
use crate::model::{
    Claimed, FinishedParent, GroupId, GroupRecord, JobId, LogLevel, LogLine, NewGraph, NewHandOff,
    NewJob, NewReject, Progress, RunNotes,
};
use crate::worker::StopSignal;

/// The context of one run, injected with `#[inject] ctx: JobContext`. A cheap handle.
///
/// ```
/// # async fn demo() -> Result<(), ratchet_core::SubmitError> {
/// use ratchet_core::JobContext;
///
/// let ctx = JobContext::for_test();
/// ctx.progress(50.0, "half way");
/// ctx.info("the second half is easier");
/// assert_eq!(ctx.attempt(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct JobContext {
    run: Arc<Run>,
}

/// One run, as its handler and the engine share it.
struct Run {
    core: Arc<Core>,
    job: Arc<Claimed>,
    /// Monotonic, since the clock's start.
    started: Duration,
    stop_signal: StopSignal,
    stopping: Arc<CancellationToken>,
    left: Mutex<Left>,
    /// Notes were written since they were last reported.
    dirty: AtomicBool,
    /// What the steps before gave, read when the run began.
    upstream: OnceLock<Upstream>,
}

/// What a step is given by those before it.
#[derive(Debug, Default)]
pub(crate) struct Upstream {
    /// By the name the step knows its parent by: what it returned, or why there is nothing.
    pub(crate) inputs: Vec<(Option<String>, Result<String, String>)>,
    /// The group whose end it is told of.
    pub(crate) group: Option<GroupRecord>,
}

impl JobContext {
    pub(crate) fn new(
        core: Arc<Core>,
        job: Arc<Claimed>,
        stopping: Arc<CancellationToken>,
    ) -> Self {
        let started = core.clock.monotonic();
        let left = Mutex::new(Left::default());
        Self {
            run: Arc::new(Run {
                core,
                job,
                started,
                stop_signal: StopSignal::default(),
                stopping,
                left,
                dirty: AtomicBool::new(false),
                upstream: OnceLock::new(),
            }),
        }
    }

    /// A context for calling the bare function of a job in a unit test: attempt 1 of a job that exists nowhere.
    pub fn for_test() -> Self {
        let core = Arc::new(Core::for_test());
        let job = Arc::new(core.claim_for_test());
        Self::new(core, job, Arc::default())
    }

    /// The job.
    pub fn job_id(&self) -> JobId {
        self.run.job.id()
    }

    /// Its name.
    pub fn job_name(&self) -> &str {
        &self.run.job.spec.name
    }

    /// The number of this attempt; the first is 1.
    pub fn attempt(&self) -> u32 {
        self.run.job.attempt()
    }

    /// How often a failed run is tried again.
    pub fn max_retries(&self) -> u32 {
        self.run.job.spec.options.max_retries
    }

    /// Its queue.
    pub fn queue(&self) -> &str {
        &self.run.job.spec.queue
    }

    /// Its tags.
    pub fn tags(&self) -> &[String] {
        &self.run.job.spec.tags
    }

    /// What it is tied to.
    pub fn correlation_id(&self) -> Option<&str> {
        self.run.job.spec.correlation_id.as_deref()
    }

    /// Whose job it is.
    pub fn tenant(&self) -> Option<&str> {
        self.run.job.spec.tenant.as_deref()
    }

    /// The longest this run may take.
    pub fn timeout(&self) -> Duration {
        self.run.job.spec.options.timeout
    }

    /// How much of its time is left.
    pub fn remaining(&self) -> Duration {
        self.timeout().saturating_sub(self.elapsed())
    }

    /// How long this run has taken so far.
    pub fn elapsed(&self) -> Duration {
        self.run.core.clock.monotonic().saturating_sub(self.run.started)
    }

    /// The same for all attempts of a job's life: give it to downstream systems so that they can tell repeats.
    pub fn idempotency_key(&self) -> String {
        self.run.job.execution_key()
    }

    /// Unique per run (`job:step:run`): a run never repeats.
    pub fn transition_key(&self) -> String {
        self.run.job.transition_key()
    }

    /// Fires when this run is canceled, times out, or its worker has no more time to wait for it.
    ///
    /// A handler that watches it can stop in good order; one that does not is dropped after a grace time.
    pub fn cancellation(&self) -> &CancellationToken {
        self.run.stop_signal.canceled()
    }

    /// Fires when the worker starts to shut down: a good moment to save a checkpoint. The run may still finish.
    pub fn shutdown(&self) -> &CancellationToken {
        &self.run.stopping
    }

    /// Waits by the runtime's clock, so that tests with a virtual clock do not wait.
    pub async fn sleep(&self, duration: Duration) {
        self.run.core.clock.sleep(duration).await;
    }

    /// The registered state of type `T`.
    pub fn state<T: Send + Sync + 'static>(&self) -> Option<State<T>> {
        self.run.core.states.get()
    }

    /// Reports how far the run has come, in percent. Kept across attempts. A message longer than
    /// [`limits::LOG_LINE`](crate::model::limits::LOG_LINE) is cut.
    pub fn progress(&self, percent: f32, message: impl Into<String>) {
        let percent = if percent.is_finite() { percent.clamp(0.0, 100.0) } else { 0.0 };
        let message = line(message.into());
        self.write(|left| left.notes.progress = Some(Progress { percent, message }));
    }

    /// The last progress, of this run or an earlier one.
    pub fn last_progress(&self) -> Option<Progress> {
        self.left().notes.progress.clone().or_else(|| self.run.job.progress.clone())
    }

    /// Saves a state for the next attempt to go on from: at most [`limits::CHECKPOINT`](crate::model::limits::CHECKPOINT)
    /// bytes of JSON, nested at most [`limits::DEPTH`](crate::model::limits::DEPTH) levels deep.
    pub fn save_checkpoint<T: Serialize>(&self, state: &T) -> Result<(), KeepError> {
        let value = left::value("checkpoint", state)?;
        self.write(|left| left.notes.checkpoint = Some(value));
        Ok(())
    }

    /// The state that this run or an earlier one saved last.
    pub fn checkpoint<T: DeserializeOwned>(&self) -> Result<Option<T>, serde_json::Error> {
        let saved =
            self.left().notes.checkpoint.clone().or_else(|| self.run.job.checkpoint.clone());
        saved.map(serde_json::from_value).transpose()
    }

    /// Logs a line that is kept with the job.
    ///
    /// A line longer than [`limits::LOG_LINE`](crate::model::limits::LOG_LINE) is cut. When a run has logged
    /// [`limits::LOG`](crate::model::limits::LOG) bytes, further lines are dropped, with a warning on the job.
    pub fn log(&self, level: LogLevel, message: impl Into<String>) {
        let line = LogLine {
            after: self.elapsed(),
            level,
            message: line(message.into()),
            run: self.run.job.run,
        };
        self.write(|left| left.log(line));
    }

    /// Logs a line at level info.
    pub fn info(&self, message: impl Into<String>) {
        self.log(LogLevel::Info, message);
    }

    /// Logs a line at level warn.
    pub fn warn(&self, message: impl Into<String>) {
        self.log(LogLevel::Warn, message);
    }

    /// Sets an item aside and goes on: what went wrong with it is kept with this run, sanitised, and the item itself is not.
    /// Rejects are no failures; they can be listed and grouped (`ratchet.rejects()`).
    pub fn reject_item(&self, index: u64, error: impl Into<JobError>) {
        self.reject(index, error.into(), None);
    }

    /// Like [`Self::reject_item`], and keeps the item for those who will look at it.
    pub fn reject_item_with<T: Serialize>(
        &self,
        index: u64,
        error: impl Into<JobError>,
        item: &T,
    ) -> Result<(), KeepError> {
        let payload = left::json("rejected item", item)?;
        self.reject(index, error.into(), Some(payload));
        Ok(())
    }

    fn reject(&self, index: u64, error: JobError, payload: Option<String>) {
        let record = self.run.core.classifier.record(error.into_caught());
        let reject = NewReject {
            index,
            error_type: record.error_type,
            message: record.message,
            fingerprint: record.fingerprint,
            payload,
        };
        self.left().items.reject(reject);
    }

    /// How many items this run may set aside; one more makes it a failure when it ends.
    pub fn allow_rejects(&self, most: u64) {
        self.left().items.most = Some(most);
    }

    /// Which share of `items` this run may set aside: 0.01 is one in a hundred.
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a share
    pub fn allow_reject_rate(&self, rate: f64, items: u64) {
        let rate = if rate.is_finite() { rate.clamp(0.0, 1.0) } else { 0.0 };
        self.allow_rejects((rate * items as f64).floor() as u64);
    }

    /// Hands a checkpoint to the next pipeline **with this run's success**, in the same commit. The key tells repeats: a
    /// second hand-off of the same key is suppressed and counted.
    pub fn hand_off<T: Serialize>(
        &self,
        pipeline: impl Into<String>,
        key: impl Into<String>,
        checkpoint: &T,
    ) -> Result<(), KeepError> {
        let checkpoint = left::value("hand-off", checkpoint)?;
        let hand_off = NewHandOff { pipeline: pipeline.into(), key: key.into(), checkpoint };
        self.left().items.hand_off(hand_off)
    }

    /// When this run fell due: of a recurring job's first attempt, the occurrence it stands for.
    pub fn due(&self) -> jiff::Timestamp {
        self.run.job.due
    }

    /// Enqueues a job that comes into being **with this run's success**, in the same commit.
    ///
    /// If the run fails, or somebody else has moved the job meanwhile, the child never exists. A key conflict found at
    /// the commit drops the child with a warning on this job.
    #[allow(clippy::needless_pass_by_value)] // the job is handed over; that it is only encoded is our affair
    pub fn enqueue<J: Job>(&self, job: J) -> Enqueue<'_, J> {
        Enqueue::within(self, &self.run.core, &job)
    }

    /// What this run has enqueued so far: for unit tests of the bare function.
    pub fn enqueued(&self) -> Vec<NewJob> {
        self.left().spawned.clone()
    }

    /// Adds a child; `false` if the run is over and nothing would come of it.
    pub(crate) fn spawn(&self, job: NewJob) -> bool {
        let mut left = self.left();
        if !left.closed {
            left.spawned.push(job);
        }
        !left.closed
    }

    /// The chains, batches and workflows this run has submitted so far: for unit tests of the bare function.
    pub fn graphs(&self) -> Vec<NewGraph> {
        self.left().graphs.clone()
    }

    /// Adds a graph; `false` if the run is over and nothing would come of it.
    pub(crate) fn spawn_graph(&self, graph: NewGraph) -> bool {
        let mut left = self.left();
        if !left.closed {
            left.graphs.push(graph);
        }
        !left.closed
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.run.core
    }

    pub(crate) fn finished_parent(&self) -> Option<&FinishedParent> {
        self.run.job.spec.finished.as_deref()
    }

    /// The chain, batch or workflow this job is a member of.
    pub fn group(&self) -> Option<GroupId> {
        self.run.job.spec.step.as_ref().and_then(|step| step.group)
    }

    /// The name of this step in its workflow.
    pub fn step(&self) -> Option<&str> {
        self.run.job.spec.step.as_ref().and_then(|step| step.name.as_deref())
    }

    pub(crate) fn set_upstream(&self, upstream: Upstream) {
        // A run has one beginning.
        let _ = self.run.upstream.set(upstream);
    }

    /// How the engine stops the run.
    pub(crate) fn stop_signal(&self) -> &StopSignal {
        &self.run.stop_signal
    }

    /// The claim that is run.
    pub(crate) fn claimed(&self) -> &Arc<Claimed> {
        &self.run.job
    }

    /// The output of a step before, or why there is none.
    pub(crate) fn input_json(&self, step: Option<&str>) -> Result<String, String> {
        let inputs = self.run.upstream.get().map(|upstream| upstream.inputs.as_slice());
        let found = inputs.unwrap_or_default().iter().find(|(name, _)| name.as_deref() == step);
        match found {
            Some((_, output)) => output.clone(),
            None => Err("this job does not run as a step that takes one".to_owned()),
        }
    }

    /// The group whose end this job is told of.
    pub(crate) fn ended_group(&self) -> Option<&GroupRecord> {
        self.run.upstream.get()?.group.as_ref()
    }

    /// Takes what must commit with the run.
    pub(crate) fn take(&self) -> (RunNotes, Vec<NewJob>, Vec<NewGraph>, RunItems) {
        let left = self.left().close();
        (left.notes, left.spawned, left.graphs, left.items)
    }

    /// Whether the run has set aside more than it may: how many, and how many it may.
    pub(crate) fn too_many_rejects(&self) -> Option<(u64, u64)> {
        let left = self.left();
        let most = left.items.most?;
        let count = left.items.rejected();
        (count > most).then_some((count, most))
    }

    /// What was noted since the last call, to be reported while the run goes on. Log lines are handed over, so that none
    /// is written twice.
    pub(crate) fn take_news(&self) -> Option<RunNotes> {
        if !self.run.dirty.swap(false, Ordering::Relaxed) {
            return None;
        }
        let mut left = self.left();
        let logs = std::mem::take(&mut left.notes.logs);
        Some(RunNotes { logs, ..left.notes.clone() })
    }

    fn write(&self, change: impl FnOnce(&mut Left)) {
        change(&mut self.left());
        self.run.dirty.store(true, Ordering::Relaxed);
    }

    fn left(&self) -> MutexGuard<'_, Left> {
        self.run.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for JobContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JobContext")
            .field("job", &self.job_id())
            .field("name", &self.job_name())
            .field("attempt", &self.attempt())
            .finish_non_exhaustive()
    }
}
