//! A store with jobs in every state, and the program that looks at it.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use ratchet::prelude::*;
use ratchet::{JobId, Ratchet, SqliteStore};
use tempfile::TempDir;

#[job(name = "stored.deliver", queue = "mail", max_retries = 0)]
async fn deliver(to: String) -> Result<u32, Box<dyn Error + Send + Sync>> {
    if to.contains('@') { Ok(7) } else { Err(format!("no mailbox `{to}`").into()) }
}

#[job(name = "stored.report", queue = "reports", cron = "0 6 * * *")]
async fn report() {}

/// A SQLite file with jobs.
pub(crate) struct Stored {
    folder: TempDir,
    /// A pending job, due in an hour.
    pub(crate) waiting: JobId,
    /// A job that has succeeded.
    pub(crate) succeeded: JobId,
    /// A job that has failed permanently.
    pub(crate) failed: JobId,
    /// A chain that has not ended.
    pub(crate) chain: String,
}

impl Stored {
    /// Runs a few jobs and leaves others waiting.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let runtime =
            tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
        let path = folder.path().join("jobs.db");
        let (waiting, succeeded, failed, chain) = runtime.block_on(fill(&path));
        Self { folder, waiting, succeeded, failed, chain }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("jobs.db")
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Prepares `ratchet` with this store.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let store = format!("sqlite:{}", self.path().display());
        let mut command = program();
        command.args(["--store", &store]).args(args);
        command
    }

    /// Runs `ratchet` with this store.
    pub(crate) fn ratchet(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("runs")
    }

    /// Runs `ratchet` with this store. It must succeed. Returns what it printed.
    pub(crate) fn prints(&self, args: &[&str]) -> String {
        let output = self.ratchet(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    }
}

async fn fill(path: &Path) -> (JobId, JobId, JobId, String) {
    let store = SqliteStore::open(path).await.expect("opens");
    let ratchet =
        Ratchet::builder(store).config(|config| config.run = ratchet::runtime::RunMode::Drain);
    let ratchet = ratchet.build().await.expect("builds");
    let succeeded =
        ratchet.enqueue(Deliver { to: "ada@example.com".into() }).await.expect("enqueues");
    let failed = ratchet.enqueue(Deliver { to: "nowhere".into() }).await.expect("enqueues");
    let worker = ratchet.start().await.expect("starts");
    worker.stopped().await;
    let hour = Duration::from_hours(1);
    let waiting =
        ratchet.enqueue(Deliver { to: "eve@example.com".into() }).delay(hour).tag("later").await;
    let first = Deliver { to: "bob@example.com".into() };
    let chain = ratchet.chain(first).then(Report {}).named("two steps").await.expect("enqueues");
    (waiting.expect("enqueues").id(), succeeded.id(), failed.id(), chain.id().to_string())
}

pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ratchet"));
    command.env_remove("RATCHET_STORE").env_remove("XDG_CONFIG_HOME");
    command.env("NO_COLOR", "1").env("HOME", "/nonexistent");
    command
}

/// Runs `ratchet` without a store.
pub(crate) fn ratchet(args: &[&str]) -> Output {
    program().args(args).output().expect("runs")
}
