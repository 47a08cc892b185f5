//! Outages: a server that is stopped, full, a standby, or behind a pooler. The behavior must be defined, and no job may
//! be lost.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::support::{Database, OwnServer, Pooler};
use ratchet_core::{
    Builder, IdSource, Job as _, JobError, JobState, OsEntropy, Ratchet, State, SystemClock, Worker,
};
use ratchet_macros::job;
use ratchet_pg::PgStore;
use ratchet_store::model::{InsertError, JobSpec, NewJob};
use ratchet_store::{Store, StoreErrorKind};

/// The number of handler calls.
#[derive(Debug, Clone, Default)]
struct Calls(Arc<AtomicU32>);

/// A job that fails its first run for every third number.
#[job(name = "test.work", max_retries = 5, backoff = fixed("20ms"), crate = ::ratchet_core)]
async fn work(
    #[inject] ctx: ratchet_core::JobContext,
    #[inject] calls: State<Calls>,
    number: u32,
) -> Result<u32, JobError> {
    calls.0.0.fetch_add(1, Ordering::Relaxed);
    tokio::time::sleep(Duration::from_millis(u64::from(number % 7))).await;
    if number.is_multiple_of(3) && ctx.attempt() == 1 {
        return Err(JobError::msg("the first time never works"));
    }
    Ok(number)
}

fn builder(store: PgStore, calls: &Calls) -> Builder {
    Ratchet::builder(store).jobs([Work::JOB]).state(calls.clone()).concurrency(8).config(|config| {
        config.lease = Duration::from_secs(20);
        config.heartbeat = Duration::from_secs(2);
        config.poll_interval = (Duration::from_millis(20), Duration::from_millis(100));
    })
}

async fn start(store: PgStore, calls: &Calls) -> (Ratchet, Worker) {
    let ratchet = builder(store, calls).build().await.expect("builds");
    let worker = ratchet.start().await.expect("starts");
    (ratchet, worker)
}

/// Waits until this many jobs have succeeded, whatever the server does.
async fn all_done(ratchet: &Ratchet, jobs: u64) {
    let deadline = tokio::time::Instant::now() + Duration::from_mins(1);
    loop {
        let counts = ratchet.jobs().counts().await;
        if counts.as_ref().is_ok_and(|counts| counts.state(JobState::Succeeded) == jobs) {
            return;
        }
        assert!(tokio::time::Instant::now() < deadline, "waited too long: {counts:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Enqueues a job, and retries whatever the server does.
async fn enqueue(ratchet: &Ratchet, number: u32) {
    let deadline = tokio::time::Instant::now() + Duration::from_mins(1);
    // A repeated submit after a lost answer creates no second job.
    while let Err(error) =
        ratchet.enqueue(Work { number }).idempotency_key(format!("work-{number}")).await
    {
        assert!(tokio::time::Instant::now() < deadline, "waited too long: {error}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn x_08_a_server_that_is_restarted_under_load_loses_nothing() {
    let server = OwnServer::start("");
    let store = PgStore::connect(&server.url("postgres")).await.expect("opens");
    let calls = Calls::default();
    let (ratchet, worker) = start(store, &calls).await;
    let (mut submitted, mut restarts) = (0, 0);
    for mode in ["fast", "immediate", "fast", "immediate"] {
        for _ in 0..100 {
            enqueue(&ratchet, submitted).await;
            submitted += 1;
        }
        server.down(mode);
        server.up();
        restarts += 1;
    }
    all_done(&ratchet, u64::from(submitted)).await;
    assert_eq!((submitted, restarts), (400, 4));
    worker.stop().await;
}

fn fat_jobs(count: usize) -> Vec<NewJob> {
    let ids = IdSource::new(Arc::new(SystemClock::default()), Arc::new(OsEntropy));
    let noise = || (0..60_000).map(|_| fastrand::u8(..)).collect::<Vec<_>>();
    let job = |_| NewJob::new(ids.job(), JobSpec::new("test.work", noise()));
    (0..count).map(job).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn x_08_a_full_disk_is_told_apart_and_what_was_committed_stays() {
    let mut server = OwnServer::start("");
    let Some(space) = server.small_disk(24) else {
        eprintln!("no file system can be mounted here: the test of a full disk is left out");
        return;
    };
    let pool = sqlx::PgPool::connect(&server.url("postgres")).await.expect("connects");
    let execute = async |sql: String| {
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&pool).await.expect("executes");
    };
    execute(format!("CREATE TABLESPACE small LOCATION '{}'", space.display())).await;
    execute("CREATE DATABASE jobs TABLESPACE small".to_owned()).await;
    let store = PgStore::connect(&server.url("jobs")).await.expect("opens");
    let mut stored = BTreeSet::new();
    let refused = loop {
        let batch = fat_jobs(5);
        let ids: Vec<_> = batch.iter().map(|job| job.id).collect();
        match store.insert(batch).await {
            Ok(_) => stored.extend(ids),
            Err(InsertError::Store(error)) => break error,
            Err(other) => panic!("{other}"),
        }
        assert!(stored.len() < 1000, "the disk should be full by now");
    };
    assert_eq!(refused.kind(), StoreErrorKind::Full, "{refused}");
    assert!(refused.is_transient(), "it is worth trying again when there is room");
    assert!(!stored.is_empty());
    for id in &stored {
        assert!(store.get(*id).await.expect("reading goes on").is_some());
    }
    let counts = store.counts().await.expect("counts");
    assert_eq!(
        counts.state(JobState::Pending),
        stored.len() as u64,
        "nothing of the refused batch"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn x_08_a_standby_is_read_only_and_can_be_looked_at() {
    let server = OwnServer::start("wal_level = replica\nmax_wal_senders = 4\n");
    let store = PgStore::connect(&server.url("postgres")).await.expect("opens");
    let job = fat_jobs(1).remove(0);
    store.insert(vec![job.clone()]).await.expect("inserts");
    let standby = server.standby();
    let opened = PgStore::connect(&standby.url("postgres")).await;
    let store = match opened {
        Ok(store) => store,
        Err(error) => panic!("a standby can be opened to look at: {error}"),
    };
    assert!(store.get(job.id).await.expect("reads").is_some());
    let refused = match store.insert(fat_jobs(1)).await {
        Err(InsertError::Store(error)) => error,
        other => panic!("a standby takes no jobs: {other:?}"),
    };
    assert_eq!(refused.kind(), StoreErrorKind::ReadOnly, "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn x_08_transactions_that_meet_are_tried_again() {
    let database = Database::take().await;
    let options = || database.options_with([("default_transaction_isolation", "serializable")]);
    let calls = Calls::default();
    let mut workers = Vec::new();
    for _ in 0..3 {
        workers.push(start(PgStore::open(options()).await.expect("opens"), &calls).await);
    }
    let ratchet = &workers[0].0;
    for number in 0..150 {
        enqueue(ratchet, number).await;
    }
    all_done(ratchet, 150).await;
    for (_, worker) in &workers {
        worker.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn s_09_poll_only_works_behind_a_session_pooler() {
    let server = OwnServer::start("");
    let pooler = Pooler::of_sessions(&server).await;
    let store = PgStore::open(pooler.options()).await.expect("opens");
    let calls = Calls::default();
    let (ratchet, one) = start(store, &calls).await;
    let (_, two) = start(PgStore::open(pooler.options()).await.expect("opens"), &calls).await;
    for number in 0..300 {
        enqueue(&ratchet, number).await;
    }
    all_done(&ratchet, 300).await;
    assert_eq!(calls.0.load(Ordering::Relaxed), 400, "a hundred were tried twice");
    one.stop().await;
    two.stop().await;
}
