//! Runs one cell of the matrix, a callback combined with a trick, and reports the result.

use std::sync::atomic::Ordering;
use std::time::Duration;

use ratchet::definition::Registry;
use ratchet::model::JobId;
use ratchet::{JobState, Ratchet, SqliteStore};
use serde::{Deserialize, Serialize};

use super::hostile::{
    CALLS, CELL, Follow, Hostile, IS_FINE, Judged, Other, Resolver, Subject, Validated, check,
};
use super::log::{Log, logged};

macro_rules! table {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum $name { $($variant,)+ }

        impl $name {
            pub(crate) const ALL: [Self; [$(Self::$variant,)+].len()] = [$(Self::$variant,)+];

            pub(crate) fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }
    };
}

table! {
    /// The callbacks that a user can supply.
    Callback {
        Handler = "handler",
        Output = "output: `Serialize`, `Drop`",
        Display = "error: `Display`, `Drop`",
        Source = "error: `source()`",
        RetryPolicy = "retry policy",
        Sanitizer = "sanitizer",
        MiddlewareBefore = "middleware, before",
        MiddlewareAfter = "middleware, after",
        AlertSink = "alert sink",
        DeadLetterSink = "dead letter sink",
        OutcomeSink = "outcome sink",
        HealthCheck = "health check",
        Condition = "condition",
        Validator = "validator",
        Resolver = "resolver",
    }
}

table! {
    /// The way in which the callback misbehaves.
    Trick {
        Panic = "panics",
        Drop = "what it returns panics when dropped",
        Endless = "never returns",
        Large = "returns 100 MB",
    }
}

impl Callback {
    /// Returns whether the callback is only called if the job fails.
    pub(crate) fn needs_failure(self) -> bool {
        matches!(
            self,
            Self::Display
                | Self::Source
                | Self::RetryPolicy
                | Self::Sanitizer
                | Self::AlertSink
                | Self::DeadLetterSink
        )
    }

    /// Returns whether the trick applies to this callback. Some callbacks return no user-defined value.
    pub(crate) fn can(self, trick: Trick) -> bool {
        match self {
            Self::RetryPolicy | Self::Condition | Self::Source | Self::Resolver => {
                matches!(trick, Trick::Panic | Trick::Endless)
            }
            Self::Sanitizer | Self::Validator => trick != Trick::Drop,
            // A large return value is the `Output` callback's case.
            Self::Handler => trick != Trick::Large,
            _ => true,
        }
    }

    /// Returns the expected state and the expected number of used attempts.
    pub(crate) fn expected(self, trick: Trick) -> (&'static str, u32) {
        match (self, trick) {
            // The job has run; only its output could not be stored.
            (Self::Output, Trick::Large) => ("SUCCEEDED", 0),
            // The condition is evaluated when the run of its step is settled.
            (Self::Condition, Trick::Panic) => ("FAILED", 1),
            (
                Self::Handler
                | Self::Output
                | Self::MiddlewareBefore
                | Self::Resolver
                | Self::Condition,
                _,
            )
            | (Self::MiddlewareAfter, Trick::Endless) => ("FAILED", 2),
            (Self::Validator, _) => ("", 0),
            (callback, _) if callback.needs_failure() => ("FAILED", 2),
            _ => ("SUCCEEDED", 0),
        }
    }

    /// Returns whether a sink blocks its thread. Readiness fails only after a while: at first, the sink could be slow.
    fn blocks_deliveries(self, trick: Trick) -> bool {
        let sink = matches!(self, Self::AlertSink | Self::DeadLetterSink | Self::OutcomeSink);
        sink && trick == Trick::Endless
    }
}

/// The upper bound of every wait.
const LONGEST: Duration = Duration::from_mins(2);

/// The result of a cell.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Report {
    /// The final state; empty if the job was not submitted.
    pub(crate) state: String,
    pub(crate) attempts: u32,
    pub(crate) error: String,
    /// The combined size of the stored error and output, in bytes.
    pub(crate) stored: usize,
    pub(crate) logged: Vec<String>,
    pub(crate) counted: Vec<String>,
    pub(crate) other_ran: bool,
    pub(crate) alive: bool,
}

/// Runs a cell in this process.
pub(crate) fn play(callback: Callback, trick: Trick) -> Report {
    CELL.set((callback, trick)).expect("one cell per process");
    tracing::subscriber::set_global_default(Log).expect("the first one");
    std::panic::set_hook(Box::new(|_| {}));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build()
        .expect("a runtime");
    let report = runtime.block_on(run(callback, trick));
    // Do not wait for threads that never return.
    runtime.shutdown_background();
    report
}

async fn run(callback: Callback, trick: Trick) -> Report {
    let folder = std::env::temp_dir().join(format!("ratchet-callback-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let store = SqliteStore::open(folder.join("jobs.db")).await.expect("opens");
    let ratchet = build(store, callback).await;
    let worker = ratchet.start().await.expect("starts");
    let (submitted, refused) = submit(&ratchet, callback, trick).await;
    let mut report = Report { error: refused, ..Report::default() };
    if let Some(id) = submitted {
        ended(&ratchet, id).await;
    }
    // Some callbacks are called only after the job has ended.
    let called = async {
        while CALLS.load(Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let called = tokio::time::timeout(LONGEST, called).await.is_ok();
    assert!(called, "the callback was never called");
    tokio::time::sleep(Duration::from_millis(200)).await;
    let other = ratchet.enqueue(Other {}).await.expect("enqueues");
    report.other_ran = ended(&ratchet, other.id()).await == Some(JobState::Succeeded);
    if let Some(id) = submitted
        && let Some(job) = ratchet.jobs().get(id).await.expect("reads")
    {
        report.state = job.state.to_string();
        report.attempts = job.attempts;
        let message = job.error.map(|error| error.message).unwrap_or_default();
        report.stored = message.len() + job.output.map_or(0, |output| output.len());
        report.error = short(&message);
    }
    report.counted = worker.panics().iter().map(|(what, n)| format!("{what} {n}")).collect();
    if callback.blocks_deliveries(trick) {
        let noticed = async {
            while worker.readiness().ok {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        let _ = tokio::time::timeout(LONGEST, noticed).await;
    }
    report.alive = worker.liveness().ok;
    report.logged = logged().iter().map(|line| short(line)).collect();
    report
        .logged
        .extend(worker.readiness().problems.iter().map(|it| format!("not ready: {}", short(it))));
    let _ = std::fs::remove_dir_all(&folder);
    report
}

async fn build(store: SqliteStore, callback: Callback) -> Ratchet {
    let builder = Ratchet::builder(store).concurrency(4).config(|config| {
        config.health_every = Duration::from_millis(100);
        config.health_retry = Duration::from_millis(100);
        config.cancel_grace = Duration::from_millis(100);
    });
    let builder = match callback {
        Callback::RetryPolicy => builder.retry_policy(Hostile),
        Callback::Sanitizer => builder.sanitizer(Hostile),
        Callback::MiddlewareBefore | Callback::MiddlewareAfter => builder.middleware(Hostile),
        Callback::AlertSink => builder.alert_sink(Hostile),
        Callback::DeadLetterSink => builder.dead_letter_sink(Hostile),
        Callback::OutcomeSink => builder.outcome_sink(Hostile),
        Callback::HealthCheck => builder.health_check("hostile", check),
        Callback::Resolver => {
            let registry = Registry::collect().expect("no clashes");
            builder.resolver(Resolver(registry))
        }
        _ => builder,
    };
    builder.build().await.expect("builds")
}

/// Submits the job that uses the callback. Returns its id, or the reason why it was not submitted.
async fn submit(ratchet: &Ratchet, callback: Callback, trick: Trick) -> (Option<JobId>, String) {
    let client = ratchet.clone();
    let submit = tokio::spawn(async move {
        match callback {
            Callback::Validator => {
                client.enqueue(Validated { number: 1 }).await.map(|job| job.id())
            }
            Callback::Condition => {
                let mut flow = client.workflow("judged");
                let judged = flow.step("judged", Judged {}, |step| step);
                flow.step("follow", Follow {}, |step| step.after_if(&judged, IS_FINE));
                let flow = flow.await.expect("submits");
                let members = flow.members(None, 10).await.expect("reads");
                let judged = members.iter().find(|member| member.name.as_deref() == Some("judged"));
                Ok(judged.expect("is there").id)
            }
            _ => {
                // Only the endless trick gets a short timeout; a large value may legitimately take long.
                let endless = trick == Trick::Endless;
                let timeout = Duration::from_millis(if endless { 300 } else { 60_000 });
                client.enqueue(Subject {}).timeout(timeout).await.map(|job| job.id())
            }
        }
    });
    match tokio::time::timeout(Duration::from_secs(2), submit).await {
        Ok(Ok(Ok(id))) => (Some(id), String::new()),
        Ok(Ok(Err(error))) => (None, short(&error.to_string())),
        Ok(Err(_)) => (None, "the submit panicked in its caller".to_owned()),
        Err(_) => (None, "the submit did not return to its caller".to_owned()),
    }
}

async fn ended(ratchet: &Ratchet, id: JobId) -> Option<JobState> {
    let ended = async {
        loop {
            let job = ratchet.jobs().get(id).await.expect("reads")?;
            if job.state.is_terminal() {
                return Some(job.state);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LONGEST, ended).await.ok().flatten()
}

fn short(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(90) {
        Some((at, _)) => format!("{}… ({} bytes)", &line[..at], text.len()),
        None => line.to_owned(),
    }
}
