//! Erasures, run by the workers that lead maintenance.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ratchet_core::{
    Actor, ArchivedJobs, BulkVerb, ErasurePhase, ErasureSubject, Filter, JobState, OperationId,
    OperationRecord, OperationState, PageRequest, Ratchet,
};
use ratchet_store::Store;
use ratchet_store::model::{AuditFilter, JobSpec, ScheduleRecord, WriteSchedule};

use super::operations::{get, lose_leaders};
use crate::engine::fixture::{EngineFixture, eventually, start};
use crate::engine::flaky::Flaky;
use crate::engine::script::{Script, Step};

fn acme() -> ErasureSubject {
    ErasureSubject::Tenant("acme".to_owned())
}

/// Previews and starts an erasure.
async fn begin(fixture: &EngineFixture, ratchet: &Ratchet) -> OperationRecord {
    // What was submitted in the same instant as a preview is not selected by it.
    fixture.advance(Duration::from_secs(1)).await;
    let preview = ratchet.erasures().preview(&acme()).await.expect("previews");
    ratchet.erasures().start(preview).await.expect("starts")
}

/// Advances the store's clock until the erasure is over.
async fn until_finished(
    fixture: &EngineFixture,
    ratchet: &Ratchet,
    id: OperationId,
) -> OperationRecord {
    eventually("the end of the erasure", async || {
        fixture.advance(Duration::from_secs(1)).await;
        get(ratchet, id).await.state == OperationState::Finished
    })
    .await;
    get(ratchet, id).await
}

async fn all(ratchet: &Ratchet) -> usize {
    let filter = Filter::any().archived(ArchivedJobs::Include);
    let page = PageRequest { before: None, limit: 1000 };
    ratchet.jobs().list(&filter, page).await.expect("lists").jobs.len()
}

pub async fn z_12_a_running_job_is_stopped_and_its_data_deleted(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let job = ratchet.enqueue(Script::of([Step::Listen])).tenant("acme").await.expect("enqueues");
    let kept = ratchet.enqueue(Script::of([Step::Ok])).tenant("other").await.expect("enqueues");
    fixture.until(&ratchet, job.id(), JobState::Running).await;
    fixture.until(&ratchet, kept.id(), JobState::Succeeded).await;
    let ada = ratchet.acting_as(Actor::new("ada"));
    let started = begin(&fixture, &ada).await;
    let done = until_finished(&fixture, &ratchet, started.id).await;
    let erasure = done.erasure.expect("an erasure");
    assert_eq!((erasure.canceled, erasure.erased.jobs), (1, 1));
    assert_eq!(ratchet.jobs().get(job.id()).await.expect("reads"), None);
    assert!(ratchet.jobs().get(kept.id()).await.expect("reads").is_some());
    let entries = ratchet.audit().list(&AuditFilter::default(), None, 100).await.expect("lists");
    assert!(entries.iter().any(|entry| entry.verb == "erasures.start"), "{entries:?}");
    assert!(entries.iter().all(|entry| entry.actor.name == "ada"));
    ratchet.audit().verify().await.expect("the trail is complete");
    worker.stop().await;
}

pub async fn z_12_schedules_of_the_tenant_are_removed(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    for (name, tenant) in [("own", "acme"), ("kept", "other")] {
        let mut spec = JobSpec::new("unknown", b"{}".to_vec());
        spec.tenant = Some(tenant.to_owned());
        let write = WriteSchedule {
            name: name.to_owned(),
            replaces: None,
            record: Some(ScheduleRecord::new(name, spec, "0 3 * * *")),
            declarations: None,
            jobs: Vec::new(),
            notices: Vec::new(),
        };
        fixture.store().write_schedule(write).await.expect("writes");
    }
    let preview = ratchet.erasures().preview(&acme()).await.expect("previews");
    assert_eq!(preview.schedules, ["own"]);
    let started = begin(&fixture, &ratchet).await;
    until_finished(&fixture, &ratchet, started.id).await;
    let left = fixture.store().schedules().await.expect("reads");
    assert_eq!(left.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["kept"]);
    worker.stop().await;
}

pub async fn z_12_an_erasure_survives_its_leaders(fixture: EngineFixture) {
    const JOBS: usize = 150;
    let ratchet = fixture.ratchet().await;
    ratchet.queues().pause("default").await.expect("pauses");
    for number in 0..JOBS {
        let job = ratchet.enqueue(Script::of([Step::Ok])).tenant("acme");
        job.idempotency_key(format!("key-{number}")).await.expect("enqueues");
    }
    fixture.advance(Duration::from_secs(1)).await;
    let erasures = ratchet.erasures().pace(1);
    let preview = erasures.preview(&acme()).await.expect("previews");
    assert_eq!((preview.jobs, preview.keys, preview.exact), (JOBS as u64, JOBS as u64, true));
    let started = erasures.start(preview).await.expect("starts");
    lose_leaders(&fixture, &ratchet, started.id, 3, JOBS).await;
    let (_, worker) = fixture.start().await;
    let done = until_finished(&fixture, &ratchet, started.id).await;
    let jobs = JOBS as u64;
    assert_eq!((done.changed, done.erasure.expect("an erasure").erased.keys), (jobs, jobs));
    assert_eq!(all(&ratchet).await, 0);
    worker.stop().await;
}

pub async fn z_12_a_job_of_a_dead_worker_is_erased_after_its_lease(fixture: EngineFixture) {
    let wire = Arc::new(Flaky::new(fixture.store()));
    let builder = fixture.builder_on(Arc::clone(&wire) as Arc<dyn Store>);
    let builder = builder.config(|config| config.lease = Duration::from_secs(15));
    let (ratchet, _dead) = start(builder).await;
    let job = ratchet.enqueue(Script::of([Step::Hang])).tenant("acme").await.expect("enqueues");
    fixture.until(&ratchet, job.id(), JobState::Running).await;
    wire.switches().down.store(true, Ordering::SeqCst);
    let other = fixture.ratchet().await;
    let started = begin(&fixture, &other).await;
    let (_, worker) = fixture.start().await;
    let done = until_finished(&fixture, &other, started.id).await;
    assert_eq!(done.changed, 1);
    assert_eq!(all(&other).await, 0);
    worker.stop().await;
}

pub async fn z_12_the_digest_binds_an_erasure_to_its_preview(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    let erasures = ratchet.erasures();
    let preview = erasures.preview(&acme()).await.expect("previews");
    assert!(preview.is_empty(), "{preview:?}");
    let mut other = preview.clone();
    other.subject = ErasureSubject::Tenant("other".to_owned());
    let refused = erasures.start(other).await.expect_err("is another erasure");
    assert!(refused.to_string().contains("preview it again"), "{refused}");
    let operations = ratchet.operations();
    let bulk = operations.preview(BulkVerb::Erase, &Filter::any()).await.expect("previews");
    let refused = operations.start(ratchet_core::Bulk::of(bulk)).await.expect_err("is refused");
    assert!(refused.to_string().contains("Ratchet::erasures"), "{refused}");
    let started = erasures.start(preview).await.expect("starts");
    assert_eq!(started.erasure.expect("an erasure").phase, ErasurePhase::Cancel);
}
