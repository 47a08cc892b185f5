//! The chaos test: worker processes and a producer on a PostgreSQL server, with random faults derived from a seed.
//!
//! At the end, all faults stop, the remaining jobs are processed, and the store is audited against the diary.

pub mod crew;
mod fault;
pub mod proxy;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fastrand::Rng;
use ratchet::JobState;
use sqlx::{Connection as _, PgConnection};

use self::fault::Fault;
use self::proxy::Proxy;
use crate::Problem;
use crate::address::Opened;
use crate::args::Args;
use crate::audit::{leftovers, summary};
use crate::diary::Entries;
use crate::server::Server;

/// The number of worker processes.
const WORKERS: usize = 4;

/// The time limit for the remaining jobs after all faults have stopped.
const LONGEST_REST: Duration = Duration::from_secs(180);

/// The processes, the server and the proxy that faults can affect.
struct Scene {
    server: Server,
    proxy: Proxy,
    folder: tempfile::TempDir,
    small: Option<PathBuf>,
    workers: Vec<Child>,
    producer: Child,
    life: u32,
    pace: String,
    began: Instant,
    faults: BTreeMap<&'static str, u32>,
}

pub async fn run(args: &Args) -> Result<(), Problem> {
    let minutes: f64 = args.or("minutes", 5.0);
    let seed: u64 = args.or("seed", fastrand::u64(..100_000));
    // A part of the name of a fault, to run only faults of that kind.
    let only = args.get("only").unwrap_or_default();
    println!("chaos for {minutes} min, seed {seed}");
    let mut rng = Rng::with_seed(seed);
    let mut scene = Scene::open(args.or("every-ms", 25)).await?;
    let end = scene.began + Duration::from_secs_f64(minutes * 60.0);
    while Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(rng.u64(500..3500))).await;
        let fault = std::iter::repeat_with(|| Fault::choose(&mut rng, WORKERS));
        let fault = fault.take(1000).find(|fault| fault.name().contains(only));
        scene.suffer(fault.ok_or("--only names no fault")?).await?;
        scene.raise_the_dead()?;
    }
    scene.finish().await
}

impl Scene {
    async fn open(pace: u64) -> Result<Self, Problem> {
        let port = std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let settings = format!("listen_addresses = '127.0.0.1'\nport = {port}");
        let mut server = Server::start(&settings, Some(port))?;
        let small = server.small_disk(400)?;
        match &small {
            Some(space) => {
                let space = space.display();
                server.say(&format!("CREATE TABLESPACE small LOCATION '{space}'")).await?;
                server.say("CREATE DATABASE chaos TABLESPACE small").await?;
            }
            None => {
                println!("no small file system can be mounted here: the disk is never full");
                server.say("CREATE DATABASE chaos").await?;
            }
        }
        Opened::open(&server.url("chaos")).await?.close().await;
        let proxy = Proxy::start(port).await?;
        let (folder, pace) = (tempfile::tempdir()?, pace.to_string());
        let producer = spawn("produce", &proxy, &folder, &["--life", "0", "--every-ms", &pace])?;
        let workers = (0..WORKERS).map(|_| spawn("work", &proxy, &folder, &[]));
        let workers = workers.collect::<Result<_, _>>()?;
        let (began, faults) = (Instant::now(), BTreeMap::new());
        Ok(Self { server, proxy, folder, small, workers, producer, life: 0, pace, began, faults })
    }

    async fn suffer(&mut self, fault: Fault) -> Result<(), Problem> {
        *self.faults.entry(fault.name()).or_default() += 1;
        println!("{:7.1} s  {fault:?}", self.began.elapsed().as_secs_f64());
        match fault {
            Fault::KillWorker(worker) => {
                self.workers[worker].kill()?;
                self.workers[worker].wait()?;
            }
            Fault::FreezeWorker(worker, time) => {
                signal("-STOP", &self.workers[worker])?;
                tokio::time::sleep(time).await;
                signal("-CONT", &self.workers[worker])?;
            }
            Fault::KillProducer => {
                self.producer.kill()?;
                self.producer.wait()?;
                self.life += 1;
                let life = self.life.to_string();
                let more = ["--life", &life, "--every-ms", &self.pace];
                self.producer = spawn("produce", &self.proxy, &self.folder, &more)?;
            }
            Fault::SlowNetwork(delay, time) => {
                self.proxy.change(|weather| weather.delay = delay);
                tokio::time::sleep(time).await;
                self.proxy.change(|weather| weather.delay = Duration::ZERO);
            }
            Fault::SilentNetwork(time) => {
                self.proxy.change(|weather| weather.silent = true);
                tokio::time::sleep(time).await;
                self.proxy.change(|weather| weather.silent = false);
            }
            Fault::CutNetwork => self.proxy.cut(),
            Fault::ForgetConnections => self.proxy.forget(),
            Fault::RestartServer => {
                self.server.down("immediate")?;
                self.server.up()?;
            }
            Fault::StatementTimeouts(time) => self.hold_tables(time).await?,
            Fault::DiskFull(time) => self.fill_disk(time).await?,
        }
        Ok(())
    }

    /// Locks a table that every claim needs, for longer than the statement timeout.
    async fn hold_tables(&self, time: Duration) -> Result<(), Problem> {
        let mut db = PgConnection::connect(&self.server.url("chaos")).await?;
        let mut tx = db.begin().await?;
        sqlx::query("SET LOCAL lock_timeout = '3s'").execute(&mut *tx).await?;
        let lock = sqlx::query("LOCK TABLE ratchet.lease IN ACCESS EXCLUSIVE MODE");
        match lock.execute(&mut *tx).await {
            Ok(_) => tokio::time::sleep(time).await,
            // The lock may fail because of a deadlock or the lock timeout.
            Err(error) => println!("           the table could not be locked: {error}"),
        }
        tx.rollback().await?;
        Ok(db.close().await?)
    }

    async fn fill_disk(&self, time: Duration) -> Result<(), Problem> {
        let Some(space) = &self.small else { return Ok(()) };
        let filler = space.with_file_name("filler");
        // Fill the disk completely.
        let full = Command::new("dd")
            .args(["if=/dev/zero", "bs=8k", &format!("of={}", filler.display())])
            .stderr(Stdio::null())
            .status()?;
        assert!(!full.success(), "the disk has an end");
        tokio::time::sleep(time).await;
        Ok(std::fs::remove_file(filler)?)
    }

    /// Restarts every worker that has ended.
    fn raise_the_dead(&mut self) -> Result<(), Problem> {
        for worker in &mut self.workers {
            if worker.try_wait()?.is_some() {
                *worker = spawn("work", &self.proxy, &self.folder, &[])?;
            }
        }
        Ok(())
    }

    /// Stops the producer, waits until the remaining jobs are processed, and audits the store.
    async fn finish(mut self) -> Result<(), Problem> {
        std::fs::write(self.folder.path().join("stop"), "")?;
        self.producer.wait()?;
        let address = self.server.url("chaos");
        let store = Opened::open(&address).await?;
        let healed = Instant::now();
        loop {
            let counts = store.shared().counts().await?;
            let left = counts.state(JobState::Pending) + counts.state(JobState::Running);
            if left == 0 && leftovers(&address).await?.is_empty() {
                break;
            }
            if healed.elapsed() > LONGEST_REST {
                println!("{left} jobs are left; {:?}", leftovers(&address).await?);
                break;
            }
            self.raise_the_dead()?;
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        println!("quiet {:.1} s after the last fault", healed.elapsed().as_secs_f64());
        for worker in &mut self.workers {
            signal("-TERM", worker)?;
        }
        for worker in &mut self.workers {
            worker.wait()?;
        }
        for (fault, times) in &self.faults {
            println!("{times:4} × {fault}");
        }
        let entries = Entries::read(&self.folder.path().join("diary"));
        let audited = summary(&store, &address, entries).await;
        store.close().await;
        audited
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        for process in self.workers.iter_mut().chain([&mut self.producer]) {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// Starts this program as a worker or producer that connects through the proxy.
fn spawn(
    verb: &str,
    proxy: &Proxy,
    folder: &tempfile::TempDir,
    more: &[&str],
) -> Result<Child, Problem> {
    let address = format!("postgres://postgres@127.0.0.1:{}/chaos?sslmode=disable", proxy.port);
    let mut command = Command::new(std::env::current_exe()?);
    command.args([verb, "--address", &address]).args(more);
    command.arg("--diary").arg(folder.path().join("diary"));
    command.arg("--stop").arg(folder.path().join("stop"));
    Ok(command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?)
}

pub fn signal(which: &str, process: &Child) -> Result<(), Problem> {
    Command::new("kill").args([which, &process.id().to_string()]).status()?;
    Ok(())
}
