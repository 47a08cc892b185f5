//! Detection of other nodes that claim from the same queues.

use std::time::Duration;

use crate::support::{QueueDriver, ended_or_waits};
use ratchet_conformance::Harness;
use ratchet_store::Store;
use ratchet_store::model::{Claimed, NodeId, QueueDemand};

/// The clock cannot be stopped, and more than a second may pass before the answer, so the test tries several times.
const TRIES: usize = 3;

async fn has_competing_claimers(lane: &QueueDriver, node: NodeId, queue: &str) -> bool {
    let demands = [QueueDemand { queue: queue.to_owned(), limit: 1 }];
    lane.pg.store.has_competing_claimers(node, &demands).await.expect("looks around")
}

async fn run_on(lane: &QueueDriver, node: NodeId) -> Claimed {
    lane.submit("mail", None, 1).await;
    lane.claim(node, &["mail"], 1).await.remove(0)
}

/// Returns whether a node detects another node that has just claimed.
async fn is_told_of(lane: &QueueDriver, node: NodeId, other: NodeId) -> bool {
    let mut reported = false;
    for _ in 0..TRIES {
        run_on(lane, other).await;
        reported |= has_competing_claimers(lane, node, "default").await;
    }
    reported
}

#[tokio::test]
async fn c_03_company_is_who_claims_from_the_same_queues() {
    let lane = QueueDriver::fresh().await;
    let (node, other) = (lane.node(&["mail"]).await, lane.node(&["mail"]).await);
    assert!(!has_competing_claimers(&lane, node, "default").await, "who claims nothing is none");
    run_on(&lane, node).await;
    assert!(
        !has_competing_claimers(&lane, node, "default").await,
        "a node does not compete with itself"
    );
    assert!(is_told_of(&lane, node, other).await);
    assert!(
        !has_competing_claimers(&lane, node, "other").await,
        "who takes of another queue is none"
    );
    lane.pg.advance(Duration::from_secs(1)).await;
    assert!(
        !has_competing_claimers(&lane, node, "default").await,
        "who has claimed nothing for a second is none"
    );
    let run = run_on(&lane, other).await;
    lane.succeed(&run).await;
    assert!(
        !has_competing_claimers(&lane, node, "default").await,
        "who holds nothing of it is none"
    );
}

#[tokio::test]
async fn c_03_company_is_who_lives() {
    let lane = QueueDriver::fresh().await;
    let (node, other) = (lane.node(&["mail"]).await, lane.node(&["mail"]).await);
    assert!(is_told_of(&lane, node, other).await);
    lane.pg.store.leave(other).await.expect("leaves");
    assert!(!has_competing_claimers(&lane, node, "default").await, "who has left is none");
    let mortal = lane.mortal(&["mail"], Duration::from_mins(1)).await;
    run_on(&lane, mortal).await;
    // The lease ends within a second of the claim, without a race against the clock of the machine.
    lane.pg
        .database
        .execute("UPDATE ratchet.node SET until = joined_at WHERE until > joined_at")
        .await;
    assert!(
        !has_competing_claimers(&lane, node, "default").await,
        "who has lost its lease is none"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn c_03_a_check_that_hangs_uses_one_connection() {
    let lane = QueueDriver::fresh().await;
    let node = lane.node(&["mail"]).await;
    let pool = &lane.pg.database.pool;
    let mut holder = pool.begin().await.expect("begins");
    let lock = "LOCK TABLE ratchet.node IN ACCESS EXCLUSIVE MODE";
    sqlx::query(lock).execute(&mut *holder).await.expect("locks");
    let hangs = tokio::spawn({
        let store = lane.pg.store.clone();
        async move { store.has_competing_claimers(node, &[]).await }
    });
    assert!(!ended_or_waits(pool, &hangs).await);
    for _ in 0..10 {
        lane.pg.store.has_competing_claimers(node, &[]).await.expect_err("one is in flight");
    }
    let waiting = "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let waiting: i64 = sqlx::query_scalar(waiting).fetch_one(pool).await.expect("counts");
    assert_eq!(waiting, 1);
    holder.rollback().await.expect("unlocks");
    assert!(!hangs.await.expect("ends").expect("an answer"));
    assert!(!has_competing_claimers(&lane, node, "mail").await, "the next check works");
}
