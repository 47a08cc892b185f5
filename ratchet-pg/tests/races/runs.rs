//! Runs: their slots and keys are freed, and two settlements never deadlock.

use ratchet_store::Store as _;
use ratchet_store::env::pause::Place;
use ratchet_store::model::{CancelCause, Command, CommandReply, Heartbeat, JobState, Settled};
use std::time::Duration;

use crate::support::{hold, meet, start};
use crate::world::{World, command, release, retry, succeed};

// The run that the cancel has read was released and claimed again before the cancel locks the lease.
#[tokio::test]
async fn l_04_a_cancel_means_the_run_that_it_finds() {
    let world = World::fresh().await;
    let first = world.run(world.limited("printer")).await;
    let id = first.id();
    let cancel = command(world.a.clone(), Command::Cancel(id, CancelCause::Requested));
    let held = hold(&world.a, "find_lease", cancel).await;
    world.settle(release(&first)).await;
    let second = world.claim().await;
    assert_eq!(second.id(), id);
    let reply = held.finish().await.expect("canceled");
    assert!(matches!(reply, CommandReply::Done { to: JobState::Canceled, .. }), "{reply:?}");
    let heard = world.b.heartbeat(world.node, Duration::from_hours(1)).await.expect("answers");
    assert_eq!(heard, Heartbeat::Renewed { canceled: vec![second.token], request: None });
    world.b.release_holds(vec![second.token]).await.expect("lets go");
    assert_eq!(world.count("SELECT count(*) FROM ratchet.slot").await, 0, "its slot is free");
    world.run(world.limited("printer")).await;
}

const DEADLOCKS: &str = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";

// Two batches, each with a success in one lease and a retry in the other.
#[tokio::test]
async fn x_08_mixed_settles_do_not_deadlock() {
    let mut index = 0;
    loop {
        let world = World::fresh().await;
        for _ in 0..4 {
            world.submit(world.job()).await;
        }
        let first = world.claim_by(&world.a, 2).await.jobs;
        let second = world.claim_by(&world.b, 2).await.jobs;
        let before = world.count(DEADLOCKS).await;
        let (a, batch) = (world.a.clone(), vec![succeed(&first[0]), retry(&second[1])]);
        let settles = async move { a.settle(batch).await.expect("settles") };
        let held = start(&world.a, Some(Place::Index(index)), settles).await;
        if !held.is_held().await {
            assert!(index > 3, "a settle has more points than that: {:?}", held.passed());
            break;
        }
        let (b, batch) = (world.b.clone(), vec![succeed(&second[0]), retry(&first[1])]);
        let other = async move { b.settle(batch).await.expect("settles") };
        let (one, two) = meet(world.pool(), held, other).await;
        assert!(one.iter().chain(&two).all(|settled| matches!(settled, Settled::Applied(_))));
        // A session reports its deadlocks at its end at the latest.
        world.a.close().await;
        world.b.close().await;
        assert_eq!(world.count(DEADLOCKS).await, before, "held at point {index}");
        index += 1;
    }
}
