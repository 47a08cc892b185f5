//! The test of a pipeline between two programs: a slow receiver must hold up the publishers, and every hand-off must run
//! once, although processes of both programs are killed.

use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use ratchet::definition::{HandedOff, Registration};
use ratchet::model::{Filter, JobState, PageRequest};
use ratchet::prelude::*;

use crate::Problem;
use crate::address::{Kind, Opened};
use crate::args::Args;
use crate::server::Server;

const PIPELINE: &str = "proof-pages";
const BACKLOG_LIMIT: u64 = 100;

/// The processes of each program, and how many runs each of them has at once.
const PROCESSES: usize = 2;
const PUBLISHING: u32 = 2;
const RECEIVING: u32 = 4;

const PUBLISHERS: u32 = 300;
const PAGES_EACH: u32 = 10;
const PAGES: u32 = PUBLISHERS * PAGES_EACH;
const KILLS: usize = 30;

/// The greatest backlog. Publishers that began before the limit was reached exceed it: those that run, and those whose
/// settlements are in flight.
const GREATEST_BACKLOG: u64 = 2 * BACKLOG_LIMIT;

/// The time limit of every wait.
const LONGEST: Duration = Duration::from_secs(300);

/// Hands off ten pages.
#[job(name = "proof.crawl", queue = "crawl", hands_off = "proof-pages", max_retries = 50)]
async fn crawl(number: u32, #[inject] ctx: JobContext) -> Result<(), Problem> {
    for page in number * PAGES_EACH..(number + 1) * PAGES_EACH {
        ctx.hand_off(PIPELINE, format!("page-{page}"), &page)?;
    }
    tokio::time::sleep(Duration::from_millis(5)).await;
    Ok(())
}

/// Receives a page, slowly, and returns its number.
#[job(
    name = "proof.index",
    queue = "index",
    accepts = "proof-pages",
    concurrency_limit = 4,
    backlog_limit = 100,
    max_retries = 50
)]
async fn index(page: HandedOff<u32>) -> u32 {
    tokio::time::sleep(Duration::from_millis(20)).await;
    page.checkpoint
}

/// The two programs.
#[derive(Clone, Copy)]
enum Program {
    Crawler,
    Indexer,
}

impl Program {
    const ALL: [Self; 2] = [Self::Crawler, Self::Indexer];

    fn name(self) -> &'static str {
        match self {
            Self::Crawler => "crawler",
            Self::Indexer => "indexer",
        }
    }

    async fn ratchet(self, address: &str) -> Result<Ratchet, Problem> {
        let (job, concurrency): (Registration, u32) = match self {
            Self::Crawler => (Crawl::JOB, PUBLISHING),
            Self::Indexer => (Index::JOB, RECEIVING),
        };
        let store = Opened::open(address).await?.shared();
        let builder = Ratchet::builder_shared(store).program(self.name()).jobs([job]);
        let builder = builder.concurrency(concurrency).crash_limit(100).config(|config| {
            config.lease = Duration::from_millis(1500);
            config.heartbeat = Duration::from_millis(300);
            config.maintenance_interval = Duration::from_millis(200);
            config.poll_interval = (Duration::from_millis(20), Duration::from_millis(100));
        });
        Ok(builder.build().await?)
    }

    fn start(self, address: &str) -> Result<Child, Problem> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["handoff-work", "--program", self.name(), "--address", address]);
        Ok(command.stdin(Stdio::null()).stderr(Stdio::null()).spawn()?)
    }
}

/// Runs a worker until it is killed.
pub async fn work(args: &Args) -> Result<(), Problem> {
    let name = args.must("program")?;
    let program = Program::ALL.into_iter().find(|program| program.name() == name);
    let program = program.ok_or_else(|| format!("there is no program `{name}`"))?;
    let worker = program.ratchet(args.must("address")?).await?.start().await?;
    worker.run_until_signal().await?;
    Ok(())
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

/// A store, a runtime of each program, and the worker processes. They are killed on drop.
struct Scene {
    address: String,
    crawler: Ratchet,
    indexer: Ratchet,
    workers: Vec<(Program, Child)>,
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
        let crawler = Program::Crawler.ratchet(address).await?;
        let indexer = Program::Indexer.ratchet(address).await?;
        let workers = Vec::new();
        let mut scene = Self { address: address.to_owned(), crawler, indexer, workers };
        for _ in 0..PROCESSES {
            for program in Program::ALL {
                scene.workers.push((program, program.start(address)?));
            }
        }
        Ok(scene)
    }

    /// Submits the publishers, kills processes of both programs while they work, and prints a row of the table.
    async fn play(mut self, kind: Kind) -> Result<(), Problem> {
        self.crawler.enqueue_many((0..PUBLISHERS).map(|number| Crawl { number })).await?;
        let mut greatest = 0;
        for kill in 0..KILLS {
            greatest = greatest.max(self.watch(Duration::from_millis(400)).await?);
            let at = kill % self.workers.len();
            let (program, worker) = &mut self.workers[at];
            worker.kill()?;
            worker.wait()?;
            *worker = program.start(&self.address)?;
        }
        let began = Instant::now();
        while self.indexer.jobs().counts().await?.state(JobState::Succeeded)
            < u64::from(PUBLISHERS + PAGES)
        {
            if began.elapsed() > LONGEST {
                let states = self.indexer.jobs().counts().await?;
                let stats = self.indexer.pipeline(PIPELINE).stats().await?;
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
        let pipeline = self.indexer.pipeline(PIPELINE);
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
            greatest = greatest.max(self.indexer.pipeline(PIPELINE).stats().await?.backlog);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(greatest)
    }

    /// Returns the number of different pages that were received, and the number of jobs that received one.
    async fn received(&self) -> Result<(usize, usize), Problem> {
        let filter = Filter::any().name(Index::JOB.def.name);
        let (mut pages, mut jobs, mut before) = (BTreeSet::new(), 0, None);
        loop {
            let page =
                self.indexer.jobs().list(&filter, PageRequest { before, limit: 500 }).await?;
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
