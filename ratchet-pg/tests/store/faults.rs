//! The behavior of the store when the database or its connections fail.

use std::sync::Arc;
use std::time::Duration;

use crate::support::{Database, PgHarness};
use ratchet_conformance::Harness;
use ratchet_core::{IdSource, OsEntropy, Priority, SystemClock};
use ratchet_pg::PgStore;
use ratchet_store::model::{
    CancelCause, ClaimRequest, Command, Inserted, JobSpec, KnownJobs, NewJob, NodeInfo,
    QueueDemand, QueueUpdate, Suspects,
};
use ratchet_store::{Store, StoreErrorKind, Wake};
use tokio::task::JoinSet;

fn job() -> NewJob {
    let ids = IdSource::new(Arc::new(SystemClock::default()), Arc::new(OsEntropy));
    let spec = JobSpec::new("mail", b"{}".to_vec());
    NewJob::new(ids.job(), spec)
}

async fn cut_connections(database: &Database) {
    let cut = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
               WHERE datname = current_database() AND application_name = 'ratchet'";
    sqlx::query(cut).execute(&database.pool).await.expect("cuts");
}

/// Retries until it succeeds, as the engine does.
async fn persists<T, E: std::fmt::Debug>(mut attempt: impl AsyncFnMut() -> Result<T, E>) -> T {
    for _ in 0..20 {
        if let Ok(done) = attempt().await {
            return done;
        }
    }
    attempt().await.expect("the store comes back")
}

#[tokio::test]
async fn x_08_lost_connections_are_replaced() {
    let pg = PgHarness::fresh().await;
    for _ in 0..3 {
        cut_connections(&pg.database).await;
        let job = job();
        persists(async || match pg.store.insert(vec![job.clone()]).await {
            // The answer of an earlier attempt was lost.
            Err(ratchet_store::model::InsertError::DuplicateId(_)) => Ok(()),
            other => other.map(|_| ()),
        })
        .await;
        assert!(persists(async || pg.store.get(job.id).await).await.is_some());
    }
}

#[tokio::test]
async fn s_09_listener_comes_back_after_a_lost_connection() {
    let pg = PgHarness::fresh().await;
    let other = PgStore::open(pg.database.options()).await.expect("opens");
    let mut wakes = pg.store.subscribe_wakeups();
    cut_connections(&pg.database).await;
    let heard = async {
        loop {
            // Hints that were sent without a listener are lost. The next one arrives.
            let _ = other.insert(vec![job()]).await;
            let wake = tokio::time::timeout(Duration::from_millis(200), wakes.recv()).await;
            if let Ok(Ok(Wake::Work { .. })) = wake {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), heard).await.expect("listens again");
}

#[tokio::test]
async fn s_09_another_process_is_woken() {
    let pg = PgHarness::fresh().await;
    let other = PgStore::open(pg.database.options()).await.expect("opens");
    let mut wakes = other.subscribe_wakeups();
    pg.store.insert(vec![job()]).await.expect("inserted");
    let wake = tokio::time::timeout(Duration::from_secs(10), wakes.recv()).await;
    assert_eq!(wake.expect("in time"), Ok(Wake::Work { queue: "default".to_owned() }));
}

/// Unneeded hints must not slow down a drain.
#[tokio::test]
async fn l_08_ends_are_told_to_a_process_that_waits_for_them_and_only_then() {
    let pg = PgHarness::fresh().await;
    let other = PgStore::open(pg.database.options()).await.expect("opens");
    let mut spy = sqlx::postgres::PgListener::connect(&pg.database.url()).await.expect("listens");
    spy.listen("ratchet:ratchet").await.expect("listens");
    let reported = async |spy: &mut sqlx::postgres::PgListener| {
        // These hints are sent after all others of this store.
        for order in [QueueUpdate::Pause, QueueUpdate::Resume] {
            pg.store.update_queue("q", order).await.expect("obeys");
        }
        let mut lines = Vec::new();
        loop {
            let heard = tokio::time::timeout(Duration::from_secs(10), spy.recv()).await;
            let line = heard.expect("in time").expect("a line").payload().to_owned();
            let last = line.contains(" u ");
            lines.push(line);
            if last {
                return lines;
            }
        }
    };
    let end = async || {
        let job = job();
        pg.store.insert(vec![job.clone()]).await.expect("inserted");
        pg.store.command(Command::Cancel(job.id, CancelCause::Requested)).await.expect("canceled");
        job.id
    };
    end().await;
    let lines = reported(&mut spy).await;
    assert!(lines.iter().all(|line| !line.contains(" f ")), "no lock is waited for: {lines:?}");
    let mut ends = other.subscribe_completions();
    let heard = async {
        loop {
            // The request may still be in flight.
            let id = end().await;
            let wake = tokio::time::timeout(Duration::from_millis(200), ends.recv()).await;
            if wake == Ok(Ok(Wake::Finished(id))) {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(10), heard).await.expect("reported");
}

/// A claim starts after the jobs it has claimed before, and starts earlier again after a hint.
#[tokio::test]
async fn c_02_what_another_process_puts_before_others_is_claimed_first() {
    let pg = PgHarness::fresh().await;
    let other = PgStore::open(pg.database.options()).await.expect("opens");
    let claimer = node();
    pg.store.join(NodeInfo::new(claimer), Duration::from_hours(1)).await.expect("joins");
    let claim = async || {
        let request = ClaimRequest {
            node: claimer,
            queues: vec![QueueDemand { queue: "default".to_owned(), limit: 1 }],
            known: Arc::new(KnownJobs([(job().spec.name, 1)].into())),
            suspects: Suspects::beside_others(5),
            starting: true,
        };
        pg.store.claim(request).await.expect("claims").jobs[0].id()
    };
    pg.store.insert((0..50).map(|_| job()).collect()).await.expect("inserted");
    // During this loop the last scan from the start is recent.
    for _ in 0..5 {
        claim().await;
        let mut wakes = pg.store.subscribe_wakeups();
        let mut urgent = job();
        urgent.spec.priority = Priority::Critical;
        other.insert(vec![urgent.clone()]).await.expect("inserted");
        let wake = tokio::time::timeout(Duration::from_secs(10), wakes.recv()).await;
        assert_eq!(wake.expect("in time"), Ok(Wake::Work { queue: "default".to_owned() }));
        assert_eq!(claim().await, urgent.id);
    }
}

#[tokio::test]
async fn x_08_unreachable_server_is_unavailable() {
    let options = ratchet_pg::PgOptions::new("postgres://nobody@%2Fnowhere/none").expect("a URL");
    let refused = PgStore::open(options.acquire_timeout(Duration::from_millis(200))).await;
    let error = refused.expect_err("there is no server");
    assert_eq!((error.kind(), error.is_transient()), (StoreErrorKind::Unavailable, true));
}

#[tokio::test]
async fn x_08_read_only_database_is_told_apart() {
    let pg = PgHarness::fresh().await;
    let read_only = pg.database.options_with([("default_transaction_read_only", "on")]);
    let store = PgStore::open(read_only.poll_only()).await.expect("reading works");
    let refused = store.join(NodeInfo::new(node()), Duration::from_secs(1)).await;
    let error = refused.expect_err("writing does not");
    assert_eq!((error.kind(), error.is_transient()), (StoreErrorKind::ReadOnly, true));
}

fn node() -> ratchet_store::model::NodeId {
    IdSource::new(Arc::new(SystemClock::default()), Arc::new(OsEntropy)).node()
}

#[tokio::test]
async fn x_08_statement_that_takes_too_long_is_unavailable() {
    let pg = PgHarness::fresh().await;
    let options = pg.database.options().statement_timeout(Duration::from_millis(100));
    let store = PgStore::open(options).await.expect("opens");
    let mut tx = pg.database.pool.begin().await.expect("begins");
    sqlx::query("LOCK TABLE ratchet.job").execute(&mut *tx).await.expect("locks");
    let error = store.insert(vec![job()]).await.expect_err("it waits for the lock");
    let ratchet_store::model::InsertError::Store(error) = error else { panic!("{error}") };
    assert_eq!(error.kind(), StoreErrorKind::Unavailable);
    tx.rollback().await.expect("rolls back");
    store.insert(vec![job()]).await.expect("the lock is gone");
}

#[tokio::test]
async fn s_06_nul_does_not_void_a_batch() {
    let pg = PgHarness::fresh().await;
    let (plain, mut odd) = (job(), job());
    odd.spec.tags = vec!["a\0b".to_owned()];
    odd.spec.correlation_id = Some("\0".to_owned());
    odd.spec.payload = b"\0\xff".to_vec();
    let id = odd.id;
    let inserted = pg.store.insert(vec![plain.clone(), odd]).await.expect("inserted");
    assert_eq!(inserted, [Inserted::Created(plain.id), Inserted::Created(id)]);
    let kept = pg.store.get(id).await.expect("reads").expect("is there");
    assert_eq!(
        (kept.spec.tags.as_slice(), kept.spec.payload.as_slice()),
        (&["ab".to_owned()][..], &b"\0\xff"[..])
    );
}

#[tokio::test]
async fn u_04_many_nodes_migrate_at_once() {
    let pg = PgHarness::fresh().await;
    pg.database.execute("DROP SCHEMA IF EXISTS \"odd \"\"name\" CASCADE").await;
    let mut nodes = JoinSet::new();
    for _ in 0..8 {
        let options = pg.database.options().schema("odd \"name").connections(2);
        nodes.spawn(async move { PgStore::open(options).await });
    }
    let stores: Result<Vec<_>, _> = nodes.join_all().await.into_iter().collect();
    let stores = stores.expect("every node opens");
    let job = job();
    stores[0].insert(vec![job.clone()]).await.expect("inserted");
    assert!(stores[7].get(job.id).await.expect("reads").is_some());
    pg.database.execute("DROP SCHEMA \"odd \"\"name\" CASCADE").await;
}

#[tokio::test]
async fn u_04_a_later_schema_is_refused_unless_this_program_can_use_it() {
    let pg = PgHarness::fresh().await;
    pg.database.execute("DROP SCHEMA IF EXISTS later CASCADE").await;
    let options = || pg.database.options().schema("later");
    options().migrate().await.expect("migrates");
    for oldest in ["NULL", "1000"] {
        let later =
            format!("INSERT INTO later.migration (version, oldest) VALUES (1000, {oldest})");
        pg.database.execute(&later).await;
        for options in [options(), options().without_migrations()] {
            let error = PgStore::open(options).await.expect_err("it cannot use the schema");
            assert_eq!((error.kind(), error.is_transient()), (StoreErrorKind::Schema, false));
            assert!(error.to_string().contains("is at version 1000"), "{error}");
        }
        pg.database.execute("DELETE FROM later.migration WHERE version = 1000").await;
    }
    // The version of this program.
    let oldest = "(SELECT max(version) FROM later.migration)";
    let later = format!("INSERT INTO later.migration (version, oldest) VALUES (1000, {oldest})");
    pg.database.execute(&later).await;
    let store = PgStore::open(options()).await.expect("it can use the schema");
    let job = job();
    store.insert(vec![job.clone()]).await.expect("inserted");
    let other = PgStore::open(options().without_migrations()).await.expect("opens");
    assert!(other.get(job.id).await.expect("reads").is_some());
    options().migrate().await.expect("changes nothing");
    store.close().await;
    other.close().await;
    pg.database.execute("DROP SCHEMA later CASCADE").await;
}

#[tokio::test]
async fn u_04_missing_schema_is_told_where_migrating_is_not_allowed() {
    let pg = PgHarness::fresh().await;
    let options = pg.database.options().schema("absent").without_migrations();
    let error = PgStore::open(options).await.expect_err("there is no schema");
    assert_eq!(error.kind(), StoreErrorKind::Schema);
}

#[tokio::test]
async fn x_08_closed_store_lets_go_of_every_connection_and_is_unavailable() {
    let pg = PgHarness::fresh().await;
    let closed = tokio::time::timeout(Duration::from_secs(20), pg.store.close()).await;
    closed.expect("the listener lets go too");
    let error = pg.store.now().await.expect_err("it is closed");
    assert_eq!(error.kind(), StoreErrorKind::Unavailable);
}
