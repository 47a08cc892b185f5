//! Fencing: a call with a stale token must not change anything.

use ratchet_store::model::{
    AttemptOutcome, Channel, Due, Filter, JobState, RunNotes, Settled, Settlement, Token, Verdict,
};

use crate::World;
use crate::fixture::{JobExt, RunExt, SettlementExt, hours, secs};

pub async fn l_06_every_move_raises_the_version_by_one(world: &World) {
    let node = world.node().await;
    let id = world.submit(world.job()).await;
    let mut versions = vec![world.get(id).await.version];
    world.pause(id).await;
    versions.push(world.get(id).await.version);
    world.resume(id).await;
    versions.push(world.get(id).await.version);
    world.reschedule(id, Due::Now).await;
    versions.push(world.get(id).await.version);
    let run = node.claim_one().await;
    versions.push(world.get(id).await.version);
    assert_eq!(run.token.version, versions[4]);
    world.apply(run.fail()).await;
    versions.push(world.get(id).await.version);
    world.retry(id).await;
    versions.push(world.get(id).await.version);
    world.cancel(id).await;
    versions.push(world.get(id).await.version);
    let wanted: Vec<_> = (versions[0]..versions[0] + 8).collect();
    assert_eq!(versions, wanted);
}

pub async fn l_06_stale_settle_changes_nothing(world: &World) {
    let node = world.node().await;
    let old = world.run_on(&node, world.job()).await;
    world.apply(old.release()).await;
    let new = node.claim_one().await;
    let before = world.get(old.id()).await;
    for settlement in [old.succeed(), old.retry(secs(1)), old.fail(), old.release(), old.rescue(9)]
    {
        assert_eq!(world.stale(settlement).await, Some(JobState::Running));
    }
    assert_eq!(world.get(old.id()).await, before);
    assert_eq!(world.history(old.id()).await.len(), 1);
    world.apply(new.succeed()).await;
}

pub async fn l_06_second_settle_is_stale(world: &World) {
    let run = world.run(world.job()).await;
    world.apply(run.succeed().output("1")).await;
    assert_eq!(world.stale(run.succeed().output("2")).await, Some(JobState::Succeeded));
    assert_eq!(world.get(run.id()).await.output.as_deref(), Some("1"));
}

pub async fn l_06_same_claim_twice_in_a_batch_counts_once(world: &World) {
    let run = world.run(world.job()).await;
    let settled = world.settle_all(vec![run.retry(secs(1)), run.fail()]).await;
    assert!(matches!(settled[..], [Settled::Applied(_), Settled::Stale { .. }]), "{settled:?}");
    assert_eq!(world.state(run.id()).await, JobState::Pending);
}

pub async fn l_06_token_of_another_lease_is_stale(world: &World) {
    let run = world.run(world.job()).await;
    let mut forged = run.clone();
    forged.token = world.foreign(run.token);
    assert_eq!(world.stale(forged.succeed()).await, Some(JobState::Running));
    world.apply(run.succeed()).await;
}

pub async fn l_06_token_of_another_version_is_stale(world: &World) {
    let run = world.run(world.job()).await;
    for version in [run.token.version - 1, run.token.version + 1] {
        let mut forged = run.clone();
        forged.token = Token { version, ..run.token };
        assert_eq!(world.stale(forged.succeed()).await, Some(JobState::Running));
    }
    world.apply(run.succeed()).await;
}

pub async fn l_06_settle_of_a_purged_job_is_stale(world: &World) {
    let run = world.run(world.job()).await;
    world.apply(run.succeed()).await;
    world.pass(hours(1)).await;
    world.purge(JobState::Succeeded, hours(1)).await;
    assert_eq!(world.stale(run.succeed()).await, None);
}

pub async fn l_06_settle_of_an_unknown_job_is_stale(world: &World) {
    let mut token = world.run(world.job()).await.token;
    token.job = world.unknown_id();
    let settlement = Settlement::new(token, Verdict::Release, AttemptOutcome::Released);
    assert_eq!(world.stale(settlement).await, None);
}

pub async fn l_06_stale_neighbour_does_not_disturb(world: &World) {
    let node = world.node().await;
    world.submit_all(world.jobs(3)).await;
    let runs = node.claim(3).await;
    world.apply(runs[1].fail()).await;
    let settled = world.settle_all(runs.iter().map(RunExt::succeed).collect()).await;
    assert!(matches!(
        settled[..],
        [
            Settled::Applied(_),
            Settled::Stale { state: Some(JobState::Failed) },
            Settled::Applied(_)
        ]
    ));
    assert_eq!(world.counts().await.state(JobState::Succeeded), 2);
}

pub async fn l_06_stale_report_changes_nothing(world: &World) {
    let node = world.node().await;
    let old = world.run_on(&node, world.job()).await;
    world.apply(old.release()).await;
    let new = node.claim_one().await;
    let mut notes = RunNotes::default();
    notes.warnings.push("from".to_owned());
    notes.checkpoint = Some(1.into());
    let both = vec![(old.token, notes.clone()), (new.token, RunNotes::default())];
    let current = world.store.write_notes(both).await.expect("notes are answered");
    assert_eq!(current, [false, true]);
    let job = world.get(old.id()).await;
    assert_eq!((job.warnings.len(), job.checkpoint), (0, None));
}

pub async fn l_06_stale_settle_keeps_no_notes(world: &World) {
    let run = world.run(world.job()).await;
    world.apply(run.release()).await;
    let mut notes = RunNotes::default();
    notes.warnings.push("late".to_owned());
    world.stale(run.succeed().notes(notes)).await;
    assert!(world.get(run.id()).await.warnings.is_empty());
}

pub async fn l_06_stale_settle_spawns_nothing(world: &World) {
    let run = world.run(world.job()).await;
    world.apply(run.retry(secs(9))).await;
    let child = world.job().named("bill");
    world.stale(run.succeed().spawning(vec![child])).await;
    assert_eq!(world.list(Filter::any()).await, [run.id()]);
}

pub async fn l_06_stale_settle_publishes_nothing(world: &World) {
    let run = world.run(world.job()).await;
    world.apply(run.succeed()).await;
    world.stale(run.fail().alerting().publishing()).await;
    assert!(world.alerts().await.is_empty());
    assert!(world.take_deliveries(Channel::DeadLetters, secs(1)).await.is_empty());
}

pub async fn l_06_settle_of_a_waiting_job_is_stale(world: &World) {
    let run = world.run(world.job()).await;
    world.apply(run.retry(secs(60))).await;
    let job = world.get(run.id()).await;
    let mut forged = run.clone();
    forged.token.version = job.version;
    assert_eq!(world.stale(forged.succeed()).await, Some(JobState::Pending));
}

pub async fn x_08_late_settle_wins_if_nobody_rescued(world: &World) {
    let node = world.mortal(secs(15)).await;
    let run = world.run_on(&node, world.job()).await;
    world.pass(secs(60)).await;
    let orphan = world.orphans().await.remove(0).claimed;
    world.apply(run.succeed()).await;
    assert_eq!(world.stale(orphan.rescue(1)).await, Some(JobState::Succeeded));
}

pub async fn x_08_late_settle_loses_to_a_rescue(world: &World) {
    let node = world.mortal(secs(15)).await;
    let run = world.run_on(&node, world.job()).await;
    world.pass(secs(60)).await;
    let orphan = world.orphans().await.remove(0).claimed;
    world.apply(orphan.rescue(1)).await;
    assert_eq!(world.stale(run.succeed()).await, Some(JobState::Pending));
}
