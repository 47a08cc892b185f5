//! Erasures: everything of a tenant or of a correlation id is deleted, page by page.

use std::sync::Arc;
use std::time::Duration;

use ratchet_store::model::{
    Actor, AfterFailure, ArchivedJobs, AuditFilter, AuditNote, BulkVerb, Change, ChangeReply,
    Channel, Claimed, EdgeTrigger, ErasedRows, ErasurePhase, ErasureSubject, Filter, GroupKind,
    Inserted, JobId, JobState, KeyKind, NewHandOff, NewJob, NewReject, OperationFilter,
    OperationId, OperationRecord, OperationReply, OperationState, OperationUpdate, Page,
    PageRequest, PurgeKeys, RejectFilter, RunNotes, Settlement,
};
use ratchet_store::rules::{erasure, operation};
use uuid::Uuid;

use crate::World;
use crate::fixture::{JobExt, RunExt, SettlementExt, Sketch, days, hours, mins, secs};

fn tenant() -> ErasureSubject {
    ErasureSubject::Tenant("acme".to_owned())
}

fn correlation() -> ErasureSubject {
    ErasureSubject::Correlation("order-7".to_owned())
}

/// Returns a job of the tenant with the correlation id.
fn own(world: &World) -> NewJob {
    world.job().tenant("acme").correlation("order-7")
}

async fn prepared(world: &World, subject: &ErasureSubject) -> OperationRecord {
    world.pass(secs(1)).await;
    let id = OperationId::from_uuid(world.unknown_id().uuid());
    let now = world.now().await;
    operation::prepare(id, BulkVerb::Erase, &subject.filter(), now, None)
}

async fn change(world: &World, update: OperationUpdate) -> OperationReply {
    let changed = world.store.operate(Change::Operation(update), None).await;
    match changed.expect("the change is applied").reply {
        ChangeReply::Operation(reply) => *reply,
        other => panic!("not a reply to an operation: {other:?}"),
    }
}

async fn start(world: &World, subject: &ErasureSubject) -> OperationRecord {
    let record = prepared(world, subject).await;
    change(world, OperationUpdate::Start(record)).await.operation
}

/// Prepares the next page, as the leader does.
async fn next_page(world: &World, current: &OperationRecord) -> OperationUpdate {
    let visits = erasure::phase(current).is_some_and(ErasurePhase::visits_jobs);
    let page = if visits {
        let request = PageRequest { before: current.cursor, limit: 2 };
        world.store.list(&operation::listing(current), request).await.expect("lists")
    } else {
        Page::default()
    };
    operation::page(current, &page)
}

/// Runs pages until the erasure ends, or must wait for jobs in use.
async fn run(world: &World, mut current: OperationRecord) -> OperationRecord {
    while current.state == OperationState::Running {
        let page = next_page(world, &current).await;
        let reply = change(world, page).await;
        current = reply.operation;
        if !reply.applied || erasure::must_wait(&current) {
            break;
        }
    }
    current
}

async fn erase(world: &World, subject: &ErasureSubject) -> ErasedRows {
    let done = run(world, start(world, subject).await).await;
    assert_eq!(done.state, OperationState::Finished, "{done:?}");
    assert!(done.ended_at.is_some());
    done.erasure.expect("an erasure").erased
}

/// Returns all jobs, also archived ones.
async fn all(world: &World) -> Vec<JobId> {
    world.list(Filter::any().archived(ArchivedJobs::Include)).await
}

fn reject() -> NewReject {
    NewReject {
        index: 1,
        error_type: "Bad".to_owned(),
        message: "secret".to_owned(),
        fingerprint: "f".to_owned(),
        payload: None,
    }
}

/// Ends a run with everything that a run can write.
fn writing(run: &Claimed, mut settlement: Settlement) -> Settlement {
    let mut notes = RunNotes::default();
    notes.logs.push(super::notes::line(run, "secret"));
    settlement = settlement.notes(notes);
    settlement.rejects = vec![reject()];
    let hand_off = NewHandOff {
        tenant: run.spec.tenant.clone(),
        correlation_id: run.spec.correlation_id.clone(),
        ..NewHandOff::new("load", run.id().to_string(), serde_json::json!({ "secret": 1 }))
    };
    settlement.hand_offs = vec![hand_off];
    settlement
}

async fn written(world: &World, job: NewJob) -> JobId {
    let run = world.run(job).await;
    let settlement = writing(&run, run.fail().alerting().publishing().telling(&run));
    world.apply(settlement).await;
    run.id()
}

/// Returns a job whose id is this old by the clock of the store, because the age of a key is that of the id.
async fn dated(world: &World, age: Duration, mut job: NewJob) -> NewJob {
    let random = world.unknown_id().uuid().as_u128() & ((1 << 80) - 1);
    let first = erasure::first_id(world.now().await - age).uuid().as_u128();
    job.id = JobId::from_uuid(Uuid::from_u128(first | random));
    job
}

async fn waiting(world: &World, channel: Channel) -> usize {
    world.take_deliveries(channel, Duration::ZERO).await.len()
}

pub async fn z_12_everything_of_a_tenant_is_deleted(world: &World) {
    erases_everything(world, &tenant()).await;
}

pub async fn z_12_everything_of_a_correlation_id_is_deleted(world: &World) {
    erases_everything(world, &correlation()).await;
}

async fn erases_everything(world: &World, subject: &ErasureSubject) {
    let other = written(world, world.job().tenant("other").correlation("order-8")).await;
    // Otherwise, the second alert about the same failure is suppressed.
    world.pass(days(1)).await;
    let mine = written(world, own(world)).await;
    world.succeeded(own(world)).await;
    world.paused_failed(own(world)).await;
    world.submit(own(world)).await;
    world.submit(own(world).due_in(hours(1))).await;
    let paused = world.submit(own(world)).await;
    world.pause(paused).await;
    let erased = erase(world, subject).await;
    assert_eq!(all(world).await, [other]);
    assert_eq!((erased.jobs, erased.archived), (6, 0));
    assert_eq!((erased.alerts, erased.hand_offs, erased.deliveries), (1, 1, 3));
    assert!(world.history(mine).await.is_empty() && world.logs(mine).await.is_empty());
    let rejects = world.store.rejects(&RejectFilter::any(), None, 10).await.expect("reads");
    assert_eq!(rejects.iter().map(|it| it.job).collect::<Vec<_>>(), [other]);
    let alerts = world.alerts().await;
    assert_eq!(alerts.iter().map(|it| it.job_id).collect::<Vec<_>>(), [other]);
    for channel in [Channel::Alerts, Channel::DeadLetters, Channel::Outcomes] {
        assert_eq!(waiting(world, channel).await, 1, "{channel:?}");
    }
    let handed = world.store.take_hand_offs("load", 10, mins(1)).await.expect("takes");
    assert_eq!(handed.iter().map(|it| it.job).collect::<Vec<_>>(), [other]);
    assert_eq!(world.counts().await.state(JobState::Failed), 1);
    assert_eq!(world.counts().await.state(JobState::Canceled), 0);
}

pub async fn z_12_archived_jobs_are_deleted(world: &World) {
    let mine = written(world, own(world).idempotent("once")).await;
    let other = written(world, world.job().tenant("other")).await;
    world.pass(hours(1)).await;
    assert_eq!(world.store.archive(JobState::Failed, hours(1), 10).await.expect("archives"), 2);
    let erased = erase(world, &correlation()).await;
    assert_eq!((erased.jobs, erased.archived, erased.keys), (0, 1, 1));
    assert_eq!((erased.alerts, erased.hand_offs, erased.deliveries), (1, 1, 3));
    assert_eq!(all(world).await, [other]);
    assert_eq!(world.find(mine).await, None);
    let status = world.store.archive_status().await.expect("reads");
    assert_eq!(status.jobs(), 1);
}

pub async fn z_12_jobs_after_the_cutoff_are_kept(world: &World) {
    let before = world.submit(own(world)).await;
    let record = prepared(world, &tenant()).await;
    world.pass(secs(1)).await;
    let after = world.submit(own(world)).await;
    let current = change(world, OperationUpdate::Start(record)).await.operation;
    let done = run(world, current).await;
    assert_eq!(done.state, OperationState::Finished);
    assert_eq!(world.find(before).await, None);
    assert_eq!(all(world).await, [after]);
}

pub async fn z_12_a_running_job_is_canceled_and_deleted_after_its_handler_has_stopped(
    world: &World,
) {
    let running = world.run(own(world)).await;
    let waits = run(world, start(world, &tenant()).await).await;
    assert_eq!(waits.state, OperationState::Running);
    let erasure = waits.erasure.clone().expect("an erasure");
    assert_eq!((erasure.phase, erasure.left), (ErasurePhase::Remove, 1));
    assert_eq!(world.state(running.id()).await, JobState::Canceled);
    let again = next_page(world, &waits).await;
    assert!(!change(world, again).await.applied, "an idle pass is not recorded");
    world.release_holds(running.token).await;
    let done = run(world, waits).await;
    assert_eq!(done.state, OperationState::Finished);
    assert!(all(world).await.is_empty());
    assert_eq!(done.erasure.expect("an erasure").canceled, 1);
}

pub async fn z_12_keys_are_replaced_by_digests_that_still_find_repeats(world: &World) {
    let first = world.succeeded(own(world).idempotent("once")).await;
    let purged = world.succeeded(own(world).idempotent("purged")).await;
    world.pass(days(1)).await;
    assert_eq!(world.purge(JobState::Succeeded, hours(20)).await, 2);
    let third = world.submit(own(world).idempotent("third")).await;
    let erased = erase(world, &tenant()).await;
    assert_eq!(erased.keys, 3);
    for (key, original) in [("once", first), ("purged", purged), ("third", third)] {
        let again = world.try_submit(own(world).idempotent(key)).await.expect("a repeat");
        assert_eq!(again, Inserted::Duplicate(original), "{key}");
        let other = world.try_submit(own(world).idempotent(key).payload(b"other")).await;
        assert_eq!(other.expect("only the key is compared"), Inserted::Duplicate(original));
        let batch = world.insert(vec![own(world), own(world).idempotent(key)]).await;
        assert_eq!(batch.expect("inserts")[1], Inserted::Duplicate(original));
    }
    let elsewhere = world.try_submit(world.job().tenant("b").idempotent("once")).await;
    assert!(matches!(elsewhere, Ok(Inserted::Created(_))), "{elsewhere:?}");
    let erasable = world.store.erasable(&tenant(), 10).await.expect("counts");
    assert_eq!(erasable.keys, 0);
}

pub async fn z_12_a_digest_expires_with_its_key(world: &World) {
    world.succeeded(own(world).idempotent("once").within(hours(2))).await;
    erase(world, &tenant()).await;
    let again = world.try_submit(own(world).idempotent("once")).await.expect("a repeat");
    assert!(matches!(again, Inserted::Duplicate(_)));
    world.pass(hours(3)).await;
    let later = world.try_submit(own(world).idempotent("once")).await.expect("a new use");
    assert!(matches!(later, Inserted::Created(_)), "{later:?}");
}

pub async fn z_12_keys_of_live_jobs_stay(world: &World) {
    let record = prepared(world, &tenant()).await;
    world.pass(secs(1)).await;
    let live = world.submit(own(world).idempotent("once").payload(b"1")).await;
    let current = change(world, OperationUpdate::Start(record)).await.operation;
    let done = run(world, current).await;
    assert_eq!(done.erasure.expect("an erasure").erased.keys, 0);
    let other = world.try_submit(own(world).idempotent("once").payload(b"2")).await;
    assert!(other.is_err(), "the arguments are still compared: {other:?}");
    let again = world.try_submit(own(world).idempotent("once").payload(b"1")).await;
    assert_eq!(again.expect("a repeat"), Inserted::Duplicate(live));
}

pub async fn z_12_a_held_up_sequence_is_deleted_in_whole(world: &World) {
    let ordered = || own(world).in_order("account", AfterFailure::Hold);
    world.failed(ordered()).await;
    for _ in 0..3 {
        world.submit(ordered()).await;
    }
    let stranger = world.job().tenant("b").in_order("account", AfterFailure::Hold);
    let stranger = world.submit(stranger).await;
    erase(world, &tenant()).await;
    assert_eq!(all(world).await, [stranger]);
    let node = world.node().await;
    assert_eq!(node.claim_ids(10).await, [stranger], "its turn has come");
}

pub async fn z_12_flows_are_deleted_with_their_members(world: &World) {
    let mut sketch = Sketch::new();
    let outer = sketch.group(world, GroupKind::Batch);
    let inner = sketch.group_in(world, GroupKind::Chain, Some(outer));
    let first = sketch.add(Some(inner), own(world));
    let second = sketch.add(Some(inner), own(world));
    sketch.edge(first, second, EdgeTrigger::Success);
    sketch.add(Some(outer), own(world));
    for group in &mut sketch.graph.groups {
        (group.tenant, group.correlation_id) = (Some("acme".into()), Some("order-7".into()));
    }
    world.insert_graph(sketch).await;
    assert_eq!(world.store.erasable(&correlation(), 10).await.expect("counts").groups, 2);
    let erased = erase(world, &correlation()).await;
    assert_eq!((erased.jobs, erased.groups), (3, 2));
    assert!(all(world).await.is_empty());
    for group in [outer, inner] {
        assert_eq!(world.store.group(group).await.expect("reads"), None);
    }
}

pub async fn z_12_a_member_of_a_flow_of_others_waits_for_its_end(world: &World) {
    let mut sketch = Sketch::new();
    let batch = sketch.group(world, GroupKind::Batch);
    let mine = sketch.add(Some(batch), own(world));
    let other = sketch.add(Some(batch), world.job().tenant("b"));
    world.insert_graph(sketch).await;
    let waits = run(world, start(world, &tenant()).await).await;
    assert_eq!(waits.state, OperationState::Running);
    assert_eq!(world.state(mine).await, JobState::Canceled);
    world.cancel(other).await;
    let done = run(world, waits).await;
    assert_eq!(done.state, OperationState::Finished);
    assert_eq!(all(world).await, [other]);
    assert!(world.store.group(batch).await.expect("reads").is_some());
}

pub async fn z_12_what_remains_of_purged_jobs_is_deleted(world: &World) {
    written(world, own(world)).await;
    let other = written(world, world.job().tenant("b")).await;
    world.pass(hours(1)).await;
    assert_eq!(world.purge(JobState::Failed, hours(1)).await, 2);
    let counted = world.store.erasable(&tenant(), 10).await.expect("counts");
    assert_eq!((counted.hand_offs, counted.deliveries), (1, 2), "{counted:?}");
    let erased = erase(world, &tenant()).await;
    assert_eq!((erased.jobs, erased.hand_offs, erased.deliveries), (0, 1, 2));
    let handed = world.store.take_hand_offs("load", 10, mins(1)).await.expect("takes");
    assert_eq!(handed.iter().map(|it| it.job).collect::<Vec<_>>(), [other]);
    for channel in [Channel::DeadLetters, Channel::Outcomes] {
        assert_eq!(waiting(world, channel).await, 1, "{channel:?}");
    }
}

pub async fn z_12_a_page_that_is_repeated_changes_nothing(world: &World) {
    for _ in 0..5 {
        world.failed(own(world)).await;
    }
    let mut current = start(world, &tenant()).await;
    // Another leader continues after every page, and the one before repeats its page.
    for _ in 0..40 {
        let page = next_page(world, &current).await;
        let first = change(world, page.clone()).await;
        let again = change(world, page).await;
        assert!(!again.applied && again.page.is_none());
        assert_eq!(again.operation, first.operation);
        let found = world.store.operations(OperationFilter::one(current.id), 1).await;
        current = found.expect("lists").pop().expect("is stored");
        assert_eq!(current, first.operation, "the reply is what was stored");
        if current.state != OperationState::Running {
            break;
        }
    }
    assert_eq!((current.state, current.changed), (OperationState::Finished, 5));
    assert!(all(world).await.is_empty());
}

pub async fn z_12_of_two_leaders_one_applies_the_page(world: &World) {
    for _ in 0..4 {
        world.failed(own(world).idempotent(&world.unknown_id().to_string())).await;
    }
    let mut current = start(world, &tenant()).await;
    while erasure::phase(&current) == Some(ErasurePhase::Cancel) {
        let page = next_page(world, &current).await;
        current = change(world, page).await.operation;
    }
    let page = next_page(world, &current).await;
    let mut tasks = Vec::new();
    for _ in 0..4 {
        let (store, page) = (Arc::clone(&world.store), page.clone());
        tasks.push(tokio::spawn(async move {
            let note = AuditNote::new(Actor::new("ada").via("test"), "operations.page");
            store.operate(Change::Operation(page), Some(note)).await
        }));
    }
    let mut applied = 0;
    for task in tasks {
        let changed = task.await.expect("does not panic").expect("answers");
        applied += usize::from(changed.audit.is_some());
    }
    assert_eq!(applied, 1);
    assert_eq!(all(world).await.len(), 2);
}

pub async fn z_12_an_aborted_erasure_deletes_no_more(world: &World) {
    for _ in 0..3 {
        world.failed(own(world)).await;
    }
    let mut current = start(world, &tenant()).await;
    while current.changed == 0 {
        let page = next_page(world, &current).await;
        current = change(world, page).await.operation;
    }
    let late = next_page(world, &current).await;
    let abort = ratchet_store::model::OperationControl::Abort;
    change(world, OperationUpdate::Control(current.id, abort)).await;
    assert!(!change(world, late).await.applied);
    assert_eq!(all(world).await.len(), 1);
}

pub async fn z_12_the_audit_trail_has_no_content(world: &World) {
    let job = own(world).payload(b"{\"secret\":1}").idempotent("secret-key").tag("secret-tag");
    world.failed(job).await;
    let mut current = start(world, &correlation()).await;
    while current.state == OperationState::Running {
        let note = AuditNote::new(Actor::new("ada").via("test"), "operations.page");
        let page = next_page(world, &current).await;
        let changed = world.store.operate(Change::Operation(page), Some(note)).await;
        match changed.expect("applies").reply {
            ChangeReply::Operation(reply) => current = reply.operation,
            other => panic!("{other:?}"),
        }
    }
    let trail = world.store.audit(&AuditFilter::default(), None, true, 100).await.expect("reads");
    assert!(trail.len() >= 4, "{trail:?}");
    let text = format!("{trail:?}");
    assert!(!text.contains("secret"), "{text}");
    assert!(text.contains("order-7"), "entries name the subject");
}

pub async fn s_03_keys_are_deleted_by_prefix_and_age(world: &World) {
    for key in ["import:1", "import:2", "mail:1"] {
        world.succeeded(dated(world, days(2), world.job().idempotent(key)).await).await;
    }
    let job = world.job().tenant("acme").idempotent("import:1");
    world.succeeded(dated(world, days(2), job).await).await;
    let young = dated(world, Duration::ZERO, world.job().idempotent("import:3"));
    world.succeeded(young.await).await;
    let purge = |tenant: Option<&str>, prefix: &str, age, limit| {
        let (tenant, prefix) = (tenant.map(str::to_owned), prefix.to_owned());
        PurgeKeys::new(KeyKind::Clear { tenant, prefix }, age, limit)
    };
    let purged = async |keys: PurgeKeys| {
        let changed = world.store.operate(Change::PurgeKeys(keys), None).await;
        match changed.expect("deletes").reply {
            ChangeReply::KeysPurged(keys) => keys,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(purged(purge(None, "import:", days(1), 1)).await, 1, "at most one");
    assert_eq!(purged(purge(None, "import:", days(1), 10)).await, 1);
    assert_eq!(purged(purge(None, "import:", days(1), 10)).await, 0);
    let created =
        async |job: NewJob| matches!(world.try_submit(job).await, Ok(Inserted::Created(_)));
    assert!(created(world.job().idempotent("import:1")).await);
    assert!(created(world.job().idempotent("import:2")).await);
    assert!(!created(world.job().idempotent("import:3")).await, "it is too young");
    assert!(!created(world.job().idempotent("mail:1")).await, "another prefix");
    assert!(!created(world.job().tenant("acme").idempotent("import:1")).await, "another tenant");
    assert_eq!(purged(purge(Some("acme"), "", days(1), 10)).await, 1);
    assert!(created(world.job().tenant("acme").idempotent("import:1")).await);
}

pub async fn s_03_digests_are_deleted_by_age(world: &World) {
    world.succeeded(dated(world, Duration::ZERO, own(world).idempotent("once")).await).await;
    erase(world, &tenant()).await;
    let purge = async |age| {
        let keys = PurgeKeys::new(KeyKind::Erased, age, 10);
        let note = AuditNote::new(Actor::new("ada").via("test"), "ledger.purge");
        world.store.operate(Change::PurgeKeys(keys), Some(note)).await.expect("deletes")
    };
    let early = purge(days(1)).await;
    assert_eq!((early.reply, early.audit), (ChangeReply::KeysPurged(0), None));
    world.pass(days(2)).await;
    let changed = purge(days(1)).await;
    assert_eq!(changed.reply, ChangeReply::KeysPurged(1));
    assert!(changed.audit.is_some(), "the deletion is recorded");
    let again = world.try_submit(own(world).idempotent("once")).await;
    assert!(matches!(again, Ok(Inserted::Created(_))), "{again:?}");
}
