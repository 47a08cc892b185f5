//! Explanations of why a job waits, derived from the state of the store.

use std::collections::BTreeMap;

use ratchet_core::JobState;
use ratchet_store::model::{BreakerUpdate, JobId, JobRecord, QueueLimits, QueueUpdate, Rate};
use ratchet_store::rules::{Explanation, Waiting};

use super::invariants::amid_chaos;
use crate::World;
use crate::fixture::{JobExt, Node, RunExt, secs};

async fn why(world: &World, id: JobId) -> Explanation {
    let around = world.store.claim_context(id).await.expect("the store knows");
    around.expect("the job exists").explain(2)
}

async fn waits(world: &World, id: JobId) -> Waiting {
    match why(world, id).await {
        Explanation::Waits(mut reasons) if reasons.len() == 1 => reasons.remove(0),
        other => panic!("one reason, not {other:?}"),
    }
}

/// Joins a node that serves the queue and knows the jobs of these cases.
async fn worker(world: &World) -> Node {
    world.node().await
}

async fn limit(world: &World, limits: QueueLimits) {
    let order = QueueUpdate::Limit(limits);
    world.store.update_queue("default", order).await.expect("is applied");
}

pub async fn q_04_all_clear(world: &World) {
    worker(world).await;
    let job = world.submit(world.job()).await;
    assert_eq!(why(world, job).await, Explanation::AllClear);
}

pub async fn q_04_unknown_job_has_no_surroundings(world: &World) {
    let around = world.store.claim_context(world.unknown_id()).await.expect("the store knows");
    assert!(around.is_none());
}

pub async fn q_04_not_waiting(world: &World) {
    let run = world.run(world.job()).await;
    assert_eq!(why(world, run.id()).await, Explanation::NotWaiting(JobState::Running));
    world.apply(run.succeed()).await;
    assert_eq!(why(world, run.id()).await, Explanation::NotWaiting(JobState::Succeeded));
}

pub async fn q_04_not_due(world: &World) {
    worker(world).await;
    let job = world.submit(world.job().due_in(secs(60))).await;
    let due = world.get(job).await.due;
    assert_eq!(waits(world, job).await, Waiting::NotDue { due });
}

pub async fn q_04_queue_paused(world: &World) {
    worker(world).await;
    let job = world.submit(world.job()).await;
    world.store.update_queue("default", QueueUpdate::Pause).await.expect("is applied");
    assert_eq!(waits(world, job).await, Waiting::QueuePaused { queue: "default".to_owned() });
}

pub async fn q_04_queue_full(world: &World) {
    let mut limits = QueueLimits::default();
    limits.concurrency = Some(1);
    limit(world, limits).await;
    world.run(world.job()).await;
    let job = world.submit(world.job()).await;
    let queue = "default".to_owned();
    assert_eq!(waits(world, job).await, Waiting::QueueFull { queue, limit: 1 });
}

pub async fn q_04_rate_spent(world: &World) {
    let mut limits = QueueLimits::default();
    limits.rate = Some(Rate { jobs: 1, per: secs(60) });
    limit(world, limits).await;
    world.run(world.job()).await;
    let job = world.submit(world.job()).await;
    let Waiting::RateLimited { queue, until } = waits(world, job).await else { panic!("the rate") };
    assert_eq!(queue, "default");
    assert!(until > world.now().await);
    world.pass(secs(61)).await;
    assert_eq!(why(world, job).await, Explanation::AllClear);
}

pub async fn q_04_rate_of_the_key_spent(world: &World) {
    let mut limits = QueueLimits::default();
    limits.rate_per_key = Some(Rate { jobs: 1, per: secs(60) });
    limit(world, limits).await;
    world.run(world.job().at_most(9, "acme")).await;
    let job = world.submit(world.job().at_most(9, "acme")).await;
    let waiting = waits(world, job).await;
    let Waiting::KeyRateLimited { queue, key, until } = &waiting else { panic!("{waiting:?}") };
    assert_eq!((queue.as_str(), key.as_str()), ("default", "acme"));
    assert!(*until > world.now().await);
    let text = waiting.to_string();
    assert!(
        text.starts_with("the rate of its concurrency key `acme` in queue `default`"),
        "{text}"
    );
    assert!(worker(world).await.claim(9).await.is_empty());
    assert_eq!(waits(world, job).await, waiting, "also when a claim has passed over it");
    world.pass(secs(61)).await;
    assert_eq!(why(world, job).await, Explanation::AllClear);
}

pub async fn q_04_key_held_by(world: &World) {
    let run = world.run(world.job().at_most(1, "gateway")).await;
    let job = world.submit(world.job().at_most(1, "gateway")).await;
    let held = Waiting::KeyHeld { key: "gateway".to_owned(), limit: 1, holders: vec![run.id()] };
    assert_eq!(waits(world, job).await, held);
    world.apply(run.succeed()).await;
    assert_eq!(why(world, job).await, Explanation::AllClear);
}

pub async fn q_04_breaker_open(world: &World) {
    worker(world).await;
    let job = world.submit(world.job().service("pay")).await;
    assert_eq!(why(world, job).await, Explanation::AllClear);
    let order = BreakerUpdate::Open(None);
    world.store.update_breaker("pay", order).await.expect("is applied");
    let open = Waiting::BreakerOpen { service: "pay".to_owned(), until: None };
    assert_eq!(waits(world, job).await, open);
}

pub async fn q_04_breaker_probing(world: &World) {
    let order = BreakerUpdate::Open(Some(secs(30)));
    world.store.update_breaker("pay", order).await.expect("is applied");
    world.submit_all((0..4).map(|_| world.job().service("pay")).collect()).await;
    world.pass(secs(31)).await;
    assert_eq!(worker(world).await.claim(10).await.len(), 3);
    let job = world.submit(world.job().service("pay")).await;
    let probing = Waiting::BreakerProbing { service: "pay".to_owned(), probing: 3 };
    assert_eq!(waits(world, job).await, probing);
}

pub async fn q_04_no_worker_knows_it(world: &World) {
    worker(world).await;
    let job = world.submit(world.job().version(7)).await;
    let unknown = Waiting::NoWorkerKnowsIt { name: "mail".to_owned(), version: 7 };
    assert_eq!(waits(world, job).await, unknown);
}

pub async fn q_04_no_worker_serves_it(world: &World) {
    worker(world).await;
    let job = world.submit(world.job().queue("other")).await;
    let unserved = Waiting::NoWorkerServesIt { queue: "other".to_owned() };
    assert_eq!(waits(world, job).await, unserved);
}

pub async fn q_04_a_dead_worker_is_none(world: &World) {
    world.mortal(secs(10)).await;
    let job = world.submit(world.job()).await;
    assert_eq!(why(world, job).await, Explanation::AllClear);
    world.pass(secs(11)).await;
    assert!(matches!(waits(world, job).await, Waiting::NoWorkerKnowsIt { .. }));
}

pub async fn q_04_must_run_alone(world: &World) {
    let node = worker(world).await;
    let run = world.run_on(&node, world.job()).await;
    world.apply(run.rescue(2)).await;
    assert_eq!(waits(world, run.id()).await, Waiting::MustRunAlone { crashes: 2 });
}

pub async fn q_04_all_reasons_are_told(world: &World) {
    let job = world.submit(world.job().queue("other").due_in(secs(9)).version(3)).await;
    let Explanation::Waits(reasons) = why(world, job).await else { panic!("it waits") };
    assert_eq!(reasons.len(), 2, "{reasons:?}");
}

/// A job must be claimed exactly if `explain` reports it as clear.
pub async fn q_04_the_answer_is_the_claims_own(world: &World) {
    let mut limits = QueueLimits::default();
    limits.concurrency = Some(3);
    limit(world, limits).await;
    world.store.update_breaker("pay", BreakerUpdate::Open(None)).await.expect("is applied");
    let node = worker(world).await;
    world.run_on(&node, world.job().at_most(1, "gateway")).await;
    let clear = world.submit(world.job()).await;
    let jobs = [
        world.job().at_most(1, "gateway"),
        world.job().service("pay"),
        world.job().due_in(secs(60)),
        world.job().version(9),
    ];
    let mut held = Vec::new();
    for job in jobs {
        held.push(world.submit(job).await);
    }
    assert_eq!(why(world, clear).await, Explanation::AllClear);
    for job in &held {
        assert!(matches!(why(world, *job).await, Explanation::Waits(_)));
    }
    assert_eq!(node.claim_ids(10).await, [clear]);
}

/// After random operations, a claim of one job per queue must take a job that `explain` called clear, and must take one
/// if there is one.
pub async fn q_04_what_explain_calls_clear_is_claimed_next(world: &World) {
    amid_chaos(world, 10, claims_what_is_clear).await;
}

async fn claims_what_is_clear(world: &World, jobs: Vec<JobRecord>) {
    for queue in ["default", "other"] {
        let node = world.stranger().serving(&[queue]).knowing(&[("mail", 2), ("bill", 1)]);
        node.join(secs(60)).await;
        let mut explained = BTreeMap::new();
        let waits = |job: &&JobRecord| job.spec.queue == queue && job.state == JobState::Pending;
        for job in jobs.iter().filter(waits) {
            explained.insert(job.id, why(world, job.id).await);
        }
        let clear = explained.values().any(|why| *why == Explanation::AllClear);
        let claimed = node.claim(1).await.pop();
        assert!(claimed.is_some() || !clear, "{queue}: nothing was claimed of {explained:?}");
        if let Some(run) = claimed {
            // On a store with a real clock a gate may open after the explanation.
            let now = world.now().await;
            let opened = |reason: &Waiting| match reason {
                Waiting::NotDue { due } => *due <= now,
                Waiting::RateLimited { until, .. }
                | Waiting::KeyRateLimited { until, .. }
                | Waiting::BreakerOpen { until: Some(until), .. } => *until <= now,
                _ => false,
            };
            match &explained[&run.id()] {
                Explanation::AllClear => {}
                Explanation::Waits(reasons) if reasons.iter().all(opened) => {}
                other => panic!("{} was claimed, but {other}", run.id()),
            }
            world.apply(run.release()).await;
        }
        node.leave().await;
    }
}
