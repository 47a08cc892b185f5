//! The rehearsal of a rollout: the executables of two versions share a store under load. They are replaced one by one, in
//! both orders, and rolled back. Every acknowledged job must run, and none must become a dead letter (U-06).

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use ratchet::Ratchet;
use ratchet::model::JobState;

use crate::Problem;
use crate::address::{Kind, Opened};
use crate::args::Args;
use crate::chaos::signal;
use crate::server::Server;

/// How long the processes run between two changes, by default.
const SECONDS: u64 = 12;

/// The time limit of the wait for the last job.
const LONGEST: Duration = Duration::from_secs(120);

/// The workers of a version.
const WORKERS: usize = 2;

/// What a rollout replaces first.
#[derive(Debug, Clone, Copy)]
enum Order {
    WorkersFirst,
    SubmittersFirst,
}

impl Order {
    const ALL: [Self; 2] = [Self::WorkersFirst, Self::SubmittersFirst];

    fn title(self) -> &'static str {
        match self {
            Self::WorkersFirst => "workers first",
            Self::SubmittersFirst => "submitters first",
        }
    }
}

pub async fn run(args: &Args) -> Result<(), Problem> {
    let pause = Duration::from_secs(args.or("seconds", SECONDS));
    let server = Server::start("", None)?;
    println!(
        "| store | order | submitted | run | run twice after a kill | waited for a worker | dead letters | lost |"
    );
    println!("|---|---|---:|---:|---:|---:|---:|---:|");
    for kind in Kind::ALL {
        for order in Order::ALL {
            let folder = tempfile::tempdir()?;
            let address = match kind {
                Kind::Sqlite => folder.path().join("shop.db").display().to_string(),
                Kind::Pg => {
                    let name = format!("rollout_{}", order as u8);
                    server.say(&format!("CREATE DATABASE {name}")).await?;
                    server.url(&name)
                }
            };
            let scene = Scene {
                before: args.must("before")?.into(),
                next: args.must("next")?.into(),
                address,
                diary: folder.path().join("diary"),
                pause,
            };
            println!("| {} | {} | {} |", kind.title(), order.title(), scene.play(order).await?);
        }
    }
    Ok(())
}

/// A process of one version. It is killed on drop.
struct Process(Child);

impl Process {
    /// Ends the process with a signal and waits for its end.
    fn end(mut self, with: &str) -> Result<(), Problem> {
        signal(with, &self.0)?;
        self.0.wait()?;
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Scene {
    /// The executables.
    before: PathBuf,
    next: PathBuf,
    address: String,
    diary: PathBuf,
    pause: Duration,
}

impl Scene {
    /// Starts a process and waits until it has opened the store.
    fn start(&self, program: &Path, role: &str) -> Result<Process, Problem> {
        let mut command = Command::new(program);
        command.arg(role).arg(&self.address).arg(&self.diary).stdout(Stdio::piped());
        let mut process = Process(command.spawn()?);
        let output = process.0.stdout.take().ok_or("the output is piped")?;
        match BufReader::new(output).lines().next().transpose()?.as_deref() {
            Some("started") => Ok(process),
            _ => Err(format!("{} {role} has not started", program.display()).into()),
        }
    }

    fn workers(&self, program: &Path) -> Result<Vec<Process>, Problem> {
        (0..WORKERS).map(|_| self.start(program, "work")).collect()
    }

    async fn pause(&self) {
        tokio::time::sleep(self.pause).await;
    }

    /// Replaces the workers one by one. One of the old ones is killed and started again, after the next version has
    /// migrated the schema.
    async fn replace(
        &self,
        mut workers: Vec<Process>,
        old: &Path,
        new: &Path,
    ) -> Result<Vec<Process>, Problem> {
        let mut replaced = vec![self.start(new, "work")?];
        self.pause().await;
        workers.pop().ok_or("there is a worker")?.end("-KILL")?;
        workers.push(self.start(old, "work")?);
        self.pause().await;
        for worker in workers {
            worker.end("-TERM")?;
            if replaced.len() < WORKERS {
                replaced.push(self.start(new, "work")?);
            }
        }
        self.pause().await;
        Ok(replaced)
    }

    async fn play(&self, order: Order) -> Result<String, Problem> {
        let (before, next) = (&self.before, &self.next);
        let mut workers = self.workers(before)?;
        let mut submitter = self.start(before, "submit")?;
        self.pause().await;
        let mut waited = 0;
        match order {
            Order::WorkersFirst => {
                workers = self.replace(workers, before, next).await?;
                let new = self.start(next, "submit")?;
                self.pause().await;
                submitter.end("-TERM")?;
                submitter = new;
            }
            Order::SubmittersFirst => {
                let new = self.start(next, "submit")?;
                self.pause().await;
                submitter.end("-TERM")?;
                submitter = new;
                self.pause().await;
                waited = waited.max(self.waiting().await?);
                workers = self.replace(workers, before, next).await?;
            }
        }
        self.pause().await;
        // The rollback: submitters first, then workers. Jobs of the next version wait.
        let old = self.start(before, "submit")?;
        submitter.end("-TERM")?;
        workers = self.replace(workers, next, before).await?;
        waited = waited.max(self.waiting().await?);
        // The next version again.
        workers = self.replace(workers, before, next).await?;
        old.end("-TERM")?;
        self.drain().await?;
        for worker in workers {
            worker.end("-TERM")?;
        }
        let must_wait = matches!(order, Order::SubmittersFirst);
        if must_wait && waited == 0 {
            return Err("no job has waited for a worker that knows it".into());
        }
        self.audit(waited).await
    }

    async fn open(&self) -> Result<(Opened, Ratchet), Problem> {
        let store = Opened::open(&self.address).await?;
        let ratchet = Ratchet::builder_shared(store.shared()).build().await?;
        Ok((store, ratchet))
    }

    /// Returns how many jobs wait for a worker that knows them.
    async fn waiting(&self) -> Result<u64, Problem> {
        let (store, ratchet) = self.open().await?;
        let unknown = ratchet.jobs().unknown().await?;
        let waiting = unknown.iter().map(|unknown| unknown.waiting).sum();
        store.close().await;
        Ok(waiting)
    }

    /// Waits until every job has ended.
    async fn drain(&self) -> Result<(), Problem> {
        let (store, ratchet) = self.open().await?;
        let began = Instant::now();
        loop {
            let counts = ratchet.jobs().counts().await?;
            let left = [JobState::Pending, JobState::Running, JobState::Paused];
            let left: u64 = left.into_iter().map(|state| counts.state(state)).sum();
            if left == 0 {
                break;
            }
            if began.elapsed() > LONGEST {
                return Err(format!("{left} jobs have not ended: {counts:?}").into());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        store.close().await;
        Ok(())
    }

    /// Compares what was acknowledged with what has run. Returns the end of a row of the table.
    async fn audit(&self, waited: u64) -> Result<String, Problem> {
        let (store, ratchet) = self.open().await?;
        let counts = ratchet.jobs().counts().await?;
        let (succeeded, failed) =
            (counts.state(JobState::Succeeded), counts.state(JobState::Failed));
        store.close().await;
        let mut jobs: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        for line in std::fs::read_to_string(&self.diary)?.lines() {
            let (what, number) = line.split_once(' ').ok_or("a line of the diary is damaged")?;
            let (submitted, ran) = jobs.entry(number.parse()?).or_default();
            match what {
                "submitted" => *submitted += 1,
                _ => *ran += 1,
            }
        }
        let lost = jobs.values().filter(|(submitted, ran)| *submitted > 0 && *ran == 0).count();
        let twice = jobs.values().filter(|(_, ran)| *ran > 1).count();
        let submitted = jobs.values().filter(|(submitted, _)| *submitted > 0).count();
        let run = jobs.values().filter(|(_, ran)| *ran > 0).count();
        if lost > 0 || failed > 0 || succeeded < submitted as u64 {
            return Err(format!(
                "{submitted} jobs were submitted, {run} have run, {succeeded} succeeded, {failed} failed, and {lost} are lost"
            )
            .into());
        }
        Ok(format!("{submitted} | {run} | {twice} | {waited} | {failed} | {lost}"))
    }
}
