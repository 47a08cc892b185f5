//! Rates per concurrency key: jobs that must wait are set aside by the claim, and come back when their key may start again.

use std::time::Duration;

use crate::support::QueueDriver;
use ratchet_conformance::Harness as _;
use ratchet_pg::PgStore;
use ratchet_store::Store;
use ratchet_store::model::{
    CancelCause, Claimed, Command, JobId, Placement, Priority, QueueLimits, QueueUpdate, Rate,
};

const MINUTE: Duration = Duration::from_secs(61);

fn ids(runs: &[Claimed]) -> Vec<JobId> {
    runs.iter().map(Claimed::id).collect()
}

async fn each_minute(lane: &QueueDriver, jobs: u32) {
    let mut limits = QueueLimits::default();
    limits.rate_per_key = Some(Rate { jobs, per: Duration::from_mins(1) });
    let order = QueueUpdate::Limit(limits);
    lane.pg.store.update_queue("default", order).await.expect("limits");
}

async fn blocked(lane: &QueueDriver) -> i64 {
    lane.count("SELECT count(*) FROM ratchet.blocked WHERE cause LIKE 'rate:%'").await
}

#[tokio::test]
async fn q_06_jobs_that_wait_for_their_rate_are_passed_over_once() {
    let lane = QueueDriver::fresh().await;
    let node = lane.node(&["mail"]).await;
    each_minute(&lane, 2).await;
    let busy = lane.submit_keyed("mail", "busy", 99, 6000).await;
    assert_eq!(ids(&lane.claim(node, &["mail"], 10).await), busy[..2]);
    assert_eq!(blocked(&lane).await, 5000, "a claim sets aside a limited number");
    assert!(lane.claim(node, &["mail"], 10).await.is_empty());
    assert_eq!((lane.ready().await, blocked(&lane).await), (0, 5998));
    assert_eq!(lane.pending().await, 5998, "they wait all the same");
    let free = lane.submit("mail", None, 1).await;
    assert_eq!(ids(&lane.claim(node, &["mail"], 10).await), free);
    lane.sweep().await;
    assert_eq!(blocked(&lane).await, 5998, "the sweep leaves them");
    for start in [2, 4] {
        lane.pg.advance(MINUTE).await;
        assert_eq!(ids(&lane.claim(node, &["mail"], 10).await), busy[start..start + 2]);
        assert_eq!(lane.ready().await, 0, "no more than needed came back");
    }
    assert_eq!(lane.count("SELECT count(*) FROM ratchet.key_lane").await, 1);
}

#[tokio::test]
async fn q_06_the_sweep_looks_behind_jobs_that_came_back_and_left() {
    let lane = QueueDriver::fresh().await;
    let node = lane.node(&["mail"]).await;
    each_minute(&lane, 1).await;
    let keyed = lane.submit_keyed("mail", "k", 99, 5).await;
    assert_eq!(ids(&lane.claim(node, &["mail"], 9).await), keyed[..1]);
    let urgent = lane.submit("mail", None, 1).await[0];
    let first = Placement::default().priority(Priority::Critical);
    lane.pg.store.command(Command::Move(urgent, first)).await.expect("moves");
    lane.pg.advance(MINUTE).await;
    assert_eq!(ids(&lane.claim(node, &["mail"], 1).await), [urgent]);
    assert_eq!(lane.ready().await, 2, "one that can start, and the next");
    for id in &keyed[1..3] {
        let cancel = Command::Cancel(*id, CancelCause::Requested);
        lane.pg.store.command(cancel).await.expect("cancels");
    }
    assert!(lane.claim(node, &["mail"], 9).await.is_empty());
    lane.sweep().await;
    assert!(lane.claim(node, &["mail"], 9).await.is_empty(), "they could still be claimed");
    lane.pg.advance(MINUTE).await;
    lane.sweep().await;
    assert_eq!(ids(&lane.claim(node, &["mail"], 9).await), keyed[3..4]);
}

#[tokio::test]
async fn q_06_the_sweep_frees_the_jobs_of_a_rate_that_an_older_version_has_dropped() {
    let lane = QueueDriver::fresh().await;
    let node = lane.node(&["mail"]).await;
    each_minute(&lane, 1).await;
    let keyed = lane.submit_keyed("mail", "k", 99, 300).await;
    assert_eq!(ids(&lane.claim(node, &["mail"], 9).await), keyed[..1]);
    lane.pg.database.execute("DELETE FROM ratchet.queue").await;
    lane.sweep().await;
    assert_eq!((lane.ready().await, blocked(&lane).await), (299, 0));
    assert_eq!(lane.count("SELECT count(*) FROM ratchet.key_lane").await, 0);
    assert_eq!(ids(&lane.claim(node, &["mail"], 9).await), keyed[1..10]);
}

#[tokio::test]
async fn q_06_another_process_counts_the_same_starts() {
    let lane = QueueDriver::fresh().await;
    let node = lane.node(&["mail"]).await;
    each_minute(&lane, 2).await;
    let keyed = lane.submit_keyed("mail", "k", 99, 5).await;
    assert_eq!(ids(&lane.claim(node, &["mail"], 1).await), keyed[..1]);
    let restarted = PgStore::open(lane.pg.database.options()).await.expect("opens");
    let next = lane.node(&["mail"]).await;
    let claim = |limit| restarted.claim(QueueDriver::request(next, &["mail"], limit));
    assert_eq!(ids(&claim(9).await.expect("claims").jobs), keyed[1..2]);
    let reply = claim(9).await.expect("claims");
    assert!(reply.jobs.is_empty() && reply.next_due.is_some());
    lane.pg.advance(MINUTE).await;
    assert_eq!(ids(&claim(9).await.expect("claims").jobs), keyed[2..4]);
}

#[tokio::test]
async fn q_06_states_of_keys_are_removed_when_they_say_nothing_any_more() {
    let lane = QueueDriver::fresh().await;
    let node = lane.node(&["mail"]).await;
    each_minute(&lane, 1).await;
    for key in ["a", "b", "c"] {
        lane.submit_keyed("mail", key, 99, 1).await;
    }
    assert_eq!(lane.claim(node, &["mail"], 9).await.len(), 3);
    let states = "SELECT count(*) FROM ratchet.key_rate";
    let lease = Duration::from_hours(1);
    assert!(lane.pg.store.try_lead(node, lease).await.expect("leads"));
    assert_eq!(lane.count(states).await, 3);
    lane.pg.advance(MINUTE).await;
    assert!(lane.pg.store.try_lead(node, lease).await.expect("leads"));
    assert_eq!(lane.count(states).await, 0);
}
