//! Changes of operators: each is recorded together with the change, and fenced by the version that the operator saw.

use std::sync::Arc;

use ratchet_store::model::{
    Actor, AuditFilter, AuditNote, AuditRecord, BreakerUpdate, CancelCause, Change, ChangeError,
    ChangeReply, Changed, Command, CommandError, Due, Filter, JobId, JobState, Placement,
    QueueUpdate, ScheduleRecord, ScheduleWritten, WriteSchedule,
};
use ratchet_store::rules::audit::Verifier;

use crate::World;
use crate::fixture::{JobExt, secs};

fn note(verb: &str) -> AuditNote {
    let actor = Actor::new("ada").via("test").address("10.0.0.7").reason("because");
    AuditNote::new(actor, verb)
}

fn command(command: Command) -> Change {
    Change::Command { command, version: None }
}

fn queue(name: &str, update: QueueUpdate) -> Change {
    Change::Queue { queue: name.to_owned(), update }
}

async fn operate(world: &World, verb: &str, change: Change) -> Changed {
    world.store.operate(change, Some(note(verb))).await.expect("the change is possible")
}

async fn trail(world: &World) -> Vec<AuditRecord> {
    let all = AuditFilter::default();
    world.store.audit(&all, None, true, 1000).await.expect("entries are listed")
}

/// Returns all entries, after checking that each is the one that was written.
async fn verified(world: &World) -> Vec<AuditRecord> {
    let entries = trail(world).await;
    let head = world.store.audit_head().await.expect("the end is read");
    let mut verifier = Verifier::default();
    entries.iter().try_for_each(|entry| verifier.next(entry)).expect("no entry was changed");
    assert_eq!(verifier.end(head), Ok(entries.len() as u64));
    entries
}

/// Requires that the trail has one more entry, and returns it.
async fn recorded(world: &World, changed: &Changed, before: usize) -> AuditRecord {
    let mut entries = verified(world).await;
    assert_eq!(entries.len(), before + 1, "one entry per change");
    let entry = entries.pop().expect("not empty");
    assert_eq!(changed.audit, Some(entry.number));
    entry
}

pub async fn z_06_an_entry_says_who_did_what_and_why(world: &World) {
    let before = world.now().await;
    let changed = operate(world, "queues.pause", queue("mail", QueueUpdate::Pause)).await;
    assert_eq!(changed.reply, ChangeReply::Queue(true));
    let entry = recorded(world, &changed, 0).await;
    assert_eq!((entry.number, entry.verb.as_str()), (1, "queues.pause"));
    assert_eq!(entry.target, "queue mail");
    let actor = &entry.actor;
    assert_eq!((actor.name.as_str(), actor.via.as_str()), ("ada", "test"));
    assert_eq!(actor.address.as_deref(), Some("10.0.0.7"));
    assert_eq!(actor.reason.as_deref(), Some("because"));
    assert!(entry.at >= before && entry.at <= world.now().await);
    let states = (entry.before.unwrap_or_default(), entry.after.unwrap_or_default());
    assert!(states.0.contains("\"paused\":false"), "{}", states.0);
    assert!(states.1.contains("\"paused\":true"), "{}", states.1);
    assert!(world.store.queues().await.expect("queues are listed")[0].rules.paused);
}

pub async fn z_06_every_command_on_a_job_is_recorded(world: &World) {
    let failed = world.failed(world.job()).await;
    let id = world.submit(world.job()).await;
    let steps = [
        (Command::Pause(id), JobState::Pending, JobState::Paused),
        (Command::Resume(id), JobState::Paused, JobState::Pending),
        (Command::Reschedule(id, Due::In(secs(60))), JobState::Pending, JobState::Pending),
        (
            Command::Move(id, Placement::default().queue("other")),
            JobState::Pending,
            JobState::Pending,
        ),
        (Command::Cancel(id, CancelCause::Requested), JobState::Pending, JobState::Canceled),
    ];
    let mut count = 0;
    for (step, from, to) in steps {
        let version = world.get(id).await.version;
        let changed = operate(world, "jobs.step", command(step)).await;
        let entry = recorded(world, &changed, count).await;
        count += 1;
        assert_eq!(entry.target, format!("job {id}"));
        states(&entry, (from, version), (to, version + 1));
    }
    let version = world.get(failed).await.version;
    let changed = operate(world, "jobs.retry", command(Command::Retry(failed))).await;
    let entry = recorded(world, &changed, count).await;
    states(&entry, (JobState::Failed, version), (JobState::Pending, version + 1));
}

fn states(entry: &AuditRecord, before: (JobState, u64), after: (JobState, u64)) {
    for (text, (state, version)) in [(&entry.before, before), (&entry.after, after)] {
        let text = text.as_deref().expect("the job exists");
        let said: serde_json::Value = serde_json::from_str(text).expect("JSON");
        assert_eq!(said["state"], serde_json::json!(state), "{text}");
        assert_eq!(said["version"], serde_json::json!(version), "{text}");
    }
}

pub async fn z_06_other_changes_are_recorded(world: &World) {
    let open = Change::Breaker { service: "pay".to_owned(), update: BreakerUpdate::Open(None) };
    let changed = operate(world, "breakers.open", open).await;
    let entry = recorded(world, &changed, 0).await;
    assert_eq!((entry.target.as_str(), entry.before), ("breaker pay", None));
    assert!(entry.after.is_some_and(|after| after.contains("open")));

    let record = ScheduleRecord::new("nightly", world.job().spec, "0 3 * * *");
    let mut write = WriteSchedule {
        name: "nightly".to_owned(),
        replaces: None,
        record: Some(record),
        declarations: None,
        jobs: Vec::new(),
        notices: Vec::new(),
    };
    let changed = operate(world, "schedules.put", Change::Schedule(write.clone())).await;
    let entry = recorded(world, &changed, 1).await;
    assert_eq!((entry.target.as_str(), entry.before), ("schedule nightly", None));
    let after = entry.after.expect("the schedule exists");
    assert!(after.contains("0 3 * * *") && !after.contains("payload"), "{after}");
    write.replaces = Some(1);
    write.record = None;
    let changed = operate(world, "schedules.remove", Change::Schedule(write.clone())).await;
    let entry = recorded(world, &changed, 2).await;
    assert_eq!((entry.before.is_some(), entry.after), (true, None));
    let changed = operate(world, "schedules.remove", Change::Schedule(write)).await;
    assert_eq!(changed, Changed::new(ChangeReply::Schedule(ScheduleWritten::Stale), None));

    let job = world.job();
    let id = job.id;
    let changed = operate(world, "jobs.enqueue", Change::Submit(vec![job])).await;
    let entry = recorded(world, &changed, 3).await;
    assert_eq!(entry.target, format!("job {id}"));
    assert!(entry.after.is_some_and(|after| after.contains(&id.to_string())));
    assert_eq!(world.get(id).await.state, JobState::Pending);
}

pub async fn z_06_a_redrive_is_recorded_with_its_jobs(world: &World) {
    let jobs = [world.failed(world.job()).await, world.failed(world.job()).await];
    let redrive = || command(Command::Redrive { filter: Filter::any(), limit: 10 });
    let changed = operate(world, "failures.redrive", redrive()).await;
    let entry = recorded(world, &changed, 0).await;
    let after = entry.after.expect("says what was retried");
    assert!(jobs.iter().all(|id| after.contains(&id.to_string())), "{after}");
    let changed = operate(world, "failures.redrive", redrive()).await;
    assert_eq!(changed.audit, None, "there was nothing to retry");
    assert_eq!(verified(world).await.len(), 1);
}

pub async fn z_06_what_changes_nothing_is_not_recorded(world: &World) {
    let id = world.submit(world.job()).await;
    world.pause(id).await;
    let unchanged = [
        command(Command::Pause(id)),
        queue("mail", QueueUpdate::Resume),
        queue("mail", QueueUpdate::Reset),
        Change::DropUnreadable(id),
        Change::RepairUnreadable(id),
    ];
    for change in unchanged {
        assert_eq!(operate(world, "x", change).await.audit, None);
    }
    let refused = [
        command(Command::Retry(id)),
        command(Command::Pause(world.unknown_id())),
        Change::Command { command: Command::Resume(id), version: Some(99) },
    ];
    for change in refused {
        let refused = world.store.operate(change, Some(note("x"))).await;
        assert!(matches!(refused, Err(ChangeError::Command(_))), "{refused:?}");
    }
    let keyed = || world.job().key("taken");
    world.store.insert(vec![keyed()]).await.expect("inserts");
    let refused = world.store.operate(Change::Submit(vec![keyed()]), Some(note("x"))).await;
    assert!(matches!(refused, Err(ChangeError::Insert(_))), "{refused:?}");
    assert_eq!(verified(world).await, []);
}

pub async fn z_06_without_a_note_nothing_is_recorded(world: &World) {
    let changed = world.store.operate(queue("mail", QueueUpdate::Pause), None).await;
    let changed = changed.expect("pauses");
    assert_eq!(changed, Changed::new(ChangeReply::Queue(true), None));
    assert_eq!(verified(world).await, []);
}

pub async fn z_06_entries_are_listed_by_page_and_filter(world: &World) {
    for number in 0..5 {
        let verb = if number % 2 == 0 { "even" } else { "odd" };
        operate(world, verb, queue(&format!("q{number}"), QueueUpdate::Pause)).await;
    }
    let list = async |filter: &AuditFilter, from, oldest_first, limit| {
        let listed = world.store.audit(filter, from, oldest_first, limit).await;
        listed.expect("entries are listed").iter().map(|entry| entry.number).collect::<Vec<_>>()
    };
    let all = AuditFilter::default();
    assert_eq!(list(&all, None, false, 2).await, [5, 4]);
    assert_eq!(list(&all, Some(4), false, 10).await, [3, 2, 1]);
    assert_eq!(list(&all, None, true, 2).await, [1, 2]);
    assert_eq!(list(&all, Some(2), true, 10).await, [3, 4, 5]);
    let odd = AuditFilter { verb: Some("odd".to_owned()), ..AuditFilter::default() };
    assert_eq!(list(&odd, None, false, 10).await, [4, 2]);
    let target = AuditFilter { target: Some("queue q3".to_owned()), ..odd.clone() };
    assert_eq!(list(&target, None, false, 10).await, [4]);
    let other = AuditFilter { actor: Some("bob".to_owned()), ..AuditFilter::default() };
    assert!(list(&other, None, false, 10).await.is_empty());
}

pub async fn z_06_concurrent_changes_form_one_trail(world: &World) {
    const CHANGES: usize = 24;
    let mut tasks = Vec::new();
    for number in 0..CHANGES {
        let store = Arc::clone(&world.store);
        tasks.push(tokio::spawn(async move {
            let change = queue(&format!("q{number}"), QueueUpdate::Pause);
            store.operate(change, Some(note("queues.pause"))).await.expect("pauses").audit
        }));
    }
    let mut numbers = Vec::new();
    for task in tasks {
        numbers.extend(task.await.expect("does not panic"));
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=CHANGES as u64).collect::<Vec<_>>());
    assert_eq!(verified(world).await.len(), CHANGES);
}

pub async fn z_06_a_reveal_is_recorded_although_nothing_changes(world: &World) {
    let archived = world.failed(world.job()).await;
    assert_eq!(world.store.archive(JobState::Failed, secs(0), 10).await.expect("archives"), 1);
    let live = world.submit(world.job()).await;
    for id in [live, archived] {
        let (job, before) = (world.get(id).await, verified(world).await.len());
        let changed = operate(world, "jobs.reveal", Change::Reveal(id)).await;
        assert_eq!(changed.reply, ChangeReply::Revealed);
        let entry = recorded(world, &changed, before).await;
        assert_eq!((entry.verb.as_str(), entry.target), ("jobs.reveal", format!("job {id}")));
        assert_eq!(entry.before, entry.after);
        assert_eq!(world.get(id).await, job);
    }
}

pub async fn o_02_a_job_that_has_moved_is_not_changed(world: &World) {
    let failed = world.failed(world.job()).await;
    let pending = world.submit(world.job()).await;
    let paused = world.submit(world.job()).await;
    world.pause(paused).await;
    let commands: [(JobId, Command); 5] = [
        (pending, Command::Pause(pending)),
        (pending, Command::Reschedule(pending, Due::In(secs(60)))),
        (pending, Command::Cancel(pending, CancelCause::Requested)),
        (paused, Command::Resume(paused)),
        (failed, Command::Retry(failed)),
    ];
    for (id, step) in commands {
        let seen = world.get(id).await;
        for version in [seen.version + 1, seen.version.wrapping_sub(1)] {
            let change = Change::Command { command: step.clone(), version: Some(version) };
            match world.store.operate(change, Some(note("x"))).await {
                Err(ChangeError::Command(CommandError::Moved {
                    job,
                    expected,
                    version: now,
                    state,
                })) => {
                    assert_eq!((job, expected), (id, version));
                    assert_eq!((now, state), (seen.version, seen.state));
                }
                other => panic!("{step:?} was not refused: {other:?}"),
            }
        }
        assert_eq!(world.get(id).await, seen, "nothing changed");
    }
    assert_eq!(verified(world).await, []);
    let version = Some(world.get(failed).await.version);
    let change = Change::Command { command: Command::Retry(failed), version };
    operate(world, "jobs.retry", change).await;
    assert_eq!(world.get(failed).await.state, JobState::Pending);
}

pub async fn o_02_one_of_several_operators_wins(world: &World) {
    let mut failed = Vec::new();
    for _ in 0..5 {
        failed.push(world.failed(world.job()).await);
    }
    for id in failed {
        let before = verified(world).await.len();
        let seen = world.get(id).await.version;
        let mut tasks = Vec::new();
        for _ in 0..4 {
            let store = Arc::clone(&world.store);
            tasks.push(tokio::spawn(async move {
                let change = Change::Command { command: Command::Retry(id), version: Some(seen) };
                store.operate(change, Some(note("jobs.retry"))).await
            }));
        }
        let mut won = 0;
        for task in tasks {
            match task.await.expect("does not panic") {
                Ok(_) => won += 1,
                Err(ChangeError::Command(CommandError::Moved { version, state, .. })) => {
                    assert_eq!((version, state), (seen + 1, JobState::Pending));
                }
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!(won, 1);
        assert_eq!(verified(world).await.len(), before + 1);
    }
}
