//! Health checks: a worker claims nothing while one of them fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use ratchet_core::{Builder, JobState};

use crate::engine::fixture::{EngineFixture, eventually, start};
use crate::engine::script::{Script, Step};

/// A dependency that can be switched off.
#[derive(Debug, Clone, Default)]
struct Database {
    down: Arc<AtomicBool>,
    asked: Arc<AtomicU32>,
}

impl Database {
    fn set_down(&self, down: bool) {
        self.down.store(down, Ordering::SeqCst);
    }

    fn asked(&self) -> u32 {
        self.asked.load(Ordering::SeqCst)
    }

    fn ping(&self) -> std::future::Ready<Result<(), String>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let down = self.down.load(Ordering::SeqCst);
        std::future::ready(if down { Err("connection refused".to_owned()) } else { Ok(()) })
    }
}

fn explode() -> std::future::Ready<Result<(), String>> {
    panic!("boom")
}

fn quick(builder: Builder) -> Builder {
    builder.config(|config| {
        config.health_every = Duration::from_millis(5);
        config.health_retry = Duration::from_millis(5);
    })
}

pub async fn h_01_an_unhealthy_worker_claims_nothing_and_picks_up_again(fixture: EngineFixture) {
    let database = Database::default();
    let ping = database.clone();
    let builder = quick(fixture.builder()).health_check("database", move || ping.ping());
    let (ratchet, worker) = start(builder).await;
    let running = fixture.play(&ratchet, [Step::Gate]).await;
    eventually("it runs", async || fixture.stage().runs(running.id()) == 1).await;
    assert!(worker.readiness().ok);

    database.set_down(true);
    eventually("it is not ready", async || !worker.readiness().ok).await;
    assert!(worker.readiness().problems[0].contains("connection refused"));
    assert!(worker.liveness().ok, "it is alive all the same");
    let waiting = fixture.play(&ratchet, [Step::Ok]).await;
    // Running jobs may finish.
    fixture.stage().let_one_pass();
    fixture.until(&ratchet, running.id(), JobState::Succeeded).await;
    let asked = database.asked();
    eventually("it was asked again and again", async || database.asked() > asked + 3).await;
    let job = ratchet.jobs().get(waiting.id()).await.expect("reads").expect("exists");
    // A claim that was in flight may have been released; the handler was not called.
    assert_eq!((job.state, job.attempts), (JobState::Pending, 0));
    assert_eq!(fixture.stage().runs(waiting.id()), 0);

    database.set_down(false);
    fixture.until(&ratchet, waiting.id(), JobState::Succeeded).await;
    eventually("it is ready", async || worker.readiness().ok).await;
    worker.stop().await;
}

pub async fn h_01_a_check_may_guard_some_queues_only(fixture: EngineFixture) {
    let database = Database::default();
    database.set_down(true);
    let ping = database.clone();
    let builder = quick(fixture.builder()).queue("guarded", |queue| queue);
    let builder = builder.health_check_for("gateway", ["guarded"], move || ping.ping());
    let (ratchet, worker) = start(builder).await;
    let guarded = ratchet.enqueue(Script::of([Step::Ok])).queue("guarded").await.expect("enqueues");
    let free = fixture.play(&ratchet, [Step::Ok]).await;
    fixture.until(&ratchet, free.id(), JobState::Succeeded).await;
    assert_eq!(fixture.stage().runs(guarded.id()), 0);
    database.set_down(false);
    fixture.until(&ratchet, guarded.id(), JobState::Succeeded).await;
    worker.stop().await;
}

/// A worker must not claim before the first check has succeeded.
pub async fn h_01_a_worker_asks_before_it_claims(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    let job = fixture.play(&ratchet, [Step::Ok]).await;
    let database = Database::default();
    database.set_down(true);
    let ping = database.clone();
    let builder = quick(fixture.builder()).health_check("database", move || ping.ping());
    let (ratchet, worker) = start(builder).await;
    eventually("it was asked", async || database.asked() > 3).await;
    assert_eq!(fixture.stage().runs(job.id()), 0);
    database.set_down(false);
    fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    worker.stop().await;
}

pub async fn h_01_a_check_that_hangs_or_panics_fails(fixture: EngineFixture) {
    let builder = quick(fixture.builder())
        .config(|config| config.health_timeout = Duration::from_millis(50))
        .health_check("hangs", std::future::pending::<Result<(), String>>)
        .health_check("panics", explode);
    let (_ratchet, worker) = start(builder).await;
    // On a busy machine, the second check may also exceed its 50 ms at first.
    eventually("both are announced", async || {
        let problems = worker.readiness().problems.join("\n");
        problems.contains("`hangs` fails: no answer within 50ms")
            && problems.contains("`panics` fails: it panicked")
    })
    .await;
    worker.stop().await;
}

/// A rejected job triggers the checks immediately, although the next regular check is an hour away.
pub async fn h_04_a_rejection_makes_it_ask_before_it_claims_more(fixture: EngineFixture) {
    let database = Database::default();
    let ping = database.clone();
    let builder = fixture.builder().concurrency(1).config(|config| {
        config.health_every = Duration::from_hours(1);
        config.health_retry = Duration::from_millis(5);
    });
    let builder = builder.health_check("database", move || ping.ping());
    let (ratchet, worker) = start(builder).await;
    eventually("it was asked", async || database.asked() == 1).await;
    let gate = fixture.play(&ratchet, [Step::Gate]).await;
    eventually("it runs", async || fixture.stage().runs(gate.id()) == 1).await;
    // The next job rejects its run, and the database is down by then.
    let rejected = fixture.play(&ratchet, [Step::Reject, Step::Ok]).await;
    let behind = fixture.play(&ratchet, [Step::Ok]).await;
    database.set_down(true);
    fixture.stage().let_one_pass();
    eventually("it asked again", async || database.asked() > 3).await;
    assert_eq!(fixture.stage().runs(rejected.id()), 1);
    assert_eq!(fixture.stage().runs(behind.id()), 0, "nothing more is claimed");
    database.set_down(false);
    fixture.until(&ratchet, behind.id(), JobState::Succeeded).await;
    fixture.until(&ratchet, rejected.id(), JobState::Succeeded).await;
    worker.stop().await;
}

/// Without checks, a rejection must not delay other jobs.
pub async fn h_04_without_checks_one_rejection_holds_up_nobody_for_long(fixture: EngineFixture) {
    let (ratchet, worker) = start(fixture.builder().concurrency(1)).await;
    let rejected = fixture.play(&ratchet, [Step::Reject, Step::Ok]).await;
    let behind = fixture.play(&ratchet, [Step::Ok]).await;
    fixture.until(&ratchet, behind.id(), JobState::Succeeded).await;
    fixture.until(&ratchet, rejected.id(), JobState::Succeeded).await;
    worker.stop().await;
}

pub async fn h_04_a_rejection_without_a_check_closes_its_queue_for_a_while(fixture: EngineFixture) {
    let (ratchet, worker) = start(fixture.builder().queue("other", |queue| queue)).await;
    let rejected = fixture.play(&ratchet, [Step::Reject]).await;
    let rests = || {
        let details = worker.readiness().details;
        details.iter().any(|detail| detail.contains("from queue `default`"))
    };
    // Every rest is longer than the one before, so that one of them is seen.
    eventually("it is reported", async || {
        fixture.advance(Duration::from_mins(1)).await;
        rests()
    })
    .await;
    assert!(worker.readiness().ok, "other queues are served");
    let other = ratchet.enqueue(Script::of([Step::Ok])).queue("other").await.expect("enqueues");
    fixture.until(&ratchet, other.id(), JobState::Succeeded).await;
    ratchet.jobs().cancel(rejected.id()).await.expect("cancels");
    let behind = fixture.play(&ratchet, [Step::Ok]).await;
    fixture.until(&ratchet, behind.id(), JobState::Succeeded).await;
    assert!(!rests(), "it was over before the next job was claimed");
    worker.stop().await;
}
