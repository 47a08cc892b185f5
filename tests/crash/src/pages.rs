//! What the two programs of the hand-off proof share: the job that publishes, and the worker.

use std::time::Duration;

use ratchet::definition::Registration;
use ratchet::prelude::*;
use ratchet::{PgStore, Ratchet, SqliteStore};

pub type Problem = Box<dyn std::error::Error + Send + Sync>;

pub const PIPELINE: &str = "proof-pages";

/// How many pages a run of [`crawl`] hands off.
pub const PAGES_EACH: u32 = 10;

/// Hands off ten pages.
#[job(name = "proof.crawl", queue = "crawl", hands_off = "proof-pages", max_retries = 50)]
pub async fn crawl(number: u32, #[inject] ctx: JobContext) -> Result<(), Problem> {
    for page in number * PAGES_EACH..(number + 1) * PAGES_EACH {
        ctx.hand_off(PIPELINE, format!("page-{page}"), &page)?;
    }
    tokio::time::sleep(Duration::from_millis(5)).await;
    Ok(())
}

/// Runs a worker of a program until it is killed. The first argument of the process is the address of the store.
#[allow(dead_code, reason = "each executable uses a part of this module")]
pub async fn work(program: &str, job: Registration, concurrency: u32) -> Result<(), Problem> {
    let address = std::env::args().nth(1).ok_or("the first argument must be an address")?;
    let builder = if address.starts_with("postgres:") {
        Ratchet::builder(PgStore::connect(&address).await?)
    } else {
        Ratchet::builder(SqliteStore::open(&address).await?)
    };
    let builder = builder.program(program).jobs([job]).concurrency(concurrency).crash_limit(100);
    let builder = builder.config(|config| {
        config.lease = Duration::from_millis(1500);
        config.heartbeat = Duration::from_millis(300);
        config.maintenance_interval = Duration::from_millis(200);
        config.poll_interval = (Duration::from_millis(20), Duration::from_millis(100));
    });
    let worker = builder.build().await?.start().await?;
    worker.run_until_signal().await?;
    Ok(())
}
