//! Races of claims with transactions of callers, with limited keys, and at another isolation level.

use std::time::Duration;

use ratchet_store::Store as _;
use ratchet_store::model::{BreakerUpdate, Due};

use crate::support::hold;
use crate::world::World;
use ratchet_conformance::Harness as _;

// A transaction of a caller has locked the row of a due job. If the claim reported that job as due now, the worker
// would claim in a busy loop for as long as the transaction is open.
#[tokio::test]
async fn c_05_a_due_job_that_somebody_has_locked_is_not_waited_for() {
    let world = World::fresh().await;
    let mut job = world.job();
    job.due = Due::In(Duration::from_mins(1));
    let id = world.submit(job).await;
    let mut later = world.job();
    later.due = Due::In(Duration::from_mins(9));
    world.submit(later).await;
    world.pg.advance(Duration::from_mins(2)).await;
    let mut tx = world.pool().begin().await.expect("begins");
    let due = Due::In(Duration::from_hours(1));
    world.b.reschedule_in_tx(&mut tx, id, due).await.expect("rescheduled");
    let reply = world.claim_by(&world.a, 10).await;
    assert!(reply.jobs.is_empty());
    let next = reply.next_due.expect("the other job falls due");
    assert!(next > Duration::from_mins(6), "{next:?}");
    tx.rollback().await.expect("rolls back");
    assert_eq!(world.claim_by(&world.a, 10).await.jobs.len(), 1, "it is due");
}

// More jobs are due than one claim promotes. The next claim must follow at once.
#[tokio::test]
async fn c_05_what_falls_due_beyond_one_claim_is_asked_for_at_once() {
    let world = World::fresh().await;
    let job = |_| {
        let mut job = world.job();
        job.due = Due::In(Duration::from_mins(1));
        job
    };
    world.b.insert((0..5001).map(job).collect()).await.expect("inserted");
    world.pg.advance(Duration::from_mins(2)).await;
    let mut claimed = 0;
    for _ in 0..3 {
        let reply = world.claim_by(&world.a, 5000).await;
        claimed += reply.jobs.len();
    }
    assert_eq!(claimed, 5001);
}

// Code that locks first and then counts needs a new snapshot per statement.
#[tokio::test]
async fn c_01_a_limit_holds_whatever_isolation_level_the_database_sets() {
    let stricter = [("default_transaction_isolation", "repeatable read")];
    let world = World::fresh().await;
    let options = || world.pg.database.options_with(stricter);
    let a = ratchet_pg::PgStore::open(options()).await.expect("opens");
    let b = ratchet_pg::PgStore::open(options()).await.expect("opens");
    for queue in ["one", "two"] {
        let mut job = world.limited("printer");
        job.spec.queue = queue.to_owned();
        world.submit(job).await;
    }
    let (first, claims) = (world.request("one", 1), a.clone());
    let held = hold(&a, "lock_keys", async move { claims.claim(first).await }).await;
    let two = b.claim(world.request("two", 1)).await.expect("claims").jobs.len();
    let one = held.finish().await.expect("claims").jobs.len();
    assert_eq!((one, two), (0, 1), "one run may hold the key");
}

// Row locks of a claim are visible as the `xmax` of the rows that it has examined and skipped.
#[tokio::test]
async fn c_06_a_claim_does_not_lock_the_backlog_of_a_full_key() {
    let world = World::fresh().await;
    let mut jobs: Vec<_> = (0..2000).map(|_| world.limited("printer")).collect();
    for job in &mut jobs {
        job.spec.concurrency.as_mut().expect("limited").limit = 2;
    }
    world.b.insert(jobs).await.expect("inserted");
    let claimed = world.claim_by(&world.a, 10).await.jobs.len();
    assert_eq!(claimed, 2);
    let locked = "SELECT count(*) FROM ratchet.ready WHERE xmax <> 0";
    assert!(world.count(locked).await < 200, "the rest was not locked");
}

// Breaker probes are stored in the same table as concurrency keys. A key that looks like a probe must not count as one.
#[tokio::test]
async fn q_02_a_concurrency_key_is_never_taken_for_a_probe() {
    let world = World::fresh().await;
    world.b.update_breaker("stripe", BreakerUpdate::Open(None)).await.expect("opens");
    let opening = world.b.breakers().await.expect("reads")[0].breaker.opening();
    let key = format!("probe stripe/{opening}");
    world.run(world.limited(&key)).await;
    let mut job = world.job();
    job.spec.service = Some("stripe".to_owned());
    let id = world.submit(job).await;
    let around = world.b.claim_context(id).await.expect("reads").expect("is there");
    assert_eq!(around.probing, 0);
}
