//! [`Enqueue`]: enqueues one job with options.

use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::acting::{Manner, store_error, unexpected};
use super::submit::{self, Defaults};
use super::{JobHandle, SubmitError};
use super::{coalesce, order};
use crate::events::JobRef;
use crate::job::{Job, JobContext, JobDef, TraceMode, WithoutInputs};
use crate::runtime::Core;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{AfterFailure, Backoff, Priority, TraceContext};
use ratchet_store::model::{
    Change, ChangeError, ChangeReply, ConcurrencyKey, Deadline, Debounce, Due, Inserted, JobSpec,
    NewJob, OnConflict, RepeatCheck,
};
use ratchet_store::{StoreError, StoreErrorKind};

/// A job about to be enqueued: add options, then `.await`.
///
/// ```
/// # use ratchet_core::{JobHandle, Job, Priority, Ratchet, SubmitError};
/// # use std::time::Duration;
/// # async fn demo<J: Job>(ratchet: &Ratchet, job: J) -> Result<JobHandle<J>, SubmitError> {
/// ratchet.enqueue(job).priority(Priority::High).delay(Duration::from_secs(60)).tag("vip").await
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a job is enqueued only when this is awaited"]
pub struct Enqueue<'a, J> {
    target: Target<'a>,
    /// The encoded job, or the error that the await will return.
    job: Result<NewJob, SubmitError>,
    defaults: Defaults,
    manner: Manner,
    _job: PhantomData<fn() -> J>,
}

/// The destination of a job.
#[derive(Debug)]
pub(super) enum Target<'a> {
    /// The store, immediately.
    Store(&'a Arc<Core>),
    /// The settlement of a running job.
    Run(&'a JobContext, &'a Arc<Core>),
}

impl<'a> Target<'a> {
    pub(super) fn core(&self) -> &'a Arc<Core> {
        match self {
            Self::Store(core) | Self::Run(_, core) => core,
        }
    }
}

impl JobContext {
    /// Enqueues a job that is stored **with this run's success**, in the same commit.
    ///
    /// The child inherits the tenant and the correlation id of this job, unless it sets its own.
    ///
    /// If the run fails, or its job has been canceled or rescued in the meantime, the child is never stored. A key
    /// conflict at commit drops the child and adds a warning to this job.
    #[allow(clippy::needless_pass_by_value)] // by value: the caller is done with the job
    pub fn enqueue<J: Job>(&self, job: J) -> Enqueue<'_, J> {
        Enqueue::in_run(self, self.core(), &job)
    }
}

impl<'a, J: Job> Enqueue<'a, J> {
    pub(super) fn to_store(core: &'a Arc<Core>, job: &J) -> Self {
        Self::new(Target::Store(core), job)
    }

    pub(crate) fn in_run(ctx: &'a JobContext, core: &'a Arc<Core>, job: &J) -> Self {
        Self::new(Target::Run(ctx, core), job)
    }

    /// Creates a step of a graph. Its inputs are not checked here but by the graph.
    pub(super) fn step(core: &'a Arc<Core>, job: &J) -> Self {
        Self::build(Target::Store(core), job)
    }

    fn new(target: Target<'a>, job: &J) -> Self {
        let mut enqueue = Self::build(target, job);
        if let Some(input) = J::DEF.inputs.first() {
            let (job, argument) = (J::DEF.name, input.argument);
            enqueue.job = Err(SubmitError::NeedsParent { job, argument });
        }
        enqueue
    }

    fn build(target: Target<'a>, job: &J) -> Self {
        let spec = submit::spec(target.core(), job);
        let defaults = Defaults { args: J::ARGS, encode: J::encode_defaults };
        Self::of(target, spec, &J::DEF, defaults)
    }

    /// Returns why the job cannot be enqueued, if that is known already.
    pub(super) fn problem(&self) -> Option<&SubmitError> {
        self.job.as_ref().err()
    }

    pub(super) fn of(
        target: Target<'a>,
        spec: Result<JobSpec, SubmitError>,
        def: &JobDef,
        defaults: Defaults,
    ) -> Self {
        let due = if def.delay.is_zero() { Due::Now } else { Due::In(def.delay) };
        let job = spec.map(|mut spec| {
            if let Target::Run(ctx, _) = target {
                spec.tenant = ctx.tenant().map(str::to_owned);
                spec.correlation_id = ctx.correlation_id().map(str::to_owned);
                spec.trace = ctx.trace_context().cloned().map(Box::new);
            }
            if let Some(context) = target.core().current_trace() {
                spec.trace = Some(Box::new(context));
            }
            if def.trace == TraceMode::Off {
                spec.trace = None;
            }
            let key_lifetime = def.idempotency_within;
            let on_conflict = def.on_conflict.into();
            NewJob { due, key_lifetime, on_conflict, ..NewJob::new(target.core().ids.job(), spec) }
        });
        Self { target, job, defaults, manner: Manner::default(), _job: PhantomData }
    }

    /// Sets how the submit is recorded.
    pub(super) fn manner(self, manner: Manner) -> Self {
        Self { manner, ..self }
    }

    pub(super) fn with(mut self, change: impl FnOnce(&mut NewJob)) -> Self {
        if let Ok(job) = &mut self.job {
            change(job);
        }
        self
    }

    fn spec(self, change: impl FnOnce(&mut JobSpec)) -> Self {
        self.with(|job| change(&mut job.spec))
    }

    /// Sets the queue.
    pub fn queue(self, queue: impl Into<String>) -> Self {
        self.spec(|spec| spec.queue = queue.into())
    }

    /// Sets the priority.
    pub fn priority(self, priority: Priority) -> Self {
        self.spec(|spec| spec.priority = priority)
    }

    /// Sets how many times the job may be retried after a failed attempt.
    pub fn max_retries(self, retries: u32) -> Self {
        self.spec(|spec| spec.options.max_retries = retries)
    }

    /// Sets the delay between attempts.
    pub fn backoff(self, backoff: Backoff) -> Self {
        self.spec(|spec| spec.options.backoff = backoff)
    }

    /// Sets how long a run may take. Must be greater than zero.
    pub fn timeout(self, timeout: Duration) -> Self {
        self.spec(|spec| spec.options.timeout = timeout)
    }

    /// Delays the first run by this duration, by the store's clock.
    pub fn delay(self, delay: Duration) -> Self {
        self.with(|job| job.due = Due::In(delay))
    }

    /// Sets the time of the first run.
    pub fn run_at(self, instant: Timestamp) -> Self {
        self.with(|job| job.due = Due::At(instant))
    }

    /// Cancels the job, with the cause `expired`, unless it has started within this time after the submit, by the
    /// store's clock. Must be greater than zero.
    ///
    /// Retries are starts too: a job that waits for its next attempt expires. A manual retry removes the limit.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use ratchet_core::{Job, JobHandle, Ratchet, SubmitError};
    /// # async fn remind<J: Job>(ratchet: &Ratchet, job: J) -> Result<JobHandle<J>, SubmitError> {
    /// // A reminder that is an hour late is worse than none.
    /// ratchet.enqueue(job).expires_in(Duration::from_secs(3600)).await
    /// # }
    /// ```
    pub fn expires_in(self, duration: Duration) -> Self {
        self.spec(|spec| spec.expires = Some(Deadline::In(duration)))
    }

    /// Cancels the job, with the cause `expired`, unless it has started before this instant. See [`Self::expires_in`].
    pub fn expires_at(self, instant: Timestamp) -> Self {
        self.spec(|spec| spec.expires = Some(Deadline::At(instant)))
    }

    /// Retries a failed run only up to this long after the submit, by the store's clock. Must be greater than zero.
    ///
    /// If the next attempt would start later, the job becomes a dead letter instead, with the reason
    /// [`RetryExhausted`](ratchet_store::model::TerminalReason::RetryExhausted). `max_retries` applies as well. A
    /// manual retry removes the limit.
    pub fn retry_within(self, duration: Duration) -> Self {
        self.spec(|spec| spec.retry_until = Some(Deadline::In(duration)))
    }

    /// Retries a failed run only if the next attempt starts before this instant. See [`Self::retry_within`].
    pub fn retry_until(self, instant: Timestamp) -> Self {
        self.spec(|spec| spec.retry_until = Some(Deadline::At(instant)))
    }

    /// Sets the idempotency key. At most one job is ever created for a key within a tenant; a repeat returns the handle
    /// of the original. [`Self::within`] limits this to a time.
    pub fn idempotency_key(self, key: impl Into<String>) -> Self {
        self.spec(|spec| spec.idempotency_key = Some(key.into()))
    }

    /// Recognizes a repeat by the idempotency key alone. Otherwise, a repeat with another job or other arguments is
    /// refused as a mismatch; arguments that have their `#[job(default)]` value do not count.
    ///
    /// The job of the returned handle may then have another name and other arguments than this one.
    pub fn by_key_alone(self) -> Self {
        self.with(|job| job.repeat_check = RepeatCheck::KeyAlone)
    }

    /// Lets the idempotency key expire this long after its first use, by the store's clock. A later use of the key
    /// creates a new job, even if the first one has not ended. Must be greater than zero.
    ///
    /// The first use decides: a repeat with another duration changes nothing.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use ratchet_core::{Job, JobHandle, Ratchet, SubmitError};
    /// # async fn digest<J: Job>(ratchet: &Ratchet, job: J) -> Result<JobHandle<J>, SubmitError> {
    /// // At most one digest per hour.
    /// ratchet.enqueue(job).idempotency_key("digest-42").within(Duration::from_secs(3600)).await
    /// # }
    /// ```
    pub fn within(self, lifetime: Duration) -> Self {
        self.with(|job| job.key_lifetime = Some(lifetime))
    }

    /// Sets the business key. At most one live job may hold a key within a tenant.
    pub fn business_key(self, key: impl Into<String>) -> Self {
        self.spec(|spec| spec.business_key = Some(key.into()))
    }

    /// Returns the handle of the job that holds the business key, instead of an error, if another live job holds it.
    pub fn or_existing(self) -> Self {
        self.with(|job| job.on_conflict = OnConflict::ReturnHolder)
    }

    /// Runs the job now, and at most once more afterward, however often it is submitted for its business key.
    ///
    /// If the job that holds the key has not started, this returns its handle: its run will see what led to this submit.
    /// While that job runs, one more job is created, which runs afterward, and further submits return that one. Jobs of
    /// the key run one at a time. A job that fails and waits for its next attempt has not started.
    ///
    /// The created job keeps the arguments of the submit that created it. Every submit for the key should coalesce.
    ///
    /// ```
    /// # use ratchet_core::{Job, JobHandle, Ratchet, SubmitError};
    /// # async fn changed<J: Job>(ratchet: &Ratchet, rebuild: J) -> Result<JobHandle<J>, SubmitError> {
    /// // However many changes arrive while the index is built, it is built once more.
    /// ratchet.enqueue(rebuild).business_key("index").coalesce().await
    /// # }
    /// ```
    pub fn coalesce(self) -> Self {
        self.with(|job| job.on_conflict = OnConflict::Coalesce(None))
    }

    /// Coalesces like [`Self::coalesce`], and also delays the job: it is due `wait` after the latest submit for its business key,
    /// and at most `at_most` after the first. A job that was claimed before is not delayed.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use ratchet_core::{Job, JobHandle, Ratchet, SubmitError};
    /// # async fn edited<J: Job>(ratchet: &Ratchet, save: J) -> Result<JobHandle<J>, SubmitError> {
    /// // Saves two seconds after the last change, and at least every minute.
    /// let (wait, at_most) = (Duration::from_secs(2), Duration::from_secs(60));
    /// ratchet.enqueue(save).business_key("document-7").debounce(wait, at_most).await
    /// # }
    /// ```
    pub fn debounce(self, wait: Duration, at_most: Duration) -> Self {
        self.with(|job| {
            job.due = Due::In(wait);
            job.on_conflict = OnConflict::Coalesce(Some(Debounce { wait, at_most }));
        })
    }

    /// Sets the concurrency key. At most `limit` jobs with this key run at once in the cluster. A limit of 0 counts as
    /// 1.
    pub fn concurrency_key(self, key: impl Into<String>, limit: u32) -> Self {
        self.spec(|spec| {
            spec.concurrency = Some(ConcurrencyKey { key: key.into(), limit: limit.max(1) });
        })
    }

    /// Runs the jobs with this key one at a time, in the order of their submits. Retries and delays do not change the
    /// order. `after_failure` determines what the next job does when one has failed permanently.
    ///
    /// Jobs in order cannot be steps of chains, batches and workflows.
    pub fn ordered_by(self, key: impl Into<String>, after_failure: AfterFailure) -> Self {
        self.concurrency_key(key, 1).spec(|spec| order::apply(spec, Some(after_failure)))
    }

    /// Adds a tag.
    pub fn tag(self, tag: impl Into<String>) -> Self {
        self.spec(|spec| spec.tags.push(tag.into()))
    }

    /// Adds tags.
    pub fn tags(self, tags: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.spec(|spec| spec.tags.extend(tags.into_iter().map(Into::into)))
    }

    /// Sets a correlation id, such as the id of a request or a business process.
    pub fn correlation_id(self, id: impl Into<String>) -> Self {
        self.spec(|spec| spec.correlation_id = Some(id.into()))
    }

    /// Sets the trace context of the submit, for example that of a request, to which the runs of the job are related. The
    /// default is the context of the current span, if there is a
    /// [propagator](crate::Builder::trace_propagator).
    pub fn trace_context(self, context: TraceContext) -> Self {
        self.spec(|spec| spec.trace = Some(Box::new(context)))
    }

    /// Sets the tenant. Keys are unique within a tenant.
    pub fn tenant(self, tenant: impl Into<String>) -> Self {
        self.spec(|spec| spec.tenant = Some(tenant.into()))
    }

    /// Removes the tenant, the correlation id and the trace context that a child inherits from the job that enqueues it.
    pub fn inherit_nothing(self) -> Self {
        self.spec(|spec| (spec.tenant, spec.correlation_id, spec.trace) = (None, None, None))
    }

    /// Runs another job when this one has succeeded. The callback can read this job with `#[inject] Finished<…>`.
    #[allow(clippy::needless_pass_by_value)] // reads like `enqueue`
    pub fn on_success<C: WithoutInputs>(self, callback: C) -> Self {
        self.callback(&callback, |spec, callback| spec.on_success = Some(callback))
    }

    /// Runs another job when this one has failed permanently. It does not run for each retry.
    #[allow(clippy::needless_pass_by_value)] // reads like `enqueue`
    pub fn on_failure<C: WithoutInputs>(self, callback: C) -> Self {
        self.callback(&callback, |spec, callback| spec.on_failure = Some(callback))
    }

    fn callback<C: Job>(
        mut self,
        callback: &C,
        set: impl FnOnce(&mut JobSpec, Box<JobSpec>),
    ) -> Self {
        match submit::spec(self.target.core(), callback) {
            Ok(callback) => self.spec(|spec| set(spec, Box::new(callback))),
            Err(error) => {
                self.job = self.job.and(Err(error));
                self
            }
        }
    }
}

// No bound `J: Job` here: `enqueue` has already rejected a type that is not a job, and one compiler error is enough.
impl<J> Enqueue<'_, J> {
    /// Returns the checked row without storing it, for stores that insert within the caller's transaction.
    pub fn into_new_job(self) -> Result<NewJob, SubmitError> {
        let mut job = self.job?;
        submit::check(self.target.core(), &mut job.spec)?;
        coalesce::check(&mut job)?;
        submit::check_lifetime(
            &job.spec.name,
            job.spec.idempotency_key.is_some(),
            job.key_lifetime,
        )?;
        if job.spec.idempotency_key.is_some() {
            self.defaults.leave_out(&mut job);
        }
        Ok(job)
    }

    /// Returns the checked row and its future handle without storing anything.
    pub(crate) fn into_parts(self) -> Result<(NewJob, JobHandle<J>), SubmitError> {
        let core = Arc::clone(self.target.core());
        let job = self.into_new_job()?;
        let handle = JobHandle::new(job.id, core, Vec::new());
        Ok((job, handle))
    }

    async fn submit(self) -> Result<JobHandle<J>, SubmitError> {
        match self.target {
            Target::Store(core) => {
                let manner = self.manner.clone();
                let jobs = vec![self.into_new_job()?];
                let inserted = insert(core, jobs, true, &manner).await?;
                let Some((inserted, warnings)) = inserted.into_iter().next() else {
                    let lost = StoreError::new(
                        StoreErrorKind::Data,
                        "the store did not answer for the job",
                    );
                    return Err(SubmitError::Store(lost));
                };
                Ok(JobHandle::new(inserted.id(), Arc::clone(core), warnings))
            }
            Target::Run(ctx, core) => {
                let job = self.into_new_job()?;
                let id = job.id;
                if !ctx.spawn(job) {
                    return Err(SubmitError::RunOver(ctx.job_id()));
                }
                Ok(JobHandle::new(id, Arc::clone(core), Vec::new()))
            }
        }
    }
}

/// Inserts checked jobs, publishes an event for each created job, and returns warnings about queues that no worker
/// serves or that are too deep.
pub(super) async fn insert(
    core: &Core,
    jobs: Vec<NewJob>,
    single: bool,
    manner: &Manner,
) -> Result<Vec<(Inserted, Vec<String>)>, SubmitError> {
    let about = JobRef::of_all(&jobs);
    let inserted = submitting(core, &about, insert_in_manner(core, jobs, manner)).await?;
    let name_of = |wanted| {
        about
            .iter()
            .find(|job| job.id == wanted)
            .map(|job| job.name.to_string())
            .unwrap_or_default()
    };
    inserted.map_err(|error| match error {
        ChangeError::Insert(error) => SubmitError::from_insert(error, name_of, single),
        other => SubmitError::Store(store_error(other)),
    })
}

/// Stores checked jobs by `write`, and reports them as submitted. The outer error is that of the checks before.
pub(super) async fn submitting(
    core: &Core,
    about: &[JobRef],
    write: impl Future<Output = Result<Vec<Inserted>, ChangeError>>,
) -> Result<Result<Vec<(Inserted, Vec<String>)>, ChangeError>, SubmitError> {
    let expected = core.events.expect_submits(about.iter().cloned());
    let deep = core.check_depth(about).await?;
    crash_point(CrashPoint::SubmitBefore);
    let sent = core.clock.monotonic();
    let inserted = write.await;
    crash_point(CrashPoint::SubmitAnswered);
    core.record_insert(
        sent,
        match &inserted {
            Err(ChangeError::Insert(error)) => Some(error),
            _ => None,
        },
    );
    let inserted = match inserted {
        Ok(inserted) => inserted,
        Err(error) => return Ok(Err(error)),
    };
    let mut answers = Vec::with_capacity(inserted.len());
    let mut warned = BTreeSet::new();
    core.record_submits(inserted.iter().zip(about));
    for (inserted, job) in inserted.into_iter().zip(about) {
        let Inserted::Created(_) = inserted else {
            answers.push((inserted, Vec::new()));
            continue;
        };
        core.events.submitted(job.id);
        core.depths.grew(&job.queue, 1);
        // Warn once per queue, not once per job.
        let mut warnings = Vec::new();
        if warned.insert(&job.queue) {
            warnings.extend(unserved(core, job).await);
            warnings.extend(deep.get(&*job.queue).cloned());
        }
        answers.push((inserted, warnings));
    }
    // Discards the expected events of jobs that were not created.
    drop(expected);
    Ok(Ok(answers))
}

async fn insert_in_manner(
    core: &Core,
    jobs: Vec<NewJob>,
    manner: &Manner,
) -> Result<Vec<Inserted>, ChangeError> {
    if !manner.is_special() {
        return Ok(core.store.insert(jobs).await?);
    }
    match core.operate(manner, "jobs.enqueue", Change::Submit(jobs)).await? {
        ChangeReply::Submitted(inserted) => Ok(inserted),
        _ => Err(ChangeError::Store(unexpected())),
    }
}

/// Returns a warning if no live worker serves the queue of a job.
pub(super) async fn unserved(core: &Core, job: &JobRef) -> Option<String> {
    let JobRef { id, name, queue } = job;
    if core.is_served(queue).await {
        return None;
    }
    let warning =
        format!("no live worker serves queue `{queue}`; job {id} (`{name}`) waits until one does");
    tracing::warn!(job.id = %id, job.name = %name, job.queue = %queue, "{warning}");
    Some(warning)
}

impl<'a, J: 'static> IntoFuture for Enqueue<'a, J> {
    type Output = Result<JobHandle<J>, SubmitError>;
    type IntoFuture = std::pin::Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.submit())
    }
}
