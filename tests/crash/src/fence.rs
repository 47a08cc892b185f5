//! The fence test: a network that goes silent for one node must never leave two handlers of one limited key running.
//!
//! Two workers serve a queue, each through its own proxy. In every round a job with a concurrency limit of 1 runs on one
//! of them. At a random moment the proxy of that worker goes silent, until the other worker has started the job. The
//! handler records when it was last active, which must be before the lease of its node ends by the server's clock.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use ratchet::prelude::*;
use ratchet::{JobId, State, Worker};
use ratchet_pg::{PgOptions, PgStore};

use crate::Problem;
use crate::args::Args;
use crate::chaos::proxy::Proxy;
use crate::server::Server;

const LEASE: Duration = Duration::from_secs(3);
const HEARTBEAT: Duration = Duration::from_secs(1);

/// How many pairs of workers are tested at the same time.
const PAIRS: usize = 4;

/// The time limit of every wait.
const LONGEST: Duration = Duration::from_secs(60);

/// When a handler was active.
#[derive(Debug, Clone, Copy)]
struct Activity {
    side: usize,
    first: Timestamp,
    last: Timestamp,
}

/// The runs of a pair, in the order of their starts.
#[derive(Debug, Clone, Default)]
struct Log(Arc<Mutex<Vec<Activity>>>);

impl Log {
    fn with<T>(&self, read: impl FnOnce(&mut Vec<Activity>) -> T) -> T {
        read(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The log, as seen by the worker of one side.
#[derive(Debug, Clone)]
struct Side {
    side: usize,
    log: Log,
}

/// Runs until it is aborted, and records that it is active. The workers of the other tests have no log.
#[job(name = "proof.hold", max_retries = 0)]
async fn hold(#[inject] side: Option<State<Side>>) {
    let Some(side) = side else { return };
    let now = Timestamp::now();
    let at = side.log.with(|runs| {
        runs.push(Activity { side: side.side, first: now, last: now });
        runs.len() - 1
    });
    loop {
        tokio::time::sleep(Duration::from_millis(2)).await;
        side.log.with(|runs| {
            if let Some(run) = runs.get_mut(at) {
                run.last = Timestamp::now();
            }
        });
    }
}

/// The measurements of one round.
#[derive(Debug, Clone, Copy)]
struct Round {
    /// From the last activity of the silenced node to the end of its lease.
    margin: Duration,
    /// From the last activity of the silenced node to the start on the other one.
    gap: Duration,
}

pub async fn run(args: &Args) -> Result<(), Problem> {
    let rounds: usize = args.or("rounds", 200);
    let seed: u64 = args.or("seed", fastrand::u64(..100_000));
    let began = Instant::now();
    let port = std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
    let server =
        Server::start(&format!("listen_addresses = '127.0.0.1'\nport = {port}"), Some(port))?;
    server.say("CREATE DATABASE fence").await?;
    PgStore::open(PgOptions::new(&server.url("fence"))?).await?.close().await;
    let pairs = (0..PAIRS).map(|number| {
        let (rounds, address) = (rounds.div_ceil(PAIRS), server.url("fence"));
        let rng = fastrand::Rng::with_seed(seed + number as u64);
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
            runtime.block_on(async {
                Pair::open(number, port, &address).await?.rounds(rounds, rng).await
            })
        })
    });
    let mut measured = Vec::new();
    for pair in pairs.collect::<Vec<_>>() {
        measured.extend(pair.join().map_err(|_| "a pair has panicked")??);
    }
    report(&mut measured, seed, began.elapsed());
    Ok(())
}

fn report(rounds: &mut [Round], seed: u64, took: Duration) {
    println!("lease {LEASE:?}, heartbeat {HEARTBEAT:?}, {PAIRS} pairs of workers, seed {seed}");
    println!(
        "{} rounds in {:.0} s: no two runs at the same time",
        rounds.len(),
        took.as_secs_f64()
    );
    rounds.sort_by_key(|round| round.margin);
    let at = |part: f64| rounds[((rounds.len() - 1) as f64 * part) as usize].margin;
    println!("last activity before the end of the lease: min {:?}, p50 {:?}", at(0.0), at(0.5));
    let gap = rounds.iter().map(|round| round.gap).min().unwrap_or_default();
    println!("from there to the start on the other node: min {gap:?}");
}

struct Pair {
    queue: String,
    log: Log,
    proxies: [Proxy; 2],
    workers: [Worker; 2],
    /// A client without a proxy.
    direct: Ratchet,
}

impl Pair {
    async fn open(number: usize, port: u16, address: &str) -> Result<Self, Problem> {
        let (queue, log) = (format!("pair-{number}"), Log::default());
        let proxies = [Proxy::start(port).await?, Proxy::start(port).await?];
        let direct = Ratchet::builder(PgStore::open(PgOptions::new(address)?).await?);
        let direct = direct.build().await?;
        let mut workers = Vec::new();
        for (side, proxy) in proxies.iter().enumerate() {
            let address =
                format!("postgres://postgres@127.0.0.1:{}/fence?sslmode=disable", proxy.port);
            let ratchet = Ratchet::builder(PgStore::open(PgOptions::new(&address)?).await?)
                .jobs([Hold::JOB])
                .state(Side { side, log: log.clone() })
                .queue(&queue, |queue| queue)
                .crash_limit(1000)
                .config(|config| {
                    (config.lease, config.heartbeat) = (LEASE, HEARTBEAT);
                    config.isolate_after_crashes = 1000;
                });
            workers.push(ratchet.build().await?.start().await?);
        }
        let workers = workers.try_into().map_err(|_| "there are two workers")?;
        Ok(Self { queue, log, proxies, workers, direct })
    }

    async fn rounds(
        &mut self,
        rounds: usize,
        mut rng: fastrand::Rng,
    ) -> Result<Vec<Round>, Problem> {
        let mut measured = Vec::new();
        for _ in 0..rounds {
            let moment = Duration::from_micros(rng.u64(0..2 * HEARTBEAT.as_micros() as u64));
            measured.push(self.round(moment).await?);
        }
        for worker in &self.workers {
            worker.stop_now().await;
        }
        Ok(measured)
    }

    async fn round(&self, moment: Duration) -> Result<Round, Problem> {
        self.log.with(Vec::clear);
        let job = self.direct.enqueue(Hold {}).queue(&self.queue);
        let job = job.concurrency_key(&self.queue, 1).await?.id();
        until("the job runs", async || Ok(self.log.with(|runs| runs.len()) == 1)).await?;
        tokio::time::sleep(moment).await;
        let side = self.log.with(|runs| runs[0].side);
        let node = self.workers[side].node();
        self.proxies[side].change(|weather| weather.silent = true);
        // The store forgets a dead node when its jobs have been rescued, so the lease is read until then.
        let lease = Mutex::new(None);
        until("the other node runs it", async || {
            let nodes = self.direct.nodes().list().await?;
            if let Some(record) = nodes.iter().find(|record| record.info.id == node) {
                *lease.lock().unwrap_or_else(PoisonError::into_inner) = Some(record.lease_until);
            }
            Ok(self.log.with(|runs| runs.len()) == 2)
        })
        .await?;
        let lease =
            lease.into_inner().unwrap_or_else(PoisonError::into_inner).ok_or("no such node")?;
        let [silenced, other] = self.log.with(|runs| [runs[0], runs[1]]);
        if other.side == side {
            return Err("the silenced node ran the job again".into());
        }
        self.proxies[side].change(|weather| weather.silent = false);
        self.end(job).await?;
        let silenced = self.log.with(|runs| runs[0]).last.max(silenced.last);
        let between = |from: Timestamp, to: Timestamp| Duration::try_from(to.duration_since(from));
        let margin = between(silenced, lease)
            .map_err(|_| format!("active until {silenced}, lease until {lease}"))?;
        let gap = between(silenced, other.first)
            .map_err(|_| format!("two runs at once: {silenced} and {}", other.first))?;
        Ok(Round { margin, gap })
    }

    /// Cancels the job and waits until both workers accept jobs again.
    async fn end(&self, job: JobId) -> Result<(), Problem> {
        self.direct.jobs().cancel(job).await?;
        until("both workers are ready", async || {
            let record = self.direct.jobs().get(job).await?.ok_or("the job exists")?;
            let ready = self.workers.iter().all(|worker| worker.readiness().ok);
            let idle = self.workers.iter().all(|worker| worker.stats().running == 0);
            Ok(record.state.is_terminal() && ready && idle)
        })
        .await
    }
}

async fn until(what: &str, is_so: impl AsyncFn() -> Result<bool, Problem>) -> Result<(), Problem> {
    let began = Instant::now();
    while !is_so().await? {
        if began.elapsed() > LONGEST {
            return Err(format!("waited {LONGEST:?} in vain: {what}").into());
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    Ok(())
}
