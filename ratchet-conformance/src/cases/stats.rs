//! Statistics: what processes write, the sums of the higher tiers, and for how long they are kept.

use fastrand::Rng;
use ratchet_store::model::{
    Histogram, NodeId, StatCounts, StatRow, StatsBy, StatsHistory, StatsQuery, StatsTier,
};
use ratchet_store::rules::stats::Sums;
use uuid::Uuid;

use crate::World;
use crate::fixture::{Node, days, hours, mins, secs};

/// Returns the id of a process.
fn process(number: u128) -> NodeId {
    NodeId::from_uuid(Uuid::from_u128(number + 1))
}

/// Returns the slot of the minute tier that is this many minutes ago.
async fn minutes_ago(world: &World, minutes: i64) -> i64 {
    StatsTier::Minute.slot_of(world.now().await) - minutes
}

fn row(slot: i64, queue: &str, name: &str, started: u64) -> StatRow {
    let mut row = StatRow::new(slot, queue, name);
    row.counts.started = started;
    row.wait =
        Histogram::from_parts(0, vec![(3, started)], u128::from(started) * 7).expect("valid");
    row
}

fn random_row(rng: &mut Rng, slot: i64) -> StatRow {
    let (queue, name) = (["a", "b"][rng.usize(..2)], ["x", "y", "z"][rng.usize(..3)]);
    let mut row = StatRow::new(slot, queue, name);
    row.counts = StatCounts::from_values(std::array::from_fn(|_| rng.u64(..1_000_000)));
    let mut histogram = || {
        let index = rng.i32(Histogram::FIRST..Histogram::LAST);
        let buckets = vec![(index, rng.u64(1..9)), (index + 1, rng.u64(1..9_000_000_000))];
        Histogram::from_parts(rng.u64(..100), buckets, u128::from(rng.u64(..))).expect("valid")
    };
    (row.wait, row.run) = (histogram(), histogram());
    row
}

async fn write(world: &World, source: NodeId, rows: Vec<StatRow>) {
    world.store.write_stats(source, rows).await.expect("statistics are written");
}

/// Joins a node and makes it the leader.
async fn leader(world: &World) -> Node {
    let node = world.node().await;
    assert!(node.try_lead(days(9000)).await, "no other node leads");
    node
}

async fn fold(world: &World, node: &Node, limit: u32) -> u32 {
    world.store.fold_stats(node.id, limit).await.expect("statistics are folded")
}

/// Returns everything that a tier contains.
async fn all(world: &World, tier: StatsTier, by: StatsBy) -> StatsHistory {
    let mut query = StatsQuery::new(tier, world.now().await, world.now().await);
    (query.from, query.until, query.by) = (0, i64::MAX, by);
    world.store.stats(&query).await.expect("statistics are read")
}

/// Returns the sum of everything that a tier contains, by queue and name.
async fn sum(world: &World, tier: StatsTier) -> Vec<StatRow> {
    let mut sums = Sums::new(StatsBy::QueueAndName);
    for mut row in all(world, tier, StatsBy::QueueAndName).await.rows {
        row.slot = 0;
        sums.add(row);
    }
    sums.into_rows()
}

async fn started(world: &World, tier: StatsTier) -> u64 {
    sum(world, tier).await.iter().map(|row| row.counts.started).sum()
}

/// Returns the sum of each tier.
async fn started_by_tier(world: &World) -> [u64; 4] {
    let mut sums = [0; 4];
    for (sum, tier) in sums.iter_mut().zip(StatsTier::ALL) {
        *sum = started(world, tier).await;
    }
    sums
}

pub async fn m_02_a_repeated_write_replaces_the_row(world: &World) {
    let slot = minutes_ago(world, 2).await;
    let mut rng = Rng::with_seed(1);
    let first = random_row(&mut rng, slot);
    write(world, process(0), vec![first.clone()]).await;
    assert_eq!(
        all(world, StatsTier::Minute, StatsBy::QueueAndName).await.rows,
        std::slice::from_ref(&first)
    );
    write(world, process(0), vec![first.clone()]).await;
    assert_eq!(
        all(world, StatsTier::Minute, StatsBy::QueueAndName).await.rows,
        std::slice::from_ref(&first)
    );
    let mut second = first.clone();
    second.add(&first);
    write(world, process(0), vec![second.clone()]).await;
    assert_eq!(all(world, StatsTier::Minute, StatsBy::QueueAndName).await.rows, [second]);
    write(world, process(0), Vec::new()).await;
}

pub async fn m_02_rows_of_different_processes_are_added_up(world: &World) {
    let slot = minutes_ago(world, 2).await;
    let mut rng = Rng::with_seed(2);
    let mut sums = Sums::new(StatsBy::QueueAndName);
    for number in 0..5 {
        let row = random_row(&mut rng, slot);
        write(world, process(number), vec![row.clone()]).await;
        sums.add(row);
    }
    let stored = all(world, StatsTier::Minute, StatsBy::QueueAndName).await.rows;
    assert_eq!(stored, sums.into_rows());
}

/// Writes random rows of several processes over two days, until the slot `now`.
async fn fill(world: &World, now: i64, seed: u64) -> Vec<StatRow> {
    let mut rng = Rng::with_seed(seed);
    let mut sums = Sums::new(StatsBy::QueueAndName);
    for number in 0..3 {
        let mut rows: Vec<StatRow> = Vec::new();
        for _ in 0..60 {
            let slot = now - rng.i64(0..47 * 60);
            let row = random_row(&mut rng, slot);
            let is_same = |other: &StatRow| {
                (other.slot, &other.queue, &other.name) == (row.slot, &row.queue, &row.name)
            };
            if !rows.iter().any(is_same) {
                rows.push(row);
            }
        }
        write(world, process(number), rows.clone()).await;
        for mut row in rows {
            row.slot = 0;
            sums.add(row);
        }
    }
    sums.into_rows()
}

pub async fn m_02_every_tier_has_the_same_sums(world: &World) {
    let written = fill(world, minutes_ago(world, 0).await, 3).await;
    let leader = leader(world).await;
    while fold(world, &leader, 1000).await > 0 {}
    for tier in StatsTier::ALL {
        assert_eq!(sum(world, tier).await, written, "{tier:?}");
        let rows = all(world, tier, StatsBy::QueueAndName).await.rows;
        let mut keys: Vec<_> = rows.iter().map(|row| (row.slot, &row.queue, &row.name)).collect();
        let count = keys.len();
        keys.dedup();
        assert_eq!(keys.len(), count, "a key has one row");
        assert!(keys.is_sorted(), "rows are in order");
    }
}

pub async fn m_02_slots_are_folded_in_any_order_and_any_number_of_times(world: &World) {
    let now = minutes_ago(world, 0).await;
    let written = fill(world, now, 4).await;
    let leader = leader(world).await;
    // One slot at a time, then all slots once more, because a row is written again.
    while fold(world, &leader, 1).await > 0 {}
    assert_eq!(fold(world, &leader, 1000).await, 0, "nothing is left to fold");
    let repeated = fill(world, now, 4).await;
    assert_eq!(repeated, written);
    while fold(world, &leader, 7).await > 0 {}
    for tier in StatsTier::ALL {
        assert_eq!(sum(world, tier).await, written, "{tier:?}");
    }
}

pub async fn m_02_a_late_write_is_added_to_every_tier(world: &World) {
    let leader = leader(world).await;
    let slot = minutes_ago(world, 0).await;
    write(world, process(0), vec![row(slot, "a", "x", 1)]).await;
    while fold(world, &leader, 100).await > 0 {}
    assert_eq!(started_by_tier(world).await, [1; 4]);
    world.pass(hours(30)).await;
    write(world, process(1), vec![row(slot, "a", "x", 10)]).await;
    write(world, process(0), vec![row(slot, "a", "x", 2)]).await;
    assert_eq!(started_by_tier(world).await, [12, 1, 1, 1]);
    assert_eq!(fold(world, &leader, 1).await, 1);
    assert_eq!(started_by_tier(world).await, [12, 12, 1, 1], "the lowest tier comes first");
    while fold(world, &leader, 100).await > 0 {}
    assert_eq!(started_by_tier(world).await, [12; 4]);
}

pub async fn m_02_only_the_leader_folds(world: &World) {
    let slot = minutes_ago(world, 2).await;
    write(world, process(0), vec![row(slot, "a", "x", 1)]).await;
    let (first, second) = (world.node().await, world.node().await);
    assert_eq!(fold(world, &first, 10).await, 0, "no node leads");
    assert!(first.try_lead(secs(60)).await);
    assert_eq!(fold(world, &second, 10).await, 0, "another node leads");
    assert_eq!(fold(world, &first, 1).await, 1);
    world.pass(secs(61)).await;
    assert_eq!(fold(world, &first, 10).await, 0, "its leadership has ended");
    assert!(second.try_lead(secs(60)).await);
    assert_eq!(fold(world, &first, 10).await, 0);
    while fold(world, &second, 10).await > 0 {}
    second.leave().await;
    assert_eq!(fold(world, &second, 10).await, 0, "it has left");
    assert_eq!(started_by_tier(world).await, [1; 4]);
}

pub async fn m_02_a_leader_that_dies_leaves_nothing_half_done(world: &World) {
    let written = fill(world, minutes_ago(world, 0).await, 5).await;
    // Every node leads for one step.
    for _ in 0..400 {
        let leader = world.mortal(secs(5)).await;
        assert!(leader.try_lead(secs(5)).await);
        let folded = fold(world, &leader, 2).await;
        world.pass(secs(6)).await;
        if folded == 0 {
            break;
        }
    }
    for tier in StatsTier::ALL {
        assert_eq!(sum(world, tier).await, written, "{tier:?}");
    }
}

async fn purge(world: &World, limit: u32) -> u64 {
    world.store.purge_stats(limit).await.expect("statistics are purged")
}

pub async fn m_02_slots_are_deleted_after_their_time_and_not_before_they_are_folded(world: &World) {
    let leader = leader(world).await;
    let slot = minutes_ago(world, 2).await;
    let rows = ["x", "y", "z"].map(|name| row(slot, "a", name, 1));
    write(world, process(0), rows.into()).await;
    world.pass(hours(47)).await;
    assert_eq!(purge(world, 100).await, 0, "they are kept for two days");
    world.pass(hours(2)).await;
    assert_eq!(purge(world, 100).await, 0, "they are not folded");
    while fold(world, &leader, 100).await > 0 {}
    assert_eq!((purge(world, 2).await, purge(world, 100).await), (2, 1));
    assert_eq!(started_by_tier(world).await, [0, 3, 3, 3]);
    world.pass(days(13)).await;
    assert_eq!(purge(world, 100).await, 3);
    assert_eq!(started_by_tier(world).await, [0, 0, 3, 3]);
    world.pass(days(77)).await;
    assert_eq!(purge(world, 100).await, 3);
    assert_eq!(started_by_tier(world).await, [0, 0, 0, 3]);
    world.pass(days(1000)).await;
    assert_eq!(purge(world, 100).await, 1, "the deploy of the leader");
    assert_eq!(purge(world, 100).await, 0, "they are kept for three years");
    world.pass(days(10)).await;
    assert_eq!(purge(world, 100).await, 3);
    assert_eq!(started_by_tier(world).await, [0; 4]);
}

pub async fn m_02_a_write_to_a_deleted_slot_is_ignored(world: &World) {
    let leader = leader(world).await;
    let slot = minutes_ago(world, 2).await;
    write(world, process(0), vec![row(slot, "a", "x", 5)]).await;
    while fold(world, &leader, 100).await > 0 {}
    world.pass(hours(49)).await;
    assert_eq!(purge(world, 100).await, 1);
    // If it were folded, the sums would lose what was deleted.
    write(world, process(1), vec![row(slot, "a", "x", 1)]).await;
    write(world, process(1), vec![row(slot + 100_000_000, "a", "x", 1)]).await;
    assert_eq!(fold(world, &leader, 100).await, 0);
    assert_eq!(started_by_tier(world).await, [0, 5, 5, 5]);
}

pub async fn m_02_a_query_selects_and_adds_up(world: &World) {
    let slot = minutes_ago(world, 30).await;
    let rows = [("a", "x", 1), ("a", "y", 2), ("b", "x", 4), ("b", "y", 8)];
    let rows = rows.map(|(queue, name, started)| row(slot, queue, name, started));
    write(world, process(0), rows.to_vec()).await;
    write(world, process(1), vec![row(slot + 1, "a", "x", 16)]).await;
    let start = StatsTier::Minute.start_of(slot);
    let select = |queue: Option<&str>, name: Option<&str>, by, length| {
        let mut query = StatsQuery::new(StatsTier::Minute, start, start + length);
        (query.queue, query.name) = (queue.map(str::to_owned), name.map(str::to_owned));
        query.by = by;
        let store = world.store.clone();
        async move {
            let history = store.stats(&query).await.expect("statistics are read");
            let sum = |row: StatRow| (row.slot - slot, row.queue, row.name, row.counts.started);
            history.rows.into_iter().map(sum).collect::<Vec<_>>()
        }
    };
    let sum = |slot: i64, queue: &str, name: &str, n: u64| (slot, queue.into(), name.into(), n);
    let both = mins(2);
    let answer = select(None, None, StatsBy::Slot, both).await;
    assert_eq!(answer, [sum(0, "", "", 15), sum(1, "", "", 16)]);
    let answer = select(None, None, StatsBy::Slot, mins(1)).await;
    assert_eq!(answer, [sum(0, "", "", 15)], "the end does not belong to the range");
    let answer = select(None, None, StatsBy::Queue, mins(1)).await;
    assert_eq!(answer, [sum(0, "a", "", 3), sum(0, "b", "", 12)]);
    let answer = select(Some("b"), None, StatsBy::Name, both).await;
    assert_eq!(answer, [sum(0, "", "x", 4), sum(0, "", "y", 8)]);
    let answer = select(Some("a"), Some("x"), StatsBy::QueueAndName, both).await;
    assert_eq!(answer, [sum(0, "a", "x", 1), sum(1, "a", "x", 16)]);
    assert_eq!(select(Some("c"), None, StatsBy::Slot, both).await, []);
    assert_eq!(select(None, None, StatsBy::Slot, secs(0)).await, []);
}

pub async fn m_02_any_name_can_be_counted(world: &World) {
    let slot = minutes_ago(world, 2).await;
    let names = ["", "o'hara", "a\"b", "%_\\", "日本", "\u{202e}x", "A", "a"];
    let rows = names.map(|name| row(slot, name, name, 1));
    write(world, process(0), rows.to_vec()).await;
    let leader = leader(world).await;
    while fold(world, &leader, 100).await > 0 {}
    for tier in StatsTier::ALL {
        let rows = all(world, tier, StatsBy::QueueAndName).await.rows;
        let mut expected = names;
        expected.sort_unstable();
        assert_eq!(rows.iter().map(|row| &*row.name).collect::<Vec<_>>(), expected);
    }
}
