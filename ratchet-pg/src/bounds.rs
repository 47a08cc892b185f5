//! Where claims begin to look. A scan from the start of a queue would walk over the dead entries of everything claimed
//! lately, and an old snapshot lets none of them go.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ratchet_core::model::{Claimed, NodeId, QueueRoom};
use tokio::time::Instant;
use uuid::Uuid;

/// Where a job stands in its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    pub(crate) sort_key: i64,
    pub(crate) due: i64,
    pub(crate) job: Uuid,
}

/// Before every job.
pub(crate) const FIRST: Rank = Rank { sort_key: i64::MIN, due: i64::MIN, job: Uuid::nil() };

impl Rank {
    pub(crate) fn of(job: &Claimed) -> Self {
        let due = job.due.as_microsecond();
        Self { sort_key: job.spec.sort_key(due), due, job: job.id().uuid() }
    }
}

/// Before which rank a queue has nothing for a node, for a short while.
#[derive(Debug, Default)]
pub(crate) struct Bounds {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    bounds: HashMap<(NodeId, String), Bound>,
    /// What a claim takes that begins at its bounds.
    usual: Option<Duration>,
}

#[derive(Debug)]
struct Bound {
    rank: Rank,
    /// When the queue was last looked at from its start, and for how long that is not done again.
    since: Instant,
    pause: Duration,
}

/// How long a job may be overlooked that another process has put before the bound.
const RESCAN: Duration = Duration::from_millis(100);

/// What looking from the start takes more than other claims is at most one part in so many of the time: an old snapshot
/// keeps dead entries there, more with every claim. But no job is overlooked for longer than this because of it.
const RESCAN_SHARE: u32 = 50;
const LONGEST_RESCAN: Duration = Duration::from_secs(2);

/// Of how many claims the usual time is about the mean.
const USUAL: u32 = 8;

impl Bounds {
    /// Where a claim of these queues begins.
    pub(crate) fn of(&self, node: NodeId, asked: &[QueueRoom]) -> Vec<Rank> {
        let (known, now) = (&mut self.known().bounds, Instant::now());
        let mut bound = |room: &QueueRoom| {
            let key = (node, room.queue.clone());
            match known.get(&key) {
                Some(bound) if now.duration_since(bound.since) < bound.pause => bound.rank,
                _ => {
                    known.insert(key, Bound { rank: FIRST, since: now, pause: RESCAN });
                    FIRST
                }
            }
        };
        asked.iter().map(&mut bound).collect()
    }

    /// A claim that began at these ranks took so long.
    pub(crate) fn took(&self, node: NodeId, asked: &[QueueRoom], from: &[Rank], time: Duration) {
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
        for (room, _) in asked.iter().zip(from).filter(|(_, from)| **from == FIRST) {
            if let Some(bound) = known.bounds.get_mut(&(node, room.queue.clone())) {
                bound.pause = pause;
            }
        }
    }

    /// Everything between these two was claimed. A bound that has fallen below the first stays: the claim may have been
    /// made before what was put there.
    pub(crate) fn raise<'a>(
        &self,
        node: NodeId,
        claimed: impl Iterator<Item = (&'a str, Rank, Rank)>,
    ) {
        let known = &mut self.known().bounds;
        for (queue, from, last) in claimed {
            let bound = known.get_mut(&(node, queue.to_owned()));
            if let Some(bound) = bound.filter(|bound| bound.rank >= from) {
                bound.rank = bound.rank.max(last);
            }
        }
    }

    /// This process has put jobs there.
    pub(crate) fn lower(&self, queue: &str, sort_key: i64) {
        for ((_, name), bound) in &mut self.known().bounds {
            if name == queue {
                bound.rank = bound.rank.min(Rank { sort_key, ..FIRST });
            }
        }
    }

    /// Something has changed that may free a job anywhere.
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

    fn asked() -> [QueueRoom; 1] {
        [QueueRoom { queue: "default".to_owned(), room: 10 }]
    }

    fn rank(sort_key: i64, job: u128) -> Rank {
        Rank { sort_key, due: sort_key, job: Uuid::from_u128(job) }
    }

    // spec: A-02
    #[tokio::test(start_paused = true)]
    async fn looking_from_the_start_takes_little_of_the_time() {
        let (node, asked, bounds) = (NodeId::from_uuid(Uuid::now_v7()), asked(), Bounds::default());
        let millis = Duration::from_millis;
        bounds.took(node, &asked, &[rank(1, 1)], millis(5));
        for (took, pause) in [(1, 100), (6, 100), (11, 300), (900, 2000)] {
            let from = bounds.of(node, &asked);
            assert_eq!(from, [FIRST]);
            bounds.took(node, &asked, &from, millis(took));
            bounds.raise(node, [("default", FIRST, rank(7, 1))].into_iter());
            tokio::time::advance(millis(pause - 1)).await;
            assert_eq!(bounds.of(node, &asked), [rank(7, 1)], "{took} ms");
            tokio::time::advance(millis(1)).await;
        }
    }

    // spec: A-02
    #[tokio::test(start_paused = true)]
    async fn a_bound_rises_within_one_insert_and_falls_with_the_next() {
        let (node, asked, bounds) = (NodeId::from_uuid(Uuid::now_v7()), asked(), Bounds::default());
        assert_eq!(bounds.of(node, &asked), [FIRST]);
        for last in [rank(7, 1), rank(7, 9)] {
            bounds.raise(node, [("default", FIRST, last)].into_iter());
            assert_eq!(bounds.of(node, &asked), [last]);
        }
        bounds.lower("default", 7);
        assert_eq!(bounds.of(node, &asked), [Rank { sort_key: 7, ..FIRST }]);
        // A claim that was in the air meanwhile does not raise it again.
        bounds.raise(node, [("default", rank(7, 9), rank(8, 1))].into_iter());
        bounds.lower("other", 1);
        assert_eq!(bounds.of(node, &asked), [Rank { sort_key: 7, ..FIRST }]);
    }
}
