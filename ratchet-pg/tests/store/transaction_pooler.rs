//! Workers behind a transaction pooler that has fewer server connections than clients.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::{Database, Pooler};
use ratchet_core::{Job as _, JobError, JobState, Ratchet, State, Worker};
use ratchet_macros::job;
use ratchet_pg::{EnqueueInTx as _, PgOptions, PgStore};
use ratchet_store::model::{ClaimRequest, KnownJobs, NodeId, NodeInfo, QueueDemand, Suspects};
use ratchet_store::{Store, StoreErrorKind};
use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection as _, PgConnection, Row as _};

/// The number of runs per job number.
#[derive(Debug, Clone, Default)]
struct Runs(Arc<Mutex<BTreeMap<u32, u32>>>);

/// A job that fails its first run for every third number.
#[job(name = "test.pooled", max_retries = 5, backoff = fixed("20ms"), crate = ::ratchet_core)]
async fn pooled(
    #[inject] ctx: ratchet_core::JobContext,
    #[inject] runs: State<Runs>,
    number: u32,
) -> Result<u32, JobError> {
    *runs.0.0.lock().expect("no panic").entry(number).or_default() += 1;
    tokio::task::yield_now().await;
    if number.is_multiple_of(3) && ctx.attempt() == 1 {
        return Err(JobError::msg("the first time never works"));
    }
    Ok(number)
}

async fn start(store: PgStore, runs: &Runs) -> (Ratchet, Worker) {
    let ratchet = Ratchet::builder(store)
        .jobs([Pooled::JOB])
        .state(runs.clone())
        .concurrency(8)
        .config(|config| {
            config.lease = Duration::from_secs(3);
            config.heartbeat = Duration::from_millis(500);
            config.maintenance_interval = Duration::from_millis(200);
            config.poll_interval = (Duration::from_millis(20), Duration::from_millis(100));
        })
        .build()
        .await
        .expect("builds");
    let worker = ratchet.start().await.expect("starts");
    (ratchet, worker)
}

async fn all_done(ratchet: &Ratchet, jobs: u64) {
    let deadline = tokio::time::Instant::now() + Duration::from_mins(1);
    loop {
        let counts = ratchet.jobs().counts().await.expect("counts");
        if counts.state(JobState::Succeeded) == jobs {
            return;
        }
        assert!(tokio::time::Instant::now() < deadline, "waited too long: {counts:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Claims some jobs on a node that then sends no more heartbeats.
async fn claim_and_die(store: &PgStore) -> usize {
    let node = NodeId::from_uuid(uuid::Uuid::from_u128(7));
    store.join(NodeInfo::new(node), Duration::from_secs(1)).await.expect("joins");
    let request = ClaimRequest {
        node,
        queues: vec![QueueDemand { queue: "default".to_owned(), limit: 10 }],
        known: Arc::new(KnownJobs([("test.pooled".to_owned(), 1)].into())),
        suspects: Suspects::idle(u32::MAX),
        starting: true,
    };
    store.claim(request).await.expect("claims").jobs.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn s_09_p_02_workers_share_three_connections_and_rescue_the_dead() {
    let database = Database::take().await;
    let pooler = Pooler::of_transactions(&database.folder(), &database.url()).await;
    let (runs, open) = (Runs::default(), async || opened(&pooler).await);
    let producer = Ratchet::builder(open().await).jobs([Pooled::JOB]).build().await;
    let producer = producer.expect("builds");
    for number in 0..50 {
        let job = producer.enqueue(Pooled { number }).idempotency_key(format!("n-{number}"));
        job.await.expect("enqueues");
    }
    assert_eq!(claim_and_die(&open().await).await, 10, "the dead takes some along");
    let mut crew = Vec::new();
    for _ in 0..4 {
        crew.push(start(open().await, &runs).await);
    }
    let mut submits = tokio::task::JoinSet::new();
    for number in 50..400 {
        let producer = producer.clone();
        submits.spawn(async move { producer.enqueue(Pooled { number }).await.map(|_| ()) });
    }
    for submitted in submits.join_all().await {
        submitted.expect("enqueues");
    }
    all_done(&producer, 400).await;
    for (_, worker) in &crew {
        worker.stop().await;
    }
    let rescued: u64 = crew.iter().map(|(_, worker)| worker.stats().rescued).sum();
    assert_eq!(rescued, 10);
    let runs = runs.0.lock().expect("no panic");
    let expected = |number: u32| 1 + u32::from(number.is_multiple_of(3));
    let odd: Vec<_> = runs.iter().filter(|(number, runs)| **runs != expected(**number)).collect();
    assert_eq!((runs.len(), odd), (400, Vec::new()));
}

#[tokio::test(flavor = "multi_thread")]
async fn s_09_nodes_that_migrate_at_once_through_it_agree() {
    let database = Database::take().await;
    let pooler = Pooler::of_transactions(&database.folder(), &database.url()).await;
    database.execute("DROP SCHEMA IF EXISTS pooled CASCADE").await;
    let mut opening = tokio::task::JoinSet::new();
    for _ in 0..6 {
        opening.spawn(PgStore::open(pooler.options().schema("pooled")));
    }
    for opened in opening.join_all().await {
        let store = opened.expect("opens");
        assert!(store.nodes().await.expect("a schema").is_empty());
    }
    database.execute("DROP SCHEMA pooled CASCADE").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s_07_s_09_a_callers_transaction_goes_through_it() {
    let database = Database::take().await;
    let pooler = Pooler::of_transactions(&database.folder(), &database.url()).await;
    let store = opened(&pooler).await;
    let ratchet = Ratchet::builder(store.clone()).jobs([Pooled::JOB]).build().await;
    let ratchet = ratchet.expect("builds");
    let connect: PgConnectOptions = pooler.url().parse().expect("a URL");
    let connect = connect.extra_float_digits(None);
    // Two callers whose transactions alternate between the server connections.
    let mut callers = Vec::new();
    for _ in 0..2 {
        callers.push(PgConnection::connect_with(&connect).await.expect("connects"));
    }
    let mut kept = Vec::new();
    for number in 0..20 {
        for caller in &mut callers {
            let mut tx = caller.begin().await.expect("begins");
            let job = ratchet.enqueue(Pooled { number }).in_tx(&mut tx).await.expect("enqueues");
            match number % 2 {
                0 => tx.rollback().await.expect("rolls back"),
                _ => {
                    tx.commit().await.expect("commits");
                    kept.push(job.id());
                }
            }
        }
    }
    for id in &kept {
        assert!(store.get(*id).await.expect("reads").is_some());
    }
    let counts = ratchet.jobs().counts().await.expect("counts");
    assert_eq!(counts.state(JobState::Pending), kept.len() as u64, "and nothing else");
}

/// The settings of the store must not leak to the next client of a connection.
#[tokio::test(flavor = "multi_thread")]
async fn s_09_nothing_is_left_behind_on_the_servers() {
    let database = Database::take().await;
    let pooler = Pooler::of_transactions(&database.folder(), &database.url()).await;
    let (store, runs) = (opened(&pooler).await, Runs::default());
    let (ratchet, worker) = start(store, &runs).await;
    for number in 0..30 {
        ratchet.enqueue(Pooled { number }).await.expect("enqueues");
    }
    all_done(&ratchet, 30).await;
    worker.stop().await;
    let connect: PgConnectOptions = pooler.url().parse().expect("a URL");
    let connect = connect.extra_float_digits(None);
    let mut stranger = PgConnection::connect_with(&connect).await.expect("connects");
    let mut servers = BTreeSet::new();
    let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
    // Check every server connection, some more than once. One that is busy now is checked later.
    for looks in 1.. {
        let found = sqlx::raw_sql(
            "SELECT pg_backend_pid()::text, current_setting('enable_seqscan'), current_setting('statement_timeout'),
                (SELECT count(*)::text FROM pg_prepared_statements),
                (SELECT count(*)::text FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory')",
        );
        let row = found.fetch_one(&mut stranger).await.expect("answers");
        servers.insert(row.get::<String, _>(0));
        let left: Vec<String> = (1..5).map(|column| row.get(column)).collect();
        assert_eq!(left, ["on", "0", "0", "0"], "settings, statements, locks");
        if looks >= 12 && servers.len() == 3 {
            break;
        }
        assert!(tokio::time::Instant::now() < deadline, "{servers:?} are not all three");
    }
}

// Opening may succeed at first: the store can recognize such a pooler only by its effects.
#[tokio::test(flavor = "multi_thread")]
async fn s_09_a_store_that_keeps_statements_says_what_it_needs() {
    let database = Database::take().await;
    let pooler = Pooler::of_transactions(&database.folder(), &database.url()).await;
    let connect: PgConnectOptions = pooler.url().parse().expect("a URL");
    let mut refused = None;
    let mut opened = Vec::new();
    // Three server connections can serve the first statements of three clients.
    for _ in 0..4 {
        match PgStore::open(PgOptions::with(connect.clone().extra_float_digits(None))).await {
            Ok(store) => opened.push(store),
            Err(error) => refused = Some(error),
        }
    }
    let refused = refused.expect("four clients cannot share three servers");
    assert_eq!(refused.kind(), StoreErrorKind::Config, "{refused}");
    assert!(refused.to_string().contains("poll_only"), "{refused}");
}

async fn opened(pooler: &Pooler) -> PgStore {
    PgStore::open(pooler.options()).await.expect("opens")
}
