//! What changes of a job do to queued rows: what the lock test says, and what really happens.
//!
//! `docs/payload-changes.md` is the table, which every store must produce. `UPDATE_EXPECT=1` writes it.

mod changes;
mod types;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use ratchet_core::{JobId, JobState, LockFailure, LockMode, Ratchet, Registration, check_lock};
use ratchet_store::model::JobRecord;
use serde_json::Value;

use super::super::EngineFixture;
use super::super::fixture::start;
use super::super::script::Step;

/// One change: the job as it was when the row was stored, and as it is when the row is run.
pub(super) struct Change {
    title: &'static str,
    name: &'static str,
    /// The payload that is queued.
    payload: Value,
    old: Registration,
    /// `None` if the job is gone.
    new: Option<Registration>,
}

/// What the lock test says about a change.
struct Verdict {
    strands: bool,
    text: String,
}

pub async fn u_03_the_table_of_payload_changes(fixture: EngineFixture) {
    let changes = changes::changes();
    assert!(changes.len() >= 40, "{} changes", changes.len());
    let submitter = fixture.builder().jobs(changes.iter().map(|change| change.old));
    let submitter = submitter.build().await.expect("builds");
    let mut queued = BTreeMap::new();
    for change in &changes {
        let prepared = submitter.enqueue_by_name(change.name, &change.payload).into_new_job();
        let mut job = prepared.expect("prepares");
        // As an older build has stored it: the client would write the present names.
        job.spec.payload = change.payload.to_string().into_bytes();
        if change.title == "alias of a job removed" {
            job.spec.name = "former".into();
        }
        queued.insert(change.name, job.id);
        submitter.store().insert(vec![job]).await.expect("inserts");
    }
    let new = changes.iter().filter_map(|change| change.new);
    let (ratchet, worker) = start(fixture.builder().jobs(new)).await;
    let mut rows = Vec::new();
    for change in &changes {
        let happened = happened(&fixture, &ratchet, change, queued[change.name]).await;
        rows.push((change, verdict(change), happened));
    }
    worker.stop().await;
    compare(&rows);
}

/// Returns the state that the row is in when everything that can run has run.
async fn happened(
    fixture: &EngineFixture,
    ratchet: &Ratchet,
    change: &Change,
    id: JobId,
) -> String {
    let queued = ratchet.jobs().get(id).await.expect("reads").expect("exists");
    let runs = change.new.is_some_and(|new| {
        new.def.names().any(|name| name == queued.spec.name)
            && new.def.version >= queued.spec.version
    });
    if !runs {
        // A job that was enqueued later has run: the worker has passed over this one.
        let later = fixture.play(ratchet, [Step::Ok]).await;
        fixture.until(ratchet, later.id(), JobState::Succeeded).await;
        let job = ratchet.jobs().get(id).await.expect("reads").expect("exists");
        assert_eq!((job.state, job.run), (JobState::Pending, 0), "{}", change.title);
        return "waits for a worker that knows it".to_owned();
    }
    let ended = fixture.ended(ratchet, id).await;
    match ended.state {
        JobState::Succeeded => format!("runs with `{}`", received(&ended)),
        _ => {
            let failure = ended.envelope.expect("an envelope").failure;
            format!(
                "fails as `{}`: {}",
                format!("{:?}", failure.kind).to_lowercase(),
                failure.message.replace('|', "\\|")
            )
        }
    }
}

fn received(job: &JobRecord) -> String {
    let output = job.output.as_deref().unwrap_or("\"\"");
    serde_json::from_str(output).expect("a string")
}

/// Runs the lock test: the lock file is that of the old job.
fn verdict(change: &Change) -> Verdict {
    let folder = std::env::temp_dir();
    let unique = uuid::Uuid::now_v7();
    let path = folder.join(format!("ratchet-{unique}.lock"));
    check_lock(&path, &[change.old], LockMode::Update).expect("writes");
    // The registry is never empty in a program that removes one of its jobs.
    let other = super::super::script::jobs().into_iter().next().expect("a job");
    let present = [change.new.unwrap_or(other)];
    let checked = check_lock(&path, &present, LockMode::Compatible);
    std::fs::remove_file(&path).expect("removes");
    match checked {
        Ok(report) => {
            let notes: Vec<_> = report.notes.into_iter().map(|note| note.text).collect();
            let notes =
                if notes.is_empty() { String::new() } else { format!(": {}", notes.join("; ")) };
            Verdict { strands: false, text: format!("passes{notes}") }
        }
        Err(LockFailure::Stranded(problems)) => {
            let remedies: Vec<_> = problems.into_iter().map(|problem| problem.remedy).collect();
            Verdict { strands: true, text: format!("fails: {}", remedies.join("; ")) }
        }
        Err(failure) => panic!("{}: {failure}", change.title),
    }
}

fn compare(rows: &[(&Change, Verdict, String)]) {
    let mut page = String::from(HEAD);
    for (change, verdict, happened) in rows {
        let compatible = if verdict.strands { "no" } else { "yes" };
        let cells =
            [change.title, compatible, &verdict.text, happened].map(|cell| cell.replace('\n', " "));
        let _ = writeln!(page, "| {} |", cells.join(" | "));
        // Nothing that the lock test lets pass may fail or wait, unless code that is no part of the shape refuses it.
        if !verdict.strands && !change.title.starts_with("`validate`") {
            assert!(happened.starts_with("runs"), "{}: {happened}", change.title);
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/payload-changes.md");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &page).expect("writes");
    }
    let documented = std::fs::read_to_string(&path).expect("docs/payload-changes.md");
    assert!(
        documented == page,
        "docs/payload-changes.md is out of date; write it with UPDATE_EXPECT=1:\n{page}"
    );
}

const HEAD: &str = "\
# Changes of payloads

What a change of a job does to jobs that are queued when it is deployed. The table is written by running each change on
a store: the row is enqueued by the old code and run by the new code, without retries. Memory, SQLite and PostgreSQL must give
the same table (`ratchet-conformance/src/engine/cases/payload_changes`).

| change | compatible | the lock test | the queued row |
|---|---|---|---|
";
