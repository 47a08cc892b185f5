//! Rejected items and handed-off checkpoints.

use std::time::Duration;

use jiff::Timestamp;
use ratchet_store::model::{
    Claimed, JobState, NewHandOff, NewReject, Reject, RejectCount, RejectFilter, Settlement,
    reject_interval,
};

use crate::World;
use crate::fixture::{JobExt, RunExt, hours, mins, secs};

fn reject(index: u64, fingerprint: &str) -> NewReject {
    NewReject {
        index,
        error_type: "BadRow".to_owned(),
        message: format!("row {index}"),
        fingerprint: fingerprint.to_owned(),
        payload: (index == 0).then(|| "{\"a\":1}".to_owned()),
    }
}

fn rejecting(mut settlement: Settlement, rejects: Vec<NewReject>) -> Settlement {
    settlement.rejects = rejects;
    settlement
}

fn handing(run: &Claimed, pipeline: &str, key: &str, page: u32) -> Settlement {
    let mut settlement = run.succeed();
    let checkpoint = serde_json::json!({ "page": page });
    settlement.hand_offs = vec![NewHandOff::new(pipeline, key, checkpoint)];
    settlement
}

async fn rejects(world: &World, filter: RejectFilter) -> Vec<Reject> {
    world.store.rejects(&filter, None, 100).await.expect("reads")
}

pub async fn i_01_rejects_are_committed_with_the_run(world: &World) {
    let run = world.run(world.job()).await;
    let applied = world.apply(rejecting(run.succeed(), vec![reject(0, "x"), reject(7, "y")])).await;
    let found = rejects(world, RejectFilter::any()).await;
    assert_eq!(found.len(), 2);
    let expected = Reject {
        job: run.id(),
        job_name: "mail".to_owned(),
        run: 1,
        at: applied.at,
        item: reject(0, "x"),
    };
    assert_eq!(found[0], expected);
    assert_eq!(world.state(run.id()).await, JobState::Succeeded, "they are no failures");
}

pub async fn i_01_stale_run_rejects_nothing(world: &World) {
    let run = world.run(world.job()).await;
    world.apply(run.release()).await;
    world.stale(rejecting(run.succeed(), vec![reject(0, "x")])).await;
    assert!(rejects(world, RejectFilter::any()).await.is_empty());
}

pub async fn i_01_later_run_replaces_what_was_said_of_an_item(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, world.job()).await;
    world.apply(rejecting(run.retry(secs(0)), vec![reject(1, "x"), reject(2, "x")])).await;
    let again = node.claim_one().await;
    world.apply(rejecting(again.succeed(), vec![reject(2, "other")])).await;
    let found = rejects(world, RejectFilter::any().job(run.id())).await;
    let reported: Vec<_> =
        found.iter().map(|it| (it.item.index, it.run, it.item.fingerprint.as_str())).collect();
    assert_eq!(reported, [(1, 1, "x"), (2, 2, "other")]);
}

pub async fn i_02_rejects_are_grouped_and_filtered(world: &World) {
    let run = world.run(world.job()).await;
    let three = vec![reject(1, "x"), reject(2, "x"), reject(3, "y")];
    world.apply(rejecting(run.succeed(), three)).await;
    let other = world.run(world.job().named("bill")).await;
    world.apply(rejecting(other.fail(), vec![reject(1, "x")])).await;
    let groups = world.store.reject_groups(&RejectFilter::any()).await.expect("reads");
    let reported: Vec<_> =
        groups.iter().map(|it| (it.job_name.as_str(), it.fingerprint.as_str(), it.count)).collect();
    assert_eq!(reported, [("bill", "x", 1), ("mail", "x", 2), ("mail", "y", 1)]);
    assert_eq!(rejects(world, RejectFilter::any().fingerprint("x")).await.len(), 3);
    assert_eq!(rejects(world, RejectFilter::any().job_name("bill")).await.len(), 1);
    assert_eq!(rejects(world, RejectFilter::any().error_type("Other")).await.len(), 0);
    let page =
        world.store.rejects(&RejectFilter::any(), Some((run.id(), 1)), 1).await.expect("reads");
    assert_eq!(page.iter().map(|it| (it.job, it.item.index)).collect::<Vec<_>>(), [(run.id(), 2)]);
}

pub async fn i_02_rejects_are_counted_by_time(world: &World) {
    let node = world.node().await;
    let reject_at = async |fingerprints: &[&str]| {
        let run = world.run_on(&node, world.job()).await;
        let rejects = (0..).zip(fingerprints).map(|(index, it)| reject(index, it)).collect();
        world.apply(rejecting(run.succeed(), rejects)).await.at
    };
    let (first, length) = (reject_at(&["x", "y", "x"]).await, mins(10));
    world.pass(hours(1)).await;
    let second = reject_at(&["x"]).await;
    world.pass(hours(24)).await;
    let third = reject_at(&["x", "z"]).await;
    let counts = async |filter: RejectFilter| {
        let counts = world.store.reject_counts(&filter, length).await.expect("counts");
        let short = |it: RejectCount| (it.fingerprint, it.interval, it.count);
        counts.into_iter().map(short).collect::<Vec<_>>()
    };
    let row = |fingerprint: &str, at: Timestamp, count| {
        (fingerprint.to_owned(), reject_interval(at, length), count)
    };
    let all = [
        row("x", first, 2),
        row("x", second, 1),
        row("x", third, 1),
        row("y", first, 1),
        row("z", third, 1),
    ];
    assert_eq!(counts(RejectFilter::any()).await, all);
    let later = RejectFilter::any().since(second);
    assert_eq!(counts(later.clone()).await, [all[1].clone(), all[2].clone(), all[4].clone()]);
    assert_eq!(counts(later.before(third)).await, [all[1].clone()], "the end is exclusive");
    assert_eq!(counts(RejectFilter::any().job_name("bill")).await, []);

    let groups = world.store.reject_groups(&RejectFilter::any().fingerprint("x")).await;
    let groups = groups.expect("reads");
    let found: Vec<_> = groups.iter().map(|it| (it.count, it.oldest, it.latest)).collect();
    assert_eq!(found, [(4, first, third)]);
    assert_eq!(rejects(world, RejectFilter::any().since(third)).await.len(), 2);
    assert_eq!(rejects(world, RejectFilter::any().before(third)).await.len(), 4);

    for unusual in [Duration::ZERO, Duration::from_micros(7), Duration::MAX] {
        let counts = world.store.reject_counts(&RejectFilter::any(), unusual).await;
        let sum: u64 = counts.expect("counts").iter().map(|it| it.count).sum();
        assert_eq!(sum, 6, "{unusual:?}");
    }
}

pub async fn i_02_rejects_can_be_forgotten_and_go_with_their_job(world: &World) {
    let run = world.run(world.job()).await;
    world.apply(rejecting(run.succeed(), vec![reject(1, "x"), reject(2, "x")])).await;
    world.store.forget_rejects(&[(run.id(), 1), (run.id(), 99)]).await.expect("forgets");
    assert_eq!(rejects(world, RejectFilter::any()).await.len(), 1);
    world.pass(hours(2)).await;
    world.purge(JobState::Succeeded, hours(1)).await;
    assert!(rejects(world, RejectFilter::any()).await.is_empty());
}

pub async fn i_03_hand_off_is_committed_with_the_run(world: &World) {
    let run = world.run(world.job()).await;
    let applied = world.apply(handing(&run, "load", "day-1", 7)).await;
    let taken = world.store.take_hand_offs("load", 10, mins(5)).await.expect("takes");
    assert_eq!(taken.len(), 1);
    assert_eq!((taken[0].job, taken[0].at, taken[0].repeats), (run.id(), applied.at, 0));
    assert_eq!(taken[0].handed.checkpoint, serde_json::json!({ "page": 7 }));
    assert!(world.store.take_hand_offs("other", 10, mins(5)).await.expect("takes").is_empty());
}

pub async fn i_03_repeated_key_is_suppressed_and_counted(world: &World) {
    for page in 0..3 {
        let run = world.run(world.job()).await;
        world.apply(handing(&run, "load", "day-1", page)).await;
    }
    let taken = world.store.take_hand_offs("load", 10, mins(5)).await.expect("takes");
    assert_eq!(taken.len(), 1);
    assert_eq!(taken[0].handed.checkpoint, serde_json::json!({ "page": 0 }), "the first counts");
    world.store.finish_hand_offs("load", &["day-1".to_owned()]).await.expect("finishes");
    let run = world.run(world.job()).await;
    world.apply(handing(&run, "load", "day-1", 9)).await;
    assert!(world.store.take_hand_offs("load", 10, mins(0)).await.expect("takes").is_empty());
    let stats = world.store.hand_off_stats("load").await.expect("reads");
    assert_eq!((stats.backlog, stats.finished, stats.repeats), (0, 1, 3));
}

pub async fn i_03_what_is_not_finished_comes_again_in_order(world: &World) {
    for key in ["b", "a", "c"] {
        let run = world.run(world.job()).await;
        world.apply(handing(&run, "load", key, 1)).await;
    }
    let keys = async |limit, hold| {
        let taken = world.store.take_hand_offs("load", limit, hold).await.expect("takes");
        taken.into_iter().map(|it| it.handed.key).collect::<Vec<_>>()
    };
    assert_eq!(keys(2, mins(5)).await, ["b", "a"]);
    assert_eq!(keys(2, mins(5)).await, ["c"]);
    world.store.finish_hand_offs("load", &["b".to_owned()]).await.expect("finishes");
    world.pass(mins(6)).await;
    assert_eq!(keys(5, mins(5)).await, ["a", "c"]);
}

pub async fn i_03_lag_and_backlog_are_told(world: &World) {
    assert_eq!(world.store.hand_off_stats("load").await.expect("reads").backlog, 0);
    let run = world.run(world.job()).await;
    world.apply(handing(&run, "load", "a", 1)).await;
    world.pass(hours(2)).await;
    let run = world.run(world.job()).await;
    world.apply(handing(&run, "load", "b", 1)).await;
    let stats = world.store.hand_off_stats("load").await.expect("reads");
    assert_eq!(stats.backlog, 2);
    assert!(stats.lag >= hours(2) && stats.lag < hours(3), "{stats:?}");
}
