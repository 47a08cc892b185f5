//! Jobs of a store that version 0.1.0 has written (`tests/older`), and what must become of them.
#![allow(clippy::missing_panics_doc, reason = "these are tests")]
#![allow(clippy::unused_async, reason = "a job is an async fn")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ratchet_core::{
    Due, Filter, Finished, GroupReport, Job as _, JobContext, JobError, JobState, PageRequest,
    Ratchet,
};
use ratchet_macros::job;
use ratchet_store::Store;
use ratchet_store::model::{BreakerState, JobRecord, Priority, RejectFilter, TerminalReason};

#[job(name = "older.echo", max_retries = 3, backoff = fixed("10ms"), crate = ::ratchet_core)]
async fn echo(#[inject] ctx: JobContext, text: String, fails: u32) -> Result<String, JobError> {
    if ctx.attempt() <= fails { Err(JobError::msg("as requested")) } else { Ok(text) }
}

#[job(name = "older.next", crate = ::ratchet_core)]
async fn next(#[input] text: String) -> String {
    format!("{text}!")
}

#[job(name = "older.join", crate = ::ratchet_core)]
async fn join(
    #[input(step = "left")] left: String,
    #[input(step = "right")] right: String,
) -> String {
    format!("{left}{right}")
}

#[job(name = "older.report", crate = ::ratchet_core)]
async fn report(#[inject] group: GroupReport) -> u64 {
    group.counts.succeeded
}

#[job(name = "older.thank", crate = ::ratchet_core)]
async fn thank(#[inject] finished: Finished<Parent>) -> String {
    finished.outcome.unwrap_or_default()
}

#[job(name = "older.parent", on_success = Thank, crate = ::ratchet_core)]
async fn parent(text: String) -> String {
    text
}

#[job(name = "older.items", crate = ::ratchet_core)]
async fn items() {}

/// In the older version, it never returned.
#[job(name = "older.stuck", queue = "stuck", crate = ::ratchet_core)]
async fn stuck() -> String {
    "not stuck any more".to_owned()
}

#[job(name = "older.tick", crate = ::ratchet_core)]
async fn tick() {}

/// The state of each job as the older version has left it, by its name and its text.
const STATES: &[(&str, &str, JobState, usize)] = &[
    ("older.echo", "done", JobState::Succeeded, 1),
    ("older.echo", "retried", JobState::Succeeded, 1),
    ("older.echo", "dead", JobState::Failed, 1),
    ("older.echo", "paused dead", JobState::Paused, 1),
    ("older.echo", "canceled", JobState::Canceled, 1),
    ("older.echo", "chained", JobState::Succeeded, 1),
    ("older.echo", "a", JobState::Succeeded, 1),
    ("older.echo", "b", JobState::Succeeded, 1),
    ("older.echo", "waiting", JobState::Pending, 1),
    ("older.echo", "tagged", JobState::Pending, 1),
    ("older.echo", "later", JobState::Pending, 1),
    ("older.echo", "paused", JobState::Paused, 1),
    ("older.echo", "one at a time", JobState::Pending, 2),
    ("older.echo", "chain", JobState::Pending, 1),
    ("older.echo", "l", JobState::Pending, 1),
    ("older.echo", "r", JobState::Pending, 1),
    ("older.echo", "c", JobState::Pending, 1),
    ("older.echo", "d", JobState::Pending, 1),
    ("older.echo", "e", JobState::Pending, 1),
    ("older.items", "", JobState::Succeeded, 1),
    ("older.join", "", JobState::Pending, 1),
    ("older.next", "", JobState::Pending, 2),
    ("older.next", "", JobState::Succeeded, 1),
    ("older.parent", "called back", JobState::Succeeded, 1),
    ("older.parent", "calls back later", JobState::Pending, 1),
    ("older.report", "", JobState::Pending, 1),
    ("older.report", "", JobState::Succeeded, 1),
    ("older.stuck", "", JobState::Running, 1),
    ("older.thank", "", JobState::Succeeded, 1),
];

/// Checks that a store with the jobs of `tests/older` has all of them, and that they run.
pub async fn check_everything(store: Arc<dyn Store>) {
    let builder = Ratchet::builder_shared(store)
        .jobs([
            Echo::JOB,
            Next::JOB,
            Join::JOB,
            Report::JOB,
            Thank::JOB,
            Parent::JOB,
            Items::JOB,
            Stuck::JOB,
            Tick::JOB,
        ])
        .config(|config| {
            // The jobs ended when the older version was run, which may be years ago.
            (config.keep_succeeded, config.keep_canceled, config.keep_failed) = (None, None, None);
            config.maintenance_interval = Duration::from_millis(20);
            config.poll_interval = (Duration::from_millis(5), Duration::from_millis(50));
        });
    let ratchet = builder.build().await.expect("builds");
    let jobs = everything_is_there(&ratchet).await;
    keys_are_kept(&ratchet, &jobs).await;
    everything_runs(&ratchet, &jobs).await;
}

async fn list(ratchet: &Ratchet) -> Vec<JobRecord> {
    let page = PageRequest { before: None, limit: 1000 };
    ratchet.jobs().list(&Filter::any(), page).await.expect("lists").jobs
}

/// Returns the argument `text` of a job, which not all have.
fn text(job: &JobRecord) -> String {
    let arguments: serde_json::Value =
        serde_json::from_slice(&job.spec.payload).expect("arguments are JSON");
    arguments["text"].as_str().unwrap_or_default().to_owned()
}

fn find<'a>(jobs: &'a [JobRecord], wanted: &str) -> &'a JobRecord {
    jobs.iter().find(|job| text(job) == wanted).expect("the job is there")
}

/// Checks every row that the older version has written, before anything runs.
async fn everything_is_there(ratchet: &Ratchet) -> Vec<JobRecord> {
    let jobs = list(ratchet).await;
    let mut states = BTreeMap::new();
    for job in &jobs {
        *states.entry((job.spec.name.clone(), text(job), job.state)).or_insert(0) += 1;
    }
    let expected: BTreeMap<_, _> = STATES
        .iter()
        .map(|(name, text, state, count)| {
            (((*name).to_owned(), (*text).to_owned(), *state), *count)
        })
        .collect();
    assert_eq!(states, expected);

    let done = find(&jobs, "done");
    assert_eq!(done.output.as_deref(), Some("\"done\""));
    assert_eq!(done.spec.idempotency_key.as_deref(), Some("older-done"));
    assert_eq!(done.spec.tenant.as_deref(), Some("acme"));
    assert_eq!(done.spec.tags.iter().map(|tag| &**tag).collect::<Vec<_>>(), ["old"]);
    let logs = ratchet.jobs().logs(done.id).await.expect("reads");
    assert_eq!(logs.iter().map(|line| &*line.message).collect::<Vec<_>>(), ["attempt 1"]);
    let retried = find(&jobs, "retried");
    assert_eq!(retried.spec.correlation_id.as_deref(), Some("trip-1"));
    assert_eq!(ratchet.jobs().attempts(retried.id).await.expect("reads").len(), 2);
    let dead = find(&jobs, "dead");
    let envelope = dead.envelope.as_ref().expect("a dead letter has an envelope");
    assert_eq!(envelope.reason, TerminalReason::RetryExhausted);
    assert_eq!(envelope.failure.message, "as requested");
    assert_eq!(dead.attempts, 4);
    let waiting = find(&jobs, "waiting");
    assert_eq!(waiting.spec.business_key.as_deref(), Some("order-1"));
    assert_eq!(waiting.spec.priority, Priority::High);

    let counts = ratchet.jobs().counts().await.expect("counts");
    for state in JobState::ALL {
        let listed = jobs.iter().filter(|job| job.state == state).count() as u64;
        assert_eq!(counts.state(state), listed, "{state}");
    }
    let rejects = ratchet.rejects().list(&RejectFilter::any(), None, 10).await.expect("lists");
    assert_eq!(rejects.len(), 1);
    let pages = ratchet.pipeline("older-pages").take(10, Duration::ZERO).await.expect("takes");
    assert_eq!(pages.iter().map(|page| &*page.handed.key).collect::<Vec<_>>(), ["page-1"]);

    let tick = ratchet.schedules().get("older-tick").await.expect("reads").expect("is there");
    assert_eq!(
        (&*tick.schedule.expression, &*tick.schedule.zone),
        ("0 30 2 * * *", "Europe/Berlin")
    );
    assert!(!tick.schedule.paused);
    let paused = ratchet.schedules().get("older-paused").await.expect("reads").expect("is there");
    assert!(paused.schedule.paused);
    let queues = ratchet.queues().list().await.expect("lists");
    let rules =
        |name: &str| &queues.iter().find(|queue| queue.queue == name).expect("is there").rules;
    assert!(rules("default").paused);
    assert_eq!(rules("limited").limits.concurrency, Some(4));
    let breaker = ratchet.breakers().get("older-service").await.expect("reads").expect("is there");
    assert!(matches!(breaker.state, BreakerState::Open { .. }), "{breaker:?}");
    jobs
}

/// Checks that keys of the older version are recognized.
async fn keys_are_kept(ratchet: &Ratchet, jobs: &[JobRecord]) {
    let echo = |text: &str| Echo { text: text.to_owned(), fails: 0 };
    let repeat = ratchet.enqueue(echo("done")).tenant("acme").idempotency_key("older-done");
    assert_eq!(repeat.await.expect("is recognized").id(), find(jobs, "done").id);
    let other = ratchet.enqueue(echo("other")).tenant("acme").idempotency_key("older-done").await;
    assert!(other.is_err(), "the key belongs to other arguments");
    let taken = ratchet.enqueue(echo("waiting")).business_key("order-1").or_existing();
    assert_eq!(taken.await.expect("exists").id(), find(jobs, "waiting").id);
}

/// Runs what the older version has left.
async fn everything_runs(ratchet: &Ratchet, jobs: &[JobRecord]) {
    let worker = ratchet.start().await.expect("starts");
    ratchet.jobs().resume(find(jobs, "paused").id).await.expect("resumes");
    ratchet.jobs().resume(find(jobs, "paused dead").id).await.expect("resumes");
    ratchet.jobs().reschedule(find(jobs, "later").id, Due::Now).await.expect("reschedules");
    assert!(ratchet.queues().resume("default").await.expect("resumes"));
    let all_end = async {
        while list(ratchet).await.iter().any(|job| !job.state.is_terminal()) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let in_time = tokio::time::timeout(Duration::from_mins(2), all_end).await;
    let jobs = list(ratchet).await;
    assert!(in_time.is_ok(), "{jobs:#?}");
    worker.stop().await;

    let mut outputs: Vec<_> =
        jobs.iter().filter_map(|job| Some((&*job.spec.name, job.output.clone()?))).collect();
    outputs.sort();
    let of = |name: &str| -> Vec<&str> {
        outputs.iter().filter(|(of, _)| *of == name).map(|(_, output)| &**output).collect()
    };
    assert_eq!(of("older.next"), ["\"chain!!\"", "\"chain!\"", "\"chained!\""]);
    assert_eq!(of("older.join"), ["\"lr\""]);
    assert_eq!(of("older.report"), ["2", "3"]);
    assert_eq!(of("older.thank"), ["\"called back\"", "\"calls back later\""]);
    assert_eq!(of("older.stuck"), ["\"not stuck any more\""]);
    let of_state =
        |state| jobs.iter().filter(|job| job.state == state).map(text).collect::<Vec<_>>();
    let mut failed = of_state(JobState::Failed);
    failed.sort();
    assert_eq!(failed, ["dead", "paused dead"]);
    assert_eq!(of_state(JobState::Canceled), ["canceled"]);
    assert_eq!(of_state(JobState::Succeeded).len(), jobs.len() - 3);
}
