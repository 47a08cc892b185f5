//! Idempotency keys: at most one job is ever created for a key.

use ratchet_store::model::{Filter, InsertError, Inserted, JobState, NewJob, RepeatCheck};

use crate::World;
use crate::fixture::{JobExt, hours};

pub async fn s_03_repeat_returns_the_original(world: &World) {
    let first = world.submit(world.job().idempotent("once")).await;
    let again = world.try_submit(world.job().idempotent("once")).await;
    assert_eq!(again.expect("a repeat is fine"), Inserted::Duplicate(first));
}

pub async fn s_03_repeat_inserts_nothing(world: &World) {
    let first = world.submit(world.job().idempotent("once")).await;
    let repeat = world.job().idempotent("once");
    let id = repeat.id;
    world.try_submit(repeat).await.expect("a repeat is fine");
    assert_eq!(world.find(id).await, None);
    assert_eq!(world.list(Filter::any()).await, [first]);
}

pub async fn s_03_other_payload_is_a_mismatch(world: &World) {
    let first = world.submit(world.job().idempotent("once").payload(b"1")).await;
    let other = world.job().idempotent("once").payload(b"2");
    let id = other.id;
    match world.try_submit(other).await {
        Err(InsertError::IdempotencyMismatch { job, key, original }) => {
            assert_eq!((job, key.as_str(), original), (id, "once", first));
        }
        answer => panic!("{answer:?}"),
    }
}

pub async fn s_03_other_name_is_a_mismatch(world: &World) {
    world.submit(world.job().idempotent("once")).await;
    let answer = world.try_submit(world.job().idempotent("once").named("bill")).await;
    assert!(matches!(answer, Err(InsertError::IdempotencyMismatch { .. })), "{answer:?}");
}

pub async fn s_03_other_options_are_a_repeat(world: &World) {
    let first = world.submit(world.job().idempotent("once")).await;
    let again = world.job().idempotent("once").queue("other").tag("t").due_in(hours(1));
    assert_eq!(world.try_submit(again).await.expect("a repeat"), Inserted::Duplicate(first));
}

pub async fn s_03_key_belongs_to_its_tenant(world: &World) {
    world.submit(world.job().idempotent("once")).await;
    world.submit(world.job().idempotent("once").tenant("a")).await;
    let b = world.submit(world.job().idempotent("once").tenant("b")).await;
    let again = world.try_submit(world.job().idempotent("once").tenant("b")).await;
    assert_eq!(again.expect("a repeat"), Inserted::Duplicate(b));
}

pub async fn s_03_key_survives_the_end_of_its_job(world: &World) {
    let done = world.succeeded(world.job().idempotent("1")).await;
    let failed = world.failed(world.job().idempotent("2")).await;
    let canceled = world.canceled(world.job().idempotent("3")).await;
    for (key, original) in [("1", done), ("2", failed), ("3", canceled)] {
        let again = world.try_submit(world.job().idempotent(key)).await.expect("a repeat");
        assert_eq!(again, Inserted::Duplicate(original));
    }
}

pub async fn s_03_key_survives_purge(world: &World) {
    let first = world.succeeded(world.job().idempotent("once")).await;
    world.pass(hours(1)).await;
    assert_eq!(world.purge(JobState::Succeeded, hours(1)).await, 1);
    let again = world.try_submit(world.job().idempotent("once")).await;
    assert_eq!(again.expect("a repeat"), Inserted::Duplicate(first));
}

pub async fn s_03_mismatch_is_seen_after_purge(world: &World) {
    world.succeeded(world.job().idempotent("once")).await;
    world.pass(hours(1)).await;
    world.purge(JobState::Succeeded, hours(1)).await;
    let answer = world.try_submit(world.job().idempotent("once").payload(b"other")).await;
    assert!(matches!(answer, Err(InsertError::IdempotencyMismatch { .. })), "{answer:?}");
}

pub async fn s_03_repeat_within_a_batch(world: &World) {
    let jobs = vec![world.job().idempotent("once"), world.job().idempotent("once")];
    let first = jobs[0].id;
    let answers = world.insert(jobs).await.expect("a repeat is fine");
    assert_eq!(answers, [Inserted::Created(first), Inserted::Duplicate(first)]);
    assert_eq!(world.list(Filter::any()).await, [first]);
}

pub async fn s_03_mismatch_within_a_batch(world: &World) {
    let jobs = vec![world.job().idempotent("once"), world.job().idempotent("once").payload(b"2")];
    let answer = world.insert(jobs).await;
    assert!(matches!(answer, Err(InsertError::IdempotencyMismatch { .. })), "{answer:?}");
    assert!(world.list(Filter::any()).await.is_empty());
}

pub async fn s_03_lost_answer_can_be_asked_for_again(world: &World) {
    let job = world.job().idempotent("once").key("order");
    let id = world.submit(job.clone()).await;
    assert_eq!(world.try_submit(job).await.expect("the same answer"), Inserted::Created(id));
    assert_eq!(world.list(Filter::any()).await, [id]);
}

pub async fn s_03_repeat_comes_before_a_taken_business_key(world: &World) {
    let first = world.submit(world.job().idempotent("once").key("order")).await;
    let again = world.try_submit(world.job().idempotent("once").key("order")).await;
    assert_eq!(again.expect("a repeat"), Inserted::Duplicate(first));
}

pub async fn s_03_repeat_takes_no_business_key(world: &World) {
    world.submit(world.job().idempotent("once")).await;
    world.try_submit(world.job().idempotent("once").key("order")).await.expect("a repeat");
    world.submit(world.job().key("order")).await;
}

pub async fn s_03_refused_batch_leaves_no_key_behind(world: &World) {
    world.submit(world.job().key("taken")).await;
    let batch = vec![world.job().idempotent("once"), world.job().key("taken")];
    world.insert(batch).await.expect_err("the business key is taken");
    world.submit(world.job().idempotent("once").payload(b"other")).await;
}

/// Creates a job with arguments, of which some have their default value.
fn with_defaults(world: &World, payload: &str, defaults: &[&str]) -> NewJob {
    let mut job = world.job().idempotent("once").payload(payload.as_bytes());
    let defaults = defaults.iter().map(|name| (*name).to_owned()).collect();
    job.repeat_check = RepeatCheck::WithoutDefaults(defaults);
    job
}

pub async fn k_03_arguments_are_compared_by_value(world: &World) {
    let first = r#"{"a":{"x":1,"y":"\u00e4"},"b":[1.50,1e2]}"#;
    let first = world.submit(world.job().idempotent("once").payload(first.as_bytes())).await;
    let again = r#" { "b": [1.5, 100.0], "a": { "y": "ä", "x": 1.0 } } "#;
    let again = world.try_submit(world.job().idempotent("once").payload(again.as_bytes())).await;
    assert_eq!(again.expect("a repeat"), Inserted::Duplicate(first));
    let other = br#"{"a":{"x":1,"y":"a"},"b":[1.5,100]}"#;
    let other = world.try_submit(world.job().idempotent("once").payload(other)).await;
    assert!(matches!(other, Err(InsertError::IdempotencyMismatch { .. })), "{other:?}");
}

pub async fn s_15_an_argument_with_its_default_value_does_not_count(world: &World) {
    let first = world.submit(with_defaults(world, r#"{"order":1}"#, &[])).await;
    let again = with_defaults(world, r#"{"order":1,"currency":"CHF"}"#, &["currency"]);
    assert_eq!(world.try_submit(again).await.expect("a repeat"), Inserted::Duplicate(first));
    let other = with_defaults(world, r#"{"order":1,"currency":"EUR"}"#, &[]);
    let other = world.try_submit(other).await;
    assert!(matches!(other, Err(InsertError::IdempotencyMismatch { .. })), "{other:?}");
}

pub async fn s_15_a_key_can_be_compared_alone(world: &World) {
    let first = world.submit(world.job().idempotent("once").payload(b"1")).await;
    let mut again = world.job().idempotent("once").payload(b"2").named("bill");
    again.repeat_check = RepeatCheck::KeyAlone;
    assert_eq!(world.try_submit(again).await.expect("a repeat"), Inserted::Duplicate(first));
    let other = world.try_submit(world.job().idempotent("once").payload(b"2")).await;
    assert!(matches!(other, Err(InsertError::IdempotencyMismatch { .. })), "{other:?}");
}
