//! [`QueueCapacity`]: how many jobs may be claimed from each queue.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::rest::Rest;
use crate::config::Config;
use ratchet_store::model::QueueDemand;

/// The queues of a worker, their limits, and the number of running jobs of each.
#[derive(Debug)]
pub(super) struct QueueCapacity {
    queues: Vec<Queue>,
    by_name: BTreeMap<String, usize>,
    limit: u32,
    running: u32,
    /// Jobs requested by claims in flight.
    requested: u32,
    /// How often capacity was divided. The queue that is served first rotates, and with it an indivisible rest.
    divisions: usize,
}

#[derive(Debug)]
struct Queue {
    name: String,
    limit: u32,
    weight: u32,
    running: u32,
    requested: u32,
    /// The last claim returned fewer jobs than it requested from this queue, so that no other job was due.
    exhausted: bool,
    /// A health check that guards the queue fails.
    closed: bool,
    /// The request number of the health check that must run before the queue opens.
    awaited_check: Option<u64>,
    /// Whether the queue rests because a handler has rejected its job.
    rest: Rest,
}

impl Queue {
    fn is_closed(&self) -> bool {
        self.closed || self.awaited_check.is_some() || self.rest.until().is_some()
    }

    fn free(&self) -> u32 {
        if self.is_closed() {
            0
        } else {
            self.limit.saturating_sub(self.running.saturating_add(self.requested))
        }
    }

    /// Returns whether more jobs are probably due, and may be claimed.
    fn expects_work(&self) -> bool {
        !self.exhausted && self.free() > 0
    }
}

impl QueueCapacity {
    pub(super) fn new(names: &[String], config: &Config) -> Self {
        let queues: Vec<_> = names
            .iter()
            .map(|name| {
                let queue = config.queues.get(name);
                Queue {
                    name: name.clone(),
                    limit: queue.and_then(|queue| queue.concurrency).unwrap_or(config.concurrency),
                    weight: queue.map_or(1, |queue| queue.weight).max(1),
                    running: 0,
                    requested: 0,
                    exhausted: false,
                    closed: false,
                    awaited_check: None,
                    rest: Rest::default(),
                }
            })
            .collect();
        let by_name =
            queues.iter().enumerate().map(|(at, queue)| (queue.name.clone(), at)).collect();
        Self { queues, by_name, limit: config.concurrency, running: 0, requested: 0, divisions: 0 }
    }

    pub(super) fn running(&self) -> u32 {
        self.running
    }

    pub(super) fn acquire(&mut self, queue: &str) {
        self.running += 1;
        if let Some(at) = self.by_name.get(queue) {
            self.queues[*at].running += 1;
        }
    }

    pub(super) fn release(&mut self, queue: &str) {
        self.running = self.running.saturating_sub(1);
        if let Some(at) = self.by_name.get(queue) {
            self.queues[*at].running = self.queues[*at].running.saturating_sub(1);
        }
    }

    /// Returns how many more jobs may be claimed, over all queues.
    pub(super) fn free(&self) -> u32 {
        self.limit.saturating_sub(self.running.saturating_add(self.requested))
    }

    /// Closes a queue until health checks that began after this request have run.
    pub(super) fn await_check(&mut self, queue: &str, request: u64) {
        if let Some(at) = self.by_name.get(queue) {
            self.queues[*at].awaited_check = Some(request);
        }
    }

    /// Applies the result of the health checks: `closed` queues are closed, the rest are open, and requests up to
    /// number `seen` are done. Returns whether more may be claimed than before.
    pub(super) fn checked(&mut self, closed: &BTreeSet<String>, seen: u64) -> bool {
        let mut opened = false;
        for queue in &mut self.queues {
            let before = queue.free();
            queue.closed = closed.contains(&queue.name);
            queue.awaited_check = queue.awaited_check.filter(|request| *request > seen);
            opened |= queue.free() > before;
        }
        opened
    }

    /// Returns whether a failing or pending health check keeps a queue closed. Jobs that were claimed before a queue
    /// began to rest may run.
    pub(super) fn is_closed(&self, queue: &str) -> bool {
        let queue = self.by_name.get(queue).map(|at| &self.queues[*at]);
        queue.is_some_and(|queue| queue.closed || queue.awaited_check.is_some())
    }

    /// Returns whether any queue is closed.
    pub(super) fn any_closed(&self) -> bool {
        self.queues.iter().any(Queue::is_closed)
    }

    /// Closes a queue for a while, because a handler has rejected its job and no health check could tell when to
    /// continue. Returns for how long, or `None` if the queue rests already.
    pub(super) fn reject(&mut self, queue: &str, now: Duration) -> Option<Duration> {
        let at = self.by_name.get(queue)?;
        self.queues[*at].rest.reject(now)
    }

    /// Records that a handler of a queue has not rejected its job.
    pub(super) fn accept(&mut self, queue: &str) {
        if let Some(at) = self.by_name.get(queue) {
            self.queues[*at].rest.accept();
        }
    }

    /// Opens the queues whose rest is over. Returns whether there were any.
    pub(super) fn end_rests(&mut self, now: Duration) -> bool {
        let mut ended = false;
        for queue in &mut self.queues {
            ended |= queue.rest.end(now);
        }
        ended
    }

    /// Returns when the next rest ends.
    pub(super) fn next_rest_end(&self) -> Option<Duration> {
        self.queues.iter().filter_map(|queue| queue.rest.until()).min()
    }

    /// Returns the queues that rest, until when, and after how many rejections in a row.
    pub(super) fn rests(&self) -> Vec<(String, Duration, u32)> {
        let rest = |queue: &Queue| {
            Some((queue.name.clone(), queue.rest.until()?, queue.rest.rejections()))
        };
        self.queues.iter().filter_map(rest).collect()
    }

    /// Returns whether any job may be claimed.
    pub(super) fn is_open(&self) -> bool {
        self.free() > 0 && self.queues.iter().any(|queue| queue.free() > 0)
    }

    /// Returns whether more jobs are probably due in a queue that has free capacity.
    pub(super) fn expects_work(&self) -> bool {
        self.free() > 0 && self.queues.iter().any(Queue::expects_work)
    }

    /// Notes that jobs may be due in a queue.
    pub(super) fn announce(&mut self, queue: &str) {
        if let Some(at) = self.by_name.get(queue) {
            self.queues[*at].exhausted = false;
        }
    }

    /// Divides the free capacity among the queues by weight. Capacity that a queue does not use is available again
    /// after the reply.
    ///
    /// While some queues probably have work, an exhausted queue gets one place at most, and the exhausted queues get
    /// half of the places at most. A worker of several queues therefore drains one of them at full speed.
    pub(super) fn allot(&mut self, batch: usize) -> Vec<QueueDemand> {
        let most = u32::try_from(batch).unwrap_or(u32::MAX);
        let mut left = self.free().min(most);
        let mut given = vec![0_u32; self.queues.len()];
        let (turn, odd) = (self.divisions, u32::from(self.divisions % 2 == 1));
        if self.expects_work() {
            // An indivisible place is a probe in every second division.
            let probes = left / 2 + (left % 2) * odd;
            let probe = |queue: &Queue, given: u32| u32::from(queue.exhausted && given == 0);
            let unused = self.divide(probes, turn / 2, &mut given, probe);
            let work = |queue: &Queue, _| if queue.exhausted { 0 } else { queue.weight };
            left = self.divide(left - probes + unused, turn, &mut given, work);
        }
        self.divide(left, turn, &mut given, |queue, _| queue.weight);
        self.divisions = self.divisions.wrapping_add(1);
        for (queue, given) in self.queues.iter_mut().zip(&given) {
            queue.requested += given;
            self.requested += given;
        }
        let demands = self
            .queues
            .iter()
            .zip(given)
            .map(|(queue, limit)| QueueDemand { queue: queue.name.clone(), limit });
        demands.filter(|demand| demand.limit > 0).collect()
    }

    /// Gives every queue its share, in rounds that begin with the queue whose turn it is, until nothing is left or no
    /// queue takes more. `share` receives a queue and what it was given before. Returns what is left.
    fn divide(
        &self,
        mut left: u32,
        turn: usize,
        given: &mut [u32],
        share: impl Fn(&Queue, u32) -> u32,
    ) -> u32 {
        while left > 0 {
            let before = left;
            for offset in 0..self.queues.len() {
                let at = turn.wrapping_add(offset) % self.queues.len();
                let queue = &self.queues[at];
                let free = queue.free().saturating_sub(given[at]);
                let share = share(queue, given[at]).min(free).min(left);
                given[at] += share;
                left -= share;
            }
            if left == before {
                break;
            }
        }
        left
    }

    /// Releases the requested capacity of a claim. `claimed` is what the reply returned of each queue, or `None` if the
    /// claim failed.
    pub(super) fn answered(
        &mut self,
        demands: &[QueueDemand],
        claimed: Option<&BTreeMap<&str, u32>>,
    ) {
        for demand in demands {
            self.requested = self.requested.saturating_sub(demand.limit);
            let Some(at) = self.by_name.get(&demand.queue) else { continue };
            let queue = &mut self.queues[*at];
            queue.requested = queue.requested.saturating_sub(demand.limit);
            if let Some(claimed) = claimed {
                let jobs = claimed.get(demand.queue.as_str()).copied().unwrap_or(0);
                queue.exhausted = jobs < demand.limit;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::QueueConfig;

    fn capacity(concurrency: u32, queues: &[(&str, u32, Option<u32>)]) -> QueueCapacity {
        let mut config = Config { concurrency, ..Config::default() };
        for (name, weight, limit) in queues {
            let mut queue = QueueConfig::default().weight(*weight);
            queue.concurrency = *limit;
            config.queues.insert((*name).to_owned(), queue);
        }
        let names: Vec<_> = queues.iter().map(|(name, ..)| (*name).to_owned()).collect();
        QueueCapacity::new(&names, &config)
    }

    fn shares(demands: &[QueueDemand]) -> Vec<(&str, u32)> {
        demands.iter().map(|demand| (demand.queue.as_str(), demand.limit)).collect()
    }

    #[test]
    fn c_02_room_is_divided_by_weight() {
        let mut capacity = capacity(8, &[("a", 3, None), ("b", 1, None)]);
        assert_eq!(shares(&capacity.allot(100)), [("a", 6), ("b", 2)]);
    }

    #[test]
    fn c_03_no_queue_gets_more_than_its_limit() {
        let mut capacity = capacity(10, &[("a", 1, Some(2)), ("b", 1, None)]);
        let requested = capacity.allot(100);
        assert_eq!(shares(&requested), [("a", 2), ("b", 8)]);
        capacity.answered(&requested, None);
        capacity.acquire("a");
        assert_eq!(shares(&capacity.allot(100)), [("a", 1), ("b", 8)]);
    }

    #[test]
    fn c_02_what_does_not_divide_goes_around() {
        let mut capacity = capacity(1, &[("a", 1, None), ("b", 1, None)]);
        let requested = capacity.allot(100);
        assert_eq!(shares(&requested), [("a", 1)]);
        capacity.answered(&requested, None);
        assert_eq!(shares(&capacity.allot(100)), [("b", 1)]);
    }

    #[test]
    fn c_03_what_is_asked_for_is_not_asked_for_twice() {
        let mut capacity = capacity(10, &[("a", 1, None)]);
        let first = capacity.allot(6);
        assert_eq!(shares(&capacity.allot(6)), [("a", 4)]);
        assert!(!capacity.is_open());
        capacity.answered(&first, None);
        assert_eq!(shares(&capacity.allot(100)), [("a", 6)]);
    }

    #[test]
    fn h_01_a_closed_queue_gets_no_room_and_its_share_goes_to_the_others() {
        let mut capacity = capacity(4, &[("a", 1, None), ("b", 1, None)]);
        assert!(!capacity.checked(&BTreeSet::from(["a".to_owned()]), 0));
        let requested = capacity.allot(100);
        assert_eq!(shares(&requested), [("b", 4)]);
        capacity.answered(&requested, None);
        assert!(capacity.checked(&BTreeSet::new(), 0));
        assert_eq!(shares(&capacity.allot(100)), [("a", 2), ("b", 2)]);
    }

    #[test]
    fn h_04_a_doubt_is_settled_by_a_check_that_began_after_it() {
        let mut capacity = capacity(4, &[("a", 1, None)]);
        capacity.await_check("a", 2);
        assert!(!capacity.checked(&BTreeSet::new(), 1));
        assert!(!capacity.is_open());
        assert!(capacity.checked(&BTreeSet::new(), 2));
        assert!(capacity.is_open());
    }

    #[test]
    fn h_04_a_queue_that_rests_gets_no_room_and_its_share_goes_to_the_others() {
        const MS: Duration = Duration::from_millis(1);
        let mut capacity = capacity(4, &[("a", 1, None), ("b", 1, None)]);
        assert_eq!(capacity.reject("a", Duration::ZERO), Some(10 * MS));
        assert_eq!(capacity.rests(), [("a".to_owned(), 10 * MS, 1)]);
        assert!(capacity.any_closed() && !capacity.is_closed("a"), "claimed jobs may run");
        let requested = capacity.allot(100);
        assert_eq!(shares(&requested), [("b", 4)]);
        capacity.answered(&requested, None);
        assert_eq!(capacity.next_rest_end(), Some(10 * MS));
        assert!(!capacity.end_rests(9 * MS) && capacity.end_rests(10 * MS));
        assert_eq!(shares(&capacity.allot(100)), [("a", 2), ("b", 2)]);
    }

    fn reply(capacity: &mut QueueCapacity, requested: &[QueueDemand], jobs: &[(&str, u32)]) {
        capacity.answered(requested, Some(&jobs.iter().copied().collect()));
    }

    #[test]
    fn c_02_an_exhausted_queue_leaves_its_places_to_a_queue_with_work() {
        let mut capacity = capacity(8, &[("a", 1, None), ("b", 1, None), ("c", 1, None)]);
        let requested = capacity.allot(100);
        assert_eq!(shares(&requested), [("a", 3), ("b", 3), ("c", 2)]);
        reply(&mut capacity, &requested, &[("a", 3), ("c", 1)]);
        assert!(capacity.expects_work());
        let requested = capacity.allot(100);
        assert_eq!(shares(&requested), [("a", 6), ("b", 1), ("c", 1)]);
        reply(&mut capacity, &requested, &[("a", 6), ("b", 1)]);
        let requested = capacity.allot(100);
        assert_eq!(shares(&requested), [("a", 4), ("b", 3), ("c", 1)], "b has work again");
        reply(&mut capacity, &requested, &[]);
        assert!(!capacity.expects_work());
        assert_eq!(shares(&capacity.allot(100)), [("a", 3), ("b", 3), ("c", 2)]);
    }

    #[test]
    fn c_02_a_single_place_alternates_between_work_and_probes() {
        let mut capacity = capacity(1, &[("a", 1, None), ("b", 1, None), ("c", 1, None)]);
        for _ in 0..3 {
            let requested = capacity.allot(1);
            reply(&mut capacity, &requested, &[("a", 1)]);
        }
        let mut order = String::new();
        for _ in 0..12 {
            let requested = capacity.allot(1);
            order.push_str(&requested[0].queue);
            reply(&mut capacity, &requested, &[("a", 1)]);
            assert!(capacity.expects_work(), "an empty reply of b does not end the work of a");
        }
        assert_eq!(order, "bacababacaba");
    }

    #[test]
    fn c_02_work_in_a_queue_without_free_capacity_is_not_expected() {
        let mut capacity = capacity(8, &[("a", 1, Some(1)), ("b", 1, None)]);
        let requested = capacity.allot(100);
        reply(&mut capacity, &requested, &[("a", 1)]);
        capacity.acquire("a");
        assert!(!capacity.expects_work(), "claims of b alone would never end");
        capacity.release("a");
        assert!(capacity.expects_work(), "the next job of a does not wait for a poll");
    }

    #[test]
    fn s_09_an_announced_queue_gets_its_share_again() {
        let mut capacity = capacity(4, &[("a", 1, None), ("b", 1, None)]);
        let requested = capacity.allot(100);
        reply(&mut capacity, &requested, &[("a", 2)]);
        capacity.announce("b");
        assert_eq!(shares(&capacity.allot(100)), [("a", 2), ("b", 2)]);
    }

    #[test]
    fn c_03_a_full_worker_has_no_room() {
        let mut capacity = capacity(1, &[("a", 1, None)]);
        capacity.acquire("a");
        assert!(!capacity.is_open());
        assert!(capacity.allot(100).is_empty());
        capacity.release("a");
        assert!(capacity.is_open());
    }
}
