//! Business keys: at most one live job holds each key, and a key is freed when its job has ended.

use std::time::Duration;

use ratchet_store::InsertInTx as _;
use ratchet_store::Store as _;
use ratchet_store::model::{Command, CommandReply, Inserted, JobState, OnConflict, Settled};
use sqlx::Connection as _;

use crate::support::{ended_or_waits, hold, meet};
use crate::world::{World, command, fail, lingering, release_holds, retry, settle, succeed};

// The key is held by a job that ends before the submit reads the holder.
#[tokio::test]
async fn s_04_a_key_freed_while_it_is_reserved_is_held_by_the_new_job() {
    let world = World::fresh().await;
    let first = world.run(world.keyed("order")).await;
    let job = world.keyed("order");
    let (a, id) = (world.a.clone(), job.id);
    let held = hold(&world.a, "select_business", async move { a.insert(vec![job]).await }).await;
    let (inserted, _) = meet(world.pool(), held, settle(world.b.clone(), succeed(&first))).await;
    assert_eq!(inserted.expect("inserted"), [Inserted::Created(id)]);
    assert!(world.is_taken("order").await, "the new job holds its key");
}

// Both places of the key are held. Then the first job ends and the second is claimed, before the submit reads them.
#[tokio::test]
async fn s_04_a_submit_that_coalesces_is_not_refused_because_of_a_job_that_has_ended() {
    let world = World::fresh().await;
    let coalescing = || {
        let mut job = world.limited("serial");
        job.spec.business_key = Some("order".to_owned());
        job.on_conflict = OnConflict::Coalesce(None);
        job
    };
    let first = world.run(coalescing()).await;
    let second = world.submit(coalescing()).await;
    let job = coalescing();
    let (a, id) = (world.a.clone(), job.id);
    let held = hold(&world.a, "select_jobs", async move { a.insert(vec![job]).await }).await;
    assert!(matches!(world.settle(succeed(&first)).await, Settled::Applied(_)));
    assert_eq!(world.claim().await.id(), second);
    assert_eq!(held.finish().await.expect("it coalesces"), [Inserted::Created(id)]);
}

#[tokio::test]
async fn s_04_the_same_in_a_transaction_of_the_caller() {
    let world = World::fresh().await;
    let first = world.run(world.keyed("order")).await;
    let job = world.keyed("order");
    let (a, url) = (world.a.clone(), world.pg.database.url());
    let submit = async move {
        let mut db = sqlx::PgConnection::connect(&url).await.expect("connects");
        let mut tx = db.begin().await.expect("begins");
        let inserted = a.insert_in_tx(&mut tx, &[job]).await;
        tx.commit().await.expect("commits");
        inserted
    };
    let held = Box::pin(hold(&world.a, "select_business", submit)).await;
    let (inserted, _) = meet(world.pool(), held, settle(world.b.clone(), succeed(&first))).await;
    assert!(matches!(inserted.expect("inserted")[..], [Inserted::Created(_)]));
    assert!(world.is_taken("order").await, "the new job holds its key");
}

#[tokio::test]
async fn s_04_a_job_retried_by_hand_takes_a_key_freed_at_that_moment() {
    let world = World::fresh().await;
    let failed = world.failed(world.keyed("order")).await;
    let other = world.run(world.keyed("order")).await;
    let retried = command(world.a.clone(), Command::Retry(failed));
    let held = hold(&world.a, "select_business", retried).await;
    let (retried, _) = meet(world.pool(), held, settle(world.b.clone(), succeed(&other))).await;
    retried.expect("retried");
    assert!(world.is_taken("order").await, "the retried job holds its key");
}

// The SQL function has no crash points, so a trigger waits between its two statements.
#[tokio::test]
async fn s_04_the_function_takes_a_key_freed_at_that_moment() {
    let world = World::fresh().await;
    let first = world.run(world.keyed("order")).await;
    world
        .pg
        .database
        .execute(
            "CREATE FUNCTION pg_temp_wait() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN NULL; END $$;
             CREATE TRIGGER wait AFTER INSERT ON ratchet.business
                FOR EACH STATEMENT EXECUTE FUNCTION pg_temp_wait()",
        )
        .await;
    let mut gate = world.pool().begin().await.expect("begins");
    sqlx::query("SELECT pg_advisory_xact_lock(4711)").execute(&mut *gate).await.expect("locks");
    let url = world.pg.database.url();
    let enqueue = tokio::spawn(async move {
        let mut db = sqlx::PgConnection::connect(&url).await.expect("connects");
        let sql = "SELECT ratchet.enqueue('mail', '{}', business_key => 'order')";
        sqlx::query(sql).execute(&mut db).await
    });
    assert!(!ended_or_waits(world.pool(), &enqueue).await, "it waits after its insert");
    assert!(matches!(world.settle(succeed(&first)).await, Settled::Applied(_)));
    gate.rollback().await.expect("unlocks");
    let enqueued = enqueue.await.expect("does not panic");
    world
        .pg
        .database
        .execute("DROP TRIGGER wait ON ratchet.business; DROP FUNCTION pg_temp_wait()")
        .await;
    enqueued.expect("the key was free");
    assert!(world.is_taken("order").await);
}

// One run lingers and the next one ends the job. Neither sees the end of the other.
#[tokio::test]
async fn s_04_a_key_is_freed_when_the_end_meets_a_late_handler() {
    for short in [false, true] {
        let world = World::fresh().await;
        let first = world.run(world.keyed("order")).await;
        world.settle(lingering(retry(&first))).await;
        let second = world.claim().await;
        if short {
            let held =
                hold(&world.a, "commit.before", release_holds(world.a.clone(), first.token)).await;
            meet(world.pool(), held, settle(world.b.clone(), succeed(&second))).await;
        } else {
            let held = hold(&world.a, "commit.before", settle(world.a.clone(), fail(&second)));
            meet(world.pool(), held.await, release_holds(world.b.clone(), first.token)).await;
        }
        assert_eq!(world.count("SELECT count(*) FROM ratchet.lingering").await, 0);
        assert!(!world.is_taken("order").await, "short: {short}");
    }
}

#[tokio::test]
async fn s_04_a_key_is_freed_when_two_late_handlers_end_at_once() {
    let world = World::fresh().await;
    let first = world.run(world.keyed("order")).await;
    world.settle(lingering(retry(&first))).await;
    let second = world.claim().await;
    world.settle(lingering(fail(&second))).await;
    let held = hold(&world.a, "commit.before", release_holds(world.a.clone(), first.token)).await;
    meet(world.pool(), held, release_holds(world.b.clone(), second.token)).await;
    assert!(!world.is_taken("order").await);
}

// The key is still held by the late handler of the retried job.
#[tokio::test]
async fn s_04_a_retried_job_keeps_its_key_when_its_late_handler_ends() {
    for point in ["delete_outcome", "commit.before"] {
        let world = World::fresh().await;
        let run = world.run(world.keyed("order")).await;
        world.settle(lingering(fail(&run))).await;
        let retried = command(world.a.clone(), Command::Retry(run.id()));
        let held = hold(&world.a, point, retried).await;
        let (retried, ()) =
            meet(world.pool(), held, release_holds(world.b.clone(), run.token)).await;
        let reply = retried.expect("retried");
        assert!(matches!(reply, CommandReply::Done { to: JobState::Pending, .. }), "{reply:?}");
        assert!(world.is_taken("order").await, "held at {point}");
    }
}

// A child needs a key that a caller has inserted in a transaction that stays open.
#[tokio::test]
async fn x_08_a_key_held_in_an_open_transaction_stops_no_neighbor() {
    let world = World::with(|options| options.statement_timeout(Duration::from_secs(5))).await;
    let parent = world.run(world.job()).await;
    let neighbor = world.run(world.job()).await;
    let mut tx = world.pool().begin().await.expect("begins");
    world.b.insert_in_tx(&mut tx, &[world.keyed("order")]).await.expect("inserted");
    let mut settlement = succeed(&parent);
    settlement.spawned.push(world.keyed("order"));
    let batch = vec![settlement.clone(), succeed(&neighbor)];
    let settled = world.b.settle(batch).await.expect("the neighbor is settled");
    assert!(matches!(settled[1], Settled::Applied(_)), "{settled:?}");
    assert_eq!(world.state(neighbor.id()).await, JobState::Succeeded);
    assert_eq!(world.state(parent.id()).await, JobState::Running, "it is tried again later");
    tx.rollback().await.expect("rolls back");
    assert!(matches!(world.settle(settlement).await, Settled::Applied(_)));
    assert!(world.is_taken("order").await, "the child holds it");
}
