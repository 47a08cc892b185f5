//! Lower bounds from which claims scan their queues. A scan from the start of a queue would read the dead index entries
//! of all recently claimed jobs, which cannot be vacuumed while an old snapshot is held.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ratchet_store::model::{Claimed, NodeId, QueueDemand};
use tokio::time::Instant;
use uuid::Uuid;

/// The position of a job in its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    pub(crate) sort_key: i64,
    pub(crate) due: i64,
    pub(crate) job: Uuid,
}

/// The position before all jobs.
pub(crate) const FIRST: Rank = Rank { sort_key: i64::MIN, due: i64::MIN, job: Uuid::nil() };

impl Rank {
    pub(crate) fn of(job: &Claimed) -> Self {
        let due = job.due.as_microsecond();
        Self { sort_key: job.spec.sort_key(due), due, job: job.id().uuid() }
    }
}

/// For each node and queue, the rank before which there was no claimable job a short while ago.
#[derive(Debug, Default)]
pub(crate) struct Bounds {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    bounds: HashMap<(NodeId, String), Bound>,
    /// The usual time of a claim that starts at its bounds.
    usual: Option<Duration>,
    /// The number of claims so far.
    claims: u64,
}

#[derive(Debug)]
struct Bound {
    rank: Rank,
    /// When the queue was last scanned from its start, and how long to wait before the next such scan.
    since: Instant,
    pause: Duration,
    /// Recent inserts into the queue: the last claim that may not have seen the insert, and its sort key.
    puts: VecDeque<(u64, i64)>,
}

/// The rank at which a claim starts, for each queue.
#[derive(Debug)]
pub(crate) struct Start {
    claim: u64,
    pub(crate) from: Vec<Rank>,
}

/// The number of inserts remembered per queue. A claim that is answered after more inserts than this may skip over an
/// inserted job.
const PUTS: usize = 8;

/// How long a job may be overlooked that another process has inserted before the bound.
const RESCAN: Duration = Duration::from_millis(100);

/// The extra time of scans from the start is at most one part in `RESCAN_SHARE` of the total: an old snapshot keeps
/// dead entries there, more with every claim. This delays such a scan by at most `LONGEST_RESCAN`.
const RESCAN_SHARE: u32 = 50;
const LONGEST_RESCAN: Duration = Duration::from_secs(2);

/// The usual time is a moving average over about this many claims.
const USUAL: u32 = 8;

impl Bounds {
    /// Returns where a claim of these queues starts.
    pub(crate) fn of(&self, node: NodeId, asked: &[QueueDemand]) -> Start {
        let (known, now) = (&mut *self.known(), Instant::now());
        known.claims += 1;
        let claim = known.claims;
        let mut bound = |demand: &QueueDemand| {
            let key = (node, demand.queue.clone());
            match known.bounds.get(&key) {
                Some(bound) if now.duration_since(bound.since) < bound.pause => bound.rank,
                _ => {
                    // Claims that are in flight have scanned from another start.
                    let puts = VecDeque::from([(claim - 1, i64::MIN)]);
                    known
                        .bounds
                        .insert(key, Bound { rank: FIRST, since: now, pause: RESCAN, puts });
                    FIRST
                }
            }
        };
        Start { claim, from: asked.iter().map(&mut bound).collect() }
    }

    /// Records how long a claim with this start took.
    pub(crate) fn took(&self, node: NodeId, asked: &[QueueDemand], start: &Start, time: Duration) {
        let from = &start.from;
        if asked.is_empty() {
            return;
        }
        let mut known = self.known();
        if !from.contains(&FIRST) {
            let usual = known.usual.unwrap_or(time);
            known.usual = Some((usual * (USUAL - 1) + time) / USUAL);
            return;
        }
        let more = time.saturating_sub(known.usual.unwrap_or_default());
        let pause = more.saturating_mul(RESCAN_SHARE).clamp(RESCAN, LONGEST_RESCAN);
        for (demand, _) in asked.iter().zip(from).filter(|(_, from)| **from == FIRST) {
            if let Some(bound) = known.bounds.get_mut(&(node, demand.queue.clone())) {
                bound.pause = pause;
            }
        }
    }

    /// Raises the bounds: all jobs up to these ranks were claimed, except those inserted while the claim was in flight.
    pub(crate) fn raise<'a>(
        &self,
        node: NodeId,
        start: &Start,
        claimed: impl Iterator<Item = (&'a str, Rank)>,
    ) {
        let known = &mut self.known().bounds;
        for (queue, last) in claimed {
            let Some(bound) = known.get_mut(&(node, queue.to_owned())) else { continue };
            let unseen = bound.puts.iter().filter(|(claim, _)| start.claim <= *claim);
            let unseen = unseen.map(|(_, sort_key)| Rank { sort_key: *sort_key, ..FIRST }).min();
            bound.rank = bound.rank.max(unseen.map_or(last, |unseen| unseen.min(last)));
        }
    }

    /// Lowers the bounds of a queue, because this process or another one has inserted a job with this sort key.
    pub(crate) fn lower(&self, queue: &str, sort_key: i64) {
        let known = &mut *self.known();
        for ((_, name), bound) in &mut known.bounds {
            if name != queue {
                continue;
            }
            bound.rank = bound.rank.min(Rank { sort_key, ..FIRST });
            match bound.puts.back_mut() {
                Some((claim, lowest)) if *claim == known.claims => *lowest = sort_key.min(*lowest),
                _ => bound.puts.push_back((known.claims, sort_key)),
            }
            if bound.puts.len() > PUTS {
                bound.puts.pop_front();
            }
        }
    }

    /// Forgets all bounds, because a change may have freed a job anywhere.
    pub(crate) fn clear(&self) {
        self.known().bounds.clear();
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked() -> [QueueDemand; 1] {
        [QueueDemand { queue: "default".to_owned(), limit: 10 }]
    }

    fn rank(sort_key: i64, job: u128) -> Rank {
        Rank { sort_key, due: sort_key, job: Uuid::from_u128(job) }
    }

    // spec: A-02
    #[tokio::test(start_paused = true)]
    async fn looking_from_the_start_takes_little_of_the_time() {
        let (node, asked, bounds) = (NodeId::from_uuid(Uuid::now_v7()), asked(), Bounds::default());
        let millis = Duration::from_millis;
        bounds.took(node, &asked, &Start { claim: 0, from: vec![rank(1, 1)] }, millis(5));
        for (took, pause) in [(1, 100), (6, 100), (11, 300), (900, 2000)] {
            let start = bounds.of(node, &asked);
            assert_eq!(start.from, [FIRST]);
            bounds.took(node, &asked, &start, millis(took));
            bounds.raise(node, &start, [("default", rank(7, 1))].into_iter());
            tokio::time::advance(millis(pause - 1)).await;
            assert_eq!(bounds.of(node, &asked).from, [rank(7, 1)], "{took} ms");
            tokio::time::advance(millis(1)).await;
        }
    }

    // spec: A-02
    #[tokio::test(start_paused = true)]
    async fn a_bound_rises_within_one_insert_and_falls_with_the_next() {
        let (node, asked, bounds) = (NodeId::from_uuid(Uuid::now_v7()), asked(), Bounds::default());
        assert_eq!(bounds.of(node, &asked).from, [FIRST]);
        for last in [rank(7, 1), rank(7, 9)] {
            let start = bounds.of(node, &asked);
            bounds.raise(node, &start, [("default", last)].into_iter());
            assert_eq!(bounds.of(node, &asked).from, [last]);
        }
        bounds.lower("default", 7);
        bounds.lower("other", 1);
        assert_eq!(bounds.of(node, &asked).from, [Rank { sort_key: 7, ..FIRST }]);
    }

    // spec: C-02
    #[tokio::test(start_paused = true)]
    async fn a_claim_in_the_air_does_not_pass_over_what_was_put_there_meanwhile() {
        let (node, asked, bounds) = (NodeId::from_uuid(Uuid::now_v7()), asked(), Bounds::default());
        let put = Rank { sort_key: 7, ..FIRST };
        // A claim that scans from the start, and a concurrent one.
        let (start, beside) = (bounds.of(node, &asked), bounds.of(node, &asked));
        bounds.lower("default", 9);
        bounds.lower("default", 7);
        let after = bounds.of(node, &asked);
        for early in [&beside, &start] {
            bounds.raise(node, early, [("default", rank(8, 1))].into_iter());
            assert_eq!(bounds.of(node, &asked).from, [put]);
        }
        // A claim that has seen the insert.
        bounds.raise(node, &after, [("default", rank(8, 5))].into_iter());
        assert_eq!(bounds.of(node, &asked).from, [rank(8, 5)]);
        // A claim that starts where the last one ended.
        let start = bounds.of(node, &asked);
        bounds.lower("default", 7);
        bounds.raise(node, &start, [("default", rank(9, 1))].into_iter());
        assert_eq!(bounds.of(node, &asked).from, [put]);
        // An insert after the claimed rank does not lower the bound.
        let start = bounds.of(node, &asked);
        bounds.lower("default", 20);
        bounds.raise(node, &start, [("default", rank(9, 1))].into_iter());
        assert_eq!(bounds.of(node, &asked).from, [rank(9, 1)]);
    }

    // spec: C-02
    #[tokio::test(start_paused = true)]
    async fn a_claim_in_the_air_says_nothing_of_what_has_changed_since() {
        let (node, asked, bounds) = (NodeId::from_uuid(Uuid::now_v7()), asked(), Bounds::default());
        let start = bounds.of(node, &asked);
        bounds.clear();
        bounds.of(node, &asked);
        bounds.raise(node, &start, [("default", rank(8, 1))].into_iter());
        assert_eq!(bounds.of(node, &asked).from, [FIRST]);
    }
}
