//! How fast pages, lists and `ratchet status` are in a large store (`docs/proof/scale.md`):
//! `scale pg|sqlite [--url URL] [--finished N] [--pending N] [--failed N] [--only TEXT] [--bars]`.
//!
//! The program fills a store by submitting and running jobs, follows the links of the dashboard, and measures every kind of page
//! and every list of the API. With `--bars` it fails if a page takes longer than the bar at the 95th percentile.
//! With `--only`, it measures the paths that contain a text. With `--url`, it measures a PostgreSQL database that is filled.

mod crawl;
mod fill;
mod measure;

use std::sync::Arc;

use ratchet::{Ratchet, SqliteStore, Store};
use ratchet_bench_pg::Server;
use ratchet_pg::PgStore;

use crate::fill::Size;

/// How often each page is requested.
const ROUNDS: usize = 20;

#[tokio::main]
async fn main() {
    let args: Vec<_> = std::env::args().skip(1).collect();
    let number = |name, default| option(name).and_then(|it| it.parse().ok()).unwrap_or(default);
    let size = |finished, pending, failed| Size {
        finished: number("--finished", finished),
        pending: number("--pending", pending),
        failed: number("--failed", failed),
    };
    let slow = match args.first().map(String::as_str) {
        Some("pg") => {
            let full = option("--url");
            let server = full.is_none().then(Server::start);
            let address = full.unwrap_or_else(|| server.as_ref().expect("a server").url());
            let store = Arc::new(PgStore::connect(&address).await.expect("connects"));
            if server.is_some() {
                fill::fill(store.clone(), size(10_000_000, 1_000_000, 100_000)).await;
            }
            run(store, &address, 200.0).await
        }
        Some("sqlite") => {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("jobs.db");
            let store = Arc::new(SqliteStore::open(&path).await.expect("opens"));
            let address = format!("sqlite:{}", path.display());
            fill::fill(store.clone(), size(1_000_000, 100_000, 10_000)).await;
            run(store, &address, 400.0).await
        }
        _ => panic!("usage: scale pg|sqlite [--finished N] [--pending N] [--failed N] [--bars]"),
    };
    let bars = args.iter().any(|arg| arg == "--bars");
    assert!(!bars || slow.is_empty(), "slower than the bar: {slow:#?}");
}

/// Returns the value of an option of the command line.
fn option(name: &str) -> Option<String> {
    std::env::args().skip_while(|arg| arg != name).nth(1)
}

/// Measures, and returns what is slower than its bar.
async fn run(store: Arc<dyn Store>, address: &str, bar: f64) -> Vec<String> {
    let ratchet = fill::builder(store).build().await.expect("builds");
    let counts = ratchet.jobs().counts().await.expect("counts");
    let states = ratchet::JobState::ALL.map(|state| format!("{} {state}", counts.state(state)));
    println!("\nJobs: {}\n", states.join(", "));
    let dashboard =
        ratchet_web::router(&ratchet).access(|_| ratchet_web::Access::admin("bench")).build();
    let mut paths = crawl::pages(&dashboard).await;
    paths.extend(crawl::lists(&dashboard, &job_of_each_state(&ratchet).await).await);
    let only = option("--only").unwrap_or_default();
    paths.retain(|path| path.contains(&only));
    let mut slow = measure::pages(&dashboard, &paths, bar).await;
    slow.extend(measure::status(address));
    slow
}

/// Returns the id of one job of each state that has any.
async fn job_of_each_state(ratchet: &Ratchet) -> Vec<String> {
    let mut jobs = Vec::new();
    for state in ratchet::JobState::ALL {
        let filter = ratchet::Filter::any().state(state);
        let page = ratchet::PageRequest { before: None, limit: 1 };
        let page = ratchet.jobs().list(&filter, page).await.expect("lists");
        jobs.extend(page.jobs.first().map(|job| job.id.to_string()));
    }
    jobs
}
