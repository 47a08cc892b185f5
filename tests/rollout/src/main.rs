//! The shop of the rehearsal of a rollout: `shop work|submit ADDRESS DIARY`. `scripts/proof rollout` builds it on two
//! versions of Ratchet. With the feature `next`, its jobs have changed in every way that a deploy permits.
//!
//! A submitter writes `submitted NUMBER` to the diary when the store has acknowledged a job, and a worker writes
//! `ran NUMBER` when a handler has run.

#![forbid(unsafe_code)]
#![allow(clippy::disallowed_methods, reason = "this program is about real time")]

#[cfg(not(feature = "next"))]
mod before;
mod diary;
#[cfg(feature = "next")]
mod next;

use std::time::Duration;

#[cfg(not(feature = "next"))]
use before::submit;
use diary::Diary;
#[cfg(feature = "next")]
use next::submit;
use ratchet::runtime::Builder;
use ratchet::{PgStore, Ratchet, SqliteStore};
use ratchet_pg::PgOptions;
use tokio::signal::unix::{SignalKind, signal};

pub type Problem = Box<dyn std::error::Error + Send + Sync>;

/// The version that the processes report.
const VERSION: &str = if cfg!(feature = "next") { "next" } else { "before" };

/// The pause between two submits of a process.
const PAUSE: Duration = Duration::from_millis(10);

#[tokio::main]
async fn main() -> Result<(), Problem> {
    let words: Vec<_> = std::env::args().skip(1).collect();
    let [role, address, diary] = &words[..] else {
        return Err("the arguments are the role, the address of the store and the diary".into());
    };
    let diary = Diary::open(diary)?;
    let builder = if address.starts_with("postgres:") {
        Ratchet::builder(PgStore::open(PgOptions::new(address)?).await?)
    } else {
        Ratchet::builder(SqliteStore::open(address.as_str()).await?)
    };
    match role.as_str() {
        "work" => work(builder, diary).await,
        "submit" => submit_all(builder, &diary).await,
        _ => Err(format!("the role must be `work` or `submit`, not `{role}`").into()),
    }
}

async fn work(builder: Builder, diary: Diary) -> Result<(), Problem> {
    let builder = builder.program("shop").binary_version(VERSION).state(diary).config(|config| {
        config.lease = Duration::from_secs(2);
        config.heartbeat = Duration::from_millis(400);
        config.maintenance_interval = Duration::from_millis(200);
    });
    let worker = builder.build().await?.start().await?;
    println!("started");
    worker.run_until_signal().await?;
    Ok(())
}

/// Submits jobs until the process receives a signal. A submit that fails is repeated with the same idempotency key.
async fn submit_all(builder: Builder, diary: &Diary) -> Result<(), Problem> {
    let ratchet = builder.build().await?;
    let mut stop = signal(SignalKind::terminate())?;
    println!("started");
    for count in 0_u64.. {
        // Numbers of different processes differ.
        let number = (u64::from(std::process::id()) << 24) | count;
        while let Err(error) = submit(&ratchet, number).await {
            eprintln!("{VERSION}: job {number} was not submitted: {error}");
            tokio::time::sleep(PAUSE).await;
        }
        diary.write("submitted", number)?;
        tokio::select! {
            _ = stop.recv() => break,
            () = tokio::time::sleep(PAUSE) => {}
        }
    }
    Ok(())
}
