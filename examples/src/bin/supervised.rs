//! A supervisor that restarts the worker process when its engine has died.
//!
//! If a part of the engine panics, the whole engine ends: liveness fails, the runs are aborted, and `run_until_signal`
//! returns an error. The process exits, and a supervisor (systemd, Kubernetes, or the loop below) starts a new one,
//! which rescues the jobs of the old one. In this example, a clock that panics kills a different part of the engine
//! each time.

use std::ops::RangeInclusive;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ratchet::env::{Clock, SystemClock};
use ratchet::prelude::*;
use ratchet::{JobState, SqliteStore};
use ratchet_examples::Scratch;

const HEARTBEAT: Duration = Duration::from_millis(201);
const WATCHDOG: Duration = Duration::from_millis(203);
const HEALTH_CHECKS: Duration = Duration::from_millis(207);
const MAINTENANCE: Duration = Duration::from_millis(420);
/// The longest wait of the claim loop.
const CLAIM_LOOP: Duration = Duration::from_secs(1);

#[job]
async fn deliver(parcel: u32) {
    let _ = parcel;
    tokio::time::sleep(Duration::from_millis(60)).await;
}

/// The parts of the engine, each with a range of durations that only this part sleeps for.
const PARTS: [(&str, RangeInclusive<Duration>); 5] = [
    ("claim loop", CLAIM_LOOP..=CLAIM_LOOP),
    ("heartbeat", HEARTBEAT..=HEARTBEAT),
    ("maintenance", Duration::from_millis(210)..=MAINTENANCE),
    ("watchdog", WATCHDOG..=WATCHDOG),
    ("health checks", HEALTH_CHECKS..=HEALTH_CHECKS),
];

/// A clock that panics in the part of the engine that sleeps for one of the durations `part`.
#[derive(Debug)]
struct Faulty {
    clock: SystemClock,
    part: Option<RangeInclusive<Duration>>,
    is_armed: AtomicBool,
}

impl Clock for Faulty {
    fn now(&self) -> jiff::Timestamp {
        self.clock.now()
    }

    fn monotonic(&self) -> Duration {
        self.clock.monotonic()
    }

    fn sleep(&self, duration: Duration) -> ratchet::env::Sleep {
        // The first sleep succeeds, so that the worker has running jobs when it dies.
        let is_hit = self.part.as_ref().is_some_and(|part| part.contains(&duration));
        if is_hit && self.is_armed.swap(true, Ordering::SeqCst) {
            panic!("this clock is broken");
        }
        self.clock.sleep(duration)
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    match (args.next(), args.next()) {
        (Some(path), part) => work(&path, part.as_deref()).await,
        (None, _) => supervise().await,
    }
}

/// Runs the worker process. Returns an error if its engine dies.
async fn work(path: &str, part: Option<&str>) -> anyhow::Result<()> {
    let part = PARTS.into_iter().find(|(name, _)| Some(*name) == part).map(|(_, range)| range);
    let clock = Faulty { clock: SystemClock::default(), part, is_armed: AtomicBool::new(false) };
    let ratchet = Ratchet::builder(SqliteStore::open(path).await?)
        .clock(clock)
        .concurrency(4)
        .health_check("disk", || async { Ok::<_, std::fmt::Error>(()) })
        .config(|config| {
            config.lease = Duration::from_secs(2);
            config.heartbeat = HEARTBEAT;
            config.stall_after = 5 * WATCHDOG;
            config.health_every = HEALTH_CHECKS;
            config.maintenance_interval = MAINTENANCE;
        })
        .build()
        .await?;
    let worker = ratchet.start().await?;
    worker.run_until_signal().await?;
    Ok(())
}

/// Starts the worker process, and restarts it whenever it ends with an error.
async fn supervise() -> anyhow::Result<()> {
    let scratch = Scratch::open("supervised").await?;
    let ratchet = Ratchet::builder(scratch.store.clone()).build().await?;
    ratchet.enqueue_many((0..100).map(|parcel| Deliver { parcel })).await?;
    let start = |part: Option<&str>| -> anyhow::Result<Child> {
        let mut worker = Command::new(std::env::current_exe()?);
        worker.arg(&scratch.path).args(part).stderr(Stdio::null());
        Ok(worker.spawn()?)
    };
    for (part, _) in PARTS {
        let ended = start(Some(part))?.wait()?;
        println!("the {part} died: the worker ended with {:?}, starting it again", ended.code());
    }
    let mut worker = start(None)?;
    while ratchet.jobs().counts().await?.state(JobState::Succeeded) < 100 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    worker.kill()?;
    worker.wait()?;
    println!("{} parcels delivered", ratchet.jobs().counts().await?.state(JobState::Succeeded));
    Ok(())
}
