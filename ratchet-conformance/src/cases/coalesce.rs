//! Submits that coalesce with the holder of their business key.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ratchet_core::JobState;
use ratchet_store::model::{Debounce, InsertError, Inserted, JobId, NewJob};
use tokio::task::JoinSet;

use super::concurrency::race;
use crate::World;
use crate::fixture::{JobExt, RunExt, SettlementExt, hours, mins, secs};

/// A job that coalesces for the key `k`, and runs alone.
fn job(world: &World) -> NewJob {
    world.job().key("k").at_most(1, "serial").coalescing(None)
}

fn debounced(world: &World, wait: Duration, at_most: Duration) -> NewJob {
    let debounce = Debounce { wait, at_most };
    world.job().key("k").at_most(1, "serial").coalescing(Some(debounce)).due_in(wait)
}

async fn submit(world: &World, job: NewJob) -> Inserted {
    world.try_submit(job).await.expect("it coalesces")
}

pub async fn s_04_submits_before_the_start_are_one_job(world: &World) {
    let first = world.submit(job(world)).await;
    for _ in 0..3 {
        assert_eq!(submit(world, job(world)).await, Inserted::Holder(first));
    }
    world.pause(first).await;
    assert_eq!(submit(world, job(world)).await, Inserted::Holder(first), "it will run");
    world.resume(first).await;
    let node = world.node().await;
    assert_eq!(node.claim_ids(5).await, [first]);
}

pub async fn s_04_submits_during_a_run_make_one_more(world: &World) {
    let node = world.node().await;
    let first = world.run_on(&node, job(world)).await;
    let second = world.submit(job(world)).await;
    for _ in 0..3 {
        assert_eq!(submit(world, job(world)).await, Inserted::Holder(second));
    }
    let record = world.get(second).await;
    assert_eq!(record.spec.business_key.as_deref(), Some("k"));
    assert!(record.spec.successor);
    assert!(node.claim(5).await.is_empty(), "not while the first runs");
    world.apply(first.succeed()).await;
    assert_eq!(submit(world, job(world)).await, Inserted::Holder(second), "it has not started");
    let run = node.claim_one().await;
    assert_eq!(run.id(), second);
    let third = world.submit(job(world)).await;
    assert!(!world.get(third).await.spec.successor, "the first place is free");
    assert_eq!(submit(world, job(world)).await, Inserted::Holder(third));
    assert!(node.claim(5).await.is_empty());
    world.apply(run.succeed()).await;
    let run = node.claim_one().await;
    assert_eq!(run.id(), third);
    world.apply(run.succeed()).await;
    world.submit(job(world)).await;
}

pub async fn s_04_job_between_attempts_has_not_started(world: &World) {
    let node = world.node().await;
    let first = world.run_on(&node, job(world)).await;
    world.apply(first.retry(mins(1))).await;
    assert_eq!(submit(world, job(world)).await, Inserted::Holder(first.id()));
    world.pass(mins(1)).await;
    let again = node.claim_one().await;
    let second = world.submit(job(world)).await;
    world.apply(again.retry(mins(1))).await;
    assert_eq!(submit(world, job(world)).await, Inserted::Holder(first.id()));
    world.cancel(first.id()).await;
    assert_eq!(submit(world, job(world)).await, Inserted::Holder(second));
}

pub async fn s_04_places_of_a_key_are_freed(world: &World) {
    let node = world.node().await;
    for end in 0..4 {
        let first = world.run_on(&node, job(world)).await;
        let second = world.submit(job(world)).await;
        match end {
            0 => drop(world.cancel(second).await),
            1 => drop(world.apply(first.fail()).await),
            2 => {
                world.cancel(first.id()).await;
                assert_eq!(submit(world, job(world)).await, Inserted::Holder(second));
                assert!(node.claim(5).await.is_empty(), "the handler has not stopped");
                world.release_holds(first.token).await;
            }
            _ => drop(world.apply(first.succeed().lingering()).await),
        }
        let third = submit(world, job(world)).await;
        match end {
            0 => assert!(matches!(third, Inserted::Created(_)), "the second place is free"),
            _ => assert_eq!(third, Inserted::Holder(second)),
        }
        if end == 0 {
            world.apply(first.succeed()).await;
        } else if end == 3 {
            world.release_holds(first.token).await;
        }
        let run = node.claim_one().await;
        assert_eq!(run.id(), third.id());
        world.apply(run.succeed()).await;
        assert!(node.claim(5).await.is_empty());
    }
}

pub async fn s_04_failed_successor_takes_its_place_again(world: &World) {
    let node = world.node().await;
    let first = world.run_on(&node, job(world)).await;
    let second = world.submit(job(world)).await;
    world.apply(first.succeed()).await;
    world.apply(node.claim_one().await.fail()).await;
    world.retry(second).await;
    assert_eq!(submit(world, job(world)).await, Inserted::Holder(second));
    assert_eq!(node.claim_ids(5).await, [second]);
}

pub async fn s_04_key_coalesces_within_its_tenant(world: &World) {
    let node = world.node().await;
    let own = world.run_on(&node, job(world)).await;
    let other = world.submit(job(world).tenant("acme").at_most(1, "other")).await;
    let second = world.submit(job(world)).await;
    assert_ne!(other, second);
    assert_eq!(node.claim_ids(5).await, [other]);
    let next = world.submit(job(world).tenant("acme").at_most(1, "other")).await;
    assert_ne!(next, second);
    world.apply(own.succeed()).await;
    assert_eq!(node.claim_ids(5).await, [second]);
}

pub async fn s_04_a_third_run_of_a_key_is_refused(world: &World) {
    let node = world.node().await;
    let parallel = || world.job().key("k").coalescing(None);
    let first = world.run_on(&node, parallel()).await;
    let second = world.run_on(&node, parallel()).await;
    match world.try_submit(parallel()).await {
        Err(InsertError::BusinessKeysTaken(taken)) => assert_eq!(taken[0].holder, first.id()),
        other => panic!("two runs hold both places: {other:?}"),
    }
    world.apply(second.succeed()).await;
    world.submit(parallel()).await;
}

pub async fn s_04_children_coalesce_too(world: &World) {
    let node = world.node().await;
    let first = world.run_on(&node, job(world)).await;
    let parent = world.run_on(&node, world.job()).await;
    let (a, b) = (job(world), job(world));
    let id = a.id;
    let applied = world.apply(parent.succeed().spawning(vec![a, b])).await;
    assert_eq!(applied.spawned, [id]);
    assert!(world.get(id).await.spec.successor);
    let again = job(world);
    let id = again.id;
    world.apply(first.succeed().spawning(vec![again])).await;
    assert!(world.find(id).await.is_none(), "the job that waits is enough");
    assert_eq!(node.claim(5).await.len(), 1);
}

pub async fn s_04_debounce_moves_the_due_time(world: &World) {
    let node = world.node().await;
    let submit_again = async || submit(world, debounced(world, secs(60), secs(100))).await;
    let id = world.submit(debounced(world, secs(60), secs(100))).await;
    world.pass(secs(30)).await;
    assert_eq!(submit_again().await, Inserted::Holder(id));
    world.pass(secs(59)).await;
    assert!(node.claim(5).await.is_empty(), "a minute after the latest submit");
    assert_eq!(submit_again().await, Inserted::Holder(id));
    let job = world.get(id).await;
    let after = job.due.duration_since(job.queued_at);
    assert_eq!(after.as_secs(), 100, "the bound");
    world.pass(secs(12)).await;
    let run = node.claim_one().await;
    assert_eq!(run.id(), id);
    let second = submit_again().await;
    assert!(matches!(second, Inserted::Created(_)), "it arrived during the run");
    world.apply(run.retry(secs(0))).await;
    let due = world.get(id).await.due;
    assert_eq!(submit_again().await, Inserted::Holder(id));
    assert_eq!(world.get(id).await.due, due, "a job that was claimed is not delayed");
}

pub async fn s_04_debounce_never_hastens(world: &World) {
    let id = world.submit(debounced(world, hours(1), hours(2))).await;
    let due = world.get(id).await.due;
    submit(world, debounced(world, secs(1), secs(1))).await;
    assert_eq!(world.get(id).await.due, due);
    world.pause(id).await;
    submit(world, debounced(world, hours(2), hours(9))).await;
    world.resume(id).await;
    assert_eq!(world.get(id).await.due, due, "a paused job keeps its due time");
}

/// Submits from eight tasks at once. Returns the jobs that were created, and checks that the rest got the handle of one
/// job.
async fn burst(world: &World) -> Vec<JobId> {
    let answers = race(world, (0..8).map(|_| job(world))).await;
    let answers: Vec<_> = answers.into_iter().map(|it| it.expect("it coalesces")).collect();
    let ids: HashSet<_> = answers.iter().map(|answer| answer.id()).collect();
    assert_eq!(ids.len(), 1, "{answers:?}");
    let created = answers.iter().filter(|answer| matches!(answer, Inserted::Created(_)));
    created.map(|answer| answer.id()).collect()
}

pub async fn s_04_concurrent_submits_coalesce(world: &World) {
    let node = world.node().await;
    for _ in 0..world.harness().rounds(10) {
        assert_eq!(burst(world).await.len(), 1, "nothing holds the key");
        assert_eq!(burst(world).await.len(), 0, "a job waits");
        let run = node.claim_one().await;
        let next = burst(world).await;
        assert_eq!(next.len(), 1, "a job runs");
        assert_eq!(burst(world).await.len(), 0, "a job runs and another waits");
        world.apply(run.succeed()).await;
        let run = node.claim_one().await;
        assert_eq!(run.id(), next[0]);
        world.apply(run.succeed()).await;
        assert!(node.claim(5).await.is_empty());
    }
}

/// Each submitter writes before it submits. The run of the job that answers it must start after the write.
pub async fn s_04_every_submit_is_followed_by_a_run(world: &World) {
    const SUBMITTERS: usize = 8;
    let written = Arc::new(AtomicUsize::new(0));
    let mut submits = JoinSet::new();
    for _ in 0..SUBMITTERS {
        let jobs: Vec<_> = (0..25).map(|_| job(world)).collect();
        let (store, written) = (Arc::clone(&world.store), Arc::clone(&written));
        submits.spawn(async move {
            let mut answers = Vec::new();
            for job in jobs {
                let write = written.fetch_add(1, Ordering::SeqCst) + 1;
                let answer = store.insert(vec![job]).await.expect("it coalesces")[0];
                answers.push((write, answer));
            }
            answers
        });
    }
    let node = world.node().await;
    let (mut seen, mut answers) = (HashMap::new(), Vec::new());
    loop {
        while let Some(done) = submits.try_join_next() {
            answers.extend(done.expect("a submitter ends"));
        }
        let over = submits.is_empty();
        let runs = node.claim(5).await;
        assert!(runs.len() <= 1, "one at a time");
        for run in &runs {
            seen.insert(run.id(), written.load(Ordering::SeqCst));
            world.apply(run.succeed()).await;
        }
        if over && runs.is_empty() {
            break;
        }
        tokio::task::yield_now().await;
    }
    assert_eq!(answers.len(), SUBMITTERS * 25);
    for (write, answer) in &answers {
        let seen = seen.get(&answer.id()).expect("every job has run");
        assert!(seen >= write, "{answer:?} ran before write {write} and has seen {seen}");
    }
    let created = answers.iter().filter(|(_, answer)| matches!(answer, Inserted::Created(_)));
    assert_eq!(created.count(), seen.len(), "every job ran once");
    assert_eq!(world.counts().await.state(JobState::Succeeded), seen.len() as u64);
}
