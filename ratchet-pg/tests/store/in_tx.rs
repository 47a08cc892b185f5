//! `enqueue(job).in_tx(&mut tx)` returns the handle of a job that exists after the caller's commit.

use crate::jobs::Greet;
use crate::support::PgHarness;
use ratchet_conformance::Harness;
use ratchet_core::{Job as _, Ratchet, SubmitError};
use ratchet_pg::EnqueueInTx as _;
use ratchet_store::model::JobState;

async fn shop() -> (PgHarness, Ratchet) {
    let pg = PgHarness::fresh().await;
    let builder = Ratchet::builder(pg.store.clone()).jobs([Greet::JOB]);
    let ratchet = builder.build().await.expect("builds");
    (pg, ratchet)
}

fn greet() -> Greet {
    Greet { name: "Ada".to_owned() }
}

#[tokio::test]
async fn s_07_handle_of_a_committed_job_reads_it() {
    let (pg, ratchet) = shop().await;
    let mut tx = pg.database.pool.begin().await.expect("begins");
    let handle = ratchet.enqueue(greet()).tag("vip").in_tx(&mut tx).await.expect("enqueues");
    assert!(handle.record().await.expect("reads").is_none(), "not before the commit");
    tx.commit().await.expect("commits");
    let job = handle.record().await.expect("reads").expect("it is there");
    assert_eq!((job.state, job.spec.tags.as_slice()), (JobState::Pending, &["vip".to_owned()][..]));
}

#[tokio::test]
async fn s_07_rollback_leaves_nothing_behind_the_handle() {
    let (pg, ratchet) = shop().await;
    let mut tx = pg.database.pool.begin().await.expect("begins");
    let handle = ratchet.enqueue(greet()).in_tx(&mut tx).await.expect("enqueues");
    tx.rollback().await.expect("rolls back");
    assert!(handle.record().await.expect("reads").is_none());
}

#[tokio::test]
async fn s_03_repeat_in_a_transaction_has_the_handle_of_the_original() {
    let (pg, ratchet) = shop().await;
    let mut tx = pg.database.pool.begin().await.expect("begins");
    let first = ratchet.enqueue(greet()).idempotency_key("once").in_tx(&mut tx).await;
    let again = ratchet.enqueue(greet()).idempotency_key("once").in_tx(&mut tx).await;
    assert_eq!(first.expect("enqueues").id(), again.expect("enqueues").id());
    let holder = ratchet.enqueue(greet()).business_key("one").in_tx(&mut tx).await;
    let holder = holder.expect("enqueues").id();
    let taken = ratchet.enqueue(greet()).business_key("one").in_tx(&mut tx).await;
    let held =
        |error| matches!(error, SubmitError::BusinessKeyTaken { holder: by, .. } if by == holder);
    assert!(taken.is_err_and(held));
    let standing = ratchet.enqueue(greet()).business_key("one").or_existing().in_tx(&mut tx).await;
    assert_eq!(standing.expect("answers").id(), holder);
}
