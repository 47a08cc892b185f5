//! Bulk operations: each page commits the changes of its jobs together with the progress of the operation.

use std::sync::Arc;

use ratchet_store::model::{
    Actor, AuditFilter, AuditNote, BulkVerb, Canary, Change, ChangeError, ChangeReply,
    CommandError, Due, Filter, JobId, JobState, OperationControl, OperationFilter, OperationId,
    OperationRecord, OperationReply, OperationState, OperationUpdate, PageRequest, Placement,
    Priority,
};
use ratchet_store::rules::operation;
use uuid::Uuid;

use crate::World;
use crate::fixture::{JobExt, RunExt, days, hours, secs};

fn note(verb: &str) -> AuditNote {
    AuditNote::new(Actor::new("ada").via("test"), verb)
}

async fn prepared(world: &World, number: u128, verb: BulkVerb, filter: Filter) -> OperationRecord {
    world.pass(secs(1)).await;
    let id = OperationId::from_uuid(Uuid::from_u128(number));
    operation::prepare(id, verb, &filter, world.now().await, None)
}

async fn change(world: &World, update: OperationUpdate) -> Result<OperationReply, ChangeError> {
    let changed = world.store.operate(Change::Operation(update), None).await?;
    match changed.reply {
        ChangeReply::Operation(reply) => Ok(*reply),
        other => panic!("not a reply to an operation: {other:?}"),
    }
}

async fn start(world: &World, record: OperationRecord) -> OperationRecord {
    let reply = change(world, OperationUpdate::Start(record)).await.expect("starts");
    assert!(reply.applied);
    reply.operation
}

/// Prepares the next page of at most `limit` jobs.
async fn next_page(world: &World, current: &OperationRecord, limit: u32) -> OperationUpdate {
    let request = PageRequest { before: current.cursor, limit };
    let page = world.store.list(&operation::listing(current), request).await.expect("lists");
    operation::page(current, &page)
}

async fn run_page(world: &World, current: &OperationRecord, limit: u32) -> OperationReply {
    let page = next_page(world, current, limit).await;
    change(world, page).await.expect("the page is applied")
}

async fn control(
    world: &World,
    id: OperationId,
    control: OperationControl,
) -> Result<OperationReply, ChangeError> {
    change(world, OperationUpdate::Control(id, control)).await
}

async fn stored(world: &World, id: OperationId) -> OperationRecord {
    let found = world.store.operations(OperationFilter::one(id), 1).await;
    found.expect("lists").pop().expect("the operation is stored")
}

async fn dead(world: &World, count: usize) -> Vec<JobId> {
    let mut jobs = Vec::new();
    for _ in 0..count {
        jobs.push(world.failed(world.job()).await);
    }
    jobs
}

async fn generations(world: &World, jobs: &[JobId]) -> Vec<u32> {
    let mut generations = Vec::new();
    for id in jobs {
        generations.push(world.get(*id).await.generation);
    }
    generations
}

pub async fn o_04_pages_visit_every_job_once_in_order(world: &World) {
    let jobs = dead(world, 5).await;
    let pending = world.submit(world.job()).await;
    let mut current = start(world, prepared(world, 1, BulkVerb::Retry, Filter::any()).await).await;
    assert_eq!((current.version, current.state), (1, OperationState::Running));
    for (page, changed) in [(0, 2), (1, 2), (2, 1)] {
        let reply = run_page(world, &current, 2).await;
        assert!(reply.applied);
        let ids: Vec<_> = reply.page.expect("a page").changed.iter().map(|(id, _)| *id).collect();
        assert_eq!(ids, jobs[page * 2..page * 2 + changed]);
        current = reply.operation;
        assert_eq!(current.cursor, ids.last().copied());
        assert_eq!(stored(world, current.id).await, current, "the reply is what was stored");
    }
    assert_eq!((current.matched, current.changed, current.refused), (5, 5, 0));
    assert_eq!(current.state, OperationState::Finished);
    assert_eq!(current.ended_at, Some(current.updated_at));
    assert_eq!(generations(world, &jobs).await, [2; 5]);
    assert_eq!(world.get(pending).await.generation, 1);
}

pub async fn o_04_a_page_that_is_repeated_changes_nothing(world: &World) {
    let jobs = dead(world, 3).await;
    let current = start(world, prepared(world, 1, BulkVerb::Retry, Filter::any()).await).await;
    let page = next_page(world, &current, 2).await;
    let first = change(world, page.clone()).await.expect("applies");
    assert!(first.applied);
    // The retried jobs fail again, so that the same page would find them.
    let node = world.node().await;
    for claimed in node.claim(10).await {
        world.apply(claimed.fail()).await;
    }
    let again = change(world, page).await.expect("answers");
    assert!(!again.applied && again.page.is_none());
    assert_eq!(again.operation, first.operation);
    assert_eq!(generations(world, &jobs).await, [2, 2, 1]);
    let repeated = change(world, OperationUpdate::Start(current)).await.expect("answers");
    assert!(!repeated.applied);
    assert_eq!(repeated.operation, first.operation, "a repeated start changes nothing");
}

pub async fn o_04_of_two_leaders_one_applies_the_page(world: &World) {
    let jobs = dead(world, 4).await;
    let current = start(world, prepared(world, 1, BulkVerb::Retry, Filter::any()).await).await;
    let page = next_page(world, &current, 10).await;
    let mut tasks = Vec::new();
    for _ in 0..4 {
        let (store, page) = (Arc::clone(&world.store), page.clone());
        tasks.push(tokio::spawn(async move {
            store.operate(Change::Operation(page), Some(note("operations.page"))).await
        }));
    }
    let mut applied = 0;
    for task in tasks {
        let changed = task.await.expect("does not panic").expect("answers");
        applied += usize::from(changed.audit.is_some());
    }
    assert_eq!(applied, 1);
    assert_eq!(generations(world, &jobs).await, [2; 4]);
    assert_eq!(stored(world, current.id).await.changed, 4);
}

pub async fn o_04_jobs_after_the_cutoff_are_not_touched(world: &World) {
    let before = world.failed(world.job()).await;
    let running = world.run(world.job()).await;
    let record = prepared(world, 1, BulkVerb::Retry, Filter::any()).await;
    world.apply(running.fail()).await;
    let after = world.failed(world.job()).await;
    let current = start(world, record).await;
    let done = run_page(world, &current, 10).await.operation;
    assert_eq!((done.changed, done.state), (1, OperationState::Finished));
    assert_eq!(generations(world, &[before, running.id(), after]).await, [2, 1, 1]);
}

pub async fn o_04_a_job_is_judged_when_it_is_visited(world: &World) {
    let jobs = dead(world, 2).await;
    let current = start(world, prepared(world, 1, BulkVerb::Retry, Filter::any()).await).await;
    let page = next_page(world, &current, 10).await;
    world.retry(jobs[0]).await;
    let reply = change(world, page).await.expect("applies");
    assert_eq!((reply.operation.matched, reply.operation.changed), (1, 1));
    assert_eq!(generations(world, &jobs).await, [2, 2], "each was retried once");
}

pub async fn o_04_refused_jobs_are_counted_and_skipped(world: &World) {
    let blocked = world.failed(world.job().key("k")).await;
    let free = world.failed(world.job()).await;
    world.submit(world.job().key("k")).await;
    let current = start(world, prepared(world, 1, BulkVerb::Retry, Filter::any()).await).await;
    let reply = run_page(world, &current, 10).await;
    assert_eq!(reply.page.expect("a page").refused, [blocked]);
    let done = reply.operation;
    assert_eq!((done.matched, done.changed, done.refused), (2, 1, 1));
    assert_eq!(generations(world, &[blocked, free]).await, [1, 2]);
}

pub async fn o_04_every_verb_changes_the_states_it_can(world: &World) {
    let due = world.now().await + hours(5);
    let verbs = [
        (BulkVerb::Pause, JobState::Paused),
        (BulkVerb::Resume, JobState::Pending),
        (BulkVerb::Reschedule(Due::At(due)), JobState::Pending),
        (BulkVerb::Move(Placement::default().priority(Priority::High)), JobState::Pending),
        (BulkVerb::Cancel, JobState::Canceled),
    ];
    let mail = world.submit_all(world.jobs(3).into_iter().map(|job| job.queue("mail")).collect());
    let mail = mail.await;
    let other = world.submit(world.job()).await;
    for (number, (verb, state)) in (1..).zip(verbs) {
        let record = prepared(world, number, verb.clone(), Filter::any().queue("mail")).await;
        let current = start(world, record).await;
        let done = run_page(world, &current, 10).await.operation;
        assert_eq!((done.changed, done.state), (3, OperationState::Finished), "{verb}");
        for id in &mail {
            assert_eq!(world.state(*id).await, state, "{verb}");
        }
        if let BulkVerb::Move(_) = verb {
            assert_eq!(world.get(mail[0]).await.spec.priority, Priority::High);
        }
        if let BulkVerb::Reschedule(_) = verb {
            assert_eq!(world.get(mail[0]).await.due, Due::At(due).at(done.updated_at));
        }
    }
    assert_eq!(world.state(other).await, JobState::Pending);
}

pub async fn o_04_an_aborted_operation_touches_nothing_beyond_its_cursor(world: &World) {
    let jobs = dead(world, 4).await;
    let current = start(world, prepared(world, 1, BulkVerb::Retry, Filter::any()).await).await;
    let half = run_page(world, &current, 2).await.operation;
    let late = next_page(world, &half, 2).await;
    let aborted = control(world, half.id, OperationControl::Abort).await.expect("aborts");
    assert_eq!(aborted.operation.state, OperationState::Aborted);
    assert_eq!(aborted.operation.ended_at, Some(aborted.operation.updated_at));
    let refused = change(world, late).await.expect("answers");
    assert!(!refused.applied);
    assert_eq!(generations(world, &jobs).await, [2, 2, 1, 1]);
    assert_eq!(stored(world, half.id).await.cursor, Some(jobs[1]));
}

pub async fn o_04_operations_are_paused_resumed_and_aborted(world: &World) {
    use OperationControl::{Abort, Pause, Resume};
    dead(world, 2).await;
    let current = start(world, prepared(world, 1, BulkVerb::Retry, Filter::any()).await).await;
    let page = next_page(world, &current, 1).await;
    let steps = [
        (Resume, false, OperationState::Running),
        (Pause, true, OperationState::Paused),
        (Pause, false, OperationState::Paused),
        (Resume, true, OperationState::Running),
        (Abort, true, OperationState::Aborted),
        (Abort, false, OperationState::Aborted),
    ];
    for (step, applied, state) in steps {
        let reply = control(world, current.id, step).await.expect("answers");
        assert_eq!((reply.applied, reply.operation.state), (applied, state), "{step:?}");
    }
    for step in [Pause, Resume] {
        match control(world, current.id, step).await {
            Err(ChangeError::Command(CommandError::OperationEnded {
                operation, state, ..
            })) => {
                assert_eq!((operation, state), (current.id, OperationState::Aborted));
            }
            other => panic!("{step:?} was not refused: {other:?}"),
        }
    }
    assert!(!change(world, page).await.expect("answers").applied);
    let unknown = OperationId::from_uuid(Uuid::from_u128(77));
    let refused = control(world, unknown, Pause).await;
    assert!(matches!(
        refused,
        Err(ChangeError::Command(CommandError::OperationNotFound(id))) if id == unknown
    ));
}

pub async fn o_04_a_canary_waits_before_the_rest(world: &World) {
    let jobs = dead(world, 5).await;
    let mut record = prepared(world, 1, BulkVerb::Retry, Filter::any()).await;
    record.canary = Some(Canary::new(2).max_failed_percent(50));
    let current = start(world, record).await;
    let allowed = operation::allowance(&current, world.now().await);
    assert_eq!(allowed, 2, "the first page is the canary");
    let waiting = run_page(world, &current, allowed).await.operation;
    assert_eq!(waiting.state, OperationState::CanaryWaiting);
    assert_eq!(waiting.canary_jobs, jobs[..2]);
    assert_eq!(operation::allowance(&waiting, world.now().await), 0);
    assert!(!run_page(world, &waiting, 10).await.applied, "no page is applied while it waits");
    let (id, version) = (waiting.id, waiting.version);
    let judge = OperationUpdate::Judge { id, version, failed: 1, passed: true };
    let passed = change(world, judge.clone()).await.expect("answers");
    assert_eq!((passed.operation.state, passed.operation.failed), (OperationState::Running, 1));
    assert!(!change(world, judge).await.expect("answers").applied, "it is judged once");
    assert_eq!(operation::allowance(&passed.operation, world.now().await), operation::PAGE);
    let done = run_page(world, &passed.operation, 10).await.operation;
    assert_eq!((done.changed, done.state), (5, OperationState::Finished));
    assert_eq!(generations(world, &jobs).await, [2; 5]);
}

pub async fn o_04_a_failed_canary_pauses_the_operation(world: &World) {
    let jobs = dead(world, 3).await;
    let mut record = prepared(world, 1, BulkVerb::Retry, Filter::any()).await;
    record.canary = Some(Canary::new(1));
    let current = start(world, record).await;
    let waiting = run_page(world, &current, 1).await.operation;
    let (id, version) = (waiting.id, waiting.version);
    let judge = OperationUpdate::Judge { id, version, failed: 1, passed: false };
    let paused = change(world, judge).await.expect("answers").operation;
    assert_eq!(paused.state, OperationState::Paused);
    assert_eq!(generations(world, &jobs).await, [2, 1, 1]);
    let resumed = control(world, id, OperationControl::Resume).await.expect("resumes").operation;
    let done = run_page(world, &resumed, 10).await.operation;
    assert_eq!((done.changed, done.state), (3, OperationState::Finished));
}

pub async fn o_04_every_page_has_one_entry_in_the_audit_trail(world: &World) {
    let jobs = dead(world, 3).await;
    let record = prepared(world, 1, BulkVerb::Retry, Filter::any()).await;
    let target = format!("operation {}", record.id);
    let operate = async |verb: &str, update| {
        let changed = world.store.operate(Change::Operation(update), Some(note(verb))).await;
        let changed = changed.expect("answers");
        let ChangeReply::Operation(reply) = changed.reply else { panic!("another reply") };
        (reply.operation, changed.audit)
    };
    let (current, entry) = operate("operations.start", OperationUpdate::Start(record)).await;
    assert_eq!(entry, Some(1));
    let page = next_page(world, &current, 2).await;
    let (half, entry) = operate("operations.page", page.clone()).await;
    assert_eq!(entry, Some(2));
    assert_eq!(operate("operations.page", page).await.1, None, "a stale page is not recorded");
    let (done, entry) = operate("operations.page", next_page(world, &half, 2).await).await;
    assert_eq!((done.changed, entry), (3, Some(3)));
    let all = AuditFilter::default();
    let entries = world.store.audit(&all, None, true, 10).await.expect("lists");
    assert!(entries.iter().all(|entry| entry.target == target));
    assert_eq!(entries[0].before, None);
    let after: serde_json::Value =
        serde_json::from_str(entries[1].after.as_deref().expect("a view")).expect("JSON");
    assert_eq!(after["jobs"], serde_json::json!(jobs[..2]));
    assert_eq!((&after["state"], &after["changed"]), (&"running".into(), &2.into()));
    assert_eq!(entries[2].before, Some(ratchet_store::rules::audit::of_operation(&half)));
}

pub async fn o_04_operations_are_listed_newest_first_and_kept_for_a_time(world: &World) {
    let list = async |filter, limit| {
        let found = world.store.operations(filter, limit).await.expect("lists");
        found.iter().map(|one| one.id.uuid().as_u128()).collect::<Vec<_>>()
    };
    for number in 1..=3 {
        start(world, prepared(world, number, BulkVerb::Retry, Filter::any()).await).await;
    }
    let second = OperationId::from_uuid(Uuid::from_u128(2));
    control(world, second, OperationControl::Abort).await.expect("aborts");
    assert_eq!(list(OperationFilter::default(), 10).await, [3, 2, 1]);
    assert_eq!(list(OperationFilter::default(), 2).await, [3, 2]);
    assert_eq!(list(OperationFilter::active(), 10).await, [3, 1]);
    assert_eq!(list(OperationFilter::one(second), 10).await, [2]);
    let mut ended_and_active = OperationFilter::one(second);
    ended_and_active.active = true;
    assert!(list(ended_and_active, 10).await.is_empty());
    world.pass(days(91)).await;
    start(world, prepared(world, 4, BulkVerb::Retry, Filter::any()).await).await;
    assert_eq!(list(OperationFilter::default(), 10).await, [4, 3, 1], "ended 91 days ago");
}

pub async fn o_04_a_record_reads_back_as_it_was_written(world: &World) {
    let filter = Filter::any().queue("a \"b\" \u{0}é").tag("t").state(JobState::Failed);
    let mut record = prepared(world, 1, BulkVerb::Reschedule(Due::In(secs(3))), filter).await;
    record.actor = Some(Actor::new("ada").via("cli").address("::1").reason("a\u{1f600}"));
    record.pace = Some(50);
    record.canary = Some(Canary::new(7).max_failed_percent(20));
    (record.expected, record.exact) = (12, true);
    let started = start(world, record.clone()).await;
    let mut expected = record;
    (expected.version, expected.started_at) = (1, started.started_at);
    (expected.updated_at, expected.paced_at) = (started.updated_at, started.paced_at);
    assert_eq!(stored(world, started.id).await, expected);
}
