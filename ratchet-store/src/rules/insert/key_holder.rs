//! [`KeyHolder`]: the job that holds a business key.

use jiff::Timestamp;

use crate::model::{Debounce, JobId, JobRecord, JobState};

/// The job that holds a business key, or the second place of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyHolder {
    /// The id of the job.
    pub job: JobId,
    progress: Progress,
}

/// What an insert that coalesces must know about the holder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// It was not looked up.
    Unknown,
    /// It is running, or its handler has not stopped.
    Started,
    /// It waits or is paused, and keeps its due time.
    Waits,
    /// It waits for its first run, and was read at `now`.
    Fresh { queued_at: Timestamp, due: Timestamp, now: Timestamp },
}

impl KeyHolder {
    /// A holder whose state does not matter, because the insert does not coalesce.
    pub fn unread(job: JobId) -> Self {
        Self { job, progress: Progress::Unknown }
    }

    /// A holder that was read at `now`. If it has not started, the store must make sure that it does not start before
    /// the insert is committed.
    pub fn read(job: &JobRecord, now: Timestamp) -> Self {
        let fresh = job.is_claimable() && job.run == 0 && job.spec.step.is_none();
        let progress = match job.state {
            JobState::Pending if fresh => {
                Progress::Fresh { queued_at: job.queued_at, due: job.due, now }
            }
            _ if job.is_live() && job.state != JobState::Running => Progress::Waits,
            _ => Progress::Started,
        };
        Self { job: job.id, progress }
    }

    /// A job that is inserted by the same batch.
    pub(super) fn planned(job: JobId) -> Self {
        Self { job, progress: Progress::Waits }
    }

    /// Returns `true` if the run of the job will see what led to an insert now.
    pub fn has_not_started(&self) -> bool {
        matches!(self.progress, Progress::Waits | Progress::Fresh { .. })
    }

    /// Returns the later due time that an insert gives to the job. A job keeps its due time if it was claimed before, is
    /// paused, or is a step.
    pub fn delayed_by(&self, debounce: Debounce) -> Option<Timestamp> {
        let Progress::Fresh { queued_at, due, now } = self.progress else { return None };
        Some(debounce.due(queued_at, due, now)).filter(|delayed| *delayed > due)
    }
}
