//! [`Sandbox`]: a runtime for tests that runs jobs only on request.

use std::sync::Arc;
use std::time::Duration;

use super::drive::drive;
use super::elapse::{Lag, LiveClock};
use crate::client::{BuildError, Builder, Enqueue, Ratchet};
use crate::job::{Job, Registration};
use crate::worker::{
    AttemptResult, Deliveries, admit, cancel_expired, check_watched, declarations, declare_all,
    deliver, fire_due, publish,
};
use ratchet_memory::MemoryStore;
use ratchet_store::env::{SeededEntropy, VirtualClock};
use ratchet_store::model::{
    ClaimRequest, Claimed, NodeInfo, QueueDemand, Settled, Suspects, Verdict,
};
use ratchet_store::{Store, StoreError};

/// A runtime with a virtual clock that runs jobs only on request.
#[derive(Debug, Clone)]
pub struct Sandbox {
    ratchet: Ratchet,
    clock: VirtualClock,
    /// Set if the store has a clock of its own.
    lag: Option<Lag>,
}

/// Builds a [`Sandbox`].
#[derive(Debug)]
#[must_use = "nothing exists until `.build()`"]
pub struct SandboxBuilder {
    builder: Builder,
    clock: VirtualClock,
    lag: Option<Lag>,
}

/// The number of runs of a drain, by verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Drained {
    /// Runs that succeeded.
    pub succeeded: u32,
    /// Runs that failed and will be retried.
    pub retried: u32,
    /// Runs that failed permanently.
    pub failed: u32,
    /// Runs that were deferred.
    pub deferred: u32,
}

impl Drained {
    /// Returns the total number of runs.
    pub fn runs(&self) -> u32 {
        self.succeeded + self.retried + self.failed + self.deferred
    }

    fn count(&mut self, verdict: &Verdict) {
        let counter = match verdict {
            Verdict::Succeed { .. } => &mut self.succeeded,
            Verdict::Retry { .. } => &mut self.retried,
            Verdict::Fail { .. } => &mut self.failed,
            Verdict::Defer { .. } | Verdict::Release | Verdict::Rescue { .. } => &mut self.deferred,
        };
        *counter += 1;
    }
}

/// Longer than any test advances the clock during one run.
const LEASE: Duration = Duration::from_hours(24 * 365);

impl Sandbox {
    /// Starts building a sandbox over a memory store.
    pub fn builder() -> SandboxBuilder {
        let clock = VirtualClock::new();
        let store = MemoryStore::with_clock(Arc::new(clock.clone()));
        // A fixed seed gives the same ids and the same jitter in every run of a test.
        let builder = Ratchet::builder(store).clock(clock.clone()).entropy(SeededEntropy::new(0));
        SandboxBuilder { builder, clock, lag: None }
    }

    /// Starts building a sandbox over a store that was opened with the same clock, such as
    /// `SqliteStore::options(path).clock(Arc::new(clock.clone()))`. The store must be used by this test only.
    pub fn with_store(store: impl Store, clock: &VirtualClock) -> SandboxBuilder {
        let builder = Ratchet::builder(store).clock(clock.clone());
        SandboxBuilder { builder, clock: clock.clone(), lag: None }
    }

    /// Starts building a sandbox over a store that has its own clock, such as a PostgreSQL store. The store must be used
    /// by this test only.
    ///
    /// The clock of the store cannot be advanced. [`Self::advance`] moves the waiting jobs by the same time towards the
    /// present instead, and schedules fire at the advanced time. Everything else that the store measures stays at the
    /// real time: open breakers, rate limits, retention, jobs and keys that expire, leases and the times in records. Handlers
    /// sleep and time out by [`Self::clock`], and see the real time of day.
    pub fn with_live_store(store: impl Store) -> SandboxBuilder {
        let clock = VirtualClock::new();
        let builder = Ratchet::builder(store).clock(LiveClock::new(&clock));
        SandboxBuilder { builder, clock, lag: Some(Lag::default()) }
    }

    /// Returns the runtime.
    pub fn ratchet(&self) -> &Ratchet {
        &self.ratchet
    }

    /// Enqueues a job, like [`Ratchet::enqueue`].
    pub fn enqueue<J: Job>(&self, job: J) -> Enqueue<'_, J> {
        self.ratchet.enqueue(job)
    }

    /// Advances the virtual clock.
    pub fn advance(&self, duration: Duration) {
        self.clock.advance(duration);
        if let Some(lag) = &self.lag {
            lag.add(duration);
        }
    }

    /// Returns the virtual clock of this sandbox. Over a [live store](Self::with_live_store), its time of day is not that
    /// of the store.
    pub fn clock(&self) -> &VirtualClock {
        &self.clock
    }

    /// Runs every job that is due, one after another, in this task. Includes jobs that become due because of these
    /// runs.
    ///
    /// Delayed jobs and retries wait until the clock is advanced. Schedules that are due fire. Notices are delivered to
    /// the sinks at the end.
    pub async fn drain(&self) -> Result<Drained, StoreError> {
        let mut drained = Drained::default();
        while let Some(job) = self.claim().await? {
            self.run(job, &mut drained).await?;
        }
        deliver(&self.ratchet.core, &Deliveries::default()).await?;
        Ok(drained)
    }

    /// Runs the next due job. Returns `None` if no job is due.
    pub async fn run_next(&self) -> Result<Option<Drained>, StoreError> {
        let Some(job) = self.claim().await? else { return Ok(None) };
        let mut drained = Drained::default();
        self.run(job, &mut drained).await?;
        Ok(Some(drained))
    }

    /// Drains and advances the clock to the next due job or schedule, repeatedly, until nothing waits or `limit` has
    /// passed.
    pub async fn drain_for(&self, limit: Duration) -> Result<Drained, StoreError> {
        let mut total = Drained::default();
        let mut left = limit;
        loop {
            let drained = self.drain().await?;
            total.succeeded += drained.succeeded;
            total.retried += drained.retried;
            total.failed += drained.failed;
            total.deferred += drained.deferred;
            let next = self.next_due().await?;
            match next.filter(|next| *next <= left) {
                Some(next) => {
                    left -= next;
                    self.advance(next);
                }
                None => return Ok(total),
            }
        }
    }

    async fn run(&self, job: Claimed, drained: &mut Drained) -> Result<(), StoreError> {
        let core = &self.ratchet.core;
        let job = Arc::new(job);
        let ended = drive(core, &job, &self.clock).await;
        match ended {
            AttemptResult::Discard { .. } => core.store.release_holds(vec![job.token]).await?,
            AttemptResult::Settle(settlement) => {
                let settled = core.store.settle(vec![(*settlement).clone()]).await?;
                for settled in &settled {
                    publish(core, &job, &settlement, settled);
                    if matches!(settled, Settled::Applied(_)) {
                        drained.count(&settlement.verdict);
                    }
                }
            }
        }
        core.store.leave(job.node).await
    }

    /// Cancels jobs that have expired, checks watched schedules, fires schedules that are due, and claims the next job.
    async fn claim(&self) -> Result<Option<Claimed>, StoreError> {
        let core = &self.ratchet.core;
        if let Some(lag) = &self.lag {
            lag.catch_up(core).await?;
        }
        cancel_expired(core).await?;
        check_watched(core, core.ids.node()).await?;
        fire_due(core).await?;
        admit(core).await?;
        Ok(self.ask().await?.jobs.pop())
    }

    /// Returns the time until the next job or schedule is due. Called after a drain, so none is due now.
    async fn next_due(&self) -> Result<Option<Duration>, StoreError> {
        let store = &self.ratchet.core.store;
        let job = self.ask().await?.next_due;
        let now = store.now().await?;
        let lag = self.lag.as_ref().map_or(Duration::ZERO, Lag::total);
        let now = now.checked_add(lag).unwrap_or(now);
        let schedules = store.schedules().await?;
        let schedules = schedules.iter().filter(|schedule| !schedule.is_stopped());
        let schedules = schedules.filter_map(|schedule| schedule.next);
        let until = |at: jiff::Timestamp| Duration::try_from(at.duration_since(now)).ok();
        Ok(schedules.filter_map(until).chain(job).min())
    }

    /// Declares the schedules of recurring jobs, as the start of a worker does.
    async fn declare(&self) -> Result<(), StoreError> {
        let core = &self.ratchet.core;
        if core.resolver.all().iter().all(|job| job.def.cron.is_none()) {
            return Ok(());
        }
        let mut node = NodeInfo::new(core.ids.node());
        node.declarations = declarations(core);
        let (id, declared) = (node.id, node.declarations.clone());
        core.store.join(node, LEASE).await?;
        declare_all(core, id, &declared).await?;
        core.store.leave(id).await
    }

    /// Claims at most one job from any queue.
    async fn ask(&self) -> Result<ratchet_store::model::ClaimReply, StoreError> {
        let core = &self.ratchet.core;
        // Each claim gets its own node, so that no lease expires while the test advances the clock.
        let node = core.ids.node();
        core.store.join(NodeInfo::new(node), LEASE).await?;
        let counts = core.store.counts().await?;
        let mut last = ratchet_store::model::ClaimReply::default();
        for queue in counts.queues.into_keys() {
            let request = ClaimRequest {
                node,
                queues: vec![QueueDemand { queue, limit: 1 }],
                known: Arc::new(core.known_jobs()),
                suspects: Suspects::idle(core.config.isolate_after_crashes),
                starting: true,
            };
            let reply = core.store.claim(request).await?;
            if !reply.jobs.is_empty() {
                return Ok(reply);
            }
            last.next_due = match (last.next_due, reply.next_due) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
        }
        core.store.leave(node).await?;
        Ok(last)
    }
}

impl SandboxBuilder {
    /// Registers application state for `#[inject] it: State<T>`.
    pub fn state<T: Send + Sync + 'static>(self, value: T) -> Self {
        self.configure(|builder| builder.state(value))
    }

    /// Uses exactly these jobs instead of all jobs registered by `#[job]`.
    pub fn jobs(self, jobs: impl IntoIterator<Item = Registration>) -> Self {
        self.configure(|builder| builder.jobs(jobs))
    }

    /// Changes any other setting of the underlying [`Builder`].
    pub fn configure(mut self, change: impl FnOnce(Builder) -> Builder) -> Self {
        self.builder = change(self.builder);
        self
    }

    /// Builds the sandbox.
    pub async fn build(self) -> Result<Sandbox, BuildError> {
        crate::failure::install_hook();
        let sandbox =
            Sandbox { ratchet: self.builder.build().await?, clock: self.clock, lag: self.lag };
        sandbox.declare().await?;
        Ok(sandbox)
    }
}
