//! Backpressure: refuses or warns when a queue is deeper than its limit, based on counts cached in the submitting
//! process.

use std::collections::BTreeMap;

use super::SubmitError;
use crate::config::DepthLimit;
use crate::events::JobRef;
use crate::runtime::{Core, by_queue};
use ratchet_store::model::JobState;

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
            let (DepthLimit::Refuse(most) | DepthLimit::Warn(most)) = limit;
            let depth = self.depth(queue, most.saturating_sub(more)).await?;
            if depth + more <= most {
                continue;
            }
            if let DepthLimit::Refuse(limit) = limit {
                self.meter.refused("queue_full");
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
