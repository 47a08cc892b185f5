//! Repeatedly kills (`kill -9`) a process that enqueues and works at full speed on one file.
//!
//! `kill [kills] [longest life in ms]`. The child reports each committed job and each run of a handler through a pipe.
//! After each kill, the parent checks that the file contains every job reported as committed. At the end, a last child
//! finishes the remaining jobs. No job may be lost or stuck, the file must be intact, and only handlers that were in
//! flight at a kill may have run again.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use ratchet::{Job as _, JobContext, Ratchet, job};
use ratchet_bench_sqlite::argument;
use ratchet_sqlite::SqliteStore;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Row as _, SqliteConnection};
use uuid::Uuid;

#[tokio::main]
async fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("child") => child(&argument(2, String::new()), true).await,
        Some("finish") => child(&argument(2, String::new()), false).await,
        _ => parent(argument(1, 1000), argument(2, 150)).await,
    }
}

#[job(queue = "kill")]
async fn work(#[inject] ctx: JobContext) {
    tell('R', ctx.job_id().uuid());
}

/// Prints one line in a single write, so that a kill never leaves a partial line.
fn tell(what: char, id: Uuid) {
    let line = format!("{what} {id}\n");
    let _ = std::io::stdout().lock().write_all(line.as_bytes());
}

async fn child(path: &str, enqueue: bool) {
    let store = SqliteStore::open(path).await.expect("opens after a kill");
    let builder = Ratchet::builder(store).jobs([Work::JOB]).crash_limit(1000);
    let builder = builder.config(|config| {
        config.lease = Duration::from_millis(400);
        config.heartbeat = Duration::from_millis(130);
        config.maintenance_interval = Duration::from_millis(100);
    });
    let ratchet = builder.build().await.expect("builds");
    let worker = ratchet.start().await.expect("starts");
    let tasks: Vec<_> = (0..if enqueue { 4 } else { 0 })
        .map(|_| {
            let ratchet = ratchet.clone();
            tokio::spawn(async move {
                loop {
                    let handle = ratchet.enqueue(Work {}).await.expect("enqueues");
                    tell('C', handle.id().uuid());
                }
            })
        })
        .collect();
    tell('S', Uuid::nil());
    for task in tasks {
        task.await.expect("enqueues until it is killed");
    }
    worker.stopped().await;
}

#[derive(Default)]
struct JobHistory {
    committed: bool,
    runs: u32,
}

#[derive(Default)]
struct Ledger {
    jobs: HashMap<Uuid, JobHistory>,
    reruns: u64,
    /// The jobs reported as committed since the last check.
    fresh: Vec<Uuid>,
}

impl Ledger {
    fn note(&mut self, line: &str) -> bool {
        let Some((what, id)) = line.split_once(' ') else { return false };
        let Ok(id) = id.parse::<Uuid>() else { return false };
        match what {
            "C" => {
                self.jobs.entry(id).or_default().committed = true;
                self.fresh.push(id);
            }
            "R" => {
                let job = self.jobs.entry(id).or_default();
                job.runs += 1;
                self.reruns += u64::from(job.runs > 1);
            }
            _ => return true,
        }
        false
    }
}

async fn parent(kills: usize, longest: u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.db");
    let mut ledger = Ledger::default();
    let (mut in_flight, mut most_in_flight, mut lost) = (0_u64, 0_u64, 0_u64);
    let mut nodes = HashSet::new();
    let began = Instant::now();
    for kill in 1..=kills {
        let life = Duration::from_millis(fastrand::u64(5..=longest));
        live_and_die(&path, life, &mut ledger);
        let mut conn = look(&path).await;
        let mut now = 0;
        let held =
            sqlx::query("SELECT node, count(*) FROM ratchet_job WHERE state = 1 GROUP BY node");
        for row in held.fetch_all(&mut conn).await.expect("reads after a kill") {
            // Jobs of earlier children are still running in the file until they are rescued.
            if nodes.insert(row.get::<Vec<u8>, _>(0)) {
                now += row.get::<i64, _>(1).unsigned_abs();
            }
        }
        in_flight += now;
        most_in_flight = most_in_flight.max(now);
        assert!(
            ledger.reruns <= in_flight,
            "kill {kill}: {} re-runs, {in_flight} in flight",
            ledger.reruns
        );
        for id in ledger.fresh.drain(..) {
            let there =
                sqlx::query("SELECT 1 FROM ratchet_job WHERE id = ?").bind(id.as_bytes().to_vec());
            lost += u64::from(there.fetch_optional(&mut conn).await.expect("reads").is_none());
        }
        if kill % 100 == 0 {
            sound(&mut conn).await;
            eprintln!(
                "{kill} kills, {} jobs, {} re-runs, {:?}",
                ledger.jobs.len(),
                ledger.reruns,
                began.elapsed()
            );
        }
    }
    let stuck = finish(&path, &mut ledger).await;
    let mut conn = look(&path).await;
    sound(&mut conn).await;
    let committed = ledger.jobs.values().filter(|job| job.committed).count();
    let mut unfinished = 0;
    for row in
        sqlx::query("SELECT id, state FROM ratchet_job").fetch_all(&mut conn).await.expect("reads")
    {
        let (id, state): (Vec<u8>, i64) = (row.get(0), row.get(1));
        unfinished += u64::from(state != 2);
        if let Ok(id) = Uuid::from_slice(&id) {
            ledger.jobs.remove(&id);
        }
    }
    lost += ledger.jobs.values().filter(|job| job.committed).count() as u64;
    println!(
        "| kills | committed jobs | lost | stuck | integrity | re-runs | in flight at kills (sum, most) | time |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    println!(
        "| {kills} | {committed} | {lost} | {} | ok | {} | {in_flight}, {most_in_flight} | {:.0} s |",
        stuck.max(unfinished),
        ledger.reruns,
        began.elapsed().as_secs_f64()
    );
    assert_eq!((lost, stuck, unfinished), (0, 0, 0), "lost, stuck, unfinished");
    assert!(ledger.reruns <= in_flight);
}

/// Starts a child and kills it some time after it has started to work.
fn live_and_die(path: &Path, life: Duration, ledger: &mut Ledger) {
    let mut child = spawn("child", path);
    let lines = lines(&mut child);
    while let Ok(line) = lines.recv() {
        if ledger.note(&line) {
            break;
        }
    }
    let until = Instant::now() + life;
    while let Ok(line) = lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
        ledger.note(&line);
    }
    // SIGKILL, as `kill -9` does.
    child.kill().expect("the child can be killed");
    child.wait().expect("the child is gone");
    lines.iter().for_each(|line| {
        ledger.note(&line);
    });
}

/// Runs a last child until no jobs are left. Returns the number of stuck jobs.
async fn finish(path: &Path, ledger: &mut Ledger) -> u64 {
    let mut child = spawn("finish", path);
    let lines = lines(&mut child);
    let mut conn = look(path).await;
    let until = Instant::now() + Duration::from_secs(120);
    let stuck = loop {
        while let Ok(line) = lines.recv_timeout(Duration::from_millis(50)) {
            ledger.note(&line);
        }
        let left = sqlx::query("SELECT count(*) FROM ratchet_job WHERE state IN (0, 1)");
        let left: i64 = left.fetch_one(&mut conn).await.expect("reads").get(0);
        if left == 0 || Instant::now() > until {
            break left.unsigned_abs();
        }
    };
    child.kill().expect("the child can be killed");
    child.wait().expect("the child is gone");
    stuck
}

fn spawn(mode: &str, path: &Path) -> std::process::Child {
    let program = std::env::current_exe().expect("this program");
    Command::new(program)
        .arg(mode)
        .arg(path)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a child starts")
}

fn lines(child: &mut std::process::Child) -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel();
    let pipe = BufReader::new(child.stdout.take().expect("a pipe"));
    std::thread::spawn(move || {
        pipe.lines().map_while(Result::ok).for_each(|line| drop(sender.send(line)))
    });
    lines
}

async fn look(path: &Path) -> SqliteConnection {
    SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(Duration::from_secs(10))
        .connect()
        .await
        .expect("opens")
}

async fn sound(conn: &mut SqliteConnection) {
    let row = sqlx::query("PRAGMA integrity_check").fetch_one(conn).await.expect("checks");
    assert_eq!(row.get::<String, _>(0), "ok");
}
