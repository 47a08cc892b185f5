//! The views for people: a store with jobs in every state, and what the library says about them, in the form in which a
//! test reads the views. The helpers panic on errors.
#![allow(clippy::missing_panics_doc, reason = "these are tests")]

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use ratchet_core::{Filter, Job as _, JobState, PageRequest, Priority, QueueLimits, Ratchet};
use ratchet_macros::job;
use ratchet_store::Store;
use serde_json::{Map, Value, json};

use crate::damage::Node;

/// Charges a card.
#[job(name = "test.charge", crate = ::ratchet_core)]
async fn charge(order: u64, express: bool, #[job(secret)] card: String) -> u64 {
    let _ = (express, card);
    order + 1
}

/// Fails at its first attempt.
#[job(name = "test.refuse", max_retries = 0, crate = ::ratchet_core)]
async fn refuse(shop: String) -> Result<(), std::io::Error> {
    Err(std::io::Error::other(format!("no shop is called \"{shop}\"\u{0}")))
}

/// Writes jobs in every state, a paused queue, a limited queue, and the catalog.
pub async fn populate(store: Arc<dyn Store>) -> Ratchet {
    let ratchet = Ratchet::builder_shared(Arc::clone(&store))
        .jobs([Charge::JOB, Refuse::JOB])
        .build()
        .await
        .expect("builds");
    let charge = |order| Charge { order, express: true, card: "4111".to_owned() };
    let refuse = |shop: &str| Refuse { shop: shop.to_owned() };
    let worker = ratchet.start().await.expect("starts");
    let handle = ratchet.enqueue(charge(1)).tag("gold").tenant("acme").correlation_id("c-1");
    handle.await.expect("submits").wait_for(Duration::from_mins(1)).await.expect("succeeds");
    let mut failed = Vec::new();
    for shop in ["a", "b", "c"] {
        let handle = ratchet.enqueue(refuse(shop)).business_key(shop).await.expect("submits");
        let ended = handle.wait_for(Duration::from_mins(1)).await;
        assert!(ended.is_err(), "it fails");
        failed.push(handle.id());
    }
    worker.stop().await;
    // Paused after its failure: no member of a group.
    ratchet.jobs().pause(failed[2]).await.expect("pauses");
    let submit = async |order| ratchet.enqueue(charge(order)).await.expect("submits").id();
    let later = ratchet.enqueue(charge(2)).delay(Duration::from_hours(1));
    later.priority(Priority::High).await.expect("submits");
    ratchet.jobs().pause(submit(3).await).await.expect("pauses");
    ratchet.jobs().cancel(submit(4).await).await.expect("cancels");
    submit(5).await;
    let node = Node::join(store.as_ref(), &["test.charge"]).await;
    let claimed = node.claim(store.as_ref(), 1).await.expect("claims").jobs;
    assert_eq!(claimed.len(), 1, "one job is running");
    submit(6).await;
    let group = &ratchet.failures().groups(&Filter::any(), 100).await.expect("groups").groups[0];
    let ada = ratchet.acting_as(ratchet_core::Actor::new("ada"));
    let resolved = ada.failures().resolve(&group.job_name, &group.fingerprint).await;
    resolved.expect("resolves");
    ratchet.queues().pause("mail").await.expect("pauses");
    let mut limits = QueueLimits::default();
    limits.concurrency = Some(3);
    ratchet.queues().limit("default", limits).await.expect("limits");
    ratchet
}

/// Returns the columns of the view of jobs that [`jobs`] has.
pub const JOB_COLUMNS: [&str; 26] = [
    "id",
    "name",
    "queue",
    "state",
    "priority",
    "queued_at",
    "due",
    "started_at",
    "finished_at",
    "attempts",
    "crashes",
    "deferrals",
    "generation",
    "run",
    "version",
    "node",
    "reason",
    "error_type",
    "error",
    "fingerprint",
    "tenant",
    "tags",
    "business_key",
    "correlation_id",
    "arguments",
    "output",
];

/// Returns all jobs as the library reads them, as rows of the view.
pub async fn jobs(ratchet: &Ratchet) -> Vec<Value> {
    let page = PageRequest { before: None, limit: 100 };
    let jobs = ratchet.jobs().list(&Filter::any(), page).await.expect("lists").jobs;
    assert_eq!(jobs.len(), 9);
    let rows = jobs.iter().map(|job| {
        let error = job.error.as_ref();
        json!({
            "id": job.id,
            "name": job.spec.name,
            "queue": job.spec.queue,
            "state": job.state.name(),
            "priority": job.spec.priority,
            "queued_at": micros(job.queued_at),
            "due": micros(job.due),
            "started_at": job.started_at.map(micros),
            "finished_at": job.finished_at.map(micros),
            "attempts": job.attempts,
            "crashes": job.crashes,
            "deferrals": job.deferrals,
            "generation": job.generation,
            "run": job.run,
            "version": job.version,
            "node": job.node,
            "reason": job.envelope.as_ref().map(|envelope| envelope.reason),
            "error_type": error.map(|error| error.error_type.as_str()),
            "error": error.map(|error| readable(&error.message)),
            "fingerprint": error.map(|error| error.fingerprint.as_str()),
            "tenant": job.spec.tenant,
            "tags": (!job.spec.tags.is_empty()).then_some(&job.spec.tags),
            "business_key": job.spec.business_key,
            "correlation_id": job.spec.correlation_id,
            "arguments": ratchet.jobs().arguments(job),
            "output": job.output.as_deref().map(|output| serde_json::from_str::<Value>(output).expect("JSON")),
        })
    });
    sorted(rows.collect(), "id")
}

/// The columns of the view of failures.
pub const FAILURE_COLUMNS: [&str; 12] = [
    "name",
    "fingerprint",
    "jobs",
    "first",
    "last",
    "reason",
    "error_type",
    "error",
    "latest",
    "state",
    "marked_by",
    "marked_at",
];

/// Returns the groups of failed jobs, as rows of the view.
pub async fn failures(ratchet: &Ratchet) -> Vec<Value> {
    let groups = ratchet.failures().groups(&Filter::any(), 100).await.expect("groups").groups;
    assert!(!groups.is_empty());
    let rows = groups.iter().map(|group| {
        let mark = group.mark.as_ref();
        json!({
            "name": group.job_name,
            "fingerprint": group.fingerprint,
            "jobs": group.count,
            "first": micros(group.first),
            "last": micros(group.last),
            "reason": group.reason,
            "error_type": group.error_type,
            "error": readable(&group.message),
            "latest": group.latest,
            "state": group.state,
            "marked_by": mark.and_then(|mark| mark.actor.as_ref()).map(|actor| &actor.name),
            "marked_at": mark.map(|mark| micros(mark.at)),
        })
    });
    sorted(rows.collect(), "fingerprint")
}

/// The columns of the view of queues that [`queues`] has.
pub const QUEUE_COLUMNS: [&str; 9] = [
    "name",
    "paused",
    "concurrency",
    "pending",
    "running",
    "paused_jobs",
    "succeeded",
    "failed",
    "canceled",
];

/// Returns the queues, as rows of the view.
pub async fn queues(ratchet: &Ratchet, store: &dyn Store) -> Vec<Value> {
    let counts = store.counts().await.expect("counts");
    let ruled = ratchet.queues().list().await.expect("lists");
    let mut names: Vec<_> = counts.queues.keys().cloned().collect();
    names.extend(ruled.iter().map(|queue| queue.queue.clone()));
    names.sort();
    names.dedup();
    assert_eq!(names, ["default", "mail"]);
    let rows = names.iter().map(|name| {
        let rules = ruled.iter().find(|queue| queue.queue == *name).map(|queue| &queue.rules);
        let count = |state| {
            counts
                .queues
                .get(name)
                .and_then(|queue| queue.states.get(&state))
                .copied()
                .unwrap_or_default()
        };
        json!({
            "name": name,
            "paused": rules.is_some_and(|rules| rules.paused),
            "concurrency": rules.and_then(|rules| rules.limits.concurrency),
            "pending": count(JobState::Pending),
            "running": count(JobState::Running),
            "paused_jobs": count(JobState::Paused),
            "succeeded": count(JobState::Succeeded),
            "failed": count(JobState::Failed),
            "canceled": count(JobState::Canceled),
        })
    });
    sorted(rows.collect(), "name")
}

/// The columns of the view of nodes that [`nodes`] has.
pub const NODE_COLUMNS: [&str; 8] =
    ["id", "host", "pid", "program", "binary_version", "joined_at", "lease_until", "alive"];

/// Returns the live nodes, as rows of the view.
pub async fn nodes(ratchet: &Ratchet) -> Vec<Value> {
    let nodes = ratchet.nodes().list().await.expect("lists");
    assert!(!nodes.is_empty());
    let rows = nodes.iter().map(|node| {
        json!({
            "id": node.info.id,
            "host": node.info.host,
            "pid": node.info.pid,
            "program": node.info.declarations.program,
            "binary_version": node.info.binary_version,
            "joined_at": micros(node.joined_at),
            "lease_until": micros(node.lease_until),
            "alive": node.alive,
        })
    });
    sorted(rows.collect(), "id")
}

/// Converts rows that a test has read from a view to the form of the rows above.
pub fn read(rows: Vec<Value>, columns: &[&str]) -> Vec<Value> {
    let rows = rows.into_iter().map(|row| {
        let Value::Object(mut row) = row else { panic!("{row} is a row") };
        let cells = columns.iter().map(|column| {
            let cell = row.remove(*column).unwrap_or_else(|| panic!("no column `{column}`"));
            (column.to_string(), value(column, cell))
        });
        Value::Object(cells.collect::<Map<_, _>>())
    });
    let key = columns.iter().find(|column| ["id", "fingerprint"].contains(column));
    sorted(rows.collect(), key.unwrap_or(&"name"))
}

fn value(column: &str, cell: Value) -> Value {
    match (column, cell) {
        (
            "queued_at" | "due" | "started_at" | "finished_at" | "joined_at" | "lease_until"
            | "first" | "last" | "marked_at",
            Value::String(time),
        ) => micros(time.parse().expect("a time")),
        // SQLite has neither JSON nor booleans.
        ("arguments" | "output" | "tags", Value::String(text)) => {
            serde_json::from_str(&text).expect("JSON")
        }
        ("alive" | "paused", Value::Number(number)) => (number.as_u64() == Some(1)).into(),
        (_, cell) => cell,
    }
}

fn micros(time: Timestamp) -> Value {
    time.as_microsecond().into()
}

/// The text of PostgreSQL contains no NUL.
fn readable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

fn sorted(mut rows: Vec<Value>, key: &str) -> Vec<Value> {
    rows.sort_by_key(|row| row[key].to_string());
    rows
}
