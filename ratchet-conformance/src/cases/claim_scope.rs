//! The set of jobs that a claim may return: state, queues, known jobs and the node's lease.

use ratchet_store::model::{ClaimRequest, Claimed, QueueDemand, Settled};

use crate::World;
use crate::fixture::{JobExt, RunExt, hours, secs};

pub async fn c_01_a_job_is_claimed_once(world: &World) {
    world.submit_all(world.jobs(3)).await;
    let (a, b) = (world.node().await, world.node().await);
    assert_eq!(a.claim(2).await.len(), 2);
    assert_eq!(b.claim(10).await.len(), 1);
    assert!(a.claim(10).await.is_empty());
}

pub async fn c_01_every_batch_has_a_lease_of_its_own(world: &World) {
    world.submit_all(world.jobs(3)).await;
    let node = world.node().await;
    let first = node.claim(2).await;
    let second = node.claim(1).await;
    assert_eq!(first[0].token.lease, first[1].token.lease);
    assert_ne!(first[0].token.lease, second[0].token.lease);
}

pub async fn c_03_other_queues_are_left(world: &World) {
    let other = world.submit(world.job().queue("other")).await;
    assert!(world.node().await.claim(10).await.is_empty());
    assert_eq!(world.node().await.serving(&["other"]).claim_ids(10).await, [other]);
}

pub async fn c_03_unknown_name_is_left_for_others(world: &World) {
    let strange = world.submit(world.job().named("strange")).await;
    assert!(world.node().await.claim(10).await.is_empty());
    let knows = world.node().await.knowing(&[("strange", 1)]);
    assert_eq!(knows.claim_ids(10).await, [strange]);
}

pub async fn c_03_unknown_names_do_not_block_the_queue(world: &World) {
    let strange = world.jobs(200).into_iter().map(|job| job.named("strange")).collect();
    world.submit_all(strange).await;
    world.pass(secs(1)).await;
    let known = world.submit(world.job()).await;
    assert_eq!(world.node().await.claim_ids(1).await, [known]);
}

pub async fn c_03_a_known_name_is_found_among_many_unknown_ones(world: &World) {
    let strange: Vec<_> = (0..500).map(|n| world.job().named(&format!("strange-{n}"))).collect();
    let jobs = world.submit_all(strange).await;
    world.pass(secs(1)).await;
    let known = world.submit(world.job()).await;
    let node = world.node().await;
    assert_eq!(node.claim_ids(1).await, [known]);
    // Other nodes have passed over these jobs.
    let knows = world.node().await.knowing(&[("mail", 1), ("strange-444", 1), ("strange-3", 1)]);
    assert_eq!(knows.claim_ids(10).await, [jobs[3], jobs[444]]);
    assert!(knows.claim(10).await.is_empty());
}

pub async fn c_03_newer_version_is_left(world: &World) {
    let newer = world.submit(world.job().version(3)).await;
    let node = world.node().await;
    assert!(node.clone().knowing(&[("mail", 2)]).claim(10).await.is_empty());
    assert_eq!(node.knowing(&[("mail", 3)]).claim_ids(10).await, [newer]);
}

pub async fn c_03_older_version_is_taken(world: &World) {
    let older = world.submit(world.job().version(1)).await;
    let node = world.node().await.knowing(&[("mail", 2)]);
    assert_eq!(node.claim_ids(10).await, [older]);
}

pub async fn c_03_the_limit_is_honored(world: &World) {
    world.submit_all(world.jobs(10)).await;
    let node = world.node().await;
    assert_eq!(node.claim(4).await.len(), 4);
    assert_eq!(node.claim(0).await.len(), 0);
    assert_eq!(node.claim(100).await.len(), 6);
}

pub async fn c_03_each_queue_has_its_own_room(world: &World) {
    let node = world.node().await.serving(&["a", "b", "c"]);
    for queue in ["a", "b", "c"] {
        world.submit_all(world.jobs(5).into_iter().map(|job| job.queue(queue)).collect()).await;
    }
    let demand = |queue: &str, limit| QueueDemand { queue: queue.to_owned(), limit };
    let queues = vec![demand("a", 3), demand("b", 1), demand("c", 0)];
    let jobs = node.ask(ClaimRequest { queues, ..node.request(0) }).await.jobs;
    let count = |queue: &str| jobs.iter().filter(|job| job.spec.queue == queue).count();
    assert_eq!((count("a"), count("b"), count("c")), (3, 1, 0));
}

pub async fn c_04_claim_carries_node_time_and_attempt(world: &World) {
    let node = world.node().await;
    let id = world.submit(world.job()).await;
    world.pass(secs(30)).await;
    let run = node.claim_one().await;
    let job = world.get(id).await;
    assert_eq!((run.node, run.attempt(), run.run, run.generation), (node.id, 1, 1, 1));
    assert_eq!((run.attempts, run.crashes, run.deferrals), (0, 0, 0));
    assert_eq!((run.due, run.queued_at), (job.due, job.queued_at));
    assert_eq!((job.node, job.started_at), (Some(node.id), Some(run.claimed_at)));
    assert_eq!(job.queue_wait, Some(run.queue_wait()));
    assert!(run.queue_wait() >= secs(30));
}

pub async fn c_04_attempt_follows_the_failures(world: &World) {
    let node = world.node().await;
    let first = world.run_on(&node, world.job()).await;
    world.apply(first.retry(secs(0))).await;
    let second = node.claim_one().await;
    assert_eq!((second.attempts, second.attempt(), second.run), (1, 2, 2));
}

pub async fn c_04_run_never_repeats(world: &World) {
    let node = world.node().await;
    let mut run = world.run_on(&node, world.job()).await;
    let mut runs = vec![run.run];
    world.apply(run.release()).await;
    run = node.claim_one().await;
    runs.push(run.run);
    world.apply(run.fail()).await;
    world.retry(run.id()).await;
    run = node.claim_one().await;
    runs.push(run.run);
    assert_eq!(runs, [1, 2, 3]);
}

pub async fn c_06_only_pending_jobs_are_claimed(world: &World) {
    world.succeeded(world.job()).await;
    world.failed(world.job()).await;
    world.canceled(world.job()).await;
    world.run(world.job()).await;
    let paused = world.submit(world.job()).await;
    world.pause(paused).await;
    world.submit(world.job().due_in(hours(1))).await;
    assert!(world.node().await.claim(10).await.is_empty());
}

pub async fn p_03_node_that_never_joined_gets_nothing(world: &World) {
    world.submit(world.job()).await;
    assert!(world.stranger().claim(10).await.is_empty());
}

pub async fn p_03_node_without_a_lease_gets_nothing(world: &World) {
    let node = world.mortal(secs(15)).await;
    let id = world.submit(world.job()).await;
    world.pass(secs(15)).await;
    assert!(node.claim(10).await.is_empty());
    assert_eq!(world.node().await.claim_ids(10).await, [id]);
}

pub async fn p_04_node_that_left_gets_nothing(world: &World) {
    let node = world.node().await;
    world.submit(world.job()).await;
    node.leave().await;
    assert!(node.claim(10).await.is_empty());
}

pub async fn x_08_settle_and_claim_does_both(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, world.job()).await;
    let next = world.submit(world.job()).await;
    let both = world.store.settle_and_claim(vec![run.succeed()], node.request(5)).await;
    let (settled, claimed) = both.expect("both are answered");
    assert!(matches!(settled[..], [Settled::Applied(_)]));
    assert_eq!(claimed.jobs.iter().map(Claimed::id).collect::<Vec<_>>(), [next]);
}

pub async fn x_08_settle_and_claim_loses_nothing(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, world.job()).await;
    let both = world.store.settle_and_claim(vec![run.release()], node.request(5)).await;
    // A store that does both in one statement may not see the released job until the next claim.
    let (_, claimed) = both.expect("both are answered");
    let after = node.claim(5).await;
    assert_eq!(claimed.jobs.len() + after.len(), 1);
}
