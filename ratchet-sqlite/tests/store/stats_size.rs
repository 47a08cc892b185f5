//! The size of a year of statistics. Run by hand: `cargo test -p ratchet-jobs-sqlite --release --test store -- --ignored
//! --nocapture a_year_of_statistics`.

#![allow(clippy::print_stdout, clippy::cast_precision_loss)] // a program that prints a size

use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use ratchet_core::{Clock as _, VirtualClock};
use ratchet_sqlite::{SqliteStore, Synchronous};
use ratchet_store::Store as _;
use ratchet_store::model::{Histogram, NodeId, NodeInfo, StatRow, StatsBy, StatsQuery, StatsTier};
use sqlx::{Connection as _, Row as _, SqliteConnection};
use uuid::Uuid;

/// Pairs of queue and job.
const PAIRS: usize = 50;

/// Runs per minute and pair.
const RUNS: u64 = 100;

/// Returns durations that spread over about three orders of magnitude around a typical one.
fn durations(rng: &mut Rng, runs: u64) -> Histogram {
    let mut counts = std::collections::BTreeMap::<i32, u64>::new();
    let middle = rng.i32(-30..-10);
    let mut sum = 0;
    for _ in 0..runs.min(5000) {
        let spread: i32 = (0..6).map(|_| rng.i32(-3..=3)).sum();
        let index = (middle + spread).clamp(Histogram::FIRST, Histogram::LAST);
        *counts.entry(index).or_default() += 1;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let nanos = (Histogram::middle(index) * 1e9) as u128;
        sum += nanos;
    }
    Histogram::from_parts(0, counts.into_iter().collect(), sum).expect("it is valid")
}

fn rows(rng: &mut Rng, slot: i64, runs: u64) -> Vec<StatRow> {
    let row = |pair: usize| {
        let (queue, name) = (format!("queue-{}", pair % 10), format!("shop::orders::job_{pair}"));
        let mut row = StatRow::new(slot, queue, name);
        (row.counts.submitted, row.counts.started) = (runs, runs);
        (row.counts.succeeded, row.counts.retried) = (runs - runs / 50, runs / 50);
        (row.wait, row.run) = (durations(rng, runs), durations(rng, runs));
        row
    };
    (0..PAIRS).map(row).collect()
}

/// What is old is written once per slot of the tier that it is kept in, so that the year is over within minutes.
#[tokio::test]
#[ignore = "takes minutes; prints the size on disk"]
async fn m_02_a_year_of_statistics_of_fifty_busy_jobs() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.db");
    let clock = VirtualClock::new();
    let options = SqliteStore::options(&path).synchronous(Synchronous::Normal);
    let store = options.clock(Arc::new(clock.clone())).open().await.expect("opens");
    let node = NodeId::from_uuid(Uuid::from_u128(1));
    let year = Duration::from_hours(24 * 400);
    store.join(NodeInfo::new(node), year).await.expect("joins");
    assert!(store.try_lead(node, year).await.expect("answers"));
    let mut rng = Rng::with_seed(1);
    let mut written = 0;
    for (tier, days) in [
        (StatsTier::Day, 275),
        (StatsTier::Hour, 76),
        (StatsTier::TenMinutes, 12),
        (StatsTier::Minute, 2),
    ] {
        let minutes = tier.slot_length().as_secs() / 60;
        for step in 0..days * 24 * 60 / minutes {
            let slot = StatsTier::Minute.slot_of(clock.now());
            let rows = rows(&mut rng, slot, RUNS * minutes);
            written += rows.len();
            store.write_stats(node, rows).await.expect("writes");
            if step % 10 == 0 || tier > StatsTier::Minute {
                while store.fold_stats(node, 20).await.expect("folds") > 0 {}
            }
            while store.purge_stats(10_000).await.expect("purges") > 0 {}
            clock.advance(tier.slot_length());
        }
    }
    while store.fold_stats(node, 20).await.expect("folds") > 0 {}
    let mut query = StatsQuery::new(StatsTier::Day, clock.now(), clock.now());
    (query.from, query.by) = (0, StatsBy::QueueAndName);
    query.until = i64::MAX;
    for tier in StatsTier::ALL {
        query.tier = tier;
        let rows = store.stats(&query).await.expect("reads").rows;
        let bytes: usize =
            rows.iter().map(|row| row.wait.to_bytes().len() + row.run.to_bytes().len()).sum();
        println!("{tier:?}: {} rows, {} bytes per histogram", rows.len(), bytes / rows.len() / 2);
    }
    drop(store);
    let url = format!("sqlite:{}", path.display());
    let mut db = SqliteConnection::connect(&url).await.expect("connects");
    let size = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()";
    for vacuum in [false, true] {
        if vacuum {
            sqlx::query("VACUUM").execute(&mut db).await.expect("shrinks");
        }
        let bytes: i64 = sqlx::query(size).fetch_one(&mut db).await.expect("reads").get(0);
        println!("{written} rows written, {:.1} MB (vacuumed: {vacuum})", bytes as f64 / 1e6);
    }
}
