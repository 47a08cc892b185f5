//! Edit and retry: a job that has ended gets one successor, which is linked to it.

use std::sync::Arc;

use ratchet_store::model::{
    Actor, AfterFailure, AuditFilter, AuditNote, BulkVerb, Change, ChangeError, ChangeReply,
    Changed, Command, CommandError, Filter, GroupKind, InsertError, JobId, JobState, NewJob,
    NotEditable, OperationId, OperationUpdate, PageRequest, Succession,
};
use ratchet_store::rules::audit::Verifier;
use ratchet_store::rules::operation;
use uuid::Uuid;

use crate::World;
use crate::fixture::{JobExt, RunExt as _, Sketch, secs};

async fn succeed(
    world: &World,
    original: JobId,
    version: Option<u64>,
    job: NewJob,
) -> Result<Changed, ChangeError> {
    let note = AuditNote::new(Actor::new("ada").reason("a wrong address"), "jobs.edit");
    let change = Change::Successor { original, version, successor: Box::new(job) };
    world.store.operate(change, Some(note)).await
}

async fn links(world: &World, id: JobId) -> Succession {
    world.store.succession(id).await.expect("links are read")
}

fn refused(answer: Result<Changed, ChangeError>) -> CommandError {
    match answer {
        Err(ChangeError::Command(error)) => error,
        other => panic!("{other:?} is no refusal"),
    }
}

async fn entries(world: &World) -> usize {
    let all = AuditFilter::default();
    let entries = world.store.audit(&all, None, true, 100).await.expect("entries are listed");
    let head = world.store.audit_head().await.expect("the end is read");
    let mut verifier = Verifier::default();
    entries.iter().try_for_each(|entry| verifier.next(entry)).expect("no entry was changed");
    assert_eq!(verifier.end(head), Ok(entries.len() as u64));
    entries.len()
}

pub async fn o_05_a_successor_is_linked_both_ways_and_the_original_stays(world: &World) {
    let original = world.failed(world.job().payload(b"{\"n\":1}").key("order-1")).await;
    let before = world.get(original).await;
    let job = world.job().payload(b"{\"n\":2}").key("order-1");
    let successor = job.id;
    let changed = succeed(world, original, Some(before.version), job).await.expect("is made");
    assert_eq!(changed.reply, ChangeReply::Successor(successor));
    assert_eq!(world.get(original).await, before, "the original stays as it is");
    let record = world.get(successor).await;
    assert_eq!(
        (record.state, record.spec.payload.as_slice()),
        (JobState::Pending, &b"{\"n\":2}"[..])
    );
    assert_eq!(links(world, original).await, Succession::new(None, Some(successor)));
    assert_eq!(links(world, successor).await, Succession::new(Some(original), None));
    assert_eq!(links(world, world.unknown_id()).await, Succession::default());
    assert_eq!(entries(world).await, 1);
    let number = changed.audit.expect("it is recorded");
    let filter = AuditFilter { target: Some(format!("job {original}")), ..AuditFilter::default() };
    let trail = world.store.audit(&filter, None, true, 10).await.expect("entries are listed");
    assert_eq!((trail[0].number, trail[0].verb.as_str()), (number, "jobs.edit"));
    assert_eq!(trail[0].after, Some(format!("{{\"successor\":\"{successor}\"}}")));
    let run = world.node().await.claim_one().await;
    assert_eq!(run.id(), successor, "it runs like any other job");
}

pub async fn o_05_a_second_successor_is_refused_with_the_first(world: &World) {
    let original = world.failed(world.job().key("order-1")).await;
    let job = world.job().key("order-1");
    let first = job.id;
    succeed(world, original, None, job).await.expect("is made");
    let second = world.job().key("order-1");
    let id = second.id;
    let error = refused(succeed(world, original, None, second).await);
    assert!(
        matches!(error, CommandError::HasSuccessor { job, successor } if job == original && successor == first),
        "{error:?}"
    );
    assert!(error.to_string().contains(&first.to_string()), "{error}");
    assert!(world.find(id).await.is_none(), "nothing is stored");
    assert_eq!(entries(world).await, 1, "a refusal is not recorded");
    // The successor can fail too. Then it is the one to edit.
    let run = world.node().await.claim_one().await;
    world.apply(run.fail()).await;
    let third = world.job().key("order-1");
    let id = third.id;
    succeed(world, first, None, third).await.expect("is made");
    assert_eq!(links(world, first).await, Succession::new(Some(original), Some(id)));
}

pub async fn o_05_a_successor_is_fenced_by_the_version_that_was_seen(world: &World) {
    let original = world.failed(world.job()).await;
    let seen = world.get(original).await.version;
    world.retry(original).await;
    let job = world.job();
    let id = job.id;
    let error = refused(succeed(world, original, Some(seen), job).await);
    assert!(
        matches!(error, CommandError::Moved { expected, state: JobState::Pending, .. } if expected == seen),
        "{error:?}"
    );
    assert!(world.find(id).await.is_none(), "nothing is stored");
    assert_eq!(links(world, original).await, Succession::default());
}

pub async fn o_05_only_jobs_that_no_other_job_waits_for_have_successors(world: &World) {
    let unknown = world.unknown_id();
    let error = refused(succeed(world, unknown, None, world.job()).await);
    assert!(matches!(error, CommandError::NotFound(id) if id == unknown), "{error:?}");
    let pending = world.submit(world.job().due_in(secs(600))).await;
    let paused = world.paused_failed(world.job()).await;
    let succeeded = world.succeeded(world.job()).await;
    let held = world.failed(world.job().in_order("s", AfterFailure::Hold)).await;
    let mut sketch = Sketch::new();
    let group = sketch.group(world, GroupKind::Batch);
    let step = sketch.add(Some(group), world.job());
    world.insert_graph(sketch).await;
    let run = world.node().await.claim_one().await;
    assert_eq!(run.id(), step);
    world.apply(run.fail()).await;
    for (id, expected) in [
        (pending, NotEditable::State(JobState::Pending)),
        (paused, NotEditable::State(JobState::Paused)),
        (succeeded, NotEditable::State(JobState::Succeeded)),
        (held, NotEditable::HoldsUpOthers),
        (step, NotEditable::Step(group)),
    ] {
        let error = refused(succeed(world, id, None, world.job()).await);
        let CommandError::NotEditable { job, why } = error else { panic!("{error:?}") };
        assert_eq!((job, why), (id, expected));
    }
    let canceled = world.canceled(world.job()).await;
    let job = world.job();
    let id = job.id;
    succeed(world, canceled, None, job).await.expect("a canceled job can be edited");
    assert_eq!(links(world, canceled).await.successor, Some(id));
}

pub async fn o_05_a_key_that_is_taken_refuses_the_successor(world: &World) {
    let original = world.failed(world.job().key("order-1")).await;
    let holder = world.submit(world.job().key("order-1")).await;
    let answer = succeed(world, original, None, world.job().key("order-1")).await;
    let Err(ChangeError::Insert(InsertError::BusinessKeysTaken(taken))) = answer else {
        panic!("{answer:?}")
    };
    assert_eq!(taken[0].holder, holder);
    assert_eq!(links(world, original).await, Succession::default(), "no link is left");
    assert_eq!(entries(world).await, 0);
}

pub async fn o_05_a_job_with_a_successor_is_not_retried(world: &World) {
    let original = world.failed(world.job()).await;
    let other = world.failed(world.job()).await;
    let job = world.job().due_in(secs(600));
    let successor = job.id;
    succeed(world, original, None, job).await.expect("is made");
    let error = world.command(Command::Retry(original)).await.expect_err("it is refused");
    assert!(
        matches!(error, CommandError::HasSuccessor { job, successor: it } if job == original && it == successor),
        "{error:?}"
    );
    // A bulk operation counts it as refused.
    let id = OperationId::from_uuid(Uuid::from_u128(5));
    let failed = Filter::any().state(JobState::Failed);
    let record =
        operation::prepare(id, BulkVerb::Retry, &failed, world.now().await + secs(1), None);
    let start = Change::Operation(OperationUpdate::Start(record));
    let reply = world.store.operate(start, None).await.expect("it starts").reply;
    let ChangeReply::Operation(started) = reply else { panic!("{reply:?}") };
    let request = PageRequest { before: None, limit: 10 };
    let page = world.store.list(&operation::listing(&started.operation), request).await;
    let update = operation::page(&started.operation, &page.expect("jobs are listed"));
    let reply = world.store.operate(Change::Operation(update), None).await.expect("it runs").reply;
    let ChangeReply::Operation(ended) = reply else { panic!("{reply:?}") };
    assert_eq!((ended.operation.changed, ended.operation.refused), (1, 1));
    assert_eq!(world.state(original).await, JobState::Failed);
    assert_eq!(world.state(other).await, JobState::Pending);
}

pub async fn o_05_either_job_can_be_purged_without_the_other(world: &World) {
    let first = world.failed(world.job()).await;
    let job = world.job();
    let successor = job.id;
    succeed(world, first, None, job).await.expect("is made");
    let run = world.node().await.claim_one().await;
    world.apply(run.succeed()).await;
    world.pass(secs(10)).await;
    assert_eq!(world.purge(JobState::Succeeded, secs(5)).await, 1);
    assert!(world.find(successor).await.is_none());
    let kept = Succession::new(None, Some(successor));
    assert_eq!(links(world, first).await, kept, "the original still names it");
    let error = world.command(Command::Retry(first)).await.expect_err("the work is done");
    assert!(matches!(error, CommandError::HasSuccessor { .. }), "{error:?}");

    let second = world.failed(world.job()).await;
    let job = world.job().due_in(secs(600));
    let successor = job.id;
    succeed(world, second, None, job).await.expect("is made");
    world.pass(secs(10)).await;
    assert_eq!(world.purge(JobState::Failed, secs(5)).await, 2);
    assert_eq!(links(world, successor).await, Succession::default());
    assert_eq!(world.state(successor).await, JobState::Pending, "the successor is not affected");
    assert_eq!(links(world, first).await, Succession::default());
}

pub async fn o_05_of_several_operators_one_makes_the_successor(world: &World) {
    const OPERATORS: usize = 6;
    let original = world.failed(world.job().key("order-1")).await;
    let version = world.get(original).await.version;
    let mut tries = tokio::task::JoinSet::new();
    for _ in 0..OPERATORS {
        let store = Arc::clone(&world.store);
        let job = world.job().key("order-1").due_in(secs(600));
        let successor = Box::new(job);
        let change = Change::Successor { original, version: Some(version), successor };
        tries.spawn(async move { store.operate(change, None).await });
    }
    let answers = tries.join_all().await;
    let made: Vec<_> = answers.iter().filter_map(|answer| answer.as_ref().ok()).collect();
    let [Changed { reply: ChangeReply::Successor(first), .. }] = made.as_slice() else {
        panic!("{made:?}")
    };
    for error in answers.iter().filter_map(|answer| answer.as_ref().err()) {
        assert!(
            matches!(error, ChangeError::Command(CommandError::HasSuccessor { successor, .. }) if successor == first),
            "{error:?}"
        );
    }
    assert_eq!(links(world, original).await.successor, Some(*first));
}
