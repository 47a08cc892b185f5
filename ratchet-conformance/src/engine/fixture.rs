//! The test bench of an engine case: a store that can fail, scripted jobs, and helpers to wait for conditions.

use std::sync::Arc;
use std::time::Duration;

use ratchet_core::{
    Builder, Event, EventStream, Filter, Job, JobHandle, JobId, JobState, PageRequest, Ratchet,
    Worker,
};
use ratchet_store::Store;
use ratchet_store::model::{AttemptRecord, JobRecord};

use super::flaky::{Flaky, Switches};
use super::keys;
use super::script::{self, Script, Stage, Step};
use crate::Harness;

/// The store and the stage of scripted jobs that one engine case uses.
pub struct EngineFixture {
    harness: Box<dyn Harness>,
    store: Arc<Flaky>,
    stage: Stage,
}

impl std::fmt::Debug for EngineFixture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EngineFixture").field("store", &self.store).finish_non_exhaustive()
    }
}

/// The upper bound of every wait in a case.
const TIMEOUT: Duration = Duration::from_secs(30);

impl EngineFixture {
    /// Creates a bench with a fresh store.
    pub async fn new<H: Harness>() -> Self {
        let harness = Box::new(H::fresh().await);
        let store = Arc::new(Flaky::new(harness.store()));
        Self { harness, store, stage: Stage::default() }
    }

    pub(super) fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store) as Arc<dyn Store>
    }

    /// Returns the switches that make the store fail.
    pub(super) fn switches(&self) -> &Switches {
        self.store.switches()
    }

    pub(super) fn stage(&self) -> &Stage {
        &self.stage
    }

    /// Advances the store's clock.
    pub(super) async fn advance(&self, by: Duration) {
        self.harness.advance(by).await;
    }

    /// Returns how many rounds of a random case to play.
    pub(super) fn rounds(&self, all: usize) -> usize {
        self.harness.rounds(all)
    }

    /// Creates a builder with all scripted jobs and short intervals.
    pub(super) fn builder(&self) -> Builder {
        self.builder_on(self.store())
    }

    /// Like [`Self::builder`], on another view of the store.
    pub(super) fn builder_on(&self, store: Arc<dyn Store>) -> Builder {
        keys::protected_if_requested(Ratchet::builder_shared(store))
            .state(self.stage.clone())
            .jobs(script::jobs())
            .concurrency(16)
            .config(|config| {
                // Cases advance the store's clock by minutes, so the lease must be longer than that.
                config.lease = Duration::from_hours(1);
                config.heartbeat = Duration::from_millis(50);
                config.maintenance_interval = Duration::from_millis(20);
                config.poll_interval = (Duration::from_millis(5), Duration::from_millis(20));
                config.cancel_grace = Duration::from_millis(50);
                config.runaway_after = Duration::from_millis(100);
                config.delivery_hold = Duration::from_millis(1);
            })
    }

    pub(super) async fn ratchet(&self) -> Ratchet {
        self.builder().build().await.expect("builds")
    }

    /// Builds a runtime and starts its worker.
    pub(super) async fn start(&self) -> (Ratchet, Worker) {
        start(self.builder()).await
    }

    /// Enqueues a scripted job.
    pub(super) async fn play(
        &self,
        ratchet: &Ratchet,
        steps: impl IntoIterator<Item = Step>,
    ) -> JobHandle<Script> {
        ratchet.enqueue(Script::of(steps)).await.expect("enqueues")
    }

    /// Waits until a job is in a state. Advances the store's clock by a second at a time, so that backoffs pass.
    pub(super) async fn until(&self, ratchet: &Ratchet, id: JobId, state: JobState) -> JobRecord {
        self.until_job(ratchet, id, |job| job.state == state).await
    }

    /// Waits until `fits` accepts the job, advancing the store's clock.
    pub(super) async fn until_job(
        &self,
        ratchet: &Ratchet,
        id: JobId,
        fits: impl Fn(&JobRecord) -> bool,
    ) -> JobRecord {
        let deadline = tokio::time::Instant::now() + TIMEOUT;
        loop {
            let job = ratchet.jobs().get(id).await.ok().flatten();
            if let Some(job) = job.as_ref().filter(|job| fits(job)) {
                return job.clone();
            }
            assert!(tokio::time::Instant::now() < deadline, "waited too long; the job is {job:#?}");
            self.advance(Duration::from_secs(1)).await;
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Returns all jobs.
    pub(super) async fn all(&self, ratchet: &Ratchet) -> Vec<JobRecord> {
        let page = PageRequest { before: None, limit: 1000 };
        ratchet.jobs().list(&Filter::any(), page).await.expect("reads").jobs
    }

    /// Waits until `fits` accepts every job, advancing the store's clock.
    pub(super) async fn until_all(
        &self,
        ratchet: &Ratchet,
        what: &str,
        fits: impl Fn(&JobRecord) -> bool,
    ) {
        eventually(what, async || {
            self.advance(Duration::from_secs(1)).await;
            self.all(ratchet).await.iter().all(&fits)
        })
        .await;
    }

    /// Waits until a scripted job is in a terminal state.
    pub(super) async fn ended(&self, ratchet: &Ratchet, id: JobId) -> JobRecord {
        self.until_job(ratchet, id, |job| job.state.is_terminal()).await
    }
}

pub(super) async fn start(builder: Builder) -> (Ratchet, Worker) {
    let ratchet = builder.build().await.expect("builds");
    let worker = ratchet.start().await.expect("starts");
    (ratchet, worker)
}

/// Waits for a condition without advancing the store's clock.
pub(super) async fn eventually(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let deadline = tokio::time::Instant::now() + TIMEOUT;
    while !holds().await {
        assert!(tokio::time::Instant::now() < deadline, "waited too long for: {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Returns the next event that `fits` accepts, and drops the events before it.
pub(super) async fn event(events: &mut EventStream, fits: impl Fn(&Event) -> bool) -> Event {
    let search = async {
        loop {
            let event = events.next().await.expect("the runtime lives");
            if fits(&event) {
                return event;
            }
        }
    };
    tokio::time::timeout(TIMEOUT, search).await.expect("the event comes")
}

/// Returns the outcomes in a job's history.
pub(super) async fn outcomes(
    ratchet: &Ratchet,
    id: JobId,
) -> Vec<ratchet_store::model::AttemptOutcome> {
    history(ratchet, id).await.into_iter().map(|line| line.outcome).collect()
}

pub(super) async fn history(ratchet: &Ratchet, id: JobId) -> Vec<AttemptRecord> {
    ratchet.jobs().attempts(id).await.expect("reads")
}

/// Returns the stored name of a job.
pub(super) fn name<J: Job>() -> &'static str {
    J::DEF.name
}
