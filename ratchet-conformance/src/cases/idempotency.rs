//! Idempotency keys: at most one job is ever created for a key.

use std::collections::BTreeSet;

use ratchet_store::model::{Filter, InsertError, Inserted, JobState, NewJob, RepeatCheck};
use tokio::task::JoinSet;

use crate::World;
use crate::fixture::{JobExt, hours, secs};

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

pub async fn s_15_a_key_expires(world: &World) {
    let once = || world.job().idempotent("once").within(hours(1));
    let first = world.submit(once()).await;
    world.pass(secs(1800)).await;
    // A repeat does not prolong the time, whatever it says.
    let again = world.try_submit(once().within(hours(9))).await.expect("a repeat");
    assert_eq!(again, Inserted::Duplicate(first));
    world.pass(secs(1800)).await;
    let second = world.submit(once()).await;
    assert_ne!(second, first, "the time is over, although the first job has not ended");
    let again = world.try_submit(once()).await.expect("a repeat");
    assert_eq!(again, Inserted::Duplicate(second), "the key counts again");
}

pub async fn s_15_an_expired_key_can_be_used_for_another_job(world: &World) {
    world.submit(world.job().idempotent("once").within(hours(1)).payload(b"1")).await;
    let other = || world.job().idempotent("once").payload(b"2");
    let refused = world.try_submit(other()).await;
    assert!(matches!(refused, Err(InsertError::IdempotencyMismatch { .. })), "{refused:?}");
    world.pass(hours(1)).await;
    let other_job = world.submit(other()).await;
    world.pass(hours(9)).await;
    let again = world.try_submit(other()).await.expect("a repeat");
    assert_eq!(again, Inserted::Duplicate(other_job), "the second use is permanent");
}

pub async fn s_15_a_permanent_key_does_not_expire_later(world: &World) {
    let first = world.submit(world.job().idempotent("once")).await;
    let brief = || world.job().idempotent("once").within(hours(1));
    world.pass(hours(2)).await;
    for _ in 0..2 {
        let again = world.try_submit(brief()).await.expect("a repeat");
        assert_eq!(again, Inserted::Duplicate(first));
        world.pass(hours(1)).await;
    }
}

pub async fn s_15_expired_keys_are_deleted(world: &World) {
    let brief = |key: &str| world.job().idempotent(key).within(hours(1));
    let gone = world.submit(brief("brief")).await;
    let kept = world.submit(world.job().idempotent("permanent")).await;
    world.pass(hours(1)).await;
    let leader = world.node().await;
    assert!(leader.try_lead(secs(10)).await);
    let again = world.try_submit(world.job().idempotent("permanent")).await.expect("a repeat");
    assert_eq!(again, Inserted::Duplicate(kept));
    assert_ne!(world.submit(brief("brief")).await, gone);
}

pub async fn s_15_a_lost_answer_can_be_requested_after_the_key_expired(world: &World) {
    let job = world.job().idempotent("once").within(hours(1));
    let first = world.submit(job.clone()).await;
    world.pass(hours(1)).await;
    let again = world.try_submit(job).await.expect("the same insert");
    assert_eq!(again, Inserted::Created(first));
}

pub async fn s_15_expired_and_free_keys_in_one_batch(world: &World) {
    let brief = |key: &str| world.job().idempotent(key).within(hours(1));
    let first = world.submit(brief("b")).await;
    let kept = world.submit(world.job().idempotent("c")).await;
    world.pass(hours(1)).await;
    let batch = vec![brief("b"), brief("a"), world.job().idempotent("c"), brief("b"), brief("d")];
    let ids: Vec<_> = batch.iter().map(|job| job.id).collect();
    let answers = world.store.insert(batch).await.expect("is inserted");
    assert_ne!(ids[0], first);
    let created = Inserted::Created;
    let expected = [
        created(ids[0]),
        created(ids[1]),
        Inserted::Duplicate(kept),
        Inserted::Duplicate(ids[0]),
        created(ids[4]),
    ];
    assert_eq!(answers, expected);
}

pub async fn s_15_of_many_uses_of_an_expired_key_one_makes_a_job(world: &World) {
    let once = || world.job().idempotent("once").within(hours(1));
    let first = world.submit(once()).await;
    world.pass(hours(1)).await;
    let mut submits = JoinSet::new();
    for _ in 0..16 {
        let (store, job) = (world.store.clone(), once());
        submits.spawn(async move { store.insert(vec![job]).await.expect("is answered")[0].id() });
    }
    let ids: BTreeSet<_> = submits.join_all().await.into_iter().collect();
    assert_eq!(ids.len(), 1, "{ids:?}");
    assert!(!ids.contains(&first));
    assert_eq!(world.list(Filter::any()).await.len(), 2);
}
