//! The processes of the chaos test: workers, and a producer that repeats a submit until it is acknowledged.

use std::path::PathBuf;
use std::time::Duration;

use ratchet::prelude::*;
use ratchet_pg::{PgOptions, PgStore};
use uuid::Uuid;

use crate::Problem;
use crate::args::Args;
use crate::diary::Diary;
use crate::jobs::{Doomed, First, Next, Parent, Report, Spawner, Work};

/// The lease of the workers.
pub const LEASE: Duration = Duration::from_secs(2);

async fn store(address: &str) -> Result<PgStore, Problem> {
    let options = PgOptions::new(address)?.connections(6).acquire_timeout(Duration::from_secs(2));
    Ok(PgStore::open(options.statement_timeout(Duration::from_secs(2))).await?)
}

/// Opens the store. Retries while the server is down.
async fn patiently(address: &str) -> Result<PgStore, Problem> {
    let mut tries = 0;
    loop {
        match store(address).await {
            Ok(store) => return Ok(store),
            Err(_) if tries < 600 => tries += 1,
            Err(error) => return Err(error),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

async fn runtime(args: &Args) -> Result<(Ratchet, Diary), Problem> {
    let diary = Diary::open(&PathBuf::from(args.must("diary")?))?;
    let store = patiently(args.must("address")?).await?;
    let builder = Ratchet::builder(store)
        .state(diary.clone())
        .concurrency(12)
        .crash_limit(1000)
        .shutdown_grace(Duration::from_secs(5))
        .config(|config| {
            config.lease = LEASE;
            config.heartbeat = Duration::from_millis(400);
            config.maintenance_interval = Duration::from_millis(300);
            config.poll_interval = (Duration::from_millis(50), Duration::from_millis(500));
            config.isolate_after_crashes = 1000;
        });
    Ok((builder.build().await?, diary))
}

/// Runs a worker until it receives a signal.
pub async fn work(args: &Args) -> Result<(), Problem> {
    let (ratchet, _) = runtime(args).await?;
    let worker = loop {
        match ratchet.start().await {
            Ok(worker) => break worker,
            Err(_) => tokio::time::sleep(Duration::from_millis(200)).await,
        }
    };
    worker.run_until_signal().await?;
    Ok(())
}

/// Submits jobs until a stop file appears. A submit is repeated until it is acknowledged; its key prevents duplicates.
pub async fn produce(args: &Args) -> Result<(), Problem> {
    let (ratchet, diary) = runtime(args).await?;
    let (stop, pause) = (PathBuf::from(args.must("stop")?), args.or("every-ms", 25));
    // Every life of the producer uses different labels.
    let life: u32 = args.or("life", 0);
    for number in 0_u64.. {
        if stop.exists() {
            return Ok(());
        }
        let label = format!("{life}-{number}");
        let id = loop {
            match submit(&ratchet, number, &label).await {
                Some(id) => break id,
                None => tokio::time::sleep(Duration::from_millis(50)).await,
            }
            if stop.exists() {
                return Ok(());
            }
        };
        diary.acknowledged(&label, id);
        tokio::time::sleep(Duration::from_millis(pause)).await;
    }
    Ok(())
}

/// Submits a job or graph of varying kind. Returns `None` if it was not acknowledged.
async fn submit(ratchet: &Ratchet, number: u64, label: &str) -> Option<Uuid> {
    let key = |what: &str| format!("{label}-{what}");
    macro_rules! once {
        ($job:expr) => {
            Some(ratchet.enqueue($job).idempotency_key(key("job")).await.ok()?.id().uuid())
        };
    }
    match number % 12 {
        0 => once!(Doomed {}),
        1 => once!(Parent { fails: false }),
        2 => once!(Parent { fails: true }),
        3 => once!(Spawner {}),
        4 => {
            // This chain has no key, so a repeat after a lost answer creates another chain.
            let chain = ratchet.chain(First { from: 1 }).then(Next {}).then(Next {});
            Some(chain.await.ok()?.id().uuid())
        }
        5 => {
            let works = (0..4).map(|_| Work { nap: 20, fails: 0 });
            let batch = ratchet.batch("chaos").jobs(works).job(Doomed {}).on_complete(Report {});
            Some(batch.await.ok()?.id().uuid())
        }
        6 => {
            let job = ratchet.enqueue(Work { nap: 30, fails: 0 }).concurrency_key("chaos", 3);
            Some(job.idempotency_key(key("slot")).await.ok()?.id().uuid())
        }
        7 => once!(Work { nap: 5, fails: 2 }),
        // Close to the lease, so that a frozen worker can continue while the job is running elsewhere.
        8 => once!(Work { nap: 1500, fails: 0 }),
        _ => once!(Work { nap: number % 40, fails: 0 }),
    }
}
