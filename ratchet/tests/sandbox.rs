//! The tools for testing jobs.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ratchet::State;
use ratchet::assert_enqueued;
use ratchet::prelude::*;
use ratchet::testing::Sandbox;

#[job(name = "kit.charge")]
async fn charge(order: u64, currency: Option<String>, #[job(secret)] card: String) {
    let _ = (order, currency, card);
}

#[job(name = "kit.checkout")]
async fn checkout(#[inject] ctx: JobContext, order: u64) -> Result<(), JobError> {
    ctx.info(format!("order {order}"));
    ctx.set_progress(50.0, "half");
    let card = "4111".to_owned();
    ctx.enqueue(Charge { order, currency: None, card }).delay(Duration::from_secs(5)).await?;
    Ok(())
}

#[job(name = "kit.tidy", cron = "*/10 * * * *")]
async fn tidy(#[inject] runs: State<Arc<Mutex<u32>>>) {
    *runs.lock().expect("not poisoned") += 1;
}

fn order(order: u64, currency: Option<&str>) -> Charge {
    Charge { order, currency: currency.map(Into::into), card: "4111111111111111".into() }
}

async fn sandbox() -> Sandbox {
    Sandbox::builder().jobs([Charge::JOB]).build().await.expect("builds")
}

#[tokio::test]
async fn j_02_jobs_are_found_by_all_or_some_arguments() {
    let sandbox = sandbox().await;
    sandbox.enqueue(order(1, Some("CHF"))).await.expect("enqueues");
    sandbox.enqueue(order(2, None)).queue("slow").delay(Duration::from_mins(1)).await.expect("ok");
    assert_enqueued!(sandbox, order(1, Some("CHF")));
    assert_enqueued!(sandbox, Charge { order: 2, currency: None, card: "4111111111111111".into() });
    assert_enqueued!(sandbox, Charge { order: 1, .. });
    assert_enqueued!(sandbox, Charge { order: 1, currency: Some("CHF"), .. }, count = 1);
    assert_enqueued!(sandbox, Charge { .. }, count = 2);
    assert_enqueued!(sandbox, Charge { order: 3, .. }, count = 0);
    assert_enqueued!(
        sandbox,
        Charge { order: 2, .. },
        queue = "slow",
        delay = Duration::from_mins(1)
    );
    assert_enqueued!(sandbox.ratchet(), order(2, None), count = 1, queue = "slow",);
}

#[tokio::test]
#[should_panic(
    expected = "; these do:\n  `kit.charge` {\"card\":\"***\",\"currency\":null,\"order\":7} in queue `default`"
)]
async fn j_02_a_failed_assertion_lists_what_waits_without_secrets() {
    let sandbox = sandbox().await;
    sandbox.enqueue(order(7, None)).await.expect("enqueues");
    assert_enqueued!(sandbox, Charge { order: 1, .. });
}

#[tokio::test]
#[should_panic(expected = "1 instead of 2 job `kit.charge` waits like")]
async fn j_02_a_wrong_number_fails() {
    let sandbox = sandbox().await;
    sandbox.enqueue(order(7, None)).await.expect("enqueues");
    assert_enqueued!(sandbox, Charge { .. }, count = 2);
}

#[tokio::test]
async fn j_03_a_context_for_tests_records_what_a_handler_does() {
    let ctx = JobContext::for_test();
    checkout(ctx.clone(), 9).await.expect("succeeds");
    assert_enqueued!(ctx, Charge { order: 9, .. }, count = 1, delay = Duration::from_secs(5));
    let lines: Vec<_> = ctx.logged().into_iter().map(|line| line.message).collect();
    assert_eq!(lines, ["order 9"]);
    assert_eq!(ctx.progress().expect("reported").message, "half");
    assert_eq!((ctx.crashes(), ctx.deferrals(), ctx.generation()), (0, 0, 1));
}

#[tokio::test]
async fn j_01_schedules_move_with_the_clock_of_the_sandbox() {
    let runs = Arc::new(Mutex::new(0_u32));
    let builder = Sandbox::builder().jobs([Tidy::JOB]).state(Arc::clone(&runs));
    let sandbox = builder.build().await.expect("builds");
    assert_eq!(sandbox.drain().await.expect("drains").runs(), 0);
    let drained = sandbox.drain_for(Duration::from_hours(1)).await.expect("drains");
    assert_eq!((drained.succeeded, *runs.lock().expect("not poisoned")), (6, 6));
    sandbox.advance(Duration::from_mins(10));
    assert_eq!(sandbox.drain().await.expect("drains").succeeded, 1);
}

/// At most one digest per user and hour.
#[job(idempotency_key = "digest-{user}", idempotency_within = "1h")]
async fn digest(user: u32) {
    let _ = user;
}

#[tokio::test]
async fn s_15_a_declared_key_expires() {
    let sandbox =
        Sandbox::builder().jobs([Digest::JOB, Charge::JOB]).build().await.expect("builds");
    let half = Duration::from_mins(30);
    let first = sandbox.enqueue(Digest { user: 1 }).await.expect("enqueues").id();
    sandbox.advance(half);
    assert_eq!(sandbox.enqueue(Digest { user: 1 }).await.expect("is a repeat").id(), first);
    sandbox.advance(half);
    let second = sandbox.enqueue(Digest { user: 1 }).within(half).await.expect("enqueues").id();
    assert_ne!(second, first);
    sandbox.advance(half);
    let third = sandbox.enqueue(Digest { user: 1 }).await.expect("enqueues").id();
    assert_ne!(third, second, "the call has set a shorter time");

    let ratchet = sandbox.ratchet();
    let graphs = async || {
        let chain = ratchet.chain(Digest { user: 2 }).idempotency_key("chain").within(half);
        let batch = ratchet.batch("b").job(Digest { user: 3 });
        let batch = batch.idempotency_key("batch").within(half).await.expect("submits");
        let mut flow = ratchet.workflow("w");
        flow.step("only", Digest { user: 4 }, |step| step);
        flow.idempotency_key("flow").within(half);
        let flow = flow.await.expect("submits");
        [chain.await.expect("submits").id(), batch.id(), flow.id()]
    };
    let before = graphs().await;
    assert_eq!(graphs().await, before, "they are repeats");
    sandbox.advance(Duration::from_hours(1));
    assert!(graphs().await.iter().zip(before).all(|(now, before)| *now != before));

    let zero = sandbox.enqueue(Digest { user: 9 }).within(Duration::ZERO).await;
    let zero = zero.expect_err("it would expire at once").to_string();
    assert!(zero.contains("`within` must be longer than zero"), "{zero}");
    let without = sandbox.enqueue(order(9, None)).within(half).await.expect_err("has no key");
    assert!(without.to_string().contains("`within` needs an `idempotency_key`"), "{without}");
}
