//! The test of a pipeline between two programs: a slow receiver must hold up the publishers, and every hand-off must run
//! once, although processes of both programs are killed.

use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use ratchet::Ratchet;
use ratchet::model::{Filter, JobState, PageRequest};

use crate::Problem;
use crate::address::{Kind, Opened};
use crate::args::Args;
use crate::pages::{Crawl, PAGES_EACH, PIPELINE};
use crate::server::Server;

/// The `backlog_limit` of the receiver, see `bin/indexer.rs`.
const BACKLOG_LIMIT: u64 = 100;

/// The processes of each program.
const PROCESSES: usize = 2;

const PUBLISHERS: u32 = 300;
const PAGES: u32 = PUBLISHERS * PAGES_EACH;
const KILLS: usize = 30;

/// The greatest backlog. Publishers that began before the limit was reached exceed it: those that run, and those whose
/// settlements are in flight.
const GREATEST_BACKLOG: u64 = 2 * BACKLOG_LIMIT;

/// The time limit of every wait.
const LONGEST: Duration = Duration::from_secs(300);

/// The two programs. They are executables of their own, because a program declares all jobs that are linked into it, and
/// only one program can accept a pipeline.
const PROGRAMS: [&str; 2] = ["crawler", "indexer"];

fn start(program: &str, address: &str) -> Result<Child, Problem> {
    let mut command = Command::new(std::env::current_exe()?.with_file_name(program));
    Ok(command.arg(address).stdin(Stdio::null()).stderr(Stdio::null()).spawn()?)
}

pub async fn run(_: &Args) -> Result<(), Problem> {
    let server = Server::start("", None)?;
    println!(
        "| store | pages | received once | lost | received twice | kills | refusals | greatest backlog | repeats | latency, mean | longest |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for kind in Kind::ALL {
        let folder = tempfile::tempdir()?;
        let address = match kind {
            Kind::Sqlite => folder.path().join("pages.db").display().to_string(),
            Kind::Pg => {
                server.say("CREATE DATABASE pages").await?;
                server.url("pages")
            }
        };
        Scene::open(&address).await?.play(kind).await?;
    }
    Ok(())
}

/// A store, a runtime without a worker, and the worker processes. They are killed on drop.
struct Scene {
    address: String,
    ratchet: Ratchet,
    workers: Vec<(&'static str, Child)>,
}

impl Drop for Scene {
    fn drop(&mut self) {
        for (_, worker) in &mut self.workers {
            let _ = worker.kill();
            let _ = worker.wait();
        }
    }
}

impl Scene {
    async fn open(address: &str) -> Result<Self, Problem> {
        let store = Opened::open(address).await?.shared();
        let ratchet = Ratchet::builder_shared(store).build().await?;
        let mut scene = Self { address: address.to_owned(), ratchet, workers: Vec::new() };
        for _ in 0..PROCESSES {
            for program in PROGRAMS {
                scene.workers.push((program, start(program, address)?));
            }
        }
        Ok(scene)
    }

    /// Submits the publishers, kills processes of both programs while they work, and prints a row of the table.
    async fn play(mut self, kind: Kind) -> Result<(), Problem> {
        self.ratchet.enqueue_many((0..PUBLISHERS).map(|number| Crawl { number })).await?;
        let mut greatest = 0;
        for kill in 0..KILLS {
            greatest = greatest.max(self.watch(Duration::from_millis(400)).await?);
            let at = kill % self.workers.len();
            let (program, worker) = &mut self.workers[at];
            worker.kill()?;
            worker.wait()?;
            *worker = start(program, &self.address)?;
        }
        let began = Instant::now();
        while self.ratchet.jobs().counts().await?.state(JobState::Succeeded)
            < u64::from(PUBLISHERS + PAGES)
        {
            if began.elapsed() > LONGEST {
                let states = self.ratchet.jobs().counts().await?;
                let stats = self.ratchet.pipeline(PIPELINE).stats().await?;
                return Err(format!(
                    "waited {LONGEST:?} in vain for {PAGES} pages: {states:?}, {stats:?}"
                )
                .into());
            }
            greatest = greatest.max(self.watch(Duration::from_millis(50)).await?);
        }
        let (pages, runs) = self.received().await?;
        let twice = runs.saturating_sub(pages);
        let lost = PAGES as usize - pages;
        let pipeline = self.ratchet.pipeline(PIPELINE);
        let stats = pipeline.stats().await?;
        let refusals = pipeline.acceptor().await?.ok_or("no job accepts the pipeline")?.refusals;
        println!(
            "| {} | {PAGES} | {pages} | {lost} | {twice} | {KILLS} | {refusals} | {greatest} | {} | {:.0?} | {:.0?} |",
            kind.title(),
            stats.repeats,
            stats.latency,
            stats.longest_latency,
        );
        if lost > 0 || twice > 0 || stats.backlog > 0 {
            return Err("every page must be received once".into());
        }
        if refusals == 0 || greatest > GREATEST_BACKLOG {
            return Err(format!("the backlog must hold up the publishers at {BACKLOG_LIMIT}, and must not exceed {GREATEST_BACKLOG}").into());
        }
        if stats.latency.is_zero() {
            return Err("the latency must be recorded".into());
        }
        Ok(())
    }

    /// Returns the greatest backlog that was seen for a time.
    async fn watch(&self, time: Duration) -> Result<u64, Problem> {
        let (began, mut greatest) = (Instant::now(), 0);
        while began.elapsed() < time {
            greatest = greatest.max(self.ratchet.pipeline(PIPELINE).stats().await?.backlog);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(greatest)
    }

    /// Returns the number of different pages that were received, and the number of jobs that received one.
    async fn received(&self) -> Result<(usize, usize), Problem> {
        let filter = Filter::any().name("proof.index");
        let (mut pages, mut jobs, mut before) = (BTreeSet::new(), 0, None);
        loop {
            let page =
                self.ratchet.jobs().list(&filter, PageRequest { before, limit: 500 }).await?;
            let Some(last) = page.jobs.last() else { return Ok((pages.len(), jobs)) };
            before = Some(last.id);
            jobs += page.jobs.len();
            for job in page.jobs {
                let output = job.output.ok_or("a job that succeeded has no output")?;
                pages.insert(serde_json::from_str::<u32>(&output)?);
            }
        }
    }
}
