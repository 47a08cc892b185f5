//! A claimed job must be equal to the submitted job, for every combination of properties.

use std::collections::HashMap;

use ratchet_core::Priority;
use ratchet_store::model::{JobState, NewJob, Settled};

use crate::World;
use crate::fixture::{JobExt, RunExt, secs};

/// Creates a plain job and jobs with one additional property each.
fn kinds(world: &World, round: &str) -> Vec<NewJob> {
    let job = || world.job();
    let mut kinds = vec![
        job(),
        job().payload(b""),
        job().payload(&[b'x'; 128]),
        job().payload(&[b'x'; 129]),
        job().payload(&[b'x'; 70_000]),
        job().tenant("acme"),
        job().tag("red").tag("blue"),
        job().correlation("request-7"),
        job().traced(),
        job().service("stripe"),
        job().key(&format!("order-{round}")),
        job().idempotent(&format!("once-{round}")),
        job().at_most(1, &format!("account-{round}")),
        job().unaged(),
        job().due_in(secs(1)),
    ];
    kinds.extend(Priority::ALL.map(|priority| job().priority(priority)));
    kinds
}

pub async fn c_04_a_claim_brings_all_that_was_submitted(world: &World) {
    let node = world.node().await;
    // First one at a time, then all together, then many of each kind.
    let mut jobs = kinds(world, "a");
    for job in &jobs {
        world.submit(job.clone()).await;
    }
    let together = kinds(world, "b");
    world.submit_all(together.clone()).await;
    jobs.extend(together);
    let alike: Vec<_> = (0..3).map(|_| world.job().service("stripe").payload(b"7")).collect();
    world.submit_all(alike.clone()).await;
    jobs.extend(alike);
    let traced: Vec<_> = (0..3).map(|_| world.job().traced().payload(b"7")).collect();
    world.submit_all(traced.clone()).await;
    jobs.extend(traced);
    world.pass(secs(2)).await;
    let mut runs: HashMap<_, _> =
        node.claim(100).await.into_iter().map(|run| (run.id(), run)).collect();
    for job in jobs {
        let run = runs.remove(&job.id).expect("claimed");
        let record = world.get(job.id).await;
        assert_eq!(*run.spec, job.spec);
        assert_eq!((run.due, run.queued_at), (record.due, record.queued_at));
    }
    assert!(runs.is_empty());
}

pub async fn c_04_plain_and_odd_jobs_come_in_order_and_end(world: &World) {
    let node = world.node().await;
    // First all plain, then mixed, then all plain again.
    for odd in [false, true, false] {
        let mut wanted = Vec::new();
        for number in 0..20 {
            let job = world.job().payload(number.to_string().as_bytes());
            let job = if odd && number % 3 == 0 { job.tenant("acme") } else { job };
            wanted.push(job.clone());
            world.submit(job).await;
            world.pass(secs(1)).await;
        }
        let runs = node.claim(20).await;
        let got: Vec<_> = runs.iter().map(|run| (run.id(), (*run.spec).clone())).collect();
        let wanted: Vec<_> = wanted.into_iter().map(|job| (job.id, job.spec)).collect();
        assert_eq!(got, wanted);
        // Settle every third run later: a run must be found by its position in the lease.
        let (later, now): (Vec<_>, Vec<_>) =
            runs.iter().enumerate().partition(|(at, _)| at % 3 == 0);
        for part in [now, later] {
            let settlements = part.iter().map(|(_, run)| run.succeed()).collect();
            let settled = world.settle_all(settlements).await;
            assert!(settled.iter().all(|settled| matches!(settled, Settled::Applied(_))));
        }
        for (id, _) in wanted {
            assert_eq!(world.state(id).await, JobState::Succeeded);
        }
    }
}

pub async fn c_04_a_job_that_moved_is_still_whole(world: &World) {
    let node = world.node().await;
    let [retried, released, paused, rescheduled] = [b"1", b"2", b"3", b"4"]
        .map(|payload| world.job().payload(payload).priority(Priority::High).service("stripe"));
    let first = world.run_on(&node, retried.clone()).await;
    world.apply(first.retry(secs(1))).await;
    let first = world.run_on(&node, released.clone()).await;
    world.apply(first.release()).await;
    world.submit_all(vec![paused.clone(), rescheduled.clone()]).await;
    world.pause(paused.id).await;
    world.resume(paused.id).await;
    world.reschedule(rescheduled.id, ratchet_store::model::Due::In(secs(1))).await;
    world.pass(secs(2)).await;
    let runs = node.claim(10).await;
    let mut runs: HashMap<_, _> = runs.into_iter().map(|run| (run.id(), run)).collect();
    for job in [retried, released, paused, rescheduled] {
        let run = runs.remove(&job.id).expect("claimed");
        let record = world.get(job.id).await;
        assert_eq!(*run.spec, job.spec);
        assert_eq!((run.due, run.queued_at), (record.due, record.queued_at));
    }
    assert!(runs.is_empty());
}

pub async fn m_05_a_trace_context_survives_retries(world: &World) {
    let node = world.node().await;
    let job = world.job().traced();
    world.submit(job.clone()).await;
    for _ in 0..3 {
        let run = node.claim_one().await;
        assert_eq!(run.spec.trace, job.spec.trace);
        world.apply(run.retry(secs(1))).await;
        world.pass(secs(1)).await;
    }
}
