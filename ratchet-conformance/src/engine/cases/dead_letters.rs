//! The dead-letter queue: alerts, sinks, retry, redrive, purge.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ratchet_core::{
    AlertSink, ArchiveFor, DeadLetterSink, Filter, JobState, PurgeWindow, Redrive, RunMode,
    SinkError, async_trait,
};
use ratchet_store::model::{Alert, Envelope};

use crate::engine::fixture::{EngineFixture, eventually, outcomes, start};
use crate::engine::script::{Script, Step};

/// A sink that stores dead letters. It refuses the first one.
#[derive(Debug, Clone, Default)]
struct Sink {
    offered: Arc<AtomicU32>,
    taken: Arc<Mutex<Vec<String>>>,
}

impl Sink {
    fn offer(&self, what: String) -> Result<(), SinkError> {
        if self.offered.fetch_add(1, Ordering::SeqCst) == 0 {
            return Err("not now".into());
        }
        self.taken.lock().expect("lock").push(what);
        Ok(())
    }

    fn taken(&self) -> Vec<String> {
        self.taken.lock().expect("lock").clone()
    }
}

#[async_trait]
impl AlertSink for Sink {
    async fn alert(&self, alert: &Alert) -> Result<(), SinkError> {
        self.offer(alert.message.clone())
    }
}

#[async_trait]
impl DeadLetterSink for Sink {
    async fn publish(&self, envelope: &Envelope) -> Result<(), SinkError> {
        self.offer(envelope.job_id.to_string())
    }
}

async fn bury(
    fixture: &EngineFixture,
    ratchet: &ratchet_core::Ratchet,
    message: &str,
) -> ratchet_core::JobId {
    let job = ratchet
        .enqueue(Script::of([Step::Error(message.into())]))
        .max_retries(0)
        .await
        .expect("enqueues");
    fixture.until(ratchet, job.id(), JobState::Failed).await;
    job.id()
}

pub async fn d_03_an_alert_reaches_its_sink_at_least_once(fixture: EngineFixture) {
    let sink = Sink::default();
    let (ratchet, worker) = start(fixture.builder().alert_sink(sink.clone())).await;
    bury(&fixture, &ratchet, "order 1 is lost").await;
    bury(&fixture, &ratchet, "order 2 is lost").await;
    fixture.advance(Duration::from_secs(1)).await;
    eventually("the sink has it although it refused at first", async || {
        fixture.advance(Duration::from_millis(10)).await;
        sink.taken() == ["order 1 is lost"]
    })
    .await;
    let alerts = ratchet.alerts().list(10).await.expect("reads");
    assert_eq!((alerts.len(), alerts[0].suppressed), (1, 1), "the second looks the same");
    worker.stop().await;
}

pub async fn d_07_every_dead_letter_reaches_its_sink_at_least_once(fixture: EngineFixture) {
    let sink = Sink::default();
    let (ratchet, worker) = start(fixture.builder().dead_letter_sink(sink.clone())).await;
    let mut expected = vec![
        bury(&fixture, &ratchet, "a").await.to_string(),
        bury(&fixture, &ratchet, "a").await.to_string(),
    ];
    expected.sort();
    eventually("the sink has both", async || {
        fixture.advance(Duration::from_millis(10)).await;
        let mut taken = sink.taken();
        taken.sort();
        taken.dedup();
        taken == expected
    })
    .await;
    worker.stop().await;
}

pub async fn d_04_a_dead_job_can_be_tried_again(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let job = ratchet
        .enqueue(Script::of([Step::Error("once".into()), Step::Ok]))
        .max_retries(0)
        .await
        .expect("enqueues");
    fixture.until(&ratchet, job.id(), JobState::Failed).await;
    ratchet.jobs().retry(job.id()).await.expect("retries");
    let record = fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    assert_eq!((record.generation, record.attempts, record.envelope), (2, 0, None));
    assert_eq!(outcomes(&ratchet, job.id()).await.len(), 2, "the history stays");
    worker.stop().await;
}

pub async fn d_04_a_redrive_is_bounded_and_repeatable(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    let worker = ratchet.start().await.expect("starts");
    for _ in 0..7 {
        bury(&fixture, &ratchet, "down").await;
    }
    worker.stop().await;
    let redrive = |limit| Redrive::new(Filter::any()).limit(limit).batch(2).pace(Duration::ZERO);
    assert_eq!(ratchet.jobs().redrive(redrive(5)).await.expect("redrives").retried.len(), 5);
    assert_eq!(
        ratchet.jobs().redrive(redrive(5)).await.expect("redrives").retried.len(),
        2,
        "only what is left"
    );
    assert_eq!(
        ratchet.jobs().redrive(redrive(5)).await.expect("redrives").retried.len(),
        0,
        "nothing twice"
    );
    assert_eq!(ratchet.jobs().counts().await.expect("reads").state(JobState::Pending), 7);
}

pub async fn d_05_what_was_kept_long_enough_is_purged(fixture: EngineFixture) {
    purged(fixture, false).await;
}

pub async fn d_05_a_purge_that_failed_is_retried_by_the_next_sweep(fixture: EngineFixture) {
    purged(fixture, true).await;
}

/// Asserts that the job is purged long before the next regular purge, even if the first purge fails.
async fn purged(fixture: EngineFixture, fails: bool) {
    let day = Duration::from_hours(24);
    let builder = fixture.builder().config(|config| {
        config.lease = Duration::from_hours(24 * 365);
        config.keep_failed = Some(Duration::from_hours(24 * 30));
    });
    let (ratchet, worker) = start(builder).await;
    let dead = bury(&fixture, &ratchet, "old").await;
    worker.stop().await;
    fixture.advance(day * 31).await;
    // A worker purges in its first sweep.
    let keep = fixture
        .builder()
        .config(move |config| config.keep_failed = Some(day * 30))
        .build()
        .await
        .expect("builds");
    fixture.switches().fail_purge.store(fails, Ordering::SeqCst);
    let worker = keep.start().await.expect("starts");
    eventually("it is gone", async || {
        ratchet.jobs().get(dead).await.is_ok_and(|job| job.is_none())
    })
    .await;
    worker.stop().await;
}

/// A window that opens at two o'clock at night, for four hours.
fn nights() -> PurgeWindow {
    PurgeWindow::new("0 2 * * *", Duration::from_hours(4), "UTC").expect("reads")
}

/// Advances the store's clock to the next occurrence of an hour, by at least a day.
async fn advance_to(fixture: &EngineFixture, ratchet: &ratchet_core::Ratchet, hour: u32) {
    let hours = PurgeWindow::new(format!("0 {hour} * * *"), Duration::from_mins(2), "UTC");
    let now = ratchet.store().now().await.expect("reads");
    let at = now + Duration::from_hours(24);
    let next = hours.expect("reads").next_opening(at).expect("every day has this hour");
    fixture.advance(Duration::try_from(next.duration_since(now)).expect("is later")).await;
}

/// Runs a worker that leads maintenance until its first sweep has ended. A worker that stops by itself claims nothing before
/// that, and the leader deletes and archives in its first sweep.
async fn sweep(fixture: &EngineFixture, builder: ratchet_core::Builder) {
    let led = fixture.switches().led.load(Ordering::SeqCst);
    let (_, worker) = start(builder.config(|config| config.run = RunMode::Drain)).await;
    worker.stopped().await;
    assert!(fixture.switches().led.load(Ordering::SeqCst) > led, "it has not led maintenance");
}

pub async fn a_01_what_was_kept_long_enough_is_archived_within_the_window(fixture: EngineFixture) {
    let day = Duration::from_hours(24);
    let builder = fixture.builder().config(move |config| config.lease = day * 365);
    let (ratchet, worker) = start(builder).await;
    let dead = bury(&fixture, &ratchet, "old").await;
    let canceled = ratchet.enqueue(Script::of([])).delay(day).await.expect("enqueues").id();
    assert!(ratchet.jobs().cancel(canceled).await.expect("cancels"));
    worker.stop().await;
    fixture.advance(day * 31).await;
    let keeps = || {
        fixture.builder().config(move |config| {
            config.keep_failed = Some(day * 30);
            config.archive_failed = ArchiveFor::Time(day);
            config.keep_canceled = Some(day * 30);
            config.purge_window = Some(nights());
        })
    };
    let find = async |id| ratchet.jobs().get(id).await.expect("reads");
    advance_to(&fixture, &ratchet, 12).await;
    sweep(&fixture, keeps()).await;
    let job = find(dead).await.expect("is there");
    assert_eq!(job.archived_at, None, "the window is closed");
    assert!(find(canceled).await.is_some(), "the window is closed");

    advance_to(&fixture, &ratchet, 3).await;
    sweep(&fixture, keeps()).await;
    let job = find(dead).await.expect("is there");
    assert!(job.archived_at.is_some(), "the window is open");
    assert!(find(canceled).await.is_none(), "the window is open");
    assert_eq!(ratchet.archive().status().await.expect("reads").jobs(), 1);

    // The second retention has passed, and the window is closed again.
    advance_to(&fixture, &ratchet, 12).await;
    sweep(&fixture, keeps()).await;
    assert!(find(dead).await.is_some(), "the window is closed");
    advance_to(&fixture, &ratchet, 3).await;
    sweep(&fixture, keeps()).await;
    assert!(find(dead).await.is_none(), "the window is open");
}
