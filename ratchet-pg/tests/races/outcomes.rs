//! Failed jobs: after pause, retry, redrive and purge, each job is in exactly one place.

use std::time::Duration;

use ratchet_store::Store as _;
use ratchet_store::model::{Command, CommandReply, Filter, JobState};

use crate::support::{ended_or_waits, hold, meet};
use crate::world::{World, command};

const BOTH: &str = "SELECT count(*) FROM ratchet.paused p JOIN ratchet.ready r USING (job)";

async fn counts_equal_a_listing(world: &World) {
    let counts = world.b.counts().await.expect("counts");
    let page = ratchet_store::model::PageRequest { limit: 1000, ..Default::default() };
    let jobs = world.b.list(&Filter::default(), page).await.expect("lists").jobs;
    for state in [JobState::Pending, JobState::Running, JobState::Failed, JobState::Paused] {
        let listed = jobs.iter().filter(|job| job.state == state).count();
        assert_eq!(counts.state(state), u64::try_from(listed).expect("fits"), "{state:?}");
    }
}

#[tokio::test]
async fn l_02_a_failed_job_is_paused_or_retried_but_not_both() {
    for redrive in [false, true] {
        let world = World::fresh().await;
        let id = world.failed(world.job()).await;
        let held =
            hold(&world.a, "commit.before", command(world.a.clone(), Command::Pause(id))).await;
        let other = if redrive {
            Command::Redrive { filter: Filter::default(), limit: 10 }
        } else {
            Command::Retry(id)
        };
        let (paused, other) = meet(world.pool(), held, command(world.b.clone(), other)).await;
        paused.expect("paused");
        match other {
            Ok(CommandReply::Redriven(redriven)) => assert_eq!(redriven.retried, []),
            other => drop(other.expect_err("the job is paused")),
        }
        assert_eq!(world.count(BOTH).await, 0);
        assert_eq!(world.state(id).await, JobState::Paused);
        counts_equal_a_listing(&world).await;
        world.b.command(Command::Resume(id)).await.expect("resumed");
        assert_eq!(world.state(id).await, JobState::Failed);
        counts_equal_a_listing(&world).await;
    }
}

#[tokio::test]
async fn l_02_a_failed_job_is_retried_or_paused_but_not_both() {
    let world = World::fresh().await;
    let id = world.failed(world.job()).await;
    let held = hold(&world.a, "commit.before", command(world.a.clone(), Command::Retry(id))).await;
    let (retried, paused) =
        meet(world.pool(), held, command(world.b.clone(), Command::Pause(id))).await;
    retried.expect("retried");
    paused.expect("a pending job can be paused");
    assert_eq!(world.count(BOTH).await, 0);
    counts_equal_a_listing(&world).await;
}

// The purge has taken its snapshot and waits for the clock. The job is paused. Then the purge continues.
#[tokio::test]
async fn l_02_a_job_paused_while_old_ones_are_purged_stays() {
    let world = World::fresh().await;
    let id = world.failed(world.job()).await;
    world
        .pg
        .database
        .execute(
            "CREATE OR REPLACE FUNCTION ratchet.now_micros() RETURNS bigint LANGUAGE plpgsql VOLATILE AS
             $$ BEGIN
                PERFORM pg_advisory_xact_lock_shared(4712);
                RETURN (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + 3600000000;
             END $$",
        )
        .await;
    let mut gate = world.pool().begin().await.expect("begins");
    sqlx::query("SELECT pg_advisory_xact_lock(4712)").execute(&mut *gate).await.expect("locks");
    let a = world.a.clone();
    let purge =
        tokio::spawn(async move { a.purge(JobState::Failed, Duration::from_mins(1), 100).await });
    assert!(!ended_or_waits(world.pool(), &purge).await, "it waits for the clock");
    world.b.command(Command::Pause(id)).await.expect("paused");
    gate.rollback().await.expect("unlocks");
    let purged = purge.await.expect("does not panic");
    world.pg.database.movable_clock().await;
    assert_eq!(purged.expect("purges"), 0, "a paused job is not purged");
    counts_equal_a_listing(&world).await;
    world.b.command(Command::Resume(id)).await.expect("resumed");
    assert_eq!(world.state(id).await, JobState::Failed);
    counts_equal_a_listing(&world).await;
}
