//! The producer process: each order and the job that ships it are committed in one transaction.
//!
//! `cluster_producer <address of PostgreSQL>`; `scripts/cluster` runs it against two workers.

#[path = "../cluster/shop.rs"]
mod shop;

use ratchet::PgStore;
use ratchet::postgres::EnqueueInTx as _;
use ratchet::prelude::*;
use shop::{Ship, Shop};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let Some(address) = std::env::args().nth(1) else {
        anyhow::bail!("usage: cluster_producer <address of PostgreSQL>");
    };
    let shop = Shop::open(&address).await?;
    // This process only enqueues jobs, so it needs neither state nor a worker.
    let ratchet = Ratchet::builder(PgStore::connect(&address).await?).build().await?;

    // Orders could be placed before the workers start; this wait is only there to see both workers at work.
    for _ in 0..600 {
        if ratchet.nodes().list().await?.len() >= 2 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }

    let mut handles = Vec::new();
    for number in 1..=40 {
        let mut tx = shop.pool.begin().await?;
        sqlx::query("INSERT INTO shop_order (number) VALUES ($1)")
            .bind(number)
            .execute(&mut *tx)
            .await?;
        let handle = ratchet.enqueue(Ship { number }).in_tx(&mut tx).await?;
        // Every tenth order is rolled back: neither the order nor its job is stored.
        if number % 10 == 0 {
            tx.rollback().await?;
        } else {
            tx.commit().await?;
            handles.push(handle);
        }
    }
    println!("{} orders placed, 4 called off before their commit", handles.len());

    for handle in &handles {
        handle.wait().await?;
    }
    let (orders, shipped): (i64, i64) =
        sqlx::query_as("SELECT count(*), count(*) FILTER (WHERE shipped) FROM shop_order")
            .fetch_one(&shop.pool)
            .await?;
    println!(
        "{shipped} of {orders} orders were shipped by {} workers",
        ratchet.nodes().list().await?.len()
    );
    println!("jobs left: {}", ratchet.jobs().counts().await?.state(JobState::Pending));
    Ok(())
}
