//! The cached depths of queues, for backpressure.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::events::JobRef;

/// How long a count is reused.
const FRESH: Duration = Duration::from_millis(250);

/// By queue: when it was counted, and its depth, including the jobs this process has added since.
#[derive(Debug, Default)]
pub(crate) struct Depths(Mutex<BTreeMap<String, (Duration, u64)>>);

impl Depths {
    pub(crate) fn get(&self, queue: &str, now: Duration) -> Option<u64> {
        let depths = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, depth) = depths.get(queue)?;
        (now.saturating_sub(*at) < FRESH).then_some(*depth)
    }

    pub(crate) fn set(&self, queue: &str, now: Duration, depth: u64) {
        let mut depths = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        depths.insert(queue.to_owned(), (now, depth));
    }

    /// Adds newly stored jobs to the cached depth.
    pub(crate) fn grew(&self, queue: &str, more: u64) {
        let mut depths = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, depth)) = depths.get_mut(queue) {
            *depth += more;
        }
    }
}

/// Groups jobs by queue: how many there are, and the first of them.
pub(crate) fn by_queue(jobs: &[JobRef]) -> BTreeMap<&str, (u64, &JobRef)> {
    let mut queues: BTreeMap<&str, (u64, &JobRef)> = BTreeMap::new();
    for job in jobs {
        queues.entry(&job.queue).or_insert((0, job)).0 += 1;
    }
    queues
}
