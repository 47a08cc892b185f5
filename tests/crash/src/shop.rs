//! The part that both versions of the shop have in common: a worker on the store named by the first argument.

use std::time::Duration;

use ratchet::runtime::Builder;
use ratchet::{PgStore, Ratchet, SqliteStore};
use ratchet_pg::PgOptions;

pub type Problem = Box<dyn std::error::Error + Send + Sync>;

pub async fn work(version: &str, rules: impl FnOnce(Builder) -> Builder) -> Result<(), Problem> {
    let address = std::env::args().nth(1).ok_or("the address of the store is missing")?;
    let builder = if address.starts_with("postgres:") {
        Ratchet::builder(PgStore::open(PgOptions::new(&address)?).await?)
    } else {
        Ratchet::builder(SqliteStore::open(address.as_str()).await?)
    };
    let builder = builder.program("shop").binary_version(version).config(|config| {
        config.lease = Duration::from_secs(2);
        config.heartbeat = Duration::from_millis(400);
        config.maintenance_interval = Duration::from_millis(100);
    });
    let worker = rules(builder).build().await?.start().await?;
    println!("started");
    worker.run_until_signal().await?;
    Ok(())
}
