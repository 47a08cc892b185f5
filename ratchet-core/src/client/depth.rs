//! Backpressure: refuses or warns when a queue is deeper than its limit, based on counts cached in the submitting
//! process.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::{Core, SubmitError};
use crate::config::Depth;
use crate::events::JobRef;
use crate::model::JobState;

/// How long a count is reused.
const FRESH: Duration = Duration::from_millis(250);

/// By queue: when it was counted, and its depth, including the jobs this process has added since.
#[derive(Debug, Default)]
pub(super) struct Depths(Mutex<BTreeMap<String, (Duration, u64)>>);

impl Depths {
    fn get(&self, queue: &str, now: Duration) -> Option<u64> {
        let depths = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, depth) = depths.get(queue)?;
        (now.saturating_sub(*at) < FRESH).then_some(*depth)
    }

    fn set(&self, queue: &str, now: Duration, depth: u64) {
        let mut depths = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        depths.insert(queue.to_owned(), (now, depth));
    }

    /// Adds newly stored jobs to the cached depth.
    pub(super) fn grew(&self, queue: &str, more: u64) {
        let mut depths = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, depth)) = depths.get_mut(queue) {
            *depth += more;
        }
    }
}

/// Groups jobs by queue: how many there are, and the first of them.
pub(super) fn by_queue(jobs: &[JobRef]) -> BTreeMap<&str, (u64, &JobRef)> {
    let mut queues: BTreeMap<&str, (u64, &JobRef)> = BTreeMap::new();
    for job in jobs {
        queues.entry(&job.queue).or_insert((0, job)).0 += 1;
    }
    queues
}

impl Core {
    /// Refuses jobs that would make a queue deeper than its limit. Returns warnings by queue.
    pub(super) async fn check_depth(
        &self,
        jobs: &[JobRef],
    ) -> Result<BTreeMap<String, String>, SubmitError> {
        let mut warnings = BTreeMap::new();
        for (queue, (more, job)) in by_queue(jobs) {
            let Some(limit) = self.config.queues.get(queue).and_then(|queue| queue.depth) else {
                continue;
            };
            let (Depth::Refuse(most) | Depth::Warn(most)) = limit;
            let depth = self.depth(queue, most.saturating_sub(more)).await?;
            if depth + more <= most {
                continue;
            }
            if let Depth::Refuse(limit) = limit {
                let (job, queue) = (job.name.to_string(), queue.to_owned());
                return Err(SubmitError::QueueFull { job, queue, depth, limit });
            }
            let warning = format!("{depth} jobs wait in queue `{queue}`, more than {most}");
            tracing::warn!(job.queue = queue, depth, "{warning}");
            warnings.insert(queue.to_owned(), warning);
        }
        Ok(warnings)
    }

    /// Returns how many jobs wait in a queue. A cached count is used only if it is at most `line`.
    async fn depth(&self, queue: &str, line: u64) -> Result<u64, SubmitError> {
        let now = self.clock.monotonic();
        if let Some(depth) = self.depths.get(queue, now).filter(|depth| *depth <= line) {
            return Ok(depth);
        }
        let counts = self.store.counts().await?;
        let states = counts.queues.get(queue).map(|counts| &counts.states);
        let depth = states.and_then(|states| states.get(&JobState::Pending)).copied().unwrap_or(0);
        self.depths.set(queue, now, depth);
        Ok(depth)
    }
}
