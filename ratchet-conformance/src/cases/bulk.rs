//! Bulk inserts: either all jobs are inserted or none.

use ratchet_store::model::{Filter, InsertError, Inserted, JobState, TakenKey};

use crate::World;
use crate::fixture::JobExt;

pub async fn s_06_thousands_at_once_in_order(world: &World) {
    let jobs = world.jobs(3000);
    let wanted: Vec<_> = jobs.iter().map(|job| Inserted::Created(job.id)).collect();
    assert_eq!(world.insert(jobs).await.expect("a batch"), wanted);
    assert_eq!(world.counts().await.on("default", JobState::Pending), 3000);
}

pub async fn s_06_all_or_nothing(world: &World) {
    let holder = world.submit(world.job().key("taken")).await;
    let batch = vec![world.job(), world.job().key("taken"), world.job().key("free")];
    world.insert(batch).await.expect_err("one key is taken");
    assert_eq!(world.list(Filter::any()).await, [holder]);
    world.submit(world.job().key("free")).await;
}

pub async fn s_06_every_taken_key_is_listed(world: &World) {
    let a = world.submit(world.job().key("a")).await;
    let b = world.submit(world.job().key("b")).await;
    let batch = vec![world.job().key("b"), world.job().key("c"), world.job().key("a")];
    let wanted = [
        TakenKey { job: batch[0].id, key: "b".to_owned(), holder: b },
        TakenKey { job: batch[2].id, key: "a".to_owned(), holder: a },
    ];
    match world.insert(batch).await {
        Err(InsertError::BusinessKeysTaken(taken)) => assert_eq!(taken, wanted),
        answer => panic!("{answer:?}"),
    }
}

pub async fn s_06_key_taken_within_the_batch(world: &World) {
    let batch = vec![world.job().key("k"), world.job().key("k")];
    let (first, second) = (batch[0].id, batch[1].id);
    match world.insert(batch).await {
        Err(InsertError::BusinessKeysTaken(taken)) => {
            assert_eq!(taken, [TakenKey { job: second, key: "k".to_owned(), holder: first }]);
        }
        answer => panic!("{answer:?}"),
    }
    assert!(world.list(Filter::any()).await.is_empty());
}

pub async fn s_06_holder_within_the_batch(world: &World) {
    let batch = vec![world.job().key("k"), world.job().key("k").or_holder(), world.job()];
    let (first, last) = (batch[0].id, batch[2].id);
    let answers = world.insert(batch).await.expect("the holder was asked for");
    assert_eq!(
        answers,
        [Inserted::Created(first), Inserted::Holder(first), Inserted::Created(last)]
    );
}

pub async fn s_06_repeats_do_not_stop_the_batch(world: &World) {
    let original = world.submit(world.job().idempotent("once")).await;
    let batch = vec![world.job(), world.job().idempotent("once"), world.job()];
    let (a, b) = (batch[0].id, batch[2].id);
    let answers = world.insert(batch).await.expect("a repeat is fine");
    assert_eq!(
        answers,
        [Inserted::Created(a), Inserted::Duplicate(original), Inserted::Created(b)]
    );
}
