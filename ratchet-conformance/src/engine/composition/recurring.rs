//! Schedules of recurring jobs with a real engine.

use std::time::Duration;

use ratchet_core::{Filter, JobState, PageRequest, Ratchet, ScheduleError};
use ratchet_store::model::Missed;

use super::jobs::{Mark, Nightly};
use crate::engine::fixture::{EngineFixture, eventually};

const NAME: &str = "test.nightly";

async fn count(ratchet: &Ratchet, tag: &str) -> usize {
    let filter = Filter::any().tag(format!("schedule:{tag}"));
    let page = PageRequest { limit: 1000, ..PageRequest::default() };
    ratchet.jobs().list(&filter, page).await.expect("reads").jobs.len()
}

/// Advances the store's clock to the next occurrence, and waits until the schedule has created `jobs` jobs. Panics if it
/// creates more.
async fn until(fixture: &EngineFixture, ratchet: &Ratchet, name: &str, jobs: usize) {
    let next = ratchet.schedules().get(name).await.expect("reads").expect("is there").schedule.next;
    let now = fixture.store().now().await.expect("answers");
    let wait = next.expect("it fires again").duration_since(now);
    fixture.advance(Duration::try_from(wait).unwrap_or_default()).await;
    eventually("the occurrence is fired", async || {
        let made = count(ratchet, name).await;
        assert!(made <= jobs, "{made} instead of {jobs}");
        made == jobs
    })
    .await;
}

pub async fn t_01_cron_on_a_job_is_declared_and_fires(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let view = ratchet.schedules().get(NAME).await.expect("reads").expect("is declared");
    assert_eq!(
        (view.schedule.expression.as_str(), view.schedule.zone.as_str()),
        ("0 * * * *", "Europe/Berlin")
    );
    assert!(view.known);
    assert_eq!(view.schedule.spec.queue, "default");
    assert_eq!(view.schedule.spec.options.max_retries, 2, "it inherits the job's own options");
    assert_eq!(view.schedule.spec.concurrency.as_ref().map(|key| key.key.as_str()), Some(NAME));
    until(&fixture, &ratchet, NAME, 1).await;
    eventually("it ran", async || {
        fixture.stage().notes().iter().any(|note| note.starts_with("nightly"))
    })
    .await;
    let fired = ratchet.schedules().get(NAME).await.expect("reads").expect("is there").schedule;
    assert!(fired.last.is_some() && fired.next > view.schedule.next);
    worker.stop().await;
}

pub async fn t_05_declaring_again_changes_nothing(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let before = ratchet.schedules().get(NAME).await.expect("reads").expect("is there");
    worker.stop().await;
    let (again, worker) = fixture.start_composed().await;
    let after = again.schedules().get(NAME).await.expect("reads").expect("is there");
    assert_eq!(before.schedule, after.schedule);
    let schedules = again.schedules();
    schedules.declare("mine", "0 0 1 1 *", Mark::ok("x")).await.expect("declares");
    let first = schedules.get("mine").await.expect("reads").expect("is there").schedule;
    schedules.declare("mine", "0 0 1 1 *", Mark::ok("x")).await.expect("declares");
    let same = schedules.get("mine").await.expect("reads").expect("is there").schedule;
    assert_eq!(first, same);
    schedules
        .declare("mine", "0 0 2 1 *", Mark::ok("x"))
        .zone("Asia/Tokyo")
        .await
        .expect("declares");
    let changed = schedules.get("mine").await.expect("reads").expect("is there").schedule;
    assert!(changed.next != first.next && changed.version == first.version + 1, "{changed:?}");
    worker.stop().await;
}

pub async fn t_02_competing_nodes_fire_each_occurrence_once(fixture: EngineFixture) {
    let mut nodes = Vec::new();
    for _ in 0..5 {
        nodes.push(fixture.start_composed().await);
    }
    let ratchet = nodes[0].0.clone();
    for jobs in 1..=3 {
        until(&fixture, &ratchet, NAME, jobs).await;
    }
    for (_, worker) in nodes {
        worker.stop().await;
    }
    assert_eq!(count(&ratchet, NAME).await, 3);
}

pub async fn t_04_pause_resume_run_now_and_remove(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let schedules = ratchet.schedules();
    schedules.declare("yearly", "0 0 1 1 *", Mark::ok("yearly")).await.expect("declares");
    schedules.pause("yearly").await.expect("pauses");
    assert!(schedules.get("yearly").await.expect("reads").expect("is there").schedule.paused);
    let id = schedules.run_now("yearly").await.expect("runs").expect("a job");
    fixture.until(&ratchet, id, JobState::Succeeded).await;
    assert_eq!(fixture.stage().notes(), ["yearly"]);
    schedules.resume("yearly").await.expect("resumes");
    schedules.set_missed("yearly", Missed::Skip).await.expect("changes");
    schedules.reschedule("yearly", "0 0 1 2 *", "UTC").await.expect("changes");
    let changed = schedules.get("yearly").await.expect("reads").expect("is there").schedule;
    assert_eq!(
        (changed.paused, changed.missed, changed.expression.as_str()),
        (false, Missed::Skip, "0 0 1 2 *")
    );
    assert!(schedules.remove("yearly").await.expect("removes"));
    assert!(!schedules.remove("yearly").await.expect("once"));
    let gone = schedules.pause("yearly").await.expect_err("it is gone");
    assert!(matches!(gone, ScheduleError::NotFound(_)), "{gone}");
    worker.stop().await;
}

pub async fn t_01_bad_schedules_are_refused(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    let schedules = ratchet.schedules();
    let bad =
        schedules.declare("x", "61 * * * *", Mark::ok("x")).await.expect_err("no such minute");
    assert!(matches!(bad, ScheduleError::Cron { .. }), "{bad}");
    let bad = schedules.declare("x", "0 * * * *", Mark::ok("x")).zone("Mars/Base").await;
    assert!(matches!(bad, Err(ScheduleError::Cron { .. })), "{bad:?}");
    let bad = schedules.declare("a b", "0 * * * *", Mark::ok("x")).await;
    assert!(matches!(bad, Err(ScheduleError::Submit(_))), "{bad:?}");
    assert!(schedules.list().await.expect("reads").is_empty());
}

pub async fn t_04_schedule_without_code_is_shown_and_not_fired(fixture: EngineFixture) {
    // The program that declares the schedule knows the job; the one with the worker does not.
    let knowing = fixture
        .builder()
        .jobs([<Nightly as ratchet_core::Job>::JOB])
        .build()
        .await
        .expect("builds");
    knowing.schedules().declare("lost", "* * * * * *", Nightly {}).await.expect("declares");
    let (ratchet, worker) = fixture.start().await;
    let view = ratchet.schedules().get("lost").await.expect("reads").expect("is there");
    assert!(!view.known);
    for _ in 0..10 {
        fixture.advance(Duration::from_mins(1)).await;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let after = ratchet.schedules().get("lost").await.expect("reads").expect("is there");
    assert_eq!((after.schedule.version, after.schedule.last), (view.schedule.version, None));
    assert_eq!(count(&ratchet, "lost").await, 0);
    worker.stop().await;
}
