//! Submits, cancels and reschedules in a transaction of the caller, and the SQL function for other languages.

use std::time::Duration;

use crate::support::PgHarness;
use ratchet_conformance::Harness;
use ratchet_core::{IdSource, OsEntropy, SystemClock};
use ratchet_store::InsertInTx as _;
use ratchet_store::model::{
    ClaimRequest, CommandReply, Due, InsertError, Inserted, JobId, JobSpec, JobState, KnownJobs,
    NewJob, NodeInfo, QueueDemand, Suspects,
};
use ratchet_store::{Store, Wake};
use sqlx::Row;
use std::sync::Arc;
use tokio::sync::broadcast::Receiver;

fn ids() -> IdSource {
    IdSource::new(Arc::new(SystemClock::default()), Arc::new(OsEntropy))
}

fn job() -> NewJob {
    let spec = JobSpec::new("mail", b"{}".to_vec());
    NewJob::new(ids().job(), spec)
}

fn keyed(key: &str) -> NewJob {
    let mut job = job();
    job.spec.business_key = Some(key.to_owned());
    job
}

async fn hears(wakes: &mut Receiver<Wake>, wanted: &Wake) {
    let heard = async { while wakes.recv().await.as_ref() != Ok(wanted) {} };
    tokio::time::timeout(Duration::from_secs(10), heard).await.expect("the hint comes");
}

fn work(queue: &str) -> Wake {
    Wake::Work { queue: queue.to_owned() }
}

#[tokio::test]
async fn s_07_committed_job_is_there_and_wakes() {
    let pg = PgHarness::fresh().await;
    let mut wakes = pg.store.subscribe_wakeups();
    let mut tx = pg.database.pool.begin().await.expect("begins");
    let job = job();
    let id = job.id;
    pg.store.insert_in_tx(&mut tx, &[job]).await.expect("inserted");
    assert_eq!(pg.store.get(id).await.expect("reads"), None, "not before the commit");
    tx.commit().await.expect("commits");
    hears(&mut wakes, &work("default")).await;
    assert_eq!(
        pg.store.get(id).await.expect("reads").map(|job| job.state),
        Some(JobState::Pending)
    );
}

#[tokio::test]
async fn s_07_rolled_back_job_leaves_no_trace_and_wakes_nobody() {
    let pg = PgHarness::fresh().await;
    let mut wakes = pg.store.subscribe_wakeups();
    let mut tx = pg.database.pool.begin().await.expect("begins");
    let mut gone = keyed("order");
    gone.spec.idempotency_key = Some("once".to_owned());
    gone.spec.queue = "gone".to_owned();
    let id = gone.id;
    pg.store.insert_in_tx(&mut tx, &[gone]).await.expect("inserted");
    tx.rollback().await.expect("rolls back");
    let mut again = keyed("order");
    again.spec.idempotency_key = Some("once".to_owned());
    let inserted = pg.store.insert(vec![again.clone()]).await.expect("the keys are free");
    assert_eq!(inserted, [Inserted::Created(again.id)]);
    hears(&mut wakes, &work("default")).await;
    assert!(std::iter::from_fn(|| wakes.try_recv().ok()).all(|wake| wake != work("gone")));
    assert_eq!(pg.store.get(id).await.expect("reads"), None);
}

#[tokio::test]
async fn s_07_refused_submit_leaves_the_transaction_usable() {
    let pg = PgHarness::fresh().await;
    pg.store.insert(vec![keyed("order")]).await.expect("inserted");
    let mut tx = pg.database.pool.begin().await.expect("begins");
    let refused = pg.store.insert_in_tx(&mut tx, &[keyed("order")]).await;
    assert!(matches!(refused, Err(InsertError::BusinessKeysTaken(_))));
    let other = job();
    pg.store.insert_in_tx(&mut tx, std::slice::from_ref(&other)).await.expect("the rest goes on");
    tx.commit().await.expect("commits");
    assert!(pg.store.get(other.id).await.expect("reads").is_some());
}

#[tokio::test]
async fn s_07_cancel_and_reschedule_commit_with_the_caller() {
    let pg = PgHarness::fresh().await;
    let (a, b) = (job(), job());
    let (first, second) = (a.id, b.id);
    pg.store.insert(vec![a, b]).await.expect("inserted");
    for commit in [false, true] {
        let mut tx = pg.database.pool.begin().await.expect("begins");
        let canceled = pg.store.cancel_in_tx(&mut tx, first).await.expect("cancels");
        assert!(matches!(canceled, CommandReply::Done { to: JobState::Canceled, .. }));
        let later = Due::In(Duration::from_hours(1));
        pg.store.reschedule_in_tx(&mut tx, second, later).await.expect("reschedules");
        if commit {
            tx.commit().await.expect("commits");
        } else {
            tx.rollback().await.expect("rolls back");
        }
        let state = pg.store.get(first).await.expect("reads").map(|job| job.state);
        assert_eq!(state == Some(JobState::Canceled), commit);
        let now = pg.store.now().await.expect("the time");
        let due = pg.store.get(second).await.expect("reads").expect("there").due;
        assert_eq!(due > now, commit);
    }
}

async fn enqueue(pg: &PgHarness, arguments: &str) -> Result<JobId, sqlx::Error> {
    let sql = sqlx::AssertSqlSafe(format!("SELECT ratchet.enqueue({arguments})"));
    let row = sqlx::query(sql).fetch_one(&pg.database.pool).await?;
    Ok(JobId::from_uuid(row.try_get(0)?))
}

#[tokio::test]
async fn s_07_other_languages_enqueue_by_a_function() {
    let pg = PgHarness::fresh().await;
    let mut wakes = pg.store.subscribe_wakeups();
    let id = enqueue(
        &pg,
        r#"'mail', '{"to": "a"}', queue => 'letters', priority => 3, tags => '{x,y}'"#,
    );
    let id = id.await.expect("enqueues");
    hears(&mut wakes, &work("letters")).await;
    let job = pg.store.get(id).await.expect("reads").expect("is there");
    let mut wanted = JobSpec::new("mail", br#"{"to": "a"}"#.to_vec());
    wanted.queue = "letters".to_owned();
    wanted.priority = ratchet_core::Priority::High;
    wanted.tags = vec!["x".to_owned(), "y".to_owned()];
    assert_eq!(*job.spec, wanted);
    let node = ids().node();
    pg.store.join(NodeInfo::new(node), Duration::from_mins(1)).await.expect("joins");
    let request = ClaimRequest {
        node,
        queues: vec![QueueDemand { queue: "letters".to_owned(), limit: 1 }],
        known: Arc::new(KnownJobs([("mail".to_owned(), 1)].into())),
        suspects: Suspects::beside_others(5),
        starting: true,
    };
    assert_eq!(pg.store.claim(request).await.expect("claims").jobs[0].id(), id);
}

#[tokio::test]
async fn s_03_s_04_the_function_keeps_the_rules_of_keys() {
    let pg = PgHarness::fresh().await;
    let first = enqueue(&pg, "'mail', '1', idempotency_key => 'k'").await.expect("enqueues");
    let again = enqueue(&pg, "'mail', '1', idempotency_key => 'k'").await.expect("enqueues");
    assert_eq!(first, again);
    enqueue(&pg, "'mail', '2', idempotency_key => 'k'").await.expect_err("other arguments");
    // The library and the function see each other's keys.
    let mut repeat = job();
    repeat.spec.payload = b"1".to_vec();
    repeat.spec.idempotency_key = Some("k".to_owned());
    let inserted = pg.store.insert(vec![repeat]).await.expect("inserted");
    assert_eq!(inserted, [Inserted::Duplicate(first)]);
    enqueue(&pg, "'mail', '1', business_key => 'order'").await.expect("enqueues");
    enqueue(&pg, "'mail', '1', business_key => 'order'").await.expect_err("held");
    pg.store.insert(vec![keyed("order")]).await.expect_err("held");
    enqueue(&pg, "'mail', '1', business_key => 'order', tenant => 'acme'")
        .await
        .expect("another's");
}
