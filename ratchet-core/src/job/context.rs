//! [`JobContext`]: the handle through which a running job reads its own data and records notes, children and rejects.

mod log;
mod recorded;
mod secrets;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

pub use self::recorded::KeepError;
use self::recorded::Recorded;
pub(crate) use self::recorded::{Room, RunItems};
use super::{InputDef, RunHost, State, StopSignal};
use crate::failure::{JobError, KnownSecrets};
use ratchet_store::model::{
    Claimed, FinishedParent, GroupId, GroupRecord, JobId, NewGraph, NewHandOff, NewJob, NewReject,
    Progress, RunNotes, StepInput, TraceContext,
};

/// The context of one run, injected with `#[inject] ctx: JobContext`. Cheap to clone.
///
/// ```
/// # mod ratchet { pub use ratchet_core::JobContext; }
/// # async fn demo() -> Result<(), ratchet_core::SubmitError> {
/// use ratchet::JobContext;
///
/// let ctx = JobContext::for_test();
/// ctx.set_progress(50.0, "half way");
/// ctx.info("the second half is easier");
/// assert_eq!(ctx.attempt(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct JobContext {
    run: Arc<Run>,
}

/// The state of one run, shared by its handler and the engine.
struct Run {
    host: Arc<dyn RunHost>,
    job: Arc<Claimed>,
    /// Monotonic time at which the run began.
    started: Duration,
    stop_signal: StopSignal,
    stopping: Arc<CancellationToken>,
    recorded: Mutex<Recorded>,
    /// Whether notes were written since the last report.
    dirty: AtomicBool,
    /// The outputs of earlier steps, read when the run begins.
    step_inputs: OnceLock<StepInputs>,
    /// The trace context of the span of the run.
    trace: OnceLock<TraceContext>,
    /// The secrets that the run has read or written so far.
    secrets: Mutex<KnownSecrets>,
}

/// The input of a step from the steps before it.
#[derive(Debug, Default)]
pub(crate) struct StepInputs {
    /// The outputs for each input, or why there are none.
    pub(crate) inputs: Vec<(StepInput, Result<Vec<String>, String>)>,
    /// The group that has ended, if this job is a callback of a group.
    pub(crate) group: Option<GroupRecord>,
}

impl JobContext {
    pub(crate) fn new(
        host: Arc<dyn RunHost>,
        job: Arc<Claimed>,
        stopping: Arc<CancellationToken>,
    ) -> Self {
        let started = host.clock().monotonic();
        let recorded = Mutex::new(Recorded::default());
        Self {
            run: Arc::new(Run {
                host,
                job,
                started,
                stop_signal: StopSignal::default(),
                stopping,
                recorded,
                dirty: AtomicBool::new(false),
                step_inputs: OnceLock::new(),
                trace: OnceLock::new(),
                secrets: Mutex::default(),
            }),
        }
    }

    /// Returns the id of the job.
    pub fn job_id(&self) -> JobId {
        self.run.job.id()
    }

    /// Returns the stored name of the job.
    pub fn job_name(&self) -> &str {
        &self.run.job.spec.name
    }

    /// Returns the number of this attempt. The first is 1.
    pub fn attempt(&self) -> u32 {
        self.run.job.attempt()
    }

    /// Returns how often a worker died while it ran the job.
    pub fn crashes(&self) -> u32 {
        self.run.job.crashes
    }

    /// Returns how often the job was deferred: snoozed, rejected, or refused by a breaker.
    pub fn deferrals(&self) -> u32 {
        self.run.job.deferrals
    }

    /// Returns the generation of the job. It starts at 1 and is incremented by every manual retry.
    pub fn generation(&self) -> u32 {
        self.run.job.generation
    }

    /// Returns how many times the job may be retried after a failed attempt.
    pub fn max_retries(&self) -> u32 {
        self.run.job.spec.options.max_retries
    }

    /// Returns the queue of the job.
    pub fn queue(&self) -> &str {
        &self.run.job.spec.queue
    }

    /// Returns the tags of the job.
    pub fn tags(&self) -> &[String] {
        &self.run.job.spec.tags
    }

    /// Returns the trace context of this run: that of its span if there is a
    /// [propagator](crate::Builder::trace_propagator), otherwise that of the submit. Children and callbacks inherit it.
    pub fn trace_context(&self) -> Option<&TraceContext> {
        self.run.trace.get().or(self.run.job.spec.trace.as_deref())
    }

    /// Sets the trace context of the span of the run.
    pub(crate) fn set_trace_context(&self, context: TraceContext) {
        let _ = self.run.trace.set(context);
    }

    /// Returns the correlation id that was set on submit.
    pub fn correlation_id(&self) -> Option<&str> {
        self.run.job.spec.correlation_id.as_deref()
    }

    /// Returns the tenant that was set on submit.
    pub fn tenant(&self) -> Option<&str> {
        self.run.job.spec.tenant.as_deref()
    }

    /// Returns how long this run may take before it times out.
    pub fn timeout(&self) -> Duration {
        self.run.job.spec.options.timeout
    }

    /// Returns the time left until this run times out.
    pub fn remaining(&self) -> Duration {
        self.timeout().saturating_sub(self.elapsed())
    }

    /// Returns the time since this run began.
    pub fn elapsed(&self) -> Duration {
        self.run.host.clock().monotonic().saturating_sub(self.run.started)
    }

    /// Returns a key that is the same for all attempts of the job until it is retried by hand. Pass it to downstream
    /// systems so that they can detect repeats.
    ///
    /// ```
    /// # use ratchet_core::{JobContext, JobError};
    /// # async fn post(_: &str, _: (&str, String)) -> Result<(), JobError> { Ok(()) }
    /// # async fn demo(ctx: JobContext) -> Result<(), JobError> {
    /// post("https://pay.example/charges", ("idempotency-key", ctx.idempotency_key())).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn idempotency_key(&self) -> String {
        self.run.job.execution_key()
    }

    /// Returns a key that is unique per run (`job:step:run`).
    pub fn transition_key(&self) -> String {
        self.run.job.transition_key()
    }

    /// Returns a token that is triggered when this run is canceled, times out, or exceeds the grace period of a
    /// stopping worker.
    ///
    /// A handler that watches the token can clean up and return. Otherwise its future is dropped after a grace period.
    ///
    /// ```
    /// # use ratchet_core::{JobContext, JobError};
    /// # async fn work() {}
    /// # async fn demo(ctx: JobContext) -> Result<(), JobError> {
    /// tokio::select! {
    ///     () = work() => {}
    ///     () = ctx.cancellation().cancelled() => println!("job {} was canceled", ctx.job_id()),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn cancellation(&self) -> &CancellationToken {
        self.run.stop_signal.canceled()
    }

    /// Returns a token that is triggered when the worker begins to shut down. The run may still finish; this is a good
    /// time to save a checkpoint.
    ///
    /// ```
    /// # use ratchet_core::{JobContext, JobError, snooze};
    /// # async fn demo(ctx: JobContext, rows: Vec<u64>) -> Result<(), JobError> {
    /// for row in rows {
    ///     if ctx.shutdown().is_cancelled() {
    ///         ctx.set_checkpoint(&row)?;
    ///         return Err(snooze(std::time::Duration::ZERO).into()); // another worker continues
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn shutdown(&self) -> &CancellationToken {
        &self.run.stopping
    }

    /// Sleeps by the runtime's clock, so that tests with a virtual clock do not really wait.
    pub async fn sleep(&self, duration: Duration) {
        self.run.host.clock().sleep(duration).await;
    }

    /// Returns the state of type `T`, or `None` if none was registered with the builder.
    pub fn state<T: 'static>(&self) -> Option<State<T>> {
        self.run.host.states().get()
    }

    /// Reports the progress of the run, in percent. It is kept across attempts. A message longer than
    /// [`limits::LOG_LINE`](ratchet_store::model::limits::LOG_LINE) is truncated. It passes the
    /// [sanitizer](crate::ErrorSanitizer).
    ///
    /// ```
    /// # mod ratchet { pub use ratchet_core::*; }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use ratchet::JobContext;
    ///
    /// let ctx = JobContext::for_test(); // in a job: `#[inject] ctx: JobContext`
    /// ctx.set_progress(40.0, "4 of 10 files");
    /// assert_eq!(ctx.progress().expect("it was set").percent, 40.0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_progress(&self, percent: f32, message: impl Into<String>) {
        let percent = if percent.is_finite() { percent.clamp(0.0, 100.0) } else { 0.0 };
        let message = self.sanitized(&message.into());
        self.note("progress", |recorded| {
            recorded.notes.progress = Some(Progress { percent, message });
        });
    }

    /// Returns the progress reported last, by this run or an earlier one.
    pub fn progress(&self) -> Option<Progress> {
        self.recorded().notes.progress.clone().or_else(|| self.run.job.progress.clone())
    }

    /// Saves a checkpoint from which the next attempt can continue. It must take at most
    /// [`limits::CHECKPOINT`](ratchet_store::model::limits::CHECKPOINT) bytes of JSON and must be nested at most
    /// [`limits::DEPTH`](ratchet_store::model::limits::DEPTH) levels deep.
    ///
    /// ```
    /// # mod ratchet { pub use ratchet_core::*; }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use ratchet::JobContext;
    ///
    /// let ctx = JobContext::for_test(); // in a job: `#[inject] ctx: JobContext`
    /// let done = ctx.checkpoint::<u64>()?.unwrap_or(0); // of an earlier attempt
    /// for row in done..3 {
    ///     ctx.set_checkpoint(&(row + 1))?;
    /// }
    /// assert_eq!(ctx.checkpoint::<u64>()?, Some(3));
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_checkpoint<T: Serialize>(&self, state: &T) -> Result<(), KeepError> {
        let value = self.learning(|| recorded::value("checkpoint", state))?;
        self.write("checkpoint", |recorded| recorded.notes.checkpoint = Some(value))
    }

    /// Returns the checkpoint saved last, by this run or an earlier one.
    pub fn checkpoint<T: DeserializeOwned>(&self) -> Result<Option<T>, serde_json::Error> {
        let saved =
            self.recorded().notes.checkpoint.clone().or_else(|| self.run.job.checkpoint.clone());
        self.learning(|| saved.map(serde_json::from_value).transpose())
    }

    /// Records an item that could not be processed. The sanitized error is stored with the run; the item itself is not.
    /// A reject does not fail the run. Rejects can be listed and grouped with `ratchet.rejects()`.
    ///
    /// ```
    /// # mod ratchet { pub use ratchet_core::*; }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use ratchet::JobContext;
    ///
    /// let ctx = JobContext::for_test(); // in a job: `#[inject] ctx: JobContext`
    /// for (index, row) in (0..).zip(["1", "two", "3"]) {
    ///     if let Err(error) = row.parse::<u64>() {
    ///         ctx.reject_item(index, error); // the run continues
    ///     }
    /// }
    /// ctx.allow_reject_rate(0.5, 3); // more rejects than this fail the run
    /// # Ok(())
    /// # }
    /// ```
    pub fn reject_item(&self, index: u64, error: impl Into<JobError>) {
        let reject = self.reject(index, error.into(), None);
        self.note("rejected item", |recorded| recorded.items.reject(reject));
    }

    /// Records like [`Self::reject_item`], but also stores the item as JSON, with `***` in place of secrets.
    pub fn reject_item_with<T: Serialize>(
        &self,
        index: u64,
        error: impl Into<JobError>,
        item: &T,
    ) -> Result<(), KeepError> {
        let payload = self.masked("rejected item", item)?;
        let reject = self.reject(index, error.into(), Some(payload));
        self.write("rejected item", |recorded| recorded.items.reject(reject))
    }

    fn reject(&self, index: u64, error: JobError, payload: Option<String>) -> NewReject {
        let record = self.classifier().record(error.into_handler_error());
        NewReject {
            index,
            error_type: record.error_type,
            message: record.message,
            fingerprint: record.fingerprint,
            payload,
        }
    }

    /// Sets how many items this run may reject. If it rejects more, the run fails when its handler returns.
    pub fn allow_rejects(&self, most: u64) {
        self.recorded().items.most = Some(most);
    }

    /// Sets the share of `items` that this run may reject: 0.01 is one in a hundred.
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a share
    pub fn allow_reject_rate(&self, rate: f64, items: u64) {
        let rate = if rate.is_finite() { rate.clamp(0.0, 1.0) } else { 0.0 };
        self.allow_rejects((rate * items as f64).floor() as u64);
    }

    /// Hands a checkpoint to the next pipeline **with this run's success**, in the same commit. A second hand-off with
    /// the same key is suppressed and counted.
    ///
    /// ```
    /// # mod ratchet { pub use ratchet_core::*; }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use ratchet::JobContext;
    ///
    /// let ctx = JobContext::for_test(); // in a job: `#[inject] ctx: JobContext`
    /// ctx.hand_off("pages", "https://example.com", &"the text of the page")?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Besides the limits on size, nesting and names: [`KeepError::PipelineFull`] if the job has the options
    /// `hands_off = "…"` and `on_full = fail`, and the pipeline was full when the run began.
    pub fn hand_off<T: Serialize>(
        &self,
        pipeline: impl Into<String>,
        key: impl Into<String>,
        checkpoint: &T,
    ) -> Result<(), KeepError> {
        let checkpoint = self.learning(|| recorded::value("hand-off", checkpoint))?;
        let mut hand_off = NewHandOff::new(pipeline, key, checkpoint);
        recorded::check_hand_off(&hand_off)?;
        hand_off.tenant = self.tenant().map(str::to_owned);
        hand_off.correlation_id = self.correlation_id().map(str::to_owned);
        let mut full = None;
        self.write("hand-off", |recorded| match recorded.items.take_room(&hand_off.pipeline) {
            Ok(()) => recorded.items.hand_offs.push(hand_off),
            Err(limit) => full = Some((hand_off.pipeline, limit)),
        })?;
        match full {
            Some((pipeline, limit)) => Err(KeepError::PipelineFull { pipeline, limit }),
            None => Ok(()),
        }
    }

    /// Sets how many hand-offs fit into a pipeline. Further ones are refused.
    pub(crate) fn set_room(&self, pipeline: &str, room: Room) {
        self.recorded().items.room.insert(pipeline.to_owned(), room);
    }

    /// Counts that a full pipeline has refused this run.
    pub(crate) fn refused_by(&self, pipeline: &str) {
        self.recorded().items.refuse(pipeline);
    }

    /// Returns when this run became due. For the first attempt of a recurring job, this is the time of the occurrence.
    pub fn due(&self) -> jiff::Timestamp {
        self.run.job.due
    }

    /// Returns the jobs that this run has enqueued so far, for unit tests of the bare function.
    pub fn enqueued(&self) -> Vec<NewJob> {
        self.recorded().spawned.clone()
    }

    /// Adds a child job. Returns `false` if the run has ended and the child would be lost.
    pub(crate) fn spawn(&self, job: NewJob) -> bool {
        let mut recorded = self.recorded();
        if !recorded.closed {
            recorded.spawned.push(job);
        }
        !recorded.closed
    }

    /// Returns the chains, batches and workflows that this run has submitted so far, for unit tests of the bare
    /// function.
    pub fn graphs(&self) -> Vec<NewGraph> {
        self.recorded().graphs.clone()
    }

    /// Adds a graph. Returns `false` if the run has ended and the graph would be lost.
    pub(crate) fn spawn_graph(&self, graph: NewGraph) -> bool {
        let mut recorded = self.recorded();
        if !recorded.closed {
            recorded.graphs.push(graph);
        }
        !recorded.closed
    }

    pub(crate) fn host(&self) -> &dyn RunHost {
        self.run.host.as_ref()
    }

    pub(crate) fn finished_parent(&self) -> Option<&FinishedParent> {
        self.run.job.spec.finished.as_deref()
    }

    /// Returns the chain, batch or workflow that this job is a member of.
    pub fn group(&self) -> Option<GroupId> {
        self.run.job.spec.step.as_ref().and_then(|step| step.group)
    }

    /// Returns the name of this step in its workflow, or `None` if the job is not a named step.
    pub fn step(&self) -> Option<&str> {
        self.run.job.spec.step.as_ref().and_then(|step| step.name.as_deref())
    }

    pub(crate) fn set_step_inputs(&self, step_inputs: StepInputs) {
        // A run begins once, so the cell is empty.
        let _ = self.run.step_inputs.set(step_inputs);
    }

    /// The signal with which the engine stops the run.
    pub(crate) fn stop_signal(&self) -> &StopSignal {
        &self.run.stop_signal
    }

    /// The claimed job that this run executes.
    pub(crate) fn claimed(&self) -> &Arc<Claimed> {
        &self.run.job
    }

    /// Returns the outputs of earlier steps for one argument, or why there are none.
    pub(crate) fn input_json(&self, def: &InputDef) -> Result<Vec<String>, String> {
        let inputs = self.run.step_inputs.get().map(|step_inputs| step_inputs.inputs.as_slice());
        let inputs = inputs.unwrap_or_default();
        let bound = |(input, _): &&(StepInput, _)| input.argument.as_deref() == Some(def.argument);
        let found = inputs.iter().find(bound).or_else(|| {
            let unbound = |(input, _): &&(StepInput, _)| {
                !def.by_argument && input.argument.is_none() && input.name.as_deref() == def.step
            };
            inputs.iter().find(unbound)
        });
        match found {
            Some((_, outputs)) => outputs.clone(),
            None => Err("this job does not run as a step that takes one".to_owned()),
        }
    }

    /// Returns the ended group that this job is a callback of.
    pub(crate) fn ended_group(&self) -> Option<&GroupRecord> {
        self.run.step_inputs.get()?.group.as_ref()
    }

    /// Closes the context and takes everything that must commit with the run.
    pub(crate) fn take(&self) -> (RunNotes, Vec<NewJob>, Vec<NewGraph>, RunItems) {
        let recorded = self.recorded().close();
        (recorded.notes, recorded.spawned, recorded.graphs, recorded.items)
    }

    /// If the run has rejected more items than allowed, returns their number and the limit.
    pub(crate) fn too_many_rejects(&self) -> Option<(u64, u64)> {
        let recorded = self.recorded();
        let most = recorded.items.most?;
        let count = recorded.items.rejected();
        (count > most).then_some((count, most))
    }

    /// Returns the notes to report while the run continues, or `None` if nothing was written since the last call. Log
    /// lines are moved out, so that none is written twice.
    pub(crate) fn take_news(&self) -> Option<RunNotes> {
        if !self.run.dirty.swap(false, Ordering::Relaxed) {
            return None;
        }
        let mut recorded = self.recorded();
        let logs = std::mem::take(&mut recorded.notes.logs);
        let mut notes = recorded.notes.clone();
        notes.logs = logs;
        notes.confidential = self.run.job.spec.confidential();
        Some(notes)
    }

    /// Records something. Fails if the run has ended, because it would be lost.
    fn write(
        &self,
        what: &'static str,
        change: impl FnOnce(&mut Recorded),
    ) -> Result<(), KeepError> {
        let mut recorded = self.recorded();
        if recorded.closed {
            return Err(KeepError::RunOver { job: self.job_id(), what });
        }
        change(&mut recorded);
        self.run.dirty.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Records something that the handler does not check. If the run has ended, a warning is logged, once per run.
    fn note(&self, what: &'static str, change: impl FnOnce(&mut Recorded)) {
        if let Err(error) = self.write(what, change)
            && !std::mem::replace(&mut self.recorded().warned, true)
        {
            tracing::warn!(job.id = %self.job_id(), job.name = %self.job_name(), %error);
        }
    }

    fn recorded(&self) -> MutexGuard<'_, Recorded> {
        self.run.recorded.lock().unwrap_or_else(PoisonError::into_inner)
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
