//! Fills a store with finished, failed, waiting and running jobs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ratchet::prelude::*;
use ratchet::runtime::Builder;
use ratchet::{JobState, Ratchet, Store};

/// How many jobs of each kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) finished: usize,
    pub(crate) pending: usize,
    pub(crate) failed: usize,
}

/// Jobs that are submitted in one call.
const BATCH: usize = 5000;

const QUEUES: [&str; 4] = ["mail", "reports", "import", "default"];
const TENANTS: [&str; 5] = ["acme", "globex", "initech", "umbrella", "hooli"];

#[job(name = "shop.send_mail", tags("mail", "customer"))]
async fn send_mail(order: u64, to: String) {
    let _ = (order, to);
}

#[job(name = "shop.charge", max_retries = 0)]
async fn charge(order: u64, card: String) -> Result<(), std::io::Error> {
    let _ = card;
    let reason = ["declined", "the bank does not answer", "expired", "unknown card"];
    let reason = reason[usize::try_from(order).unwrap_or(0) / 7 % reason.len()];
    Err(std::io::Error::other(format!("card of order {order}: {reason}")))
}

#[job(name = "shop.wait", queue = "default")]
async fn wait(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

/// A worker that keeps every job.
pub(crate) fn builder(store: Arc<dyn Store>) -> Builder {
    let mut builder = Ratchet::builder_shared(store);
    for queue in QUEUES.into_iter().chain(["payments"]) {
        builder = builder.queue(queue, |queue| queue);
    }
    builder.jobs([SendMail::JOB, Charge::JOB, Wait::JOB]).concurrency(500).config(|config| {
        config.keep_succeeded = None;
        config.keep_failed = None;
    })
}

fn mail(number: usize) -> SendMail {
    SendMail { order: number as u64, to: format!("customer-{number}@example.com") }
}

async fn submit_mail(ratchet: &Ratchet, numbers: std::ops::Range<usize>) {
    let (first, batch) = (numbers.start, numbers.start / BATCH);
    let (queue, tenant) = (QUEUES[batch % QUEUES.len()], TENANTS[batch % TENANTS.len()]);
    let many = ratchet.enqueue_many(numbers.map(mail)).each(|number, job| {
        job.queue(queue).tenant(tenant).correlation_id(format!("order-{}", first + number))
    });
    many.await.expect("submits");
}

/// Runs workers until no job waits.
async fn drain(store: &Arc<dyn Store>) {
    let ratchet = builder(Arc::clone(store)).drain_and_exit().build().await.expect("builds");
    ratchet.start().await.expect("starts").stopped().await;
}

/// Fails unless the store has this many jobs in this state.
async fn expect(ratchet: &Ratchet, state: JobState, number: usize) {
    let counts = ratchet.jobs().counts().await.expect("counts");
    assert_eq!(counts.state(state), number as u64, "{state}");
}

pub(crate) async fn fill(store: Arc<dyn Store>, size: Size) {
    let began = Instant::now();
    let ratchet = builder(Arc::clone(&store)).build().await.expect("builds");
    // As much as a busy system has at once, so that the store has the shape of one that has run for long.
    for start in (0..size.finished).step_by(500_000) {
        for batch in (start..size.finished.min(start + 500_000)).step_by(BATCH) {
            submit_mail(&ratchet, batch..size.finished.min(batch + BATCH)).await;
        }
        drain(&store).await;
    }
    expect(&ratchet, JobState::Succeeded, size.finished).await;
    println!("{} jobs have succeeded after {:.0?}", size.finished, began.elapsed());
    for batch in (0..size.failed).step_by(BATCH) {
        let charge =
            |number: usize| Charge { order: number as u64, card: format!("4{number:015}") };
        let batch = (batch..size.failed.min(batch + BATCH)).map(charge);
        let many = ratchet.enqueue_many(batch).each(|_, job| job.queue("payments"));
        many.await.expect("submits");
    }
    drain(&store).await;
    expect(&ratchet, JobState::Failed, size.failed).await;
    println!("{} jobs have failed after {:.0?}", size.failed, began.elapsed());
    for batch in (0..size.pending).step_by(BATCH) {
        submit_mail(&ratchet, batch..size.pending.min(batch + BATCH)).await;
    }
    expect(&ratchet, JobState::Pending, size.pending).await;
    println!("{} jobs wait after {:.0?}", size.pending, began.elapsed());
    // What an operator finds beside jobs.
    ratchet
        .schedules()
        .declare("nightly", "0 3 * * *", Wait { seconds: 1 })
        .await
        .expect("declares");
    let batch = ratchet.batch("import").jobs((0..200).map(|_| Wait { seconds: 1 }));
    batch.open().await.expect("opens");
}
