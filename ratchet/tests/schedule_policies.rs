//! The overlap policy of a schedule, and the alert of one that does not succeed.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ratchet::hooks::{AlertSink, SinkError};
use ratchet::model::Alert;
use ratchet::prelude::*;
use ratchet::schedule::Overlap;
use ratchet::testing::Sandbox;
use ratchet::{Event, Filter, State};

#[derive(Debug, Default)]
struct Broken {
    now: Mutex<bool>,
}

#[job(name = "policy.report", cron = "0 * * * *", overlap = skip, alert_after = "150m", max_retries = 0)]
async fn report(#[inject] broken: State<Arc<Broken>>) -> Result<(), JobError> {
    match *broken.now.lock().expect("not poisoned") {
        true => Err(JobError::msg("broken")),
        false => Ok(()),
    }
}

#[derive(Debug, Clone, Default)]
struct Raised(Arc<Mutex<Vec<Alert>>>);

#[ratchet::async_trait]
impl AlertSink for Raised {
    async fn alert(&self, alert: &Alert) -> Result<(), SinkError> {
        self.0.lock().expect("not poisoned").push(alert.clone());
        Ok(())
    }
}

impl Raised {
    fn overdue(&self) -> Vec<String> {
        let raised = self.0.lock().expect("not poisoned");
        let messages = raised.iter().map(|alert| alert.message.clone());
        messages.filter(|message| message.contains("has not succeeded since")).collect()
    }
}

const HOUR: Duration = Duration::from_hours(1);

#[tokio::test]
async fn t_07_a_schedule_that_does_not_succeed_is_an_alert() {
    let (broken, raised) = (Arc::new(Broken::default()), Raised::default());
    let sandbox = Sandbox::builder().jobs([Report::JOB]).state(Arc::clone(&broken));
    let sandbox = sandbox.configure(|builder| builder.alert_sink(raised.clone()));
    let sandbox = sandbox.build().await.expect("builds");
    let mut events = sandbox.ratchet().events();
    sandbox.drain_for(HOUR * 5).await.expect("drains");
    assert!(raised.overdue().is_empty(), "it succeeds every hour");

    *broken.now.lock().expect("not poisoned") = true;
    sandbox.drain_for(HOUR * 2).await.expect("drains");
    assert!(raised.overdue().is_empty(), "two hours are not too long");
    sandbox.drain_for(HOUR * 5).await.expect("drains");
    let overdue = raised.overdue();
    assert_eq!(overdue.len(), 1, "once until it succeeds: {overdue:?}");
    assert!(overdue[0].starts_with("schedule `policy.report` has not succeeded since "));
    let told = std::iter::from_fn(|| events.try_next());
    let told = told.filter(|event| matches!(event, Event::ScheduleOverdue { .. })).count();
    assert_eq!(told, 1);

    *broken.now.lock().expect("not poisoned") = false;
    sandbox.drain_for(HOUR * 2).await.expect("drains");
    *broken.now.lock().expect("not poisoned") = true;
    sandbox.drain_for(HOUR * 5).await.expect("drains");
    assert_eq!(raised.overdue().len(), 2, "a new outage");
}

#[tokio::test]
async fn t_07_the_policy_of_a_schedule_is_set_at_run_time() {
    let sandbox = Sandbox::builder().jobs([Report::JOB]).state(Arc::new(Broken::default()));
    let sandbox = sandbox.build().await.expect("builds");
    let schedules = sandbox.ratchet().schedules();
    let fired = async || {
        let tagged = Filter::any().tag("schedule:hourly").state(JobState::Pending);
        let page = sandbox.ratchet().jobs().list(&tagged, ratchet::PageRequest::default()).await;
        page.expect("lists").jobs.len()
    };
    let declare = schedules.declare("hourly", "0 * * * *", Report {}).overlap(Overlap::Skip);
    declare.alert_after(HOUR * 3).await.expect("declares");
    let stored = async || schedules.get("hourly").await.expect("reads").expect("exists").schedule;
    let watch = stored().await.watch.expect("it is watched");
    assert_eq!((stored().await.overlap, watch.within), (Overlap::Skip, HOUR * 3));
    assert!(schedules.run_now("hourly").await.expect("fires").is_some());
    assert!(schedules.run_now("hourly").await.expect("answers").is_none(), "one waits");
    assert_eq!(fired().await, 1);
    schedules.set_overlap("hourly", Overlap::Allow).await.expect("changes");
    assert!(schedules.run_now("hourly").await.expect("fires").is_some());
    assert_eq!(fired().await, 2);
    assert_eq!(stored().await.watch.expect("it is watched").recent.len(), 3);
    let again = schedules.declare("hourly", "0 * * * *", Report {}).alert_after(HOUR * 4);
    again.await.expect("declares");
    let kept = stored().await.watch.expect("it is watched");
    assert_eq!((kept.within, kept.since), (HOUR * 4, watch.since), "the watch goes on");
    schedules.alert_after("hourly", None).await.expect("changes");
    assert_eq!(stored().await.watch, None);
    assert!(schedules.alert_after("hourly", Some(Duration::ZERO)).await.is_err());
}
