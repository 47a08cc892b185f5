//! The process under test: opens the store, performs the submits of a feature, and works until no jobs are left.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ratchet::hooks::{DeadLetterSink, SinkError};
use ratchet::model::{Envelope, Filter, JobState, PageRequest};
use ratchet::{Ratchet, Worker, async_trait};

use crate::Problem;
use crate::address::Opened;
use crate::args::Args;
use crate::audit::leftovers;
use crate::diary::{Diary, Entries};
use crate::feature::Feature;
use crate::submit::{Client, NARROW, SCHEDULE};

/// The time limit of every wait. A process that exceeds it counts as stuck.
const LONGEST: Duration = Duration::from_secs(25);

/// The minimum lifetime of a worker. It includes several heartbeats.
const LIFE: Duration = Duration::from_millis(1000);

/// The number of occurrences of the recurring job to wait for.
const TICKS: usize = 3;

pub async fn live(args: &Args) -> Result<(), Problem> {
    let feature = Feature::named(args.must("feature")?).ok_or("no such feature")?;
    let (address, path) = (args.must("address")?, PathBuf::from(args.must("diary")?));
    let (began, before) = (Instant::now(), Entries::read(&path));
    let diary = Diary::open(&path)?;
    let store = Opened::open(address).await?;
    let ratchet = build(&store, &diary).await?;
    let client =
        Client { ratchet: &ratchet, store: &store, address, diary: &diary, path: &path, before };
    // Jobs must run before they can be canceled, purged, archived or retried.
    let early = match feature {
        Feature::Cancel | Feature::Purge | Feature::Again | Feature::Archive => {
            Some(ratchet.start().await?)
        }
        _ => None,
    };
    client.submit(feature).await?;
    let worker = match early {
        Some(worker) => worker,
        None => ratchet.start().await?,
    };
    if feature == Feature::Recurring {
        stop_recurring(&ratchet).await?;
    }
    quiet(&ratchet, &path, address).await?;
    // Every feature must pass a renewal of the lease, even if it is done earlier.
    until("the worker has lived for a while", async || Ok(began.elapsed() > LIFE)).await?;
    stop(&worker).await;
    store.close().await;
    Ok(())
}

/// Builds a runtime with a short lease, so that dead nodes are detected quickly.
pub async fn build(store: &Opened, diary: &Diary) -> Result<Ratchet, Problem> {
    let builder = Ratchet::builder_shared(store.shared())
        .state(diary.clone())
        .dead_letter_sink(Letters { diary: diary.clone() })
        .queue("default", |queue| queue)
        .queue(NARROW, |queue| queue)
        .concurrency(8)
        .crash_limit(1000)
        .config(|config| {
            config.lease = Duration::from_millis(1500);
            config.heartbeat = Duration::from_millis(250);
            config.maintenance_interval = Duration::from_millis(100);
            config.poll_interval = (Duration::from_millis(50), Duration::from_millis(200));
            config.delivery_hold = Duration::from_millis(400);
            config.cancel_grace = Duration::from_millis(50);
            // Do not isolate jobs after crashes: running them one by one would take minutes.
            config.isolate_after_crashes = 1000;
        });
    Ok(builder.build().await?)
}

async fn stop(worker: &Worker) {
    worker.stop().await;
}

/// Waits for some occurrences of the recurring job, then pauses its schedule.
async fn stop_recurring(ratchet: &Ratchet) -> Result<(), Problem> {
    let paused = async || {
        let schedule = ratchet.schedules().get(SCHEDULE).await?.ok_or("no schedule")?;
        Ok::<_, Problem>(schedule.schedule.paused)
    };
    if paused().await? {
        return Ok(());
    }
    let done = Filter::any().name("proof.tick").state(JobState::Succeeded);
    until("the recurring job fires", async || {
        let page = PageRequest { before: None, limit: 1000 };
        Ok(ratchet.jobs().list(&done, page).await?.jobs.len() >= TICKS)
    })
    .await?;
    Ok(ratchet.schedules().pause(SCHEDULE).await?)
}

/// Waits until all jobs have ended, nothing is held, and every dead letter is delivered.
async fn quiet(ratchet: &Ratchet, path: &Path, address: &str) -> Result<(), Problem> {
    let nothing_left = until("everything ends", async || {
        // A hand-off becomes a job, so no job may be left before and after the hand-offs are looked up.
        let quiet = live_jobs(ratchet).await? == 0
            && leftovers(address).await?.is_empty()
            && live_jobs(ratchet).await? == 0;
        if !quiet {
            return Ok(false);
        }
        let page = PageRequest { before: None, limit: 10_000 };
        let failed = ratchet.jobs().list(&Filter::any().state(JobState::Failed), page).await?;
        let letters = Entries::read(path).dead;
        Ok(failed.jobs.iter().all(|job| letters.contains_key(&job.id.uuid())))
    })
    .await;
    if nothing_left.is_err() {
        eprintln!("left over: {:?}", leftovers(address).await?);
        let page = PageRequest { before: None, limit: 10_000 };
        for job in ratchet.jobs().list(&Filter::any(), page).await?.jobs {
            if !job.state.is_terminal() {
                eprintln!("{} {} {} run {}: {:?}", job.id, job.spec.name, job.state, job.run, {
                    ratchet.jobs().explain(job.id).await?
                });
            }
        }
    }
    nothing_left
}

/// Returns the number of jobs that wait or run.
async fn live_jobs(ratchet: &Ratchet) -> Result<u64, Problem> {
    let counts = ratchet.jobs().counts().await?;
    Ok(counts.state(JobState::Pending) + counts.state(JobState::Running))
}

/// Polls until a condition is true.
pub async fn until(
    what: &str,
    is_so: impl AsyncFn() -> Result<bool, Problem>,
) -> Result<(), Problem> {
    let began = Instant::now();
    while !is_so().await? {
        if began.elapsed() > LONGEST {
            return Err(format!("waited {LONGEST:?} in vain: {what}").into());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

/// A sink that records dead letters in the diary.
#[derive(Debug)]
struct Letters {
    diary: Diary,
}

#[async_trait]
impl DeadLetterSink for Letters {
    async fn publish(&self, envelope: &Envelope) -> Result<(), SinkError> {
        self.diary.dead(envelope.job_id.uuid());
        Ok(())
    }
}
