//! The test of suspects: workers that are killed under load must keep their throughput, and a job that kills its worker
//! must become a dead letter without any of the jobs beside it.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use ratchet::definition::Registration;
use ratchet::model::{Filter, JobRecord, JobState, PageRequest};
use ratchet::prelude::*;

use crate::Problem;
use crate::address::{Kind, Opened};
use crate::args::Args;
use crate::server::Server;

/// How many jobs are running when a worker is killed.
const IN_FLIGHT: usize = 50;

/// How many jobs are submitted in addition before the last start.
const FRESH: usize = 250;

const NAP: Duration = Duration::from_millis(500);

/// The time limit of every wait.
const LONGEST: Duration = Duration::from_secs(240);

/// Sleeps.
#[job(name = "proof.innocent", queue = "work")]
async fn innocent() {
    tokio::time::sleep(NAP).await;
}

const JOBS: [Registration; 2] = [Innocent::JOB, Guilty::JOB];

/// Kills its process in the middle of the runs of other jobs.
#[job(name = "proof.guilty", queue = "work")]
async fn guilty() {
    tokio::time::sleep(NAP / 2).await;
    std::process::abort();
}

/// The only job of a worker that runs nothing and rescues the jobs of others.
#[job(name = "proof.never_submitted", queue = "observer")]
async fn never_submitted() {}

async fn ratchet<const N: usize>(
    address: &str,
    jobs: [Registration; N],
) -> Result<Ratchet, Problem> {
    let store = Opened::open(address).await?.shared();
    let builder = Ratchet::builder_shared(store)
        .jobs(jobs)
        .concurrency(50)
        // The default is 10. Every crash doubles the delay of the next run, so this saves minutes.
        .crash_limit(6)
        .config(|config| {
            config.lease = Duration::from_millis(1500);
            config.heartbeat = Duration::from_millis(300);
            config.maintenance_interval = Duration::from_millis(200);
            config.poll_interval = (Duration::from_millis(50), Duration::from_millis(200));
        });
    Ok(builder.build().await?)
}

/// Runs a worker until it is killed.
pub async fn work(args: &Args) -> Result<(), Problem> {
    let worker = ratchet(args.must("address")?, JOBS).await?.start().await?;
    worker.run_until_signal().await?;
    Ok(())
}

pub async fn run(_: &Args) -> Result<(), Problem> {
    let server = Server::start("", None)?;
    for kind in Kind::ALL {
        println!("{}", kind.title());
        let folder = tempfile::tempdir()?;
        let mut addresses = Vec::new();
        for name in ["plain", "killed", "guilty"] {
            addresses.push(match kind {
                Kind::Sqlite => folder.path().join(name).display().to_string(),
                Kind::Pg => {
                    server.say(&format!("CREATE DATABASE {name}")).await?;
                    server.url(name)
                }
            });
        }
        let plain = Scene::open(&addresses[0]).await?.plain().await?;
        let killed = Scene::open(&addresses[1]).await?.killed().await?;
        let ratio = plain.as_secs_f64() / killed.as_secs_f64();
        println!("  {} jobs of {NAP:?}: {plain:.2?}", IN_FLIGHT + FRESH);
        println!("  the same, {IN_FLIGHT} of them after two kills: {killed:.2?}");
        println!("  throughput: {ratio:.2} of normal");
        Scene::open(&addresses[2]).await?.guilty().await?;
        if ratio < 0.9 {
            return Err("the throughput must be at least 0.9 of normal".into());
        }
    }
    Ok(())
}

/// A store, a worker process that can be killed, and an observer that rescues jobs and runs none.
struct Scene {
    address: String,
    ratchet: Ratchet,
    observer: ratchet::Worker,
    worker: Option<Child>,
}

impl Scene {
    async fn open(address: &str) -> Result<Self, Problem> {
        let observer = ratchet(address, [NeverSubmitted::JOB]).await?.start().await?;
        let ratchet = ratchet(address, JOBS).await?;
        Ok(Self { address: address.to_owned(), ratchet, observer, worker: None })
    }

    fn start(&mut self) -> Result<(), Problem> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["suspects-work", "--address", &self.address]);
        self.worker = Some(command.stdin(Stdio::null()).stderr(Stdio::null()).spawn()?);
        Ok(())
    }

    fn kill(&mut self) -> Result<(), Problem> {
        if let Some(mut worker) = self.worker.take() {
            worker.kill()?;
            worker.wait()?;
        }
        Ok(())
    }

    async fn submit(&self, jobs: usize) -> Result<(), Problem> {
        self.ratchet.enqueue_many((0..jobs).map(|_| Innocent {})).await?;
        Ok(())
    }

    async fn jobs(&self) -> Result<Vec<JobRecord>, Problem> {
        let page = PageRequest { before: None, limit: 10_000 };
        Ok(self.ratchet.jobs().list(&Filter::any(), page).await?.jobs)
    }

    async fn until(
        &self,
        what: &str,
        is_so: impl Fn(&[JobRecord]) -> bool,
    ) -> Result<Vec<JobRecord>, Problem> {
        let began = Instant::now();
        loop {
            let jobs = self.jobs().await?;
            if is_so(&jobs) {
                return Ok(jobs);
            }
            if began.elapsed() > LONGEST {
                return Err(format!("waited {LONGEST:?} in vain: {what}").into());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Measures the time of all jobs in one process: from the first start to the last end.
    async fn measure(&mut self) -> Result<Duration, Problem> {
        self.start()?;
        let jobs = self.until("all jobs succeed", |jobs| {
            jobs.iter().all(|job| job.state == JobState::Succeeded)
        });
        let jobs = jobs.await?;
        let first = jobs.iter().filter_map(|job| job.started_at).min();
        let last = jobs.iter().filter_map(|job| job.finished_at).max();
        let (first, last) = first.zip(last).ok_or("no job has run")?;
        self.kill()?;
        self.observer.stop().await;
        Ok(last.duration_since(first).try_into()?)
    }

    /// Measures jobs that have never crashed.
    async fn plain(mut self) -> Result<Duration, Problem> {
        self.submit(IN_FLIGHT + FRESH).await?;
        self.measure().await
    }

    /// Kills two workers while they run the same jobs, then measures these together with fresh ones.
    async fn killed(mut self) -> Result<Duration, Problem> {
        self.submit(IN_FLIGHT).await?;
        for crashes in 1..=2 {
            self.start()?;
            self.until("all jobs run", |jobs| {
                jobs.iter().all(|job| job.state == JobState::Running)
            })
            .await?;
            self.kill()?;
            let rescued = |job: &JobRecord| {
                job.state == JobState::Pending
                    && job.crashes == crashes
                    && job.due <= Timestamp::now()
            };
            self.until("all jobs are due again", |jobs| jobs.iter().all(rescued)).await?;
        }
        self.submit(FRESH).await?;
        self.measure().await
    }

    /// Restarts the worker as often as the guilty job kills it.
    async fn guilty(mut self) -> Result<(), Problem> {
        self.submit(IN_FLIGHT).await?;
        let guilty = self.ratchet.enqueue(Guilty {}).await?.id();
        let (began, mut kills) = (Instant::now(), 0);
        let mut submitted = IN_FLIGHT;
        loop {
            match self.worker.as_mut().map(Child::try_wait).transpose()?.flatten() {
                Some(_) => {
                    kills += 1;
                    self.worker = None;
                }
                None if self.worker.is_some() => {}
                None => self.start()?,
            }
            let jobs = self.jobs().await?;
            if jobs.iter().all(|job| job.state.is_terminal()) {
                break;
            }
            // There is always other work beside the suspects.
            let waiting = jobs.iter().filter(|job| !job.state.is_terminal()).count();
            if waiting < IN_FLIGHT && kills < 5 {
                self.submit(IN_FLIGHT).await?;
                submitted += IN_FLIGHT;
            }
            if began.elapsed() > LONGEST {
                return Err("the jobs do not end".into());
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        self.kill()?;
        let jobs = self.jobs().await?;
        let dead: Vec<_> = jobs.iter().filter(|job| job.state != JobState::Succeeded).collect();
        let most = jobs.iter().filter(|job| job.id != guilty).map(|job| job.crashes).max();
        let reason = dead.first().and_then(|job| job.envelope.as_ref()).map(|end| end.reason);
        println!(
            "  a job that kills its process, beside {submitted} others: {kills} kills, dead letters: {}, reason {reason:?}; most crashes of another job: {}",
            dead.len(),
            most.unwrap_or_default(),
        );
        if dead.len() != 1 || dead[0].id != guilty {
            return Err("only the guilty job must become a dead letter".into());
        }
        self.observer.stop().await;
        Ok(())
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}
