//! Crashed workers, simulated by nodes that claim jobs and then send no heartbeats.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ratchet_core::{Event, IdSource, Job as _, JobId, JobState, OsEntropy, Ratchet, SystemClock};
use ratchet_store::model::{
    AttemptOutcome, ClaimRequest, KnownJobs, NodeInfo, QueueDemand, Suspects, TerminalReason,
};

use crate::engine::fixture::{EngineFixture, event, eventually, name, outcomes, start};
use crate::engine::script::{Script, Step};

/// Claims all waiting jobs for a node and lets its lease expire. `started` states whether its handlers had started.
pub(super) async fn die_with(fixture: &EngineFixture, started: bool) {
    let node = IdSource::new(Arc::new(SystemClock::default()), Arc::new(OsEntropy)).node();
    let store = fixture.store();
    store.join(NodeInfo::new(node), Duration::from_secs(15)).await.expect("joins");
    let request = ClaimRequest {
        node,
        queues: vec![QueueDemand { queue: "default".to_owned(), limit: 100 }],
        known: Arc::new(KnownJobs([(name::<Script>().to_owned(), 1)].into())),
        suspects: Suspects::idle(u32::MAX),
        starting: started,
    };
    let claimed = store.claim(request).await.expect("claims");
    assert!(!claimed.jobs.is_empty(), "there was something to claim");
    fixture.advance(Duration::from_secs(20)).await;
}

async fn crashes(ratchet: &Ratchet, id: JobId) -> u32 {
    ratchet.jobs().get(id).await.expect("reads").expect("exists").crashes
}

pub async fn p_01_p_05_orphans_are_brought_back_by_any_node(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    let job = fixture.play(&ratchet, [Step::Ok]).await;
    die_with(&fixture, true).await;
    // Before the start, because the first sweep may find the orphan.
    let mut events = ratchet.events();
    let worker = ratchet.start().await.expect("starts");
    let orphaned = event(&mut events, |event| matches!(event, Event::Orphaned { .. })).await;
    assert!(matches!(orphaned, Event::Orphaned { crashes: 1, .. }));
    let record = fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    assert_eq!((record.attempts, record.crashes), (0, 1));
    assert_eq!(
        outcomes(&ratchet, job.id()).await,
        [AttemptOutcome::Crashed, AttemptOutcome::Success]
    );
    assert_eq!(worker.stats().rescued, 1);
    worker.stop().await;
}

pub async fn p_02_a_job_that_had_not_started_is_not_charged(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    let job = fixture.play(&ratchet, [Step::Ok]).await;
    die_with(&fixture, false).await;
    let (ratchet, worker) = fixture.start().await;
    fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    assert_eq!(crashes(&ratchet, job.id()).await, 0);
    worker.stop().await;
}

pub async fn p_02_a_job_that_keeps_killing_its_worker_is_poison(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    let job = fixture.play(&ratchet, [Step::Ok]).await;
    for dead in 1..=3 {
        die_with(&fixture, true).await;
        // A worker that only rescues, because it knows no job of this name.
        let rescuer = fixture
            .builder()
            .crash_limit(2)
            .jobs([])
            .resolver(Rescuer)
            .build()
            .await
            .expect("builds");
        let worker = rescuer.start().await.expect("starts");
        eventually("it is rescued", async || crashes(&ratchet, job.id()).await == dead).await;
        worker.stop().await;
        fixture.advance(Duration::from_mins(2)).await;
    }
    let record = ratchet.jobs().get(job.id()).await.expect("reads").expect("exists");
    assert_eq!((record.state, record.attempts), (JobState::Failed, 0));
    assert_eq!(record.envelope.expect("an envelope").reason, TerminalReason::Poisoned);
}

/// Never runs, because its worker dies with it.
#[ratchet_macros::job(name = "test.pay", crate = ::ratchet_core)]
async fn pay(order: u64, #[job(secret)] card: String) {
    let _ = (order, card);
}

pub async fn d_09_the_envelope_of_a_poisoned_job_shows_its_arguments(fixture: EngineFixture) {
    let builder = fixture.builder().jobs([Pay::JOB]).crash_limit(0);
    let ratchet = builder.build().await.expect("builds");
    let pay = Pay { order: 7, card: "4111".to_owned() };
    let job = ratchet.enqueue(pay).await.expect("enqueues");
    let mut info =
        NodeInfo::new(IdSource::new(Arc::new(SystemClock::default()), Arc::new(OsEntropy)).node());
    info.host = "dead-host".to_owned();
    let node = info.id;
    fixture.store().join(info, Duration::from_secs(15)).await.expect("joins");
    let request = ClaimRequest {
        node,
        queues: vec![QueueDemand { queue: "default".to_owned(), limit: 1 }],
        known: Arc::new(KnownJobs([("test.pay".to_owned(), u32::MAX)].into())),
        suspects: Suspects::idle(u32::MAX),
        starting: true,
    };
    assert_eq!(fixture.store().claim(request).await.expect("claims").jobs.len(), 1);
    fixture.advance(Duration::from_mins(1)).await;
    let worker = ratchet.start().await.expect("starts");
    let record = fixture.until(&ratchet, job.id(), JobState::Failed).await;
    let envelope = record.envelope.expect("an envelope");
    assert_eq!((envelope.reason, envelope.crashes), (TerminalReason::Poisoned, 1));
    assert_eq!(envelope.host, "dead-host");
    assert_eq!(envelope.arguments, Some(serde_json::json!({ "order": 7, "card": "***" })));
    worker.stop().await;
}

/// A resolver that knows only a job that is never enqueued.
#[derive(Debug)]
pub(super) struct Rescuer;

impl ratchet_core::JobInvocationResolver for Rescuer {
    fn resolve(&self, _: &str) -> Option<ratchet_core::Registration> {
        None
    }

    fn all(&self) -> Vec<ratchet_core::Registration> {
        vec![<crate::engine::script::Elsewhere as ratchet_core::Job>::JOB]
    }
}

/// Crashes workers with all waiting jobs, and waits until the jobs were rescued.
async fn crash(fixture: &EngineFixture, ratchet: &Ratchet, jobs: &[JobId], times: u32) {
    for dead in 1..=times {
        die_with(fixture, true).await;
        let rescuer = fixture.builder().jobs([]).resolver(Rescuer).build().await.expect("builds");
        let worker = rescuer.start().await.expect("starts");
        for job in jobs {
            eventually("it is rescued", async || crashes(ratchet, *job).await == dead).await;
        }
        worker.stop().await;
        fixture.advance(Duration::from_mins(2)).await;
    }
}

pub async fn p_06_suspects_run_a_few_at_a_time_beside_others(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    let mut suspects = Vec::new();
    for _ in 0..10 {
        suspects.push(fixture.play(&ratchet, [Step::Gate]).await.id());
    }
    crash(&fixture, &ratchet, &suspects, 3).await;
    let (ratchet, worker) = start(fixture.builder()).await;
    eventually("eight run", async || fixture.stage().running() == 8).await;
    let other = fixture.play(&ratchet, [Step::Ok]).await;
    fixture.until(&ratchet, other.id(), JobState::Succeeded).await;
    assert_eq!((fixture.stage().running(), worker.stats().suspects), (8, 8));
    fixture.stage().let_one_pass();
    let runs = || suspects.iter().map(|id| fixture.stage().runs(*id)).sum::<u32>();
    eventually("the ninth runs", async || runs() == 9).await;
    assert_eq!(fixture.stage().running(), 8);
    for _ in 0..9 {
        fixture.stage().let_one_pass();
    }
    for suspect in suspects {
        fixture.until(&ratchet, suspect, JobState::Succeeded).await;
    }
    worker.stop().await;
}

pub async fn p_06_a_job_with_five_crashes_runs_alone(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    let suspect = fixture.play(&ratchet, [Step::Gate]).await;
    crash(&fixture, &ratchet, &[suspect.id()], 5).await;
    let (ratchet, worker) = start(fixture.builder()).await;
    eventually("the suspect runs", async || fixture.stage().runs(suspect.id()) == 1).await;
    // Another worker takes the remaining jobs; this one runs only the suspect.
    let other = ratchet.start().await.expect("starts");
    for _ in 0..50 {
        let job = fixture.play(&ratchet, [Step::Ok]).await;
        fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    }
    assert_eq!((worker.stats().claimed, other.stats().claimed), (1, 50));
    other.stop().await;
    fixture.stage().let_one_pass();
    let record = fixture.until(&ratchet, suspect.id(), JobState::Succeeded).await;
    assert_eq!((record.crashes, fixture.stage().runs(suspect.id())), (5, 1));
    let after = fixture.play(&ratchet, [Step::Ok]).await;
    fixture.until(&ratchet, after.id(), JobState::Succeeded).await;
    worker.stop().await;
}

pub async fn l_06_a_zombie_cannot_overwrite_a_newer_attempt(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let mut events = ratchet.events();
    let job = fixture.play(&ratchet, [Step::Gate, Step::Ok]).await;
    eventually("it runs", async || fixture.stage().running() == 1).await;
    // Remove its node while it still runs; the job is then rescued.
    fixture.switches().stop_heartbeats().await;
    fixture.store().leave(worker.node()).await.expect("leaves");
    eventually("it is rescued", async || crashes(&ratchet, job.id()).await == 1).await;
    fixture.stage().let_one_pass();
    event(&mut events, |event| matches!(event, Event::Stale { job: it } if it.id == job.id()))
        .await;
    assert_eq!(worker.stats().stale, 1);
    fixture.switches().no_heartbeat.store(false, Ordering::SeqCst);
    let record = fixture.ended(&ratchet, job.id()).await;
    assert_eq!((record.state, record.run), (JobState::Succeeded, 2));
    assert_eq!(
        outcomes(&ratchet, job.id()).await,
        [AttemptOutcome::Crashed, AttemptOutcome::Success]
    );
    worker.stop().await;
}
