//! Typed upgrade functions for the payloads of older versions.
#![allow(clippy::needless_pass_by_value)] // an upgrade function owns the old arguments

use std::sync::{Arc, Mutex};

use ratchet::contract::{LockMode, check_lock, describe};
use ratchet::definition::Registration;
use ratchet::prelude::*;
use ratchet::{JobState, MemoryStore, State};
use serde::Deserialize;

type Seen = Arc<Mutex<Vec<String>>>;

mod v1 {
    use super::*;

    #[job(name = "shop.charge")]
    pub(crate) async fn charge(order: u64, amount: String) {
        let _ = (order, amount);
    }
}

mod v2 {
    use super::*;

    #[job(name = "shop.charge", version = 2)]
    pub(crate) async fn charge(order: u64, cents: u64) {
        let _ = (order, cents);
    }
}

#[derive(Deserialize)]
struct ChargeV1 {
    order: u64,
    amount: String,
}

#[derive(Deserialize)]
struct ChargeV2 {
    order: u64,
    cents: u64,
}

fn from_v1(old: ChargeV1) -> Result<Charge, String> {
    let amount: f64 = old.amount.parse().map_err(|_| format!("`{}` is no amount", old.amount))?;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // small amounts
    let cents = (amount * 100.0) as u64;
    Ok(from_v2(ChargeV2 { order: old.order, cents }))
}

fn from_v2(old: ChargeV2) -> Charge {
    Charge { order: format!("order-{}", old.order), cents: old.cents }
}

#[job(name = "shop.charge", version = 3, upgrade(1 => from_v1, 2 => from_v2), strict, max_retries = 0)]
async fn charge(order: String, cents: u64, #[inject] seen: State<Seen>) {
    seen.lock().expect("not poisoned").push(format!("{order}: {cents}"));
}

/// Without the jobs of version 1.
mod short {
    use super::*;

    fn from_v2(old: ChargeV2) -> Charge {
        Charge { order: old.order.to_string(), cents: old.cents }
    }

    #[job(name = "shop.charge", version = 3, oldest = 2, upgrade(2 => from_v2))]
    pub(crate) async fn charge(order: String, cents: u64) {
        let _ = (order, cents);
    }
}

fn refusal(job: &Registration, version: u32, payload: &str) -> String {
    let refused = job.prepare_version(version, payload.as_bytes()).err();
    refused.map_or_else(|| "accepted".to_owned(), |error| error.to_string())
}

#[tokio::test]
async fn u_05_rows_of_every_version_run_with_the_present_arguments() {
    let store = Arc::new(MemoryStore::new());
    let old = Ratchet::builder_shared(store.clone())
        .jobs([v1::Charge::JOB])
        .build()
        .await
        .expect("builds");
    old.enqueue(v1::Charge::new(1, "1.5")).await.expect("enqueues");
    let refused = old.enqueue(v1::Charge::new(2, "much")).await.expect("enqueues");
    let middle = Ratchet::builder_shared(store.clone())
        .jobs([v2::Charge::JOB])
        .build()
        .await
        .expect("builds");
    middle.enqueue(v2::Charge::new(3, 300)).await.expect("enqueues");
    let seen = Seen::default();
    let new = Ratchet::builder_shared(store)
        .jobs([Charge::JOB])
        .state(seen.clone())
        .build()
        .await
        .expect("builds");
    let last = new.enqueue(Charge::new("order-4", 400)).await.expect("enqueues");
    let worker = new.start().await.expect("starts");
    last.wait().await.expect("runs");
    let job = loop {
        let job = new.jobs().get(refused.id()).await.expect("reads").expect("exists");
        if job.state == JobState::Failed && seen.lock().expect("not poisoned").len() == 3 {
            break job;
        }
        tokio::task::yield_now().await;
    };
    worker.stop().await;
    let mut seen = seen.lock().expect("not poisoned").clone();
    seen.sort();
    assert_eq!(seen, ["order-1: 150", "order-3: 300", "order-4: 400"]);
    let failure = job.envelope.expect("an envelope").failure;
    assert_eq!(failure.message, "cannot upgrade the arguments of version 1: `much` is no amount");
    assert_eq!(job.attempts, 1, "it is not retried");
}

#[test]
fn u_05_what_an_upgrade_cannot_read_names_the_version() {
    let message = refusal(&Charge::JOB, 2, r#"{"order": 1}"#);
    assert!(
        message.starts_with("cannot upgrade the arguments of version 2: missing field `cents`"),
        "{message}"
    );
    let message = refusal(&short::Charge::JOB, 1, r#"{"order": 1, "amount": "2"}"#);
    assert!(
        message.starts_with("the arguments have version 1, and the oldest that is upgraded is 2"),
        "{message}"
    );
    assert_eq!(refusal(&short::Charge::JOB, 2, r#"{"order": 1, "cents": 2}"#), "accepted");
    assert_eq!(refusal(&Charge::JOB, 3, r#"{"order": "1", "cents": 2}"#), "accepted");
    let message = refusal(&Charge::JOB, 3, r#"{"order": 1, "cents": 2}"#);
    assert!(message.starts_with("cannot decode argument `order`"), "{message}");
}

#[test]
fn u_05_the_lock_test_runs_old_examples_through_the_upgrades() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ratchet.lock");
    check_lock(&path, &[v1::Charge::JOB], LockMode::Update).expect("writes");
    let failure = check_lock(&path, &[v2::Charge::JOB], LockMode::Update).expect_err("strands");
    assert!(failure.to_string().contains("version = 2, upgrade(1 => …)"), "{failure}");
    // The example is no amount, and the upgrade says so.
    let failure = check_lock(&path, &[Charge::JOB], LockMode::Update).expect_err("strands");
    assert!(failure.to_string().contains("`` is no amount"), "{failure}");
    let text = std::fs::read_to_string(&path).expect("reads");
    std::fs::write(&path, text.replace(r#""amount":"""#, r#""amount":"2.5""#)).expect("writes");
    assert!(check_lock(&path, &[Charge::JOB], LockMode::Update).expect("upgrades").written);
    let text = std::fs::read_to_string(&path).expect("reads");
    assert!(text.contains("  version 3\n  upgrades from 1\n"), "{text}");
    assert!(text.contains(r#"payload 1 {"amount":"2.5","order":1}"#), "{text}");
    let failure = check_lock(&path, &[short::Charge::JOB], LockMode::Update).expect_err("strands");
    assert!(failure.to_string().contains("the oldest that is upgraded is 2"), "{failure}");
    assert_eq!(describe([short::Charge::JOB]).contract.jobs["shop.charge"].upgrades_from, Some(2));
}
