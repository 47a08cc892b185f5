//! Shared by the programs: a store of either kind, worker processes, and the history of finished runs.
//!
//! Every program takes `pg` (a scratch server) or `sqlite` (a scratch file). Worker processes run the same program with
//! the address of the store.

use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::Duration;

use ratchet::model::{AttemptRecord, Filter, JobRecord, PageRequest};
use ratchet::{JobState, PgStore, Ratchet, SqliteStore, Store};
use ratchet_bench_pg::Server;

/// A temporary store, which exists as long as the program runs.
pub enum Scratch {
    Pg(Server),
    Sqlite(PathBuf),
}

impl Scratch {
    /// Creates the store given by the first argument of the program: `pg` or `sqlite`.
    pub fn new() -> Self {
        match std::env::args().nth(1).as_deref() {
            Some("sqlite") => {
                let name = format!("ratchet-guards-{}", std::process::id());
                let folder = std::env::temp_dir().join(name);
                std::fs::create_dir_all(&folder).expect("a folder");
                Self::Sqlite(folder)
            }
            _ => Self::Pg(Server::start()),
        }
    }

    pub fn address(&self) -> String {
        match self {
            Self::Pg(server) => server.url(),
            Self::Sqlite(folder) => folder.join("jobs.db").display().to_string(),
        }
    }

    /// Starts a worker process.
    pub fn worker(&self, more: &[String]) -> Child {
        let program = std::env::current_exe().expect("this program");
        Command::new(program).arg("work").arg(self.address()).args(more).spawn().expect("starts")
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Self::Sqlite(folder) = self {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// Returns the arguments of a worker process, the address of its store and the rest; `None` in the main process.
pub fn worker_arguments() -> Option<(String, Vec<String>)> {
    let mut args = std::env::args().skip(1);
    (args.next()? == "work").then_some(())?;
    Some((args.next()?, args.collect()))
}

pub async fn open(address: &str) -> Arc<dyn Store> {
    if address.starts_with("postgres:") {
        Arc::new(PgStore::connect(address).await.expect("opens"))
    } else {
        Arc::new(SqliteStore::open(address).await.expect("opens"))
    }
}

/// Kills the processes and waits for them.
pub fn end(workers: &mut [Child]) {
    for worker in workers {
        let _ = worker.kill();
        let _ = worker.wait();
    }
}

/// Waits until all jobs have ended. Returns `false` if the time limit is exceeded.
pub async fn all_ended(ratchet: &Ratchet, jobs: u64, limit: Duration) -> bool {
    let deadline = std::time::Instant::now() + limit;
    loop {
        let counts = ratchet.jobs().counts().await.expect("counts");
        let ended = counts.state(JobState::Succeeded) + counts.state(JobState::Failed);
        if ended >= jobs {
            return true;
        }
        if std::time::Instant::now() > deadline {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Returns all jobs.
pub async fn everything(ratchet: &Ratchet) -> Vec<JobRecord> {
    let (mut jobs, mut before) = (Vec::new(), None);
    loop {
        let page = PageRequest { before, limit: 1000 };
        let page = ratchet.jobs().list(&Filter::any(), page).await.expect("lists");
        jobs.extend(page.jobs);
        before = page.next;
        if before.is_none() {
            return jobs;
        }
    }
}

/// Returns every ended run of every job. Times are those of the store's clock.
pub async fn every_run(ratchet: &Ratchet, jobs: &[JobRecord]) -> Vec<AttemptRecord> {
    let mut lines = Vec::new();
    for job in jobs {
        lines.extend(ratchet.jobs().attempts(job.id).await.expect("reads"));
    }
    lines
}
