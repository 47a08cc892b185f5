//! A worker archives a backlog of old jobs in steps between its sweeps.

use std::sync::Arc;
use std::time::Duration;

use ratchet::MemoryStore;
use ratchet::env::VirtualClock;
use ratchet::prelude::*;
use ratchet::runtime::ArchiveFor;

#[job(name = "old_jobs.mail")]
async fn mail(number: i64) {
    let _ = number;
}

const DAY: Duration = Duration::from_hours(24);

/// More jobs than one sweep archives.
const OLD: u64 = 250;

#[tokio::test]
async fn a_01_a_worker_archives_a_backlog_between_its_sweeps() {
    let clock = VirtualClock::new();
    let store = MemoryStore::with_clock(Arc::new(clock.clone()));
    let builder = Ratchet::builder(store).clock(clock.clone()).jobs([Mail::JOB]).config(|config| {
        config.keep_canceled = Some(DAY);
        config.archive_canceled = ArchiveFor::Forever;
    });
    let ratchet = builder.build().await.expect("builds");
    for number in 0..OLD {
        let mail = Mail::new(i64::try_from(number).expect("fits"));
        let id = ratchet.enqueue(mail).delay(DAY).await.expect("enqueues").id();
        assert!(ratchet.jobs().cancel(id).await.expect("cancels"));
    }
    clock.advance(2 * DAY);
    let worker = ratchet.start().await.expect("starts");
    let archived = async || ratchet.archive().status().await.expect("reads").jobs();
    for _ in 0..10_000 {
        if archived().await == OLD {
            break;
        }
        clock.advance(Duration::from_secs(1));
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(archived().await, OLD);
    worker.stop().await;
}
