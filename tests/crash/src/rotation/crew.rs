//! The processes of the test: workers, submitters, and the one that protects stored content again.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use ratchet::definition::Registration;
use ratchet::prelude::*;
use ratchet::security::{Encrypt, Keyring, Reencrypt, Reencrypted};

use super::keys;
use crate::Problem;
use crate::address::Opened;
use crate::args::Args;

/// Checks that its secret is the one that was submitted. Fails in one of seven first attempts, and creates a child in one
/// of five runs.
#[job(name = "proof.sealed", queue = "work", max_retries = 50, backoff = fixed("50ms"))]
pub(super) async fn sealed(
    number: u64,
    token: Secret<String>,
    #[inject] ctx: JobContext,
) -> Result<Secret<String>, JobError> {
    if *token.expose() != text(number) {
        return Err(invalid("the secret has changed").into());
    }
    ctx.info(format!("attempt {} of {number} with {}", ctx.attempt(), token.expose()));
    ctx.set_checkpoint(&token)?;
    tokio::time::sleep(Duration::from_millis(number % 20)).await;
    if number.is_multiple_of(7) && ctx.attempt() == 1 {
        return Err(JobError::msg(format!("once more with {}", token.expose())));
    }
    if number.is_multiple_of(5) {
        ctx.enqueue(Echo { token: token.clone() }).await?;
    }
    Ok(token)
}

/// A child of [`sealed`].
#[job(name = "proof.echo", queue = "work")]
#[allow(clippy::unused_async, reason = "the shape of a job")]
async fn echo(token: Secret<String>) -> Secret<String> {
    token
}

const JOBS: [Registration; 2] = [Sealed::JOB, Echo::JOB];

/// The secret of a job.
pub(super) fn text(number: u64) -> String {
    format!("token-{number}-{}", "x".repeat(100))
}

/// Builds a runtime that signs and encrypts everything.
pub(super) async fn runtime(address: &str, keyring: Keyring) -> Result<Ratchet, Problem> {
    let store = Opened::open(address).await?.shared();
    let builder = Ratchet::builder_shared(store).keyring(keyring).encrypt(Encrypt::All);
    // Workers are killed often.
    let builder = builder.jobs(JOBS).concurrency(20).crash_limit(1000).config(|config| {
        config.lease = Duration::from_millis(1500);
        config.heartbeat = Duration::from_millis(300);
        config.maintenance_interval = Duration::from_millis(200);
        config.poll_interval = (Duration::from_millis(20), Duration::from_millis(100));
    });
    Ok(builder.build().await?)
}

/// Opens the runtime of a process, which follows the file of keys.
async fn open(args: &Args) -> Result<Ratchet, Problem> {
    let keyring = keys::follow(Path::new(args.must("folder")?), args.must("place")?)?;
    runtime(args.must("address")?, keyring).await
}

/// Runs jobs until the process is killed.
pub async fn work(args: &Args) -> Result<(), Problem> {
    open(args).await?.start().await?.run_until_signal().await?;
    Ok(())
}

/// Submits jobs until the process is killed. Records the id of each job that was accepted.
pub async fn submit(args: &Args) -> Result<(), Problem> {
    let ratchet = open(args).await?;
    let diary = Path::new(args.must("folder")?).join("submitted");
    let mut diary = OpenOptions::new().create(true).append(true).open(diary)?;
    loop {
        let number = fastrand::u64(..1_000_000);
        let job = ratchet.enqueue(Sealed { number, token: text(number).into() }).await?;
        // One write, so that a line is whole.
        diary.write_all(format!("{}\n", job.id()).as_bytes())?;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Protects stored content again, and records after every page how far it is.
pub async fn reencrypt(args: &Args) -> Result<(), Problem> {
    let ratchet = open(args).await?;
    let report = Path::new(args.must("report")?);
    let options = Reencrypt::default().page(args.or("page", 200));
    let options = options.pause(Duration::from_millis(args.or("pause", 5)));
    let done = ratchet.reencrypt(options, |so_far| record(report, so_far, false)).await?;
    record(report, &done, true);
    Ok(())
}

fn record(path: &Path, report: &Reencrypted, done: bool) {
    let Reencrypted { read, rewritten, .. } = report;
    let refused: u64 = report.refused.values().sum();
    let line = format!("{read} {rewritten} {refused} {done}");
    let new = path.with_extension("new");
    std::fs::write(&new, line).and_then(|()| std::fs::rename(&new, path)).expect("records");
}

/// What a run of [`reencrypt`] has recorded.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Progress {
    pub(super) read: u64,
    pub(super) rewritten: u64,
    pub(super) refused: u64,
    pub(super) is_done: bool,
}

impl Progress {
    pub(super) fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let words: Vec<_> = text.split(' ').collect();
        let number =
            |at: usize| words.get(at).and_then(|word| word.parse().ok()).unwrap_or_default();
        let is_done = words.get(3) == Some(&"true");
        Self { read: number(0), rewritten: number(1), refused: number(2), is_done }
    }
}
