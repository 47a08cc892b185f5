//! Tests of invocations: encoding, decoding, keys and validation, and direct calls of the function.
#![allow(clippy::unused_async)] // these jobs do not await anything

use std::collections::BTreeMap;

use ratchet::__private::{decode, encode};
use ratchet::definition::{JobInvocationResolver, PrepareError, Registry};
use ratchet::{Job, JobContext, State, job, jobs};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Order {
    id: u64,
    lines: Vec<String>,
}

#[job(
    derive(Debug, Clone, PartialEq),
    business_key = "order-{order.id}",
    idempotency_key = "{{{r#type}}}/{pair.1}",
    concurrency_key = "shop",
    concurrency_limit = 1
)]
async fn ship(
    order: Order,
    r#type: String,
    pair: (u8, u8),
    notes: BTreeMap<String, Option<f64>>,
) -> u64 {
    drop((r#type, pair, notes));
    order.id
}

#[job(derive(Debug, PartialEq))]
async fn resize(
    width: u32,
    height: Option<u32>,
    #[job(default)] tags: Vec<String>,
    #[job(default = "png".to_owned())] format: String,
) {
    drop((width, height, tags, format));
}

#[job(single_instance)]
async fn reindex() {}

fn check(pay: &Pay) -> Result<(), String> {
    if pay.cents == 0 { Err("nothing to pay".to_owned()) } else { Ok(()) }
}

#[job(validate = check)]
async fn pay(cents: u32) {
    let _ = cents;
}

#[derive(Debug)]
struct Counter {
    start: u64,
}

#[job]
async fn count(
    #[inject] ctx: JobContext,
    #[inject] counter: State<Counter>,
    by: u64,
) -> Result<u64, std::io::Error> {
    drop(ctx);
    Ok(counter.start + by)
}

#[jobs]
impl Counter {
    #[job]
    async fn add(&self, by: u64) -> u64 {
        self.start + by
    }
}

fn order() -> Ship {
    let notes = BTreeMap::from([("a".to_owned(), Some(0.5)), ("b \" \\".to_owned(), None)]);
    let order = Order { id: 42, lines: vec!["pear".to_owned(), "\u{1F350}\n".to_owned()] };
    Ship { order, r#type: "express".to_owned(), pair: (1, 2), notes }
}

#[test]
fn an_invocation_is_read_back_as_it_was_written() {
    let payload = encode(&order()).expect("it encodes");
    assert_eq!(decode::<Ship>(&payload).expect("it decodes"), order());
}

#[test]
fn the_payload_is_an_object_of_the_arguments() {
    let payload = encode(&Resize { width: 5, height: None, tags: vec![], format: "gif".into() });
    let payload = String::from_utf8(payload.expect("it encodes")).expect("it is text");
    assert_eq!(payload, r#"{"width":5,"height":null,"tags":[],"format":"gif"}"#);
    assert_eq!(encode(&Reindex).expect("it encodes"), b"{}");
}

#[test]
fn rows_written_before_an_argument_existed_are_filled_in() {
    let resized = decode::<Resize>(br#"{"width":5}"#).expect("it decodes");
    let expected = Resize { width: 5, height: None, tags: vec![], format: "png".to_owned() };
    assert_eq!(resized, expected);
}

#[test]
fn a_required_argument_that_is_missing_is_named() {
    let error = decode::<Resize>(br#"{"height":5}"#).expect_err("it lacks one").to_string();
    assert!(error.contains("`width`"), "{error}");
    let error = decode::<Resize>(br#"{"width":"wide"}"#).expect_err("it is no number").to_string();
    assert!(error.contains("`width`"), "{error}");
}

#[test]
fn s_05_templates_are_filled_from_the_arguments() {
    // spec: S-05
    let keys = order().keys();
    assert_eq!(keys.business.as_deref(), Some("order-42"));
    assert_eq!(keys.idempotency.as_deref(), Some("{express}/2"));
    assert_eq!(keys.concurrency.as_deref(), Some("shop"));
}

#[test]
fn s_05_a_job_without_templates_has_no_keys() {
    // spec: S-05
    let keys = Pay { cents: 1 }.keys();
    assert_eq!((keys.business, keys.idempotency, keys.concurrency), (None, None, None));
}

#[test]
fn a_single_instance_is_limited_by_its_name() {
    assert_eq!(Reindex.keys().concurrency.as_deref(), Some("ratchet-jobs.reindex"));
    assert_eq!(Reindex::DEF.concurrency_limit, Some(1));
}

#[test]
fn s_11_validation_refuses_at_both_ends() {
    // spec: S-11
    assert_eq!(Pay { cents: 0 }.validate(), Err("nothing to pay".to_owned()));
    assert_eq!(Pay { cents: 1 }.validate(), Ok(()));
    let registry = Registry::collect().expect("no clashes");
    let pay = registry.resolve("ratchet-jobs.pay").expect("it is registered");
    let refused = pay.prepare(br#"{"cents":0}"#).err();
    assert!(matches!(refused, Some(PrepareError::Refused(why)) if why == "nothing to pay"));
    assert!(pay.prepare(br#"{"cents":1}"#).is_ok());
}

#[tokio::test]
async fn the_bare_function_runs_without_a_runtime() {
    // spec: S-01
    let counter = State::new(Counter { start: 40 });
    assert_eq!(count(JobContext::for_test(), counter.clone(), 2).await.expect("it counts"), 42);
    assert_eq!(counter.add(3).await, 43);
    assert_eq!(ship(order().order, String::new(), (0, 0), BTreeMap::new()).await, 42);
}

#[test]
fn x_06_a_state_that_is_not_registered_is_named() {
    // spec: X-06
    let error = Count { by: 1 }.run(JobContext::for_test()).expect_err("there is no counter");
    assert!(error.to_string().contains("State<Counter>"), "{error}");
    let error = CounterAdd { by: 1 }.run(JobContext::for_test()).expect_err("there is no counter");
    assert!(error.to_string().contains("State<Counter>"), "{error}");
}
