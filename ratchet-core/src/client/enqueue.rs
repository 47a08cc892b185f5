//! Enqueue one job.

use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::{Core, JobHandle, SubmitError, submit};
use crate::context::JobContext;
use crate::crash::{CrashPoint, crash_point};
use crate::events::JobRef;
use crate::job::{Backoff, Job, Priority};
use crate::model::{ConcurrencyKey, Due, Inserted, JobSpec, NewJob, OnTaken};
use crate::store::{Store, StoreError, StoreErrorKind};

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
    /// The encoded job, or why it could not be encoded: told at the await.
    job: Result<NewJob, SubmitError>,
    _job: PhantomData<fn() -> J>,
}

/// Where a job goes.
#[derive(Debug)]
enum Target<'a> {
    /// Into the store, at once.
    Store(&'a Arc<Core>),
    /// Into the settlement of a running job.
    Run(&'a JobContext, &'a Arc<Core>),
}

impl<'a> Target<'a> {
    fn core(&self) -> &'a Arc<Core> {
        match self {
            Self::Store(core) | Self::Run(_, core) => core,
        }
    }
}

impl<'a, J: Job> Enqueue<'a, J> {
    pub(super) fn to_store(core: &'a Arc<Core>, job: &J) -> Self {
        Self::new(Target::Store(core), job)
    }

    pub(crate) fn within(ctx: &'a JobContext, core: &'a Arc<Core>, job: &J) -> Self {
        Self::new(Target::Run(ctx, core), job)
    }

    /// A step: what it takes from others is for its graph to see to.
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
        let core = target.core();
        let due = if J::DEF.delay.is_zero() { Due::Now } else { Due::In(J::DEF.delay) };
        let job = submit::spec(job).map(|spec| NewJob {
            id: core.ids.job(),
            spec,
            due,
            on_taken: OnTaken::Refuse,
        });
        Self { target, job, _job: PhantomData }
    }

    fn with(mut self, change: impl FnOnce(&mut NewJob)) -> Self {
        if let Ok(job) = &mut self.job {
            change(job);
        }
        self
    }

    fn spec(self, change: impl FnOnce(&mut JobSpec)) -> Self {
        self.with(|job| change(&mut job.spec))
    }

    /// Puts it on another queue.
    pub fn queue(self, queue: impl Into<String>) -> Self {
        self.spec(|spec| spec.queue = queue.into())
    }

    /// Gives it another priority.
    pub fn priority(self, priority: Priority) -> Self {
        self.spec(|spec| spec.priority = priority)
    }

    /// How many times a failed run is tried again.
    pub fn max_retries(self, retries: u32) -> Self {
        self.spec(|spec| spec.options.max_retries = retries)
    }

    /// The wait between attempts.
    pub fn backoff(self, backoff: Backoff) -> Self {
        self.spec(|spec| spec.options.backoff = backoff)
    }

    /// The longest a run may take.
    pub fn timeout(self, timeout: Duration) -> Self {
        self.spec(|spec| spec.options.timeout = timeout)
    }

    /// Runs it after a while, by the store's clock.
    pub fn delay(self, delay: Duration) -> Self {
        self.with(|job| job.due = Due::In(delay))
    }

    /// Runs it at an instant.
    pub fn run_at(self, instant: Timestamp) -> Self {
        self.with(|job| job.due = Due::At(instant))
    }

    /// At most one job is ever made for this key within its tenant; a repeat answers with the original.
    pub fn idempotency_key(self, key: impl Into<String>) -> Self {
        self.spec(|spec| spec.idempotency_key = Some(key.into()))
    }

    /// At most one live job holds this key within its tenant.
    pub fn business_key(self, key: impl Into<String>) -> Self {
        self.spec(|spec| spec.business_key = Some(key.into()))
    }

    /// If another live job holds the business key, answers with that job's handle instead of an error.
    pub fn or_existing(self) -> Self {
        self.with(|job| job.on_taken = OnTaken::ReturnHolder)
    }

    /// At most `limit` jobs with this key run at once in the cluster.
    pub fn concurrency_key(self, key: impl Into<String>, limit: u32) -> Self {
        self.spec(|spec| {
            spec.concurrency = Some(ConcurrencyKey { key: key.into(), limit: limit.max(1) });
        })
    }

    /// Adds a tag.
    pub fn tag(self, tag: impl Into<String>) -> Self {
        self.spec(|spec| spec.tags.push(tag.into()))
    }

    /// Adds tags.
    pub fn tags(self, tags: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.spec(|spec| spec.tags.extend(tags.into_iter().map(Into::into)))
    }

    /// Ties it to a request or a business process.
    pub fn correlation_id(self, id: impl Into<String>) -> Self {
        self.spec(|spec| spec.correlation_id = Some(id.into()))
    }

    /// Whose job it is; keys are unique within a tenant.
    pub fn tenant(self, tenant: impl Into<String>) -> Self {
        self.spec(|spec| spec.tenant = Some(tenant.into()))
    }

    /// Runs another job when this one has succeeded. It can look at this one through `#[inject] Finished<…>`.
    #[allow(clippy::needless_pass_by_value)] // reads like `enqueue`
    pub fn on_success<C: Job>(self, callback: C) -> Self {
        self.callback(&callback, |spec, callback| spec.on_success = Some(callback))
    }

    /// Runs another job when this one has failed for good, never per retry.
    #[allow(clippy::needless_pass_by_value)] // reads like `enqueue`
    pub fn on_failure<C: Job>(self, callback: C) -> Self {
        self.callback(&callback, |spec, callback| spec.on_failure = Some(callback))
    }

    fn callback<C: Job>(
        mut self,
        callback: &C,
        set: impl FnOnce(&mut JobSpec, Box<JobSpec>),
    ) -> Self {
        match submit::spec(callback) {
            Ok(callback) => self.spec(|spec| set(spec, Box::new(callback))),
            Err(error) => {
                self.job = self.job.and(Err(error));
                self
            }
        }
    }
}

// Without `J: Job`: what is not a job was refused by `enqueue`, and one error is enough.
impl<J> Enqueue<'_, J> {
    /// The store it goes to: what `in_tx` of a store looks for itself in.
    pub fn store(&self) -> &dyn Store {
        self.target.core().store.as_ref()
    }

    /// The checked row, without storing it: what `in_tx` of a store inserts.
    pub fn into_new_job(self) -> Result<NewJob, SubmitError> {
        let mut job = self.job?;
        submit::check(self.target.core(), &mut job.spec)?;
        Ok(job)
    }

    /// The checked row and the handle it will have, without storing anything: for stores that insert within a caller's own
    /// transaction. If the store answers with another job, [`JobHandle::at`] is its handle.
    pub fn into_parts(self) -> Result<(NewJob, JobHandle<J>), SubmitError> {
        let core = Arc::clone(self.target.core());
        let job = self.into_new_job()?;
        let handle = JobHandle::new(job.id, core, Vec::new());
        Ok((job, handle))
    }

    async fn submit(self) -> Result<JobHandle<J>, SubmitError> {
        match self.target {
            Target::Store(core) => {
                let inserted = insert(core, vec![self.into_new_job()?], true).await?;
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

/// Inserts checked jobs, tells of those that came into being, and warns of queues that nobody serves.
pub(super) async fn insert(
    core: &Core,
    jobs: Vec<NewJob>,
    single: bool,
) -> Result<Vec<(Inserted, Vec<String>)>, SubmitError> {
    let about = JobRef::of_all(&jobs);
    let expected = core.events.expect_submits(about.iter().cloned());
    let deep = core.check_depth(&about).await?;
    crash_point(CrashPoint::SubmitBefore);
    let inserted = core.store.insert(jobs).await;
    crash_point(CrashPoint::SubmitAnswered);
    let name_of = |wanted| {
        about
            .iter()
            .find(|job| job.id == wanted)
            .map(|job| job.name.to_string())
            .unwrap_or_default()
    };
    let inserted = inserted.map_err(|error| SubmitError::from_insert(error, name_of, single))?;
    let mut answers = Vec::with_capacity(inserted.len());
    let mut warned = BTreeSet::new();
    for (inserted, job) in inserted.into_iter().zip(&about) {
        let Inserted::Created(_) = inserted else {
            answers.push((inserted, Vec::new()));
            continue;
        };
        core.events.submitted(job.id);
        core.depths.grew(&job.queue, 1);
        // One warning per queue is enough for ten thousand jobs.
        let mut warnings = Vec::new();
        if warned.insert(&job.queue) {
            warnings.extend(unserved(core, job).await);
            warnings.extend(deep.get(&*job.queue).cloned());
        }
        answers.push((inserted, warnings));
    }
    // What was not created is no news.
    drop(expected);
    Ok(answers)
}

/// A warning if nobody will run a job.
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
