//! A worker process of a cluster. Any number of them can run, on any number of machines.
//!
//! `cluster_worker <address of PostgreSQL> <name>`; `scripts/cluster` starts two of them on a scratch server.

#[path = "../cluster/shop.rs"]
mod shop;

use std::io::Write as _;

use ratchet::PgStore;
use ratchet::prelude::*;
use shop::Shop;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(address), Some(name)) = (arguments.next(), arguments.next()) else {
        anyhow::bail!("usage: cluster_worker <address of PostgreSQL> <name>");
    };
    let shop = Shop::open(&address).await?;
    let ratchet = Ratchet::builder(PgStore::connect(&address).await?)
        .state(shop)
        .concurrency(8)
        .build()
        .await?;
    let worker = ratchet.start().await?;
    // On SIGTERM or SIGINT, running jobs finish; jobs that have not started are released to other workers.
    worker.run_until_signal().await?;
    // One write per line, because the workers share the terminal.
    let line = format!("worker {name} ran {} jobs\n", worker.stats().settled);
    std::io::stderr().write_all(line.as_bytes())?;
    Ok(())
}
