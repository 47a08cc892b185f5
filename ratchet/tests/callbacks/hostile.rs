//! Callbacks that misbehave according to the cell selected for this process.
#![allow(
    clippy::unused_async,
    clippy::trivially_copy_pass_by_ref,
    reason = "the shape of jobs and conditions"
)]

use std::error::Error;
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use ratchet::definition::{JobInvocationResolver, Registration, Registry};
use ratchet::failure::{ErrorSanitizer, RawError};
use ratchet::hooks::{
    AlertSink, DeadLetterSink, FailedJob, Failure, Middleware, OutcomeSink, RetryPolicy, RunReport,
    SinkError,
};
use ratchet::model::{Alert, Envelope, JobOutcome};
use ratchet::prelude::*;
use ratchet::{JobError, async_trait};
use serde::{Deserialize, Serialize, Serializer};

use super::cell::{Callback, Trick};

/// The cell that this process runs.
pub(crate) static CELL: OnceLock<(Callback, Trick)> = OnceLock::new();

/// Returns the trick, if the selected cell is about this callback.
fn trick(callback: Callback) -> Option<Trick> {
    CELL.get().filter(|(other, _)| *other == callback).map(|(_, trick)| *trick)
}

/// Returns the large value: 10 MB, or 100 MB when the page is written.
fn large() -> String {
    let bytes = if std::env::var_os("RATCHET_CALLBACKS_DOCS").is_some() { 100 } else { 10 };
    "x".repeat(bytes * 1_000_000)
}

/// The number of calls of the selected callback.
pub(crate) static CALLS: AtomicU32 = AtomicU32::new(0);

/// Panics or blocks forever if the selected trick says so.
fn misbehave(callback: Callback) {
    if trick(callback).is_some() {
        CALLS.fetch_add(1, Ordering::SeqCst);
    }
    match trick(callback) {
        Some(Trick::Panic) => panic!("this callback panics"),
        Some(Trick::Endless) => loop {
            std::thread::sleep(Duration::from_secs(1));
        },
        _ => {}
    }
}

/// Returns an error that is large or that panics when dropped, if the selected trick says so.
fn error(callback: Callback) -> Result<(), Nasty> {
    match trick(callback) {
        Some(Trick::Drop | Trick::Large) => Err(Nasty(callback)),
        _ => Ok(()),
    }
}

#[derive(Debug)]
pub(crate) struct Nasty(Callback);

impl fmt::Display for Nasty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        misbehave(Callback::Display);
        let large = [Callback::Display, self.0].map(trick).contains(&Some(Trick::Large));
        if large { f.write_str(&self::large()) } else { f.write_str("nasty") }
    }
}

impl Error for Nasty {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        misbehave(Callback::Source);
        None
    }
}

impl Drop for Nasty {
    fn drop(&mut self) {
        let panics = trick(self.0) == Some(Trick::Drop) && !std::thread::panicking();
        assert!(!panics, "a destructor panics");
    }
}

/// An output that is large, or panics when it is serialized or dropped.
#[derive(Debug, Deserialize)]
pub(crate) struct Gift;

impl Serialize for Gift {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        misbehave(Callback::Output);
        match trick(Callback::Output) {
            Some(Trick::Large) => serializer.serialize_str(&large()),
            _ => serializer.serialize_str("gift"),
        }
    }
}

impl Drop for Gift {
    fn drop(&mut self) {
        let panics = trick(Callback::Output) == Some(Trick::Drop) && !std::thread::panicking();
        assert!(!panics, "a destructor panics");
    }
}

/// The job that uses the callback. It fails if the callback is only called for failures.
#[job(max_retries = 1, backoff = fixed("10ms"))]
pub(crate) async fn subject() -> Result<Gift, Nasty> {
    misbehave(Callback::Handler);
    match CELL.get() {
        Some((callback, _)) if callback.needs_failure() => Err(Nasty(*callback)),
        Some((Callback::Handler, Trick::Drop)) => {
            struct Bomb;
            impl Drop for Bomb {
                fn drop(&mut self) {
                    assert!(std::thread::panicking(), "a destructor panics");
                }
            }
            let _bomb = Bomb;
            Ok(Gift)
        }
        _ => Ok(Gift),
    }
}

/// A job whose arguments are validated.
#[job(max_retries = 1, validate = validate)]
pub(crate) async fn validated(number: u32) {
    let _ = number;
}

fn validate(_: &Validated) -> Result<(), String> {
    misbehave(Callback::Validator);
    match trick(Callback::Validator) {
        Some(Trick::Large) => Err(large()),
        _ => Ok(()),
    }
}

/// A step whose output is passed to the condition.
#[job(max_retries = 1, timeout = "300ms", backoff = fixed("10ms"))]
pub(crate) async fn judged() -> u32 {
    7
}

#[job]
pub(crate) async fn follow() {}

#[condition]
pub(crate) fn is_fine(number: &u32) -> bool {
    misbehave(Callback::Condition);
    *number == 7
}

/// A job that must run regardless of the hostile callback.
#[job]
pub(crate) async fn other() {}

#[derive(Debug, Clone)]
pub(crate) struct Hostile;

impl RetryPolicy for Hostile {
    fn should_retry(&self, job: &FailedJob<'_>, _: &Failure) -> bool {
        misbehave(Callback::RetryPolicy);
        job.attempt < 2
    }

    fn backoff(&self, _: &FailedJob<'_>, _: &Failure) -> Option<Duration> {
        misbehave(Callback::RetryPolicy);
        None
    }
}

impl ErrorSanitizer for Hostile {
    fn sanitize(&self, error: &RawError<'_>) -> String {
        misbehave(Callback::Sanitizer);
        match trick(Callback::Sanitizer) {
            Some(Trick::Large) => large(),
            _ => error.message.to_owned(),
        }
    }
}

#[async_trait]
impl Middleware for Hostile {
    async fn before(&self, ctx: &JobContext) -> Result<(), JobError> {
        if !ctx.job_name().contains("subject") {
            return Ok(());
        }
        misbehave(Callback::MiddlewareBefore);
        Ok(error(Callback::MiddlewareBefore)?)
    }

    async fn after(&self, ctx: &JobContext, _: &RunReport) -> Result<(), JobError> {
        if !ctx.job_name().contains("subject") {
            return Ok(());
        }
        misbehave(Callback::MiddlewareAfter);
        Ok(error(Callback::MiddlewareAfter)?)
    }
}

#[async_trait]
impl AlertSink for Hostile {
    async fn alert(&self, _: &Alert) -> Result<(), SinkError> {
        misbehave(Callback::AlertSink);
        Ok(error(Callback::AlertSink)?)
    }
}

#[async_trait]
impl DeadLetterSink for Hostile {
    async fn publish(&self, _: &Envelope) -> Result<(), SinkError> {
        misbehave(Callback::DeadLetterSink);
        Ok(error(Callback::DeadLetterSink)?)
    }
}

#[async_trait]
impl OutcomeSink for Hostile {
    async fn publish(&self, _: &JobOutcome) -> Result<(), SinkError> {
        misbehave(Callback::OutcomeSink);
        Ok(error(Callback::OutcomeSink)?)
    }
}

static CHECKED: AtomicBool = AtomicBool::new(false);

pub(crate) async fn check() -> Result<(), Nasty> {
    // Misbehave only on the first call: a worker whose checks fail claims nothing.
    if CHECKED.swap(true, Ordering::SeqCst) {
        return Ok(());
    }
    misbehave(Callback::HealthCheck);
    error(Callback::HealthCheck)
}

/// A resolver that misbehaves when it resolves the job.
#[derive(Debug)]
pub(crate) struct Resolver(pub(crate) Registry);

impl JobInvocationResolver for Resolver {
    fn resolve(&self, name: &str) -> Option<Registration> {
        if name.contains("subject") {
            misbehave(Callback::Resolver);
        }
        self.0.resolve(name)
    }

    fn all(&self) -> Vec<Registration> {
        self.0.all()
    }
}
