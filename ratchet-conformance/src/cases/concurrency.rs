//! Concurrent calls: exactly one of several competing callers must succeed.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use ratchet_store::model::{
    CancelCause, Channel, Command, CommandReply, Delivery, DeliveryBody, InsertError, Inserted,
    JobState, NewJob, Settled,
};
use tokio::task::JoinSet;

use crate::World;
use crate::fixture::{JobExt, RunExt, SettlementExt, secs};

pub async fn c_01_many_claimers_share_the_work(world: &World) {
    world.submit_all(world.jobs(400)).await;
    let mut claimers = JoinSet::new();
    for _ in 0..8 {
        let node = world.node().await;
        claimers.spawn(async move {
            let mut mine = Vec::new();
            loop {
                let batch = node.claim_ids(7).await;
                if batch.is_empty() {
                    return mine;
                }
                mine.extend(batch);
            }
        });
    }
    let claimed = claimers.join_all().await.concat();
    assert_eq!(claimed.len(), 400);
    assert_eq!(claimed.iter().collect::<HashSet<_>>().len(), 400);
}

pub async fn c_01_every_job_is_done_once_under_load(world: &World) {
    world.submit_all(world.jobs(200)).await;
    let mut workers = JoinSet::new();
    for _ in 0..8 {
        let (node, store) = (world.node().await, Arc::clone(&world.store));
        workers.spawn(async move {
            let mut done = 0;
            loop {
                let runs = node.claim(5).await;
                if runs.is_empty() {
                    return done;
                }
                let ends = runs.iter().map(RunExt::succeed).collect();
                let settled = store.settle(ends).await.expect("settlements are answered");
                let applied = |settled: &&Settled| matches!(settled, Settled::Applied(_));
                done += settled.iter().filter(applied).count();
            }
        });
    }
    assert_eq!(workers.join_all().await.iter().sum::<usize>(), 200);
    assert_eq!(world.counts().await.state(JobState::Succeeded), 200);
}

pub async fn q_02_limit_holds_under_load(world: &World) {
    let jobs = world.jobs(60).into_iter().map(|job| job.at_most(3, "gateway")).collect();
    world.submit_all(jobs).await;
    let mut claimers = JoinSet::new();
    for _ in 0..8 {
        let node = world.node().await;
        claimers.spawn(async move { node.claim(5).await.len() });
    }
    assert_eq!(claimers.join_all().await.iter().sum::<usize>(), 3);
}

pub async fn l_06_settle_cancel_and_rescue_race_for_one_win(world: &World) {
    for _ in 0..30 {
        let node = world.mortal(secs(15)).await;
        let run = world.run_on(&node, world.job()).await;
        world.pass(secs(15)).await;
        let mut racers = JoinSet::new();
        for settlement in [run.succeed().output("1"), run.rescue(1), run.fail()] {
            let store = Arc::clone(&world.store);
            racers.spawn(async move {
                let settled = store.settle(vec![settlement]).await.expect("answered");
                matches!(settled[..], [Settled::Applied(_)])
            });
        }
        let (store, id) = (Arc::clone(&world.store), run.id());
        racers.spawn(async move {
            let cancel = Command::Cancel(id, CancelCause::Requested);
            let reply = store.command(cancel).await.expect("a cancel never fails here");
            matches!(reply, CommandReply::Done { from: JobState::Running, .. })
        });
        let wins = racers.join_all().await.into_iter().filter(|won| *won).count();
        assert_eq!(wins, 1, "{:?}", world.get(id).await);
        assert_eq!(world.history(id).await.len(), 1);
        let _ = world.command(Command::Cancel(id, CancelCause::Requested)).await;
    }
}

pub(super) async fn race(
    world: &World,
    jobs: impl IntoIterator<Item = NewJob>,
) -> Vec<Result<Inserted, InsertError>> {
    let mut submits = JoinSet::new();
    for job in jobs {
        let store = Arc::clone(&world.store);
        submits.spawn(async move { store.insert(vec![job]).await.map(|answers| answers[0]) });
    }
    submits.join_all().await
}

pub async fn s_03_concurrent_submits_make_one_job(world: &World) {
    for round in 0..20 {
        let key = format!("key-{round}");
        let answers = race(world, world.jobs(8).into_iter().map(|job| job.idempotent(&key))).await;
        let answers: Vec<_> = answers.into_iter().map(|answer| answer.expect("no error")).collect();
        let ids: HashSet<_> = answers.iter().map(|answer| answer.id()).collect();
        let created = |answer: &&Inserted| matches!(answer, Inserted::Created(_));
        assert_eq!((ids.len(), answers.iter().filter(created).count()), (1, 1), "{answers:?}");
    }
}

pub async fn s_04_concurrent_submits_give_a_key_to_one(world: &World) {
    for round in 0..20 {
        let key = format!("key-{round}");
        let answers = race(world, world.jobs(8).into_iter().map(|job| job.key(&key))).await;
        let winners: Vec<_> = answers.iter().filter_map(|answer| answer.as_ref().ok()).collect();
        assert_eq!(winners.len(), 1, "{answers:?}");
        for refused in answers.iter().filter_map(|answer| answer.as_ref().err()) {
            let InsertError::BusinessKeysTaken(taken) = refused else { panic!("{refused}") };
            assert_eq!(taken[0].holder, winners[0].id());
        }
    }
}

pub async fn s_06_concurrent_batches_in_opposite_order(world: &World) {
    for round in 0..10 {
        let mut batches = JoinSet::new();
        for reverse in [false, true] {
            let mut jobs: Vec<_> = (0..20)
                .map(|n| {
                    world.job().key(&format!("{round}-{n}")).idempotent(&format!("{round}-{n}"))
                })
                .collect();
            if reverse {
                jobs.reverse();
            }
            let store = Arc::clone(&world.store);
            batches.spawn(async move { store.insert(jobs).await });
        }
        for answer in batches.join_all().await {
            answer.expect("neither batch deadlocks or conflicts");
        }
    }
    assert_eq!(world.counts().await.state(JobState::Pending), 200);
}

pub async fn d_04_concurrent_retries_bring_it_back_once(world: &World) {
    let id = world.failed(world.job()).await;
    let mut retries = JoinSet::new();
    for _ in 0..8 {
        let store = Arc::clone(&world.store);
        retries.spawn(async move { store.command(Command::Retry(id)).await.is_ok() });
    }
    assert_eq!(retries.join_all().await.into_iter().filter(|won| *won).count(), 1);
    assert_eq!(world.get(id).await.generation, 2);
}

pub async fn a_03_concurrent_bids_make_one_leader(world: &World) {
    let mut bids = JoinSet::new();
    for _ in 0..8 {
        let node = world.node().await;
        bids.spawn(async move { node.try_lead(secs(15)).await });
    }
    assert_eq!(bids.join_all().await.into_iter().filter(|leads| *leads).count(), 1);
}

/// Several loops take and acknowledge outcomes of jobs that ended twice. A second outcome must not be handed out before
/// the first.
pub async fn i_04_concurrent_pumps_keep_the_outcomes_of_a_job_in_order(world: &World) {
    const JOBS: usize = 12;
    for _ in 0..JOBS {
        let run = world.run(world.job()).await;
        world.apply(run.fail().telling(&run)).await;
        world.retry(run.id()).await;
        let run = world.node().await.claim(1).await.remove(0);
        world.apply(run.succeed().telling(&run)).await;
    }
    let (taken, hasty) = (Arc::new(Mutex::new(HashSet::new())), Arc::new(AtomicBool::new(false)));
    let mut pumps = JoinSet::new();
    for _ in 0..4 {
        let (store, taken, hasty) =
            (Arc::clone(&world.store), Arc::clone(&taken), Arc::clone(&hasty));
        pumps.spawn(async move {
            while taken.lock().expect("lock").len() < 2 * JOBS {
                let batch = store.take_deliveries(Channel::Outcomes, 3, secs(60)).await;
                let batch = batch.expect("a batch");
                let reported = |delivery: &Delivery| match &delivery.body {
                    DeliveryBody::Outcome(outcome) => (outcome.job_id, outcome.run),
                    other => panic!("{other:?}"),
                };
                {
                    let mut taken = taken.lock().expect("lock");
                    let early = |(job, run)| run == 2 && !taken.contains(&(job, 1));
                    if batch.iter().map(reported).any(early) {
                        hasty.store(true, Ordering::SeqCst);
                    }
                    taken.extend(batch.iter().map(reported));
                }
                let ids = batch.iter().map(|delivery| delivery.id).collect();
                store.ack_deliveries(ids).await.expect("acknowledged");
                tokio::task::yield_now().await;
            }
        });
    }
    pumps.join_all().await;
    assert!(!hasty.load(Ordering::SeqCst), "a second end was handed out before the first");
}

pub async fn d_07_concurrent_pumps_share_the_deliveries(world: &World) {
    let node = world.node().await;
    world.submit_all(world.jobs(40)).await;
    let runs = node.claim(40).await;
    world.settle_all(runs.iter().map(|run| run.fail().publishing()).collect()).await;
    let mut pumps = JoinSet::new();
    for _ in 0..8 {
        let store = Arc::clone(&world.store);
        pumps.spawn(async move {
            let channel = Channel::DeadLetters;
            let batch = store.take_deliveries(channel, 10, secs(30)).await.expect("a batch");
            batch.iter().map(|delivery| delivery.id).collect::<Vec<_>>()
        });
    }
    let handed_out = pumps.join_all().await.concat();
    let different: HashSet<_> = handed_out.iter().collect();
    assert_eq!(different.len(), handed_out.len());
}
