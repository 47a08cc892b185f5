//! Measures how an open transaction of a caller affects workers: the commits per second of an idle worker while a due
//! job is locked by an open `reschedule_in_tx`, and how long other settlements wait for one that needs a business key
//! of an open submit.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ratchet::model::Due;
use ratchet::{JobContext, JobState, Ratchet, job};
use ratchet_bench_pg::{Server, spent};
use ratchet_pg::{EnqueueInTx as _, PgStore};
use sqlx::{Connection as _, PgConnection, PgPool};

static RAN: AtomicUsize = AtomicUsize::new(0);

#[job]
async fn plain(number: u32) {
    let _ = number;
    RAN.fetch_add(1, Ordering::Relaxed);
}

/// Submits a child with a business key that is already held.
#[job]
async fn parent(#[inject] ctx: JobContext) -> Result<(), ratchet::JobError> {
    ctx.enqueue(Plain { number: 0 }).business_key("held").await?;
    Ok(())
}

#[tokio::main]
async fn main() {
    let server = Server::start();
    let pool = PgPool::connect(&server.url()).await.expect("connects");
    let store = PgStore::connect(&server.url()).await.expect("opens");
    let ratchet = Ratchet::builder(store.clone()).concurrency(100).build().await.expect("builds");
    let worker = ratchet.start().await.expect("starts");

    let idle = commits(&pool).await;
    println!("idle worker: {idle:.1} commits/s");
    let job = ratchet.enqueue(Plain { number: 1 }).delay(Duration::from_secs(1));
    let job = job.await.expect("enqueues").id();
    let mut db = PgConnection::connect(&server.url()).await.expect("connects");
    let mut tx = db.begin().await.expect("begins");
    let later = Due::In(Duration::from_secs(3600));
    store.reschedule_in_tx(&mut tx, job, later).await.expect("reschedules");
    tokio::time::sleep(Duration::from_secs(2)).await;
    let held = commits(&pool).await;
    println!("idle worker, a due job held by an open reschedule: {held:.1} commits/s");
    tx.rollback().await.expect("rolls back");

    let mut tx = db.begin().await.expect("begins");
    let open = ratchet.enqueue(Plain { number: 2 }).business_key("held");
    open.in_tx(&mut tx).await.expect("submits");
    let before = ratchet.jobs().counts().await.expect("reads").state(JobState::Succeeded);
    let parent = ratchet.enqueue(Parent {}).await.expect("enqueues");
    let started = Instant::now();
    ratchet.enqueue_many((0..99).map(|number| Plain { number })).await.expect("enqueues");
    while ratchet.jobs().counts().await.expect("reads").state(JobState::Succeeded) < before + 99 {
        tokio::time::sleep(Duration::from_millis(5)).await;
        assert!(started.elapsed() < Duration::from_secs(60), "the neighbors wait");
    }
    let waited = started.elapsed();
    let state = ratchet.jobs().get(parent.id()).await.expect("reads").expect("is there").state;
    println!("99 neighbors of a settlement that waits for a key: {waited:.2?}; it is {state}");
    tx.rollback().await.expect("rolls back");
    parent.wait().await.expect("ends");
    println!("it has ended {:.2?} after the submit", started.elapsed());
    worker.stop().await;
    store.close().await;
}

/// Returns the commits per second, measured over five seconds.
async fn commits(pool: &PgPool) -> f64 {
    let (before, started) = (spent(pool).await.1, Instant::now());
    tokio::time::sleep(Duration::from_secs(5)).await;
    (spent(pool).await.1 - before) as f64 / started.elapsed().as_secs_f64()
}
