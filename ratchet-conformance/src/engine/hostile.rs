//! Jobs whose types misbehave, and a clock and a spawner that fail on demand.

#![allow(clippy::unused_async, clippy::needless_pass_by_value)] // required by the signature of a job

use std::error::Error;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use ratchet_core::{
    Clock, DedicatedEngineThread, Finished, JobContext, JobError, Registration, Sleep, Spawn,
    State, SystemClock, Task,
};
use ratchet_macros::job;
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::script::Stage;

/// The kind of misbehavior.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Trick {
    /// The handler panics.
    Panic,
    /// `Display` of the error panics.
    Display,
    /// `Display` of the error writes until the formatter returns an error.
    EndlessDisplay,
    /// `Display` of the error writes until the formatter returns an error, then panics.
    RudeDisplay,
    /// `source` of the error panics.
    Source,
    /// The destructor of the error panics.
    DropError,
    /// The destructor of the output panics.
    DropOutput,
    /// The output panics while it is serialized.
    WriteOutput,
    /// The destructor of the future panics.
    DropFuture,
}

/// An error that misbehaves.
#[derive(Debug)]
pub(super) struct Nasty(pub(super) Trick);

impl fmt::Display for Nasty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Trick::Display => panic!("Display panics"),
            Trick::EndlessDisplay => loop {
                f.write_str("endless ")?;
            },
            Trick::RudeDisplay => loop {
                f.write_str("endless ").expect("somebody listens");
            },
            _ => f.write_str("nasty"),
        }
    }
}

impl Error for Nasty {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        assert!(self.0 != Trick::Source, "source panics");
        None
    }
}

impl Drop for Nasty {
    fn drop(&mut self) {
        let quiet = self.0 != Trick::DropError || std::thread::panicking();
        assert!(quiet, "the destructor of an error panics");
    }
}

/// An output that misbehaves.
#[derive(Debug, Deserialize)]
pub(super) struct Gift(Trick);

impl Serialize for Gift {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        assert!(self.0 != Trick::WriteOutput, "writing panics");
        self.0.serialize(serializer)
    }
}

impl Drop for Gift {
    fn drop(&mut self) {
        let quiet = self.0 != Trick::DropOutput || std::thread::panicking();
        assert!(quiet, "the destructor of an output panics");
    }
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "the destructor of a future panics");
    }
}

/// Misbehaves as `trick` says.
#[job(name = "test.hostile", max_retries = 1, crate = ::ratchet_core)]
pub(super) async fn hostile(
    #[inject] ctx: JobContext,
    #[inject] stage: State<Stage>,
    trick: Trick,
) -> Result<Gift, Nasty> {
    let _inside = stage.enter(ctx.job_id());
    match trick {
        Trick::Panic => panic!("the handler panics"),
        Trick::DropOutput | Trick::WriteOutput => Ok(Gift(trick)),
        Trick::DropFuture => {
            let _bomb = Bomb;
            Ok(Gift(trick))
        }
        _ => Err(Nasty(trick)),
    }
}

/// Misbehaves as `trick` says, on a blocking thread.
#[job(name = "test.hostile_blocking", max_retries = 1, blocking, crate = ::ratchet_core)]
pub(super) fn hostile_blocking(
    #[inject] ctx: JobContext,
    #[inject] stage: State<Stage>,
    trick: Trick,
) -> Result<Gift, Nasty> {
    let _inside = stage.enter(ctx.job_id());
    match trick {
        Trick::Panic => panic!("the handler panics"),
        Trick::DropOutput | Trick::WriteOutput => Ok(Gift(trick)),
        _ => Err(Nasty(trick)),
    }
}

/// Fails with a code and a message.
#[job(name = "test.coded", max_retries = 0, crate = ::ratchet_core)]
pub(super) async fn coded(code: String, message: String) -> Result<(), JobError> {
    Err(JobError::msg(message).with_code(code))
}

/// Returns a text of this many bytes, which may be too large to store.
#[job(name = "test.giving", crate = ::ratchet_core)]
pub(super) async fn giving(bytes: Option<usize>) -> Option<String> {
    bytes.map(|bytes| "x".repeat(bytes))
}

/// A callback of [`giving`].
#[job(name = "test.taking", max_retries = 0, crate = ::ratchet_core)]
pub(super) async fn taking(#[inject] stage: State<Stage>, #[inject] finished: Finished<Giving>) {
    stage.note(format!("taken {:?}", finished.outcome));
}

/// Takes a nested argument and returns a value with `levels` levels.
#[job(name = "test.nested", crate = ::ratchet_core)]
pub(super) async fn nested(value: serde_json::Value, levels: usize) -> serde_json::Value {
    drop(value);
    deep(levels)
}

/// Takes an argument that is serialized without ever being built in memory.
#[job(name = "test.bottomless", crate = ::ratchet_core)]
pub(super) async fn fall(value: Bottomless) -> u64 {
    value.0
}

/// Serializes as a value with this many levels.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Bottomless(pub(super) u64);

impl Serialize for Bottomless {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let inner = if self.0 > 1 { vec![Self(self.0 - 1)] } else { Vec::new() };
        inner.serialize(serializer)
    }
}

/// Creates a value with this many levels.
pub(super) fn deep(levels: usize) -> serde_json::Value {
    (1..levels).fold(serde_json::json!([]), |inner, _| serde_json::json!([inner]))
}

/// Enqueues a child with a concurrency key of this length, and fails if the child is rejected.
#[job(name = "test.parent", max_retries = 0, crate = ::ratchet_core)]
pub(super) async fn parent(#[inject] ctx: JobContext, length: usize) -> Result<(), JobError> {
    let key = "k".repeat(length);
    ctx.enqueue(Giving { bytes: None }).concurrency_key(key, 1).await?;
    Ok(())
}

/// Has a concurrency key built from its argument.
#[job(name = "test.keyed", concurrency_key = "key-{key}", concurrency_limit = 1, crate = ::ratchet_core)]
pub(super) async fn keyed(key: String) {
    drop(key);
}

/// Returns all jobs of this module.
pub(super) fn jobs() -> Vec<Registration> {
    use ratchet_core::Job as _;
    vec![
        Hostile::JOB,
        HostileBlocking::JOB,
        Coded::JOB,
        Giving::JOB,
        Taking::JOB,
        Nested::JOB,
        Fall::JOB,
        Parent::JOB,
        Keyed::JOB,
    ]
}

/// A clock that can jump, and that can panic on a sleep of a certain duration.
#[derive(Debug, Clone, Default)]
pub(super) struct OddClock {
    inner: SystemClock,
    ahead: Arc<AtomicU64>,
    wire: Arc<Mutex<Option<Duration>>>,
}

impl OddClock {
    /// Advances the monotonic time.
    pub(super) fn jump(&self, by: Duration) {
        let millis = u64::try_from(by.as_millis()).expect("a short jump");
        self.ahead.fetch_add(millis, Ordering::SeqCst);
    }

    /// Makes every sleep of exactly this duration panic.
    pub(super) fn trip(&self, duration: Duration) {
        *self.wire.lock().unwrap_or_else(PoisonError::into_inner) = Some(duration);
    }
}

impl Clock for OddClock {
    fn now(&self) -> Timestamp {
        self.inner.now()
    }

    fn monotonic(&self) -> Duration {
        self.inner.monotonic() + Duration::from_millis(self.ahead.load(Ordering::SeqCst))
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        let tripped = *self.wire.lock().unwrap_or_else(PoisonError::into_inner) == Some(duration);
        assert!(!tripped, "a sleep of {duration:?} panics");
        self.inner.sleep(duration)
    }
}

/// A spawner that drops handlers on demand.
#[derive(Debug, Clone)]
pub(super) struct Losing {
    inner: DedicatedEngineThread,
    /// New handlers are dropped instead of spawned.
    pub(super) closed: Arc<AtomicBool>,
    /// A change drops all running handlers.
    lost: watch::Sender<u64>,
    /// The runtime of the engine; `None` uses that of `inner`.
    engine: Option<Handle>,
}

impl Losing {
    pub(super) fn new(engine: Option<Handle>) -> Self {
        let inner = DedicatedEngineThread::new(Handle::current());
        Self { inner, closed: Arc::default(), lost: watch::Sender::new(0), engine }
    }

    /// Drops all running handlers.
    pub(super) fn lose(&self) {
        self.lost.send_modify(|lost| *lost += 1);
    }
}

impl Spawn for Losing {
    fn engine(&self, task: Task, home: Option<Handle>) -> std::io::Result<()> {
        match &self.engine {
            Some(engine) => {
                engine.spawn(task);
                Ok(())
            }
            None => self.inner.engine(task, home),
        }
    }

    fn handler(&self, task: Task) {
        if self.closed.load(Ordering::SeqCst) {
            return drop(task);
        }
        let mut lost = self.lost.subscribe();
        self.inner.handler(Box::pin(async move {
            tokio::select! {
                biased;
                () = task => {}
                _ = lost.changed() => {}
            }
        }));
    }

    fn blocking(&self, work: Box<dyn FnOnce() + Send>) {
        self.inner.blocking(work);
    }
}
