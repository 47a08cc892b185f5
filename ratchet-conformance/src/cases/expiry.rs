//! Jobs that expire before they are started.

use ratchet_core::JobState;
use ratchet_store::model::{
    CancelCause, Claimed, Command, CommandReply, Deadline, Filter, JobId, NewJob,
};
use ratchet_store::rules::{Explanation, Waiting};

use JobState::{Canceled, Paused, Pending, Running, Succeeded};

use crate::World;
use crate::fixture::{JobExt, RunExt, days, hours, secs};

/// Cancels every expired job, like a sweep, and returns them.
async fn sweep(world: &World) -> Vec<JobId> {
    let expired = world.list(Filter::any().expires_by(world.now().await).oldest_first()).await;
    for id in &expired {
        let reply = world.command(Command::Cancel(*id, CancelCause::Expired)).await;
        let states = reply.expect("an expired job can be canceled").states();
        assert!(matches!(states, Some((Pending | Paused, Canceled))), "{id}: {states:?}");
    }
    expired
}

async fn expire(world: &World, id: JobId) -> CommandReply {
    world.command(Command::Cancel(id, CancelCause::Expired)).await.expect("an answer")
}

pub async fn l_10_expired_job_is_not_started(world: &World) {
    let node = world.node().await;
    let in_time = world.submit(world.job().expires_in(secs(60))).await;
    assert_eq!(node.claim_ids(5).await, [in_time]);
    let late = world.submit(world.job().expires_in(secs(60))).await;
    let other = world.submit(world.job()).await;
    world.pass(secs(60)).await;
    assert_eq!(node.claim_ids(5).await, [other]);
    assert_eq!(world.state(late).await, Pending, "a sweep cancels it");
    assert_eq!(sweep(world).await, [late]);
    let job = world.get(late).await;
    assert_eq!((job.state, job.canceled), (Canceled, Some(CancelCause::Expired)));
    assert_eq!(job.finished_at.is_some(), job.run == 0);
    assert!(sweep(world).await.is_empty());
}

pub async fn l_10_job_may_expire_at_an_instant(world: &World) {
    let node = world.node().await;
    let instant = world.now().await + hours(1);
    let mut job = world.job();
    job.spec.expires = Some(Deadline::At(instant));
    let id = world.submit(job).await;
    assert_eq!(world.get(id).await.expires_at(), Some(Deadline::At(instant).at(instant)));
    world.pass(hours(1)).await;
    assert!(node.claim(5).await.is_empty());
    assert_eq!(sweep(world).await, [id]);
}

pub async fn l_10_jobs_expire_wherever_they_wait(world: &World) {
    let node = world.node().await;
    let job = || world.job().expires_in(secs(60));
    let running = world.run_on(&node, world.job().at_most(1, "k")).await;
    let future = world.submit(job().due_in(hours(1)).key("future")).await;
    let paused = world.submit(job()).await;
    world.pause(paused).await;
    let held = world.submit(job().at_most(1, "k")).await;
    let unknown = world.submit(job().named("strange")).await;
    let elsewhere = world.submit(job().queue("other")).await;
    world.submit(world.job().expires_in(days(1)).due_in(hours(2))).await;
    assert!(sweep(world).await.is_empty());
    world.pass(secs(60)).await;
    assert_eq!(sweep(world).await, [future, paused, held, unknown, elsewhere]);
    for id in [future, paused, held, unknown, elsewhere] {
        let job = world.get(id).await;
        assert_eq!((job.state, job.paused_from), (Canceled, None));
        assert_eq!(job.canceled, Some(CancelCause::Expired));
    }
    world.submit(world.job().key("future").due_in(hours(1))).await;
    world.apply(running.succeed()).await;
    assert!(node.claim(5).await.is_empty());
}

pub async fn l_10_expired_jobs_do_not_block_others(world: &World) {
    let node = world.node().await;
    for at_most in [false, true] {
        let job = |job: NewJob| if at_most { JobExt::at_most(job, 500, "k") } else { job };
        let late = world.jobs(150).into_iter().map(|it| job(it.expires_in(secs(60)))).collect();
        world.submit_all(late).await;
        let other = world.submit(job(world.job())).await;
        world.pass(secs(60)).await;
        let runs = node.claim(2).await;
        assert_eq!(runs.iter().map(Claimed::id).collect::<Vec<_>>(), [other]);
        world.apply(runs[0].succeed()).await;
    }
}

pub async fn l_10_expired_jobs_do_not_take_the_turn_of_others(world: &World) {
    let node = world.node().await;
    let job = |job: NewJob| job.at_most(1, "key");
    let run = world.run_on(&node, job(world.job())).await;
    // More jobs than a claim skips before it sets them aside.
    let late = world.jobs(150).into_iter().map(|it| job(it.expires_in(secs(60)))).collect();
    world.submit_all(late).await;
    let next = world.submit(job(world.job())).await;
    assert!(node.claim(5).await.is_empty(), "the key is taken");
    world.pass(secs(60)).await;
    world.apply(run.succeed()).await;
    assert_eq!(node.claim_ids(5).await, [next]);
}

pub async fn l_10_expired_suspect_is_not_started(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, world.job().expires_in(secs(60))).await;
    world.apply(run.rescue(5)).await;
    world.pass(secs(60)).await;
    assert!(node.claim_idle(1).await.jobs.is_empty());
    assert_eq!(sweep(world).await, [run.id()]);
}

pub async fn l_10_run_goes_on_when_its_job_expires(world: &World) {
    let run = world.run(world.job().expires_in(secs(60))).await;
    world.pass(hours(1)).await;
    assert!(sweep(world).await.is_empty());
    assert_eq!(expire(world, run.id()).await, CommandReply::Unchanged { state: Running });
    world.apply(run.succeed()).await;
    assert_eq!(expire(world, run.id()).await, CommandReply::Unchanged { state: Succeeded });
}

pub async fn l_10_retry_is_a_start(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, world.job().expires_in(secs(60))).await;
    world.apply(run.retry(secs(30))).await;
    world.pass(secs(30)).await;
    let again = node.claim_one().await;
    world.apply(again.retry(secs(0))).await;
    world.pass(secs(30)).await;
    assert!(node.claim(5).await.is_empty());
    assert_eq!(sweep(world).await, [run.id()]);
    let job = world.get(run.id()).await;
    assert_eq!((job.attempts, job.error.is_some()), (2, true), "the last failure is kept");
}

pub async fn l_10_manual_retry_removes_the_expiry(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, world.job().expires_in(secs(60))).await;
    world.apply(run.fail()).await;
    world.pass(hours(1)).await;
    assert!(node.try_lead(hours(1)).await, "the leader forgets what has ended");
    world.retry(run.id()).await;
    assert_eq!(world.get(run.id()).await.expires_at(), None);
    assert!(sweep(world).await.is_empty());
    assert_eq!(node.claim_ids(5).await, [run.id()]);
}

pub async fn l_10_nothing_is_canceled_before_it_expires(world: &World) {
    let mortal = world.submit(world.job().expires_in(secs(60))).await;
    let immortal = world.submit(world.job()).await;
    let unchanged = CommandReply::Unchanged { state: Pending };
    assert_eq!(expire(world, mortal).await, unchanged);
    world.pass(secs(60)).await;
    assert_eq!(expire(world, immortal).await, unchanged);
    let canceled = CommandReply::Done { from: Pending, to: Canceled };
    assert_eq!(expire(world, mortal).await, canceled);
    assert_eq!(expire(world, mortal).await, CommandReply::Unchanged { state: Canceled });
}

pub async fn l_10_paused_failed_job_does_not_expire(world: &World) {
    let failed = world.paused_failed(world.job().expires_in(secs(60))).await;
    world.pass(hours(1)).await;
    assert!(sweep(world).await.is_empty());
    assert_eq!(expire(world, failed).await, CommandReply::Unchanged { state: Paused });
    world.resume(failed).await;
    assert_eq!(world.state(failed).await, JobState::Failed);
}

pub async fn l_10_expiring_jobs_are_listed(world: &World) {
    let first = world.submit(world.job().expires_in(hours(1))).await;
    let second = world.submit(world.job().expires_in(hours(2)).queue("other")).await;
    world.submit(world.job()).await;
    let by = |time| Filter::any().expires_by(time);
    let (now, later) = (world.now().await, world.now().await + hours(3));
    assert!(world.list(by(now)).await.is_empty());
    assert_eq!(world.list(by(now + hours(1) + secs(1))).await, [first]);
    assert_eq!(world.list(by(later)).await, [second, first]);
    assert_eq!(world.list(by(later).oldest_first()).await, [first, second]);
    assert_eq!(world.list(by(later).queue("other")).await, [second]);
    assert_eq!(world.list(by(later).state(Pending)).await, [second, first]);
    world.pause(first).await;
    assert_eq!(world.list(by(later).state(Paused)).await, [first]);
    assert!(world.list(by(later).state(Running)).await.is_empty());
    let redriven = world.redrive(by(later), 5).await;
    assert!(redriven.retried.is_empty() && redriven.key_taken.is_empty());
}

pub async fn l_10_expiry_is_explained(world: &World) {
    let node = world.node().await;
    let why = async |id| {
        let around = world.store.claim_context(id).await.expect("the store answers");
        around.expect("the job exists").explain(5)
    };
    let id = world.submit(world.job().expires_in(secs(60))).await;
    let at = world.get(id).await.expires_at().expect("it expires");
    assert_eq!(why(id).await, Explanation::AllClear);
    world.pass(secs(60)).await;
    assert_eq!(why(id).await, Explanation::Waits(vec![Waiting::Expired { at }]));
    sweep(world).await;
    assert_eq!(why(id).await, Explanation::Expired { at });
    drop(node);
}

pub async fn l_10_limits_of_a_job_are_read_back(world: &World) {
    let mut job = world.job().expires_in(secs(90));
    job.spec.retry_until = Some(Deadline::At(world.now().await));
    let spec = job.spec.clone();
    let id = world.submit(job).await;
    assert_eq!(*world.get(id).await.spec, spec);
    let run = world.node().await.claim_one().await;
    assert_eq!(*run.spec, spec);
    assert_eq!(run.retry_until(), world.get(id).await.spec.retry_until.map(|it| it.at(run.due)));
}
