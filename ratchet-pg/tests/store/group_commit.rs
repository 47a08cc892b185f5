//! Concurrent submits share a commit, but do not affect each other.

use std::sync::Arc;

use crate::support::PgHarness;
use ratchet_conformance::Harness;
use ratchet_core::{IdSource, OsEntropy, SystemClock};
use ratchet_store::Store;
use ratchet_store::model::{InsertError, Inserted, JobSpec, NewJob};
use tokio::task::JoinSet;

fn ids() -> IdSource {
    IdSource::new(Arc::new(SystemClock::default()), Arc::new(OsEntropy))
}

fn job(ids: &IdSource) -> NewJob {
    let spec = JobSpec::new("mail", b"{}".to_vec());
    NewJob::new(ids.job(), spec)
}

async fn commits(pg: &PgHarness) -> i64 {
    let sql = "SELECT count(DISTINCT xmin::text) FROM ratchet.job";
    sqlx::query_scalar(sql).fetch_one(&pg.database.pool).await.expect("counts")
}

// spec: S-06
#[tokio::test(flavor = "multi_thread")]
async fn submits_at_the_same_time_share_commits_and_each_is_durable_when_answered() {
    let (pg, ids) = (PgHarness::fresh().await, ids());
    let mut submits = JoinSet::new();
    for _ in 0..200 {
        let (store, job) = (pg.store.clone(), job(&ids));
        submits.spawn(async move {
            let id = job.id;
            let inserted = store.insert(vec![job]).await.expect("inserted");
            assert_eq!(inserted, [Inserted::Created(id)]);
            assert!(store.get(id).await.expect("reads").is_some(), "answered before it is there");
        });
    }
    submits.join_all().await;
    assert!(commits(&pg).await < 150, "{} commits for 200 submits", commits(&pg).await);
}

// spec: S-06
#[tokio::test(flavor = "multi_thread")]
async fn one_refused_submit_does_not_fail_those_that_share_its_commit() {
    let (pg, ids) = (PgHarness::fresh().await, ids());
    let first = job(&ids);
    pg.store.insert(vec![first.clone()]).await.expect("inserted");
    let mut submits = JoinSet::new();
    for number in 0..100 {
        let again = number % 10 == 0;
        let job = if again { first.clone() } else { job(&ids) };
        let store = pg.store.clone();
        submits.spawn(async move {
            let id = job.id;
            match store.insert(vec![job]).await {
                Ok(inserted) => assert!(!again && inserted == [Inserted::Created(id)]),
                Err(InsertError::DuplicateId(twice)) => assert!(again && twice == id),
                Err(error) => panic!("{error}"),
            }
        });
    }
    submits.join_all().await;
    let jobs: i64 = sqlx::query_scalar("SELECT count(*) FROM ratchet.job")
        .fetch_one(&pg.database.pool)
        .await
        .expect("counts");
    assert_eq!(jobs, 91);
}
