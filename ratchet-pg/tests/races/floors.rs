//! Leak sweeps: a key or slot that no operation has freed is freed by a sweep, counted and logged.

use ratchet_pg::{PgStore, Repairs};
use ratchet_store::Store as _;

use crate::world::{World, lingering, retry, succeed};

fn repaired(business_keys: u64, slots: u64) -> Repairs {
    let mut repairs = Repairs::default();
    (repairs.business_keys, repairs.slots) = (business_keys, slots);
    repairs
}

#[tokio::test]
async fn s_04_a_key_without_a_live_job_is_freed_by_a_sweep() {
    let world = World::fresh().await;
    // The job of the first key has ended, the job of the second does not exist, and the third job is live.
    let ended = world.run(world.job()).await.id();
    world.submit(world.keyed("alive")).await;
    sqlx::query(
        "INSERT INTO ratchet.business VALUES ('', 'ended', $1), ('', 'gone', gen_random_uuid())",
    )
    .bind(ended.uuid())
    .execute(world.pool())
    .await
    .expect("leaked");
    sqlx::query("INSERT INTO ratchet.outcome (job, at, due, version, run, attempts, crashes, deferrals, generation, state)
        VALUES ($1, 0, 0, 2, 1, 0, 0, 0, 1, 2)")
        .bind(ended.uuid())
        .execute(world.pool())
        .await
        .expect("ended");
    world.a.orphans(10).await.expect("sweeps");
    assert_eq!(world.a.repairs(), repaired(2, 0));
    assert!(!world.is_taken("ended").await);
    assert!(!world.is_taken("gone").await);
    assert!(world.is_taken("alive").await);
}

#[tokio::test]
async fn q_02_a_slot_that_no_run_holds_is_freed_by_a_sweep() {
    let world = World::fresh().await;
    // One run is current and one lingers, so their slots stay.
    let late = world.run(world.limited("late")).await;
    world.settle(lingering(succeed(&late))).await;
    let run = world.run(world.limited("printer")).await;
    sqlx::query("INSERT INTO ratchet.slot (job, lease, version, key, queue) VALUES ($1, $2, 7, 'leaked', 'default')")
        .bind(run.id().uuid())
        .bind(run.token.lease.uuid())
        .execute(world.pool())
        .await
        .expect("leaked");
    world.submit(world.limited("leaked")).await;
    assert_eq!(world.claim_by(&world.b, 10).await.jobs.len(), 0, "its key is full");
    world.a.orphans(10).await.expect("sweeps");
    assert_eq!(world.a.repairs(), repaired(0, 1));
    assert_eq!(world.count("SELECT count(*) FROM ratchet.slot").await, 2);
    assert_eq!(world.claim_by(&world.b, 10).await.jobs.len(), 1, "its key is free");
}

#[tokio::test]
async fn s_04_a_sweep_finds_nothing_where_verbs_are_right() {
    let world = World::fresh().await;
    let first = world.run(world.keyed("order")).await;
    world.settle(lingering(retry(&first))).await;
    let second = world.claim().await;
    let sweeps = |store: PgStore| async move {
        store.orphans(10).await.expect("sweeps");
        assert_eq!(store.repairs(), Repairs::default());
    };
    sweeps(world.a.clone()).await;
    world.settle(succeed(&second)).await;
    sweeps(PgStore::open(world.pg.database.options()).await.expect("opens")).await;
    assert!(world.is_taken("order").await, "its first run lingers");
    world.b.release_holds(vec![first.token]).await.expect("lets go");
    sweeps(PgStore::open(world.pg.database.options()).await.expect("opens")).await;
    assert!(!world.is_taken("order").await);
}
