//! Bulk operations, run by the workers that lead maintenance.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ratchet_core::{
    Actor, Bulk, BulkVerb, Canary, Filter, JobId, JobState, OperationId, OperationRecord,
    OperationState, Ratchet,
};
use ratchet_store::Store;
use ratchet_store::model::AuditFilter;

use crate::engine::fixture::{EngineFixture, eventually, start};
use crate::engine::flaky::Flaky;
use crate::engine::script::{Script, Step};

/// Runs jobs that fail permanently, and plays `then` when they are retried.
async fn dead(fixture: &EngineFixture, count: usize, then: Step) -> Vec<JobId> {
    let (ratchet, worker) = fixture.start().await;
    let scripts = (0..count).map(|_| Script::of([Step::Fatal, then.clone()]));
    let handles = ratchet.enqueue_many(scripts.collect::<Vec<_>>()).await.expect("enqueues");
    let jobs: Vec<_> = handles.iter().map(ratchet_core::JobHandle::id).collect();
    for id in &jobs {
        fixture.until(&ratchet, *id, JobState::Failed).await;
    }
    worker.stop().await;
    // Jobs that failed in the same instant as a preview are not selected by it.
    fixture.advance(Duration::from_secs(1)).await;
    jobs
}

async fn begin(ratchet: &Ratchet, adjust: impl FnOnce(Bulk) -> Bulk) -> OperationRecord {
    let operations = ratchet.operations();
    let preview = operations.preview(BulkVerb::Retry, &Filter::any()).await.expect("previews");
    operations.start(adjust(Bulk::of(preview))).await.expect("starts")
}

pub(super) async fn get(ratchet: &Ratchet, id: OperationId) -> OperationRecord {
    ratchet.operations().get(id).await.expect("reads").expect("exists")
}

/// Advances the store's clock until the operation is in a state.
async fn until(
    fixture: &EngineFixture,
    ratchet: &Ratchet,
    id: OperationId,
    state: OperationState,
) -> OperationRecord {
    eventually("the state of the operation", async || {
        fixture.advance(Duration::from_secs(1)).await;
        get(ratchet, id).await.state == state
    })
    .await;
    get(ratchet, id).await
}

async fn generations(ratchet: &Ratchet, jobs: &[JobId]) -> Vec<u32> {
    let mut found = Vec::new();
    for id in jobs {
        found.push(ratchet.jobs().get(*id).await.expect("reads").expect("exists").generation);
    }
    found
}

pub async fn o_04_the_leader_runs_an_operation(fixture: EngineFixture) {
    let jobs = dead(&fixture, 12, Step::Ok).await;
    let (ratchet, worker) = fixture.start().await;
    let ada = ratchet.acting_as(Actor::new("ada"));
    let started = begin(&ada, |bulk| bulk).await;
    assert_eq!((started.expected, started.exact), (12, true));
    let done = until(&fixture, &ratchet, started.id, OperationState::Finished).await;
    assert_eq!((done.matched, done.changed, done.refused), (12, 12, 0));
    for id in &jobs {
        fixture.until(&ratchet, *id, JobState::Succeeded).await;
    }
    assert_eq!(generations(&ratchet, &jobs).await, [2; 12]);
    let entries = ratchet.audit().list(&AuditFilter::default(), None, 10).await.expect("lists");
    let verbs: Vec<_> = entries.iter().rev().map(|entry| entry.verb.as_str()).collect();
    assert_eq!(verbs, ["operations.start", "operations.page"]);
    assert!(entries.iter().all(|entry| entry.actor.name == "ada"));
    ratchet.audit().verify().await.expect("the trail is complete");
    worker.stop().await;
}

/// Starts workers one after the other. Each of them works on the operation, and then no longer reaches the store.
/// The operation must not be over in the end.
pub(super) async fn lose_leaders(
    fixture: &EngineFixture,
    ratchet: &Ratchet,
    operation: OperationId,
    leaders: usize,
    jobs: usize,
) {
    let mut lost = Vec::new();
    let mut before = 0;
    for _ in 0..leaders {
        let wire = Arc::new(Flaky::new(fixture.store()));
        let builder = fixture.builder_on(Arc::clone(&wire) as Arc<dyn Store>);
        let builder = builder.config(|config| config.lease = Duration::from_secs(15));
        lost.push(start(builder).await);
        // A slow machine must not let so much time pass that the operation ends.
        let mut steps = 50;
        eventually("progress", async || {
            if steps > 0 {
                steps -= 1;
                fixture.advance(Duration::from_millis(200)).await;
            }
            get(ratchet, operation).await.changed > before
        })
        .await;
        // From now on, nothing of this process reaches the store.
        wire.switches().down.store(true, Ordering::SeqCst);
        fixture.advance(Duration::from_secs(16)).await;
        before = get(ratchet, operation).await.changed;
    }
    assert!(before < jobs as u64, "the operation is not over: {before}");
}

pub async fn o_04_an_operation_survives_five_leaders(fixture: EngineFixture) {
    const JOBS: usize = 150;
    let jobs = dead(&fixture, JOBS, Step::Ok).await;
    let ratchet = fixture.ratchet().await;
    ratchet.queues().pause("default").await.expect("pauses");
    let started = begin(&ratchet, |bulk| bulk.pace(1)).await;
    lose_leaders(&fixture, &ratchet, started.id, 5, JOBS).await;
    let (_, worker) = fixture.start().await;
    let done = until(&fixture, &ratchet, started.id, OperationState::Finished).await;
    assert_eq!((done.matched, done.changed, done.refused), (JOBS as u64, JOBS as u64, 0));
    assert_eq!(generations(&ratchet, &jobs).await, [2; JOBS], "each was retried once");
    worker.stop().await;
}

pub async fn o_04_an_aborted_operation_stops_at_its_cursor(fixture: EngineFixture) {
    let jobs = dead(&fixture, 40, Step::Ok).await;
    let (ratchet, worker) = fixture.start().await;
    ratchet.queues().pause("default").await.expect("pauses");
    let started = begin(&ratchet, |bulk| bulk.pace(2)).await;
    // A slow machine must not let so much time pass that the operation ends.
    let mut steps = 30;
    eventually("progress", async || {
        if steps > 0 {
            steps -= 1;
            fixture.advance(Duration::from_millis(500)).await;
        }
        get(&ratchet, started.id).await.changed > 0
    })
    .await;
    let aborted = ratchet.operations().abort(started.id).await.expect("aborts");
    // The leader runs another operation, so that it has looked at the aborted one.
    let next = ratchet.operations().preview(BulkVerb::Resume, &Filter::any()).await;
    let next = ratchet.operations().start(Bulk::of(next.expect("previews"))).await.expect("starts");
    until(&fixture, &ratchet, next.id, OperationState::Finished).await;
    let end = get(&ratchet, started.id).await;
    assert_eq!(end, aborted);
    let cursor = end.cursor.expect("it has visited jobs");
    let expected: Vec<_> = jobs.iter().map(|id| if *id <= cursor { 2 } else { 1 }).collect();
    assert_eq!(generations(&ratchet, &jobs).await, expected);
    assert_eq!(expected.iter().filter(|one| **one == 2).count() as u64, end.changed);
    worker.stop().await;
}

pub async fn o_04_a_good_canary_lets_the_rest_follow(fixture: EngineFixture) {
    let jobs = dead(&fixture, 9, Step::Ok).await;
    let (ratchet, worker) = fixture.start().await;
    let canary = Canary::new(3).max_failed_percent(0);
    let started = begin(&ratchet, |bulk| bulk.canary(canary)).await;
    let done = until(&fixture, &ratchet, started.id, OperationState::Finished).await;
    assert_eq!((done.changed, done.failed), (9, 0));
    assert_eq!(generations(&ratchet, &jobs).await, [2; 9]);
    worker.stop().await;
}

pub async fn o_04_a_bad_canary_pauses_the_operation(fixture: EngineFixture) {
    let jobs = dead(&fixture, 9, Step::Fatal).await;
    let (ratchet, worker) = fixture.start().await;
    let canary = Canary::new(3).max_failed_percent(30);
    let started = begin(&ratchet, |bulk| bulk.canary(canary)).await;
    let paused = until(&fixture, &ratchet, started.id, OperationState::Paused).await;
    assert_eq!(paused.changed, 3);
    assert!((1..=3).contains(&paused.failed), "{paused:?}");
    assert_eq!(generations(&ratchet, &jobs).await, [2, 2, 2, 1, 1, 1, 1, 1, 1]);
    ratchet.operations().resume(started.id).await.expect("resumes");
    until(&fixture, &ratchet, started.id, OperationState::Finished).await;
    assert_eq!(generations(&ratchet, &jobs).await, [2; 9]);
    worker.stop().await;
}

pub async fn o_04_the_digest_binds_an_operation_to_its_preview(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    let operations = ratchet.operations();
    let mail = Filter::any().queue("mail");
    let preview = operations.preview(BulkVerb::Cancel, &mail).await.expect("previews");
    let same = operations.preview_at(BulkVerb::Cancel, &mail, preview.cutoff).await;
    assert_eq!(same.expect("previews").digest, preview.digest);
    let mut other = preview.clone();
    other.filter = Filter::any();
    let refused = operations.start(Bulk::of(other)).await.expect_err("is another operation");
    assert!(refused.to_string().contains("preview it again"), "{refused}");
    assert!(operations.list(10).await.expect("lists").is_empty());
    operations.start(Bulk::of(preview)).await.expect("starts");
}
