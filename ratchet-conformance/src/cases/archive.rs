//! The archive: jobs that are kept after their retention.

use fastrand::Rng;
use ratchet_store::model::{
    Actor, ArchivedJobs, AuditFilter, AuditNote, BulkVerb, CancelCause, Change, ChangeError,
    ChangeReply, Command, CommandError, Due, Filter, Inserted, JobId, JobRecord, JobState,
    PageRequest, Placement, RunNotes,
};

use super::filters::{fill, listed, random};
use crate::World;
use crate::fixture::{JobExt, RunExt, SettlementExt, hours, mins};

async fn archive(world: &World, state: JobState) -> u64 {
    world.store.archive(state, hours(1), 1000).await.expect("jobs can be archived")
}

/// Makes an ended job old enough and archives it.
async fn archived(world: &World, id: JobId) -> JobRecord {
    let state = world.state(id).await;
    world.pass(hours(1)).await;
    assert_eq!(archive(world, state).await, 1);
    let job = world.get(id).await;
    assert!(job.archived_at.is_some(), "{job:?}");
    job
}

async fn records(world: &World, filter: Filter) -> Vec<JobRecord> {
    let all = PageRequest { before: None, limit: 1000 };
    world.store.list(&filter, all).await.expect("a page").jobs
}

pub async fn a_01_an_archived_job_is_read_as_it_was(world: &World) {
    let job = world.job().payload(b"{\"n\":7}").key("order-7").tenant("acme").tag("x");
    let run = world.run(job.correlation("req-7")).await;
    let mut notes = RunNotes::default();
    notes.logs.push(super::notes::line(&run, "hello"));
    world.apply(run.fail().notes(notes)).await;
    let (before, history) = (world.get(run.id()).await, world.history(run.id()).await);
    assert_eq!(before.archived_at, None);
    let now = archived(world, run.id()).await;
    assert!(now.archived_at.is_some_and(|at| at >= before.finished_at.unwrap_or(at)));
    let mut as_before = now;
    as_before.archived_at = None;
    assert_eq!(as_before, before);
    assert_eq!(world.history(run.id()).await, history);
    assert_eq!(world.logs(run.id()).await, ["hello"]);
}

pub async fn a_01_archiving_waits_for_the_age_and_takes_one_state(world: &World) {
    let done = world.succeeded(world.job()).await;
    let canceled = world.canceled(world.job()).await;
    world.pass(mins(59)).await;
    assert_eq!(archive(world, JobState::Succeeded).await, 0);
    world.pass(mins(1)).await;
    assert_eq!(archive(world, JobState::Succeeded).await, 1);
    assert_eq!(world.list(Filter::any()).await, [canceled]);
    assert_eq!(archive(world, JobState::Succeeded).await, 0, "it is archived already");
    assert!(world.get(done).await.archived_at.is_some());
    assert_eq!(world.get(canceled).await.archived_at, None);
}

pub async fn a_01_archiving_is_bounded_and_takes_the_oldest(world: &World) {
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(world.succeeded(world.job()).await);
        world.pass(mins(1)).await;
    }
    world.pass(hours(1)).await;
    let archive = || world.store.archive(JobState::Succeeded, hours(1), 2);
    assert_eq!(archive().await.expect("archived"), 2);
    ids.reverse();
    assert_eq!(world.list(Filter::any()).await, ids[..3]);
    assert_eq!(world.list(Filter::any().archived(ArchivedJobs::Only)).await, ids[3..]);
    assert_eq!(archive().await.expect("archived"), 2);
    assert_eq!(archive().await.expect("archived"), 1);
    assert_eq!(world.list(Filter::any().archived(ArchivedJobs::Include)).await, ids);
}

pub async fn a_01_what_is_not_purged_is_not_archived(world: &World) {
    world.paused_failed(world.job()).await;
    world.run(world.job()).await;
    world.submit(world.job()).await;
    world.pass(hours(9)).await;
    for state in JobState::ALL {
        assert_eq!(archive(world, state).await, 0);
    }
}

pub async fn a_01_archived_jobs_are_counted_apart(world: &World) {
    let id = world.succeeded(world.job()).await;
    let failed = world.failed(world.job()).await;
    assert_empty(world).await;
    let first = archived(world, id).await.archived_at;
    let second = archived(world, failed).await.archived_at;
    assert_eq!(world.counts().await.state(JobState::Succeeded), 0);
    assert_eq!(world.counts().await.state(JobState::Failed), 0);
    let status = world.store.archive_status().await.expect("reads");
    assert_eq!(status.counts.on("default", JobState::Succeeded), 1);
    assert_eq!(status.counts.on("default", JobState::Failed), 1);
    let times = [(JobState::Succeeded, first), (JobState::Failed, second)];
    let times = times.map(|(state, at)| (state, at.expect("is archived"))).into();
    assert_eq!((&status.oldest, &status.newest), (&times, &times));
}

async fn assert_empty(world: &World) {
    let status = world.store.archive_status().await.expect("reads");
    assert_eq!(status.jobs(), 0, "{status:?}");
    assert!(status.oldest.is_empty() && status.newest.is_empty(), "{status:?}");
}

pub async fn a_01_the_times_of_each_state_are_those_of_its_first_and_last_job(world: &World) {
    let mut at = Vec::new();
    for _ in 0..3 {
        let id = world.failed(world.job()).await;
        at.push(archived(world, id).await.archived_at.expect("is archived"));
    }
    let id = world.canceled(world.job()).await;
    let canceled = archived(world, id).await.archived_at.expect("is archived");
    let status = world.store.archive_status().await.expect("reads");
    assert_eq!(status.oldest, [(JobState::Failed, at[0]), (JobState::Canceled, canceled)].into());
    assert_eq!(status.newest, [(JobState::Failed, at[2]), (JobState::Canceled, canceled)].into());
}

/// PostgreSQL archives a range of ids as a whole, also one from which no job is left.
pub async fn a_01_jobs_that_are_gone_have_no_times(world: &World) {
    world.failed(world.job()).await;
    world.pass(hours(24 * 21)).await;
    assert_eq!(archive(world, JobState::Failed).await, 1);
    assert_eq!(archive(world, JobState::Succeeded).await, 0);
    let status = world.store.archive_status().await.expect("reads");
    assert_eq!(status.jobs(), 1);
    assert!(status.oldest.keys().eq([&JobState::Failed]), "{status:?}");
    assert!(status.newest.keys().eq([&JobState::Failed]), "{status:?}");
    world.pass(hours(1)).await;
    let purged = world.store.purge_archive(JobState::Failed, hours(1), 10).await;
    assert_eq!(purged.expect("purges"), 1);
    assert_empty(world).await;
}

pub async fn a_01_every_filter_finds_archived_jobs(world: &World) {
    let mut rng = Rng::with_seed(68);
    fill(world, &mut rng).await;
    world.pass(hours(2)).await;
    for state in [JobState::Succeeded, JobState::Canceled] {
        archive(world, state).await;
    }
    world.store.archive(JobState::Failed, hours(1), 4).await.expect("archived");
    let jobs = records(world, Filter::any().archived(ArchivedJobs::Include)).await;
    let moved = jobs.iter().filter(|job| job.archived_at.is_some()).count();
    assert!((10..jobs.len() - 10).contains(&moved), "{moved} of {} are archived", jobs.len());
    for _ in 0..100 {
        let filter = random(&mut rng, &jobs);
        for archived in ArchivedJobs::ALL {
            let filter = filter.clone().archived(archived);
            let matching = jobs.iter().filter(|job| filter.matches(job));
            let mut wanted: Vec<_> = matching.map(|job| job.id).collect();
            assert_eq!(listed(world, &filter).await, wanted, "{filter}");
            wanted.reverse();
            assert_eq!(listed(world, &filter.clone().oldest_first()).await, wanted, "{filter}");
        }
    }
}

pub async fn a_01_commands_on_an_archived_job_are_refused(world: &World) {
    let id = world.failed(world.job()).await;
    let before = archived(world, id).await;
    let commands = [
        Command::Pause(id),
        Command::Resume(id),
        Command::Cancel(id, CancelCause::Requested),
        Command::Reschedule(id, Due::In(mins(1))),
        Command::Move(id, Placement::default().queue("other")),
        Command::Retry(id),
    ];
    let is_refused = |error: &CommandError| matches!(error, CommandError::Archived { job, at } if *job == id && Some(*at) == before.archived_at);
    for command in commands {
        let refused = world.command(command.clone()).await.expect_err("is refused");
        assert!(is_refused(&refused), "{command:?}: {refused:?}");
        let change = Change::Command { command, version: Some(before.version) };
        let refused = world.store.operate(change, None).await;
        assert!(matches!(&refused, Err(ChangeError::Command(error)) if is_refused(error)));
    }
    let edit = Change::Successor {
        original: id,
        version: None,
        successor: Box::new(world.job().named("mail")),
    };
    let refused = world.store.operate(edit, None).await;
    assert!(matches!(&refused, Err(ChangeError::Command(error)) if is_refused(error)));
    assert_eq!(world.get(id).await, before);
}

pub async fn a_01_redrives_leave_archived_jobs_alone(world: &World) {
    let id = world.failed(world.job()).await;
    let before = archived(world, id).await;
    for archived in ArchivedJobs::ALL {
        let redriven = world.redrive(Filter::any().archived(archived), 10).await;
        assert!(redriven.retried.is_empty() && redriven.key_taken.is_empty(), "{archived:?}");
    }
    assert_eq!(world.get(id).await, before);
    let ratchet = ratchet_core::Ratchet::builder_shared(std::sync::Arc::clone(&world.store));
    let ratchet = ratchet.jobs([]).build().await.expect("builds");
    let filter = Filter::any().archived(ArchivedJobs::Include);
    let preview = ratchet.operations().preview(BulkVerb::Retry, &filter).await;
    assert!(preview.is_err(), "a bulk operation cannot change archived jobs: {preview:?}");
}

pub async fn a_01_keys_of_archived_jobs_stay(world: &World) {
    let job = world.job().idempotent("once").key("order-7");
    let id = world.succeeded(job).await;
    archived(world, id).await;
    let repeat = world.try_submit(world.job().idempotent("once").key("order-7")).await;
    assert!(matches!(repeat, Ok(Inserted::Duplicate(first)) if first == id), "{repeat:?}");
    world.pass(hours(1)).await;
    let purged = world.store.purge_archive(JobState::Succeeded, hours(1), 10).await;
    assert_eq!(purged.expect("purges"), 1);
    let repeat = world.try_submit(world.job().idempotent("once").key("order-7")).await;
    assert!(matches!(repeat, Ok(Inserted::Duplicate(first)) if first == id), "{repeat:?}");
}

pub async fn a_01_archived_jobs_are_dropped_after_a_second_retention(world: &World) {
    let done = world.succeeded(world.job()).await;
    let failed = world.failed(world.job()).await;
    world.pass(hours(5)).await;
    assert_eq!(archive(world, JobState::Succeeded).await, 1);
    assert_eq!(archive(world, JobState::Failed).await, 1);
    let purge = |state| world.store.purge_archive(state, hours(1), 10);
    world.pass(mins(59)).await;
    assert_eq!(purge(JobState::Succeeded).await.expect("purges"), 0, "counted from the archiving");
    world.pass(mins(1)).await;
    assert_eq!(purge(JobState::Succeeded).await.expect("purges"), 1);
    assert_eq!(world.find(done).await, None);
    assert!(world.history(done).await.is_empty());
    assert!(world.find(failed).await.is_some(), "of another state");
    assert_eq!(purge(JobState::Pending).await.expect("purges"), 0);
    let gone = world.command(Command::Retry(done)).await;
    assert!(matches!(gone, Err(CommandError::NotFound(id)) if id == done), "{gone:?}");
    assert_eq!(purge(JobState::Failed).await.expect("purges"), 1);
    assert_empty(world).await;
}

pub async fn a_01_dropping_archived_jobs_is_bounded(world: &World) {
    for _ in 0..3 {
        world.succeeded(world.job()).await;
    }
    world.pass(hours(1)).await;
    assert_eq!(archive(world, JobState::Succeeded).await, 3);
    world.pass(hours(1)).await;
    let purge = || world.store.purge_archive(JobState::Succeeded, hours(1), 2);
    assert_eq!(purge().await.expect("purges"), 2);
    assert_eq!(purge().await.expect("purges"), 1);
}

pub async fn a_01_a_removal_by_an_operator_is_recorded(world: &World) {
    let id = world.succeeded(world.job()).await;
    archived(world, id).await;
    let operate = || {
        let change =
            Change::PurgeArchive { state: JobState::Succeeded, age: hours(1), limit: 1000 };
        world.store.operate(change, Some(AuditNote::new(Actor::new("ada"), "archive.purge")))
    };
    let early = operate().await.expect("is possible");
    assert_eq!((early.reply, early.audit), (ChangeReply::ArchivePurged(0), None));
    world.pass(hours(1)).await;
    let changed = operate().await.expect("is possible");
    assert_eq!(changed.reply, ChangeReply::ArchivePurged(1));
    assert_eq!(world.find(id).await, None);
    let entries = world.store.audit(&AuditFilter::default(), None, true, 10).await;
    let entries = entries.expect("entries are listed");
    assert_eq!(entries.len(), 1);
    assert_eq!(changed.audit, Some(entries[0].number));
    assert_eq!(entries[0].target, "succeeded jobs archived at least 3600 s ago");
    assert_eq!(entries[0].after.as_deref(), Some("{\"removed\":1}"));
}

pub async fn a_01_an_archived_business_key_can_be_used_again(world: &World) {
    let id = world.succeeded(world.job().key("order-7")).await;
    archived(world, id).await;
    let again = world.submit(world.job().key("order-7")).await;
    let both = Filter::any().business_key("order-7").archived(ArchivedJobs::Include);
    assert_eq!(world.list(both).await, [again, id]);
}

/// Keys that a store could mistake for each other: of other tenants, with quotes, and with letters of other cases.
pub async fn a_01_archived_jobs_are_found_by_their_business_key(world: &World) {
    let keys = ["order-7", "order-7'\"\\", "Order-7", "order-7\u{1F980}", "order"];
    let mut found = Vec::new();
    for tenant in ["acme", "other"] {
        for key in keys {
            let id = world.succeeded(world.job().key(key).tenant(tenant)).await;
            archived(world, id).await;
            found.push((tenant, key, id));
        }
    }
    let again = world.failed(world.job().key("order-7").tenant("acme")).await;
    archived(world, again).await;
    found.push(("acme", "order-7", again));
    let unkeyed = world.succeeded(world.job()).await;
    archived(world, unkeyed).await;
    let filter = |key: &str| Filter::any().archived(ArchivedJobs::Only).business_key(key);
    for key in keys {
        let mut wanted: Vec<_> =
            found.iter().filter(|(_, of, _)| *of == key).map(|(_, _, id)| *id).collect();
        assert_eq!(world.list(filter(key).oldest_first()).await, wanted, "{key}");
        wanted.reverse();
        assert_eq!(world.list(filter(key)).await, wanted, "{key}");
    }
    let of_acme = filter("order-7").tenant("acme");
    assert_eq!(world.list(of_acme.clone()).await, [again, found[0].2]);
    assert_eq!(world.list(of_acme.state(JobState::Failed)).await, [again]);
    assert!(world.list(filter("order-8")).await.is_empty());
    // Page by page, in both directions.
    for filter in [filter("order-7"), filter("order-7").oldest_first()] {
        let all = world.list(filter.clone()).await;
        let (mut before, mut pages) = (None, Vec::new());
        loop {
            let page = world.store.list(&filter, PageRequest { before, limit: 1 }).await;
            let page = page.expect("a page");
            pages.extend(page.jobs.iter().map(|job| job.id));
            before = page.next;
            if before.is_none() {
                break;
            }
        }
        assert_eq!(pages, all, "{filter}");
    }
    // A key of a job that was deleted finds nothing.
    world.pass(hours(1)).await;
    let purged = world.store.purge_archive(JobState::Succeeded, hours(1), 100).await;
    assert_eq!(purged.expect("purges"), 11);
    assert_eq!(world.list(filter("order-7")).await, [again]);
}
