//! The job `ratchet.event`, and attacks on it. The tables in the README name these tests.
#![cfg(feature = "event")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ratchet::model::{Envelope, TerminalReason};
use ratchet::testing::Sandbox;
use ratchet::{Job as _, WaitError};
use ratchet_extras::event::{Event, NoSubscriber, Published, Topics, TopicsBuilder, TopicsError};

/// Records which subscribers were called.
#[derive(Clone, Default)]
struct Calls(Arc<Mutex<Vec<String>>>);

impl Calls {
    fn push(&self, call: impl Into<String>) {
        self.0.lock().expect("not poisoned").push(call.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().expect("not poisoned"))
    }

    /// Adds a subscriber that fails while `fails` returns an error for this attempt.
    fn subscribe(
        &self,
        topics: TopicsBuilder,
        name: &'static str,
        fails: fn(u32) -> Option<Box<dyn std::error::Error + Send + Sync>>,
    ) -> TopicsBuilder {
        let calls = self.clone();
        topics.subscribe("order.shipped", name, move |ctx, order: u64| {
            let calls = calls.clone();
            async move {
                calls.push(format!("{name} {order} {}", ctx.attempt()));
                fails(ctx.attempt()).map_or(Ok(()), Err)
            }
        })
    }
}

async fn run(topics: Topics, job: Event) -> Result<Published, Box<Envelope>> {
    let sandbox =
        Sandbox::builder().jobs([Event::JOB]).state(topics).build().await.expect("a sandbox");
    let handle = sandbox.enqueue(job).max_retries(2).await.expect("enqueued");
    sandbox.drain_for(Duration::from_hours(24)).await.expect("drained");
    match handle.wait().await {
        Ok(published) => Ok(published),
        Err(WaitError::Failed(envelope)) => Err(envelope),
        Err(error) => panic!("{error}"),
    }
}

async fn assert_refused(topics: Topics, job: Event, reason: &str) {
    let refusals = topics.refusals();
    let envelope = run(topics, job).await.expect_err("refused");
    assert_eq!((envelope.reason, envelope.attempts), (TerminalReason::Invalid, 1));
    assert_eq!(envelope.failure.code, reason, "{}", envelope.failure.message);
    assert_eq!((refusals.total(), refusals.count(reason)), (1, 1));
}

fn shipped() -> Event {
    Event::publish("order.shipped", &7).expect("JSON")
}

// spec: Y-03
#[tokio::test]
async fn y_03_nothing_is_allowed_by_default() {
    assert_refused(Topics::builder().build().expect("topics"), shipped(), "topic_not_allowed")
        .await;
}

// spec: Y-03
#[tokio::test]
async fn y_03_an_event_reaches_all_subscribers_of_its_topic() {
    let calls = Calls::default();
    let topics = calls.subscribe(Topics::builder(), "mailer", |_| None);
    let topics = calls.subscribe(topics, "ledger", |_| None);
    let other = calls.clone();
    let topics = topics.subscribe("order.paid", "other", move |_, _: u64| {
        other.push("other");
        async { Ok::<(), String>(()) }
    });
    let published = run(topics.build().expect("topics"), shipped()).await.expect("succeeds");
    assert_eq!(published.subscribers, ["mailer", "ledger"]);
    assert_eq!(calls.take(), ["mailer 7 1", "ledger 7 1"]);
}

#[tokio::test]
async fn topics_are_compared_exactly() {
    for attack in [
        "",
        "order",
        "order.",
        "order.shipped ",
        "ORDER.SHIPPED",
        "order.*",
        "*",
        "order.shipped\0",
    ] {
        let topics = Calls::default().subscribe(Topics::builder(), "mailer", |_| None);
        let job = Event::publish(attack, &7).expect("JSON");
        // A NUL cannot even be stored.
        if !attack.contains('\0') {
            assert_refused(topics.build().expect("topics"), job, "topic_not_allowed").await;
        }
    }
}

/// One subscriber could read the payload, but neither is called.
#[tokio::test]
async fn a_payload_that_one_subscriber_cannot_read_reaches_none() {
    let calls = Calls::default();
    let topics = calls.subscribe(Topics::builder(), "mailer", |_| None);
    let text = |_, _: String| async { Ok::<(), String>(()) };
    let topics = topics.subscribe("order.shipped", "text", text).build().expect("topics");
    assert_refused(topics, shipped(), "bad_payload").await;
    assert_eq!(calls.take(), [""; 0]);
}

#[tokio::test]
async fn an_event_without_a_subscriber_is_refused_by_default() {
    let topics = Topics::builder().topic("order.shipped", NoSubscriber::default());
    assert_refused(topics.build().expect("topics"), shipped(), "no_subscriber").await;
}

#[tokio::test]
async fn an_event_without_a_subscriber_can_be_accepted() {
    let topics = Topics::builder().topic("order.shipped", NoSubscriber::Accept);
    let published = run(topics.build().expect("topics"), shipped()).await.expect("succeeds");
    assert_eq!(published, Published::default());
}

#[tokio::test]
async fn an_event_without_a_subscriber_can_be_left_for_another_process() {
    let topics = Topics::builder().topic("order.shipped", NoSubscriber::Leave);
    let topics = topics.build().expect("topics");
    let refusals = topics.refusals();
    let sandbox =
        Sandbox::builder().jobs([Event::JOB]).state(topics).build().await.expect("a sandbox");
    sandbox.enqueue(shipped()).await.expect("enqueued");
    let drained = sandbox.drain().await.expect("drained");
    assert_eq!((drained.deferred, drained.failed, refusals.total()), (1, 0, 0));
}

#[tokio::test]
async fn a_retry_calls_only_the_subscribers_that_have_failed() {
    let calls = Calls::default();
    let topics = calls.subscribe(Topics::builder(), "first", |_| None);
    let topics = calls.subscribe(topics, "second", |attempt| (attempt < 3).then(|| "down".into()));
    let topics = calls.subscribe(topics, "third", |_| None);
    let published = run(topics.build().expect("topics"), shipped()).await.expect("succeeds");
    assert_eq!(published.subscribers, ["first", "second", "third"]);
    assert_eq!(calls.take(), ["first 7 1", "second 7 1", "third 7 1", "second 7 2", "second 7 3"]);
}

#[tokio::test]
async fn a_permanent_failure_does_not_end_the_retries_of_another_subscriber() {
    let calls = Calls::default();
    let fatal = |_| Some(ratchet::failure::fatal("broken").into());
    let topics = calls.subscribe(Topics::builder(), "broken", fatal);
    let topics = calls.subscribe(topics, "slow", |attempt| (attempt == 1).then(|| "down".into()));
    let failed = run(topics.build().expect("topics"), shipped()).await.expect_err("fails");
    assert_eq!(failed.reason, TerminalReason::NonRetryable);
    assert!(failed.failure.message.contains("broken"), "{}", failed.failure.message);
    assert_eq!(calls.take(), ["broken 7 1", "slow 7 1", "broken 7 2", "slow 7 2"]);
}

#[test]
fn names_must_differ_and_must_not_be_empty() {
    let topics = Calls::default().subscribe(Topics::builder(), "mailer", |_| None);
    let error =
        Calls::default().subscribe(topics, "mailer", |_| None).build().expect_err("refused");
    assert!(matches!(error, TopicsError::Duplicate { .. }), "{error}");
    let error = Topics::builder().topic("", NoSubscriber::Accept).build().expect_err("refused");
    assert_eq!(error, TopicsError::EmptyName);
    let error = Calls::default().subscribe(Topics::builder(), "", |_| None).build();
    assert_eq!(error.expect_err("refused"), TopicsError::EmptyName);
}
