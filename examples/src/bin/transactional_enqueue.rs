//! Enqueues a job in the application's own transaction: the job and the row are committed together or not at all.

use ratchet::prelude::*;
use ratchet::sqlite::EnqueueInTx as _;
use ratchet::sqlx;
use ratchet_examples::Scratch;

/// Returns a welcome message for a customer.
#[job]
async fn welcome(name: String) -> String {
    format!("welcome, {name}")
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let scratch = Scratch::open("transactional-enqueue").await?;
    let ratchet = Ratchet::builder(scratch.store.clone()).build().await?;

    // The application's own table in the same file.
    let mut tx = scratch.store.begin().await?;
    sqlx::query("CREATE TABLE customer (name TEXT NOT NULL)").execute(&mut *tx).await?;
    tx.commit().await?;

    let mut tx = scratch.store.begin().await?;
    sqlx::query("INSERT INTO customer VALUES ('Bob')").execute(&mut *tx).await?;
    ratchet.enqueue(Welcome { name: "Bob".to_owned() }).in_tx(&mut tx).await?;
    tx.rollback().await?;
    println!("rolled back: {} jobs", ratchet.jobs().counts().await?.state(JobState::Pending));

    let mut tx = scratch.store.begin().await?;
    sqlx::query("INSERT INTO customer VALUES ('Ada')").execute(&mut *tx).await?;
    let handle = ratchet.enqueue(Welcome { name: "Ada".to_owned() }).in_tx(&mut tx).await?;
    tx.commit().await?;
    println!("committed: {} jobs", ratchet.jobs().counts().await?.state(JobState::Pending));

    let worker = ratchet.start().await?;
    println!("{}", handle.wait().await?);
    worker.stop().await;
    Ok(())
}
