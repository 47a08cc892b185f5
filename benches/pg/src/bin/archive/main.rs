//! Archives finished jobs while a worker drains a queue (`docs/proof/archive.md`): `archive pg|sqlite [jobs] [ranges]`.
//!
//! First the worker's own maintenance archives, with its pauses: stretches with and without it are compared. Then the rest is
//! archived without pauses, in turns. At the end, sampled jobs are looked for in the archive. With `--bars`, the program fails
//! if maintenance costs more than the bar.

mod paced;
mod pg;
mod sample;
mod sqlite;
mod turns;

use std::time::Duration;

use ratchet::runtime::Builder;
use ratchet::{Ratchet, Store, job};

/// The speed of the worker while jobs are archived must be this part of its speed otherwise.
const BAR: f64 = 0.95;

const DAY: Duration = Duration::from_hours(24);

/// The jobs that the worker runs.
#[job(name = "bench.noop")]
async fn noop(id: i64) {
    let _ = id;
}

/// A worker that leaves old jobs alone.
fn builder(store: impl Store + 'static) -> Builder {
    Ratchet::builder(store).concurrency(500).config(|config| {
        config.keep_succeeded = None;
        config.keep_canceled = None;
    })
}

#[tokio::main]
async fn main() {
    let args: Vec<_> = std::env::args().skip(1).collect();
    let bars = args.iter().any(|arg| arg == "--bars");
    let mut numbers = args.iter().filter_map(|arg| arg.parse::<usize>().ok());
    let (jobs, turns) = (numbers.next(), numbers.next());
    let ratio = match args.first().map(String::as_str) {
        Some("pg") => pg::measure(jobs.unwrap_or(1_000_000), turns.unwrap_or(25)).await,
        Some("sqlite") => sqlite::measure(jobs.unwrap_or(100_000)).await,
        _ => panic!("usage: archive pg|sqlite [jobs] [turns] [--bars]"),
    };
    assert!(!bars || ratio >= BAR, "{ratio:.3} is below the bar of {BAR}");
}
