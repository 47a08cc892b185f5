//! The test of strict order: the jobs of a key must start in the order of their submits, one at a time, although runs
//! fail and worker processes are killed.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use ratchet::JobId;
use ratchet::definition::Registration;
use ratchet::model::JobState;
use ratchet::prelude::*;

use crate::Problem;
use crate::address::{Kind, Opened};
use crate::args::Args;
use crate::server::Server;

const WORKERS: usize = 4;
const KEYS: u32 = 20;
const JOBS_PER_KEY: u32 = 100;
const KILLS: usize = 30;

/// The time limit of every wait.
const LONGEST: Duration = Duration::from_secs(300);

/// Fails in one of ten runs, in another run of the job than before.
#[job(
    name = "proof.ordered",
    queue = "work",
    max_retries = 50,
    backoff = fixed("50ms"),
    ordered_by = "key-{key}"
)]
async fn ordered(key: u32, number: u32, #[inject] ctx: JobContext) -> Result<(), Problem> {
    tokio::time::sleep(Duration::from_millis(5)).await;
    let seed = key * 7919 + number * 10_473 + (ctx.attempt() + ctx.crashes()) * 31;
    if seed.is_multiple_of(10) { Err("once more".into()) } else { Ok(()) }
}

const JOBS: [Registration; 1] = [Ordered::JOB];

async fn ratchet(address: &str) -> Result<Ratchet, Problem> {
    let store = Opened::open(address).await?.shared();
    let builder = Ratchet::builder_shared(store).jobs(JOBS).concurrency(20).crash_limit(100);
    let builder = builder.config(|config| {
        config.lease = Duration::from_millis(1500);
        config.heartbeat = Duration::from_millis(300);
        config.maintenance_interval = Duration::from_millis(200);
        config.poll_interval = (Duration::from_millis(20), Duration::from_millis(100));
    });
    Ok(builder.build().await?)
}

/// Runs a worker until it is killed.
pub async fn work(args: &Args) -> Result<(), Problem> {
    let worker = ratchet(args.must("address")?).await?.start().await?;
    worker.run_until_signal().await?;
    Ok(())
}

pub async fn run(_: &Args) -> Result<(), Problem> {
    let server = Server::start("", None)?;
    println!(
        "| store | jobs | keys | runs | failed runs | kills | runs that were lost | out of order | overlapping |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for kind in Kind::ALL {
        let folder = tempfile::tempdir()?;
        let address = match kind {
            Kind::Sqlite => folder.path().join("ordered").display().to_string(),
            Kind::Pg => {
                server.say("CREATE DATABASE ordered").await?;
                server.url("ordered")
            }
        };
        let found = Scene::open(&address).await?.play().await?;
        println!("| {} {found}", kind.title());
        if !found.ends_with("| 0 | 0 |") {
            return Err("jobs of a key must run in order, one at a time".into());
        }
    }
    Ok(())
}

struct Scene {
    address: String,
    ratchet: Ratchet,
    workers: Vec<Child>,
}

impl Scene {
    async fn open(address: &str) -> Result<Self, Problem> {
        let ratchet = ratchet(address).await?;
        let mut scene = Self { address: address.to_owned(), ratchet, workers: Vec::new() };
        for _ in 0..WORKERS {
            let worker = scene.start()?;
            scene.workers.push(worker);
        }
        Ok(scene)
    }

    fn start(&self) -> Result<Child, Problem> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["order-work", "--address", &self.address]);
        Ok(command.stdin(Stdio::null()).stderr(Stdio::null()).spawn()?)
    }

    /// Submits jobs and kills workers, and returns the cells of a table row.
    async fn play(mut self) -> Result<String, Problem> {
        let ratchet = self.ratchet.clone();
        let submits = tokio::spawn(async move {
            let mut jobs = vec![Vec::new(); usize::try_from(KEYS).unwrap_or_default()];
            for number in 0..JOBS_PER_KEY {
                for (key, jobs) in (0..KEYS).zip(&mut jobs) {
                    jobs.push(ratchet.enqueue(Ordered { key, number }).await?.id());
                }
            }
            Ok::<_, ratchet::SubmitError>(jobs)
        });
        for kill in 0..KILLS {
            tokio::time::sleep(Duration::from_millis(400)).await;
            let mut fresh = self.start()?;
            std::mem::swap(&mut self.workers[kill % WORKERS], &mut fresh);
            fresh.kill()?;
            fresh.wait()?;
        }
        let jobs = submits.await??;
        self.finish().await?;
        let row = self.compare(&jobs).await;
        for worker in &mut self.workers {
            worker.kill()?;
            worker.wait()?;
        }
        row
    }

    async fn finish(&self) -> Result<(), Problem> {
        let (began, all) = (Instant::now(), u64::from(KEYS * JOBS_PER_KEY));
        while self.ratchet.jobs().counts().await?.state(JobState::Succeeded) < all {
            if began.elapsed() > LONGEST {
                return Err(format!("waited {LONGEST:?} in vain for {all} successes").into());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }

    /// Compares the history of each key with the order of its submits.
    async fn compare(&self, jobs: &[Vec<JobId>]) -> Result<String, Problem> {
        let (mut all, mut failed, mut lost, mut disordered, mut overlapping) = (0, 0, 0, 0, 0);
        for jobs in jobs {
            let mut runs: Vec<(Timestamp, Timestamp, usize)> = Vec::new();
            for (number, id) in jobs.iter().enumerate() {
                for run in self.ratchet.jobs().attempts(*id).await? {
                    failed += u64::from(run.error.is_some());
                    runs.push((run.started_at, run.finished_at, number));
                }
                let job = self.ratchet.jobs().get(*id).await?.ok_or("a job is missing")?;
                lost += u64::from(job.crashes);
            }
            runs.sort_unstable();
            all += runs.len();
            disordered += runs.windows(2).filter(|pair| pair[1].2 < pair[0].2).count();
            overlapping += runs.windows(2).filter(|pair| pair[1].0 < pair[0].1).count();
        }
        let submitted = KEYS * JOBS_PER_KEY;
        Ok(format!(
            "| {submitted} | {KEYS} | {all} | {failed} | {KILLS} | {lost} | {disordered} | {overlapping} |"
        ))
    }
}
