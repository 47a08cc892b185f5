//! Counts of jobs that are reused for a short time, because counting many waiting jobs takes long.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ratchet_store::StoreError;
use ratchet_store::model::{Counts, JobState};
use ratchet_store::rules::search::FEW_WAITING;

use super::Core;

/// How long counts are reused.
const FRESH: Duration = Duration::from_secs(2);

/// The last counts, if many jobs waited, and when they were read.
#[derive(Debug, Default)]
pub(crate) struct RecentCounts(Mutex<Option<(Duration, Counts)>>);

impl RecentCounts {
    pub(crate) fn get(&self, now: Duration) -> Option<Counts> {
        let recent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, counts) = recent.as_ref()?;
        (now.saturating_sub(*at) < FRESH).then(|| counts.clone())
    }

    pub(crate) fn set(&self, now: Duration, counts: &Counts) {
        let many = counts.state(JobState::Pending) > FEW_WAITING;
        let recent = many.then(|| (now, counts.clone()));
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = recent;
    }
}

impl Core {
    /// Counts jobs.
    pub(crate) async fn counts(&self) -> Result<Counts, StoreError> {
        let now = self.clock.monotonic();
        let counts = self.store.counts().await?;
        self.recent_counts.set(now, &counts);
        Ok(counts)
    }

    /// Counts jobs, unless that was done a short time ago and took long.
    pub(crate) async fn recent_counts(&self) -> Result<Counts, StoreError> {
        match self.recent_counts.get(self.clock.monotonic()) {
            Some(counts) => Ok(counts),
            None => self.counts().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(jobs: u64) -> Counts {
        let mut counts = Counts::default();
        let queue = counts.queues.entry("mail".to_owned()).or_default();
        queue.states.insert(JobState::Pending, jobs);
        counts
    }

    // spec: O-14
    #[test]
    fn counts_of_many_waiting_jobs_are_reused_for_two_seconds() {
        let (recent, at) = (RecentCounts::default(), Duration::from_secs(100));
        assert_eq!(recent.get(at), None);
        recent.set(at, &waiting(FEW_WAITING + 1));
        assert_eq!(recent.get(at + FRESH / 2), Some(waiting(FEW_WAITING + 1)));
        assert_eq!(recent.get(at + FRESH), None);
    }

    // spec: O-14
    #[test]
    fn counts_of_few_waiting_jobs_are_always_read() {
        let (recent, at) = (RecentCounts::default(), Duration::from_secs(100));
        recent.set(at, &waiting(FEW_WAITING + 1));
        recent.set(at, &waiting(FEW_WAITING));
        assert_eq!(recent.get(at), None);
    }
}
