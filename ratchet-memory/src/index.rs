//! Indexes that find jobs without scanning all of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::Timestamp;

use super::ready::{Lane, Line, Place};
use super::scheduled::Scheduled;
use ratchet_store::model::{Counts, JobId, JobRecord, JobState, KnownJobs};

/// The indexes. A job is removed before it changes and added again afterward.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// Due jobs by queue.
    ready: HashMap<String, Line>,
    /// Future jobs by queue. A claim moves jobs that have fallen due to `ready`.
    scheduled: HashMap<String, Scheduled>,
    /// The number of jobs by queue and state.
    counts: Counts,
    /// The number of pending jobs by name and version.
    waiting: BTreeMap<(String, u32), u64>,
    /// Terminal jobs by the time they ended, for purges.
    finished: BTreeMap<JobState, BTreeSet<(Timestamp, JobId)>>,
    /// Failed jobs, oldest first, for redrives.
    failed: BTreeSet<JobId>,
    /// Jobs that wait or are paused, by the time they expire.
    expiring: BTreeSet<(Timestamp, JobId)>,
}

impl Index {
    pub(super) fn add(&mut self, job: &JobRecord, now: Timestamp) {
        let queue = &job.spec.queue;
        *self
            .counts
            .queues
            .entry(queue.clone())
            .or_default()
            .states
            .entry(job.state)
            .or_default() += 1;
        if job.state == JobState::Pending {
            *self.waiting.entry((job.spec.name.clone(), job.spec.version)).or_default() += 1;
        }
        if job.is_claimable() {
            if job.due <= now {
                self.make_ready(job);
            } else {
                self.scheduled.entry(queue.clone()).or_default().insert(job);
            }
        }
        if let Some(at) = ended(job) {
            self.finished.entry(job.state).or_default().insert((at, job.id));
        }
        if job.state == JobState::Failed {
            self.failed.insert(job.id);
        }
        self.expiring.extend(job.cancels_at().map(|at| (at, job.id)));
    }

    pub(super) fn remove(&mut self, job: &JobRecord) {
        self.uncount(job);
        if job.is_claimable() && !self.remove_ready(job) {
            self.remove_scheduled(job);
        }
        if let Some(at) = ended(job)
            && let Some(finished) = self.finished.get_mut(&job.state)
        {
            finished.remove(&(at, job.id));
        }
        self.failed.remove(&job.id);
        if let Some(at) = job.cancels_at() {
            self.expiring.remove(&(at, job.id));
        }
    }

    pub(super) fn make_ready(&mut self, job: &JobRecord) {
        let line = self.ready.entry(job.spec.queue.clone()).or_default();
        line.insert(Lane::of(job), Place::of(job));
    }

    /// Removes and returns the future jobs of a queue that have fallen due.
    pub(super) fn take_due(&mut self, queue: &str, now: Timestamp) -> Vec<JobId> {
        let Some(scheduled) = self.scheduled.get_mut(queue) else { return Vec::new() };
        let due = scheduled.take_due(now);
        if scheduled.is_empty() {
            self.scheduled.remove(queue);
        }
        due
    }

    /// Returns the due jobs of a queue.
    pub(super) fn line(&self, queue: &str) -> Option<&Line> {
        self.ready.get(queue)
    }

    /// Returns when the next job of a queue that is in `known` falls due.
    pub(super) fn next_due(&self, queue: &str, known: &KnownJobs) -> Option<Timestamp> {
        self.scheduled.get(queue)?.next(known)
    }

    /// Returns jobs that reached a terminal state at or before an instant, oldest first.
    pub(super) fn finished(
        &self,
        state: JobState,
        until: Timestamp,
    ) -> impl Iterator<Item = JobId> {
        let finished = self.finished.get(&state).into_iter().flatten();
        finished.take_while(move |(at, _)| *at <= until).map(|(_, id)| *id)
    }

    /// Returns failed jobs, oldest first.
    pub(super) fn failed(&self) -> impl Iterator<Item = JobId> {
        self.failed.iter().copied()
    }

    /// Returns the jobs that wait or are paused and expire at or before an instant.
    pub(super) fn expiring(&self, until: Timestamp) -> BTreeSet<JobId> {
        let expiring = self.expiring.iter().take_while(|(at, _)| *at <= until);
        expiring.map(|(_, id)| *id).collect()
    }

    /// Returns the number of pending jobs by name and version.
    pub(super) fn waiting(&self) -> impl Iterator<Item = (&str, u32, u64)> {
        self.waiting.iter().map(|((name, version), count)| (name.as_str(), *version, *count))
    }

    pub(super) fn counts(&self) -> Counts {
        self.counts.clone()
    }

    /// Returns the number of jobs of a queue in a state.
    pub(super) fn counts_of(&self, queue: &str, state: JobState) -> u64 {
        let counts = self.counts.queues.get(queue).and_then(|counts| counts.states.get(&state));
        counts.copied().unwrap_or_default()
    }

    fn uncount(&mut self, job: &JobRecord) {
        let queue = &job.spec.queue;
        if let Some(counts) = self.counts.queues.get_mut(queue) {
            drop_one(&mut counts.states, &job.state);
            if counts.states.is_empty() {
                self.counts.queues.remove(queue);
            }
        }
        if job.state == JobState::Pending {
            drop_one(&mut self.waiting, &(job.spec.name.clone(), job.spec.version));
        }
    }

    fn remove_ready(&mut self, job: &JobRecord) -> bool {
        let queue = &job.spec.queue;
        let Some(line) = self.ready.get_mut(queue) else { return false };
        let there = line.remove(&Lane::of(job), Place::of(job));
        if line.is_empty() {
            self.ready.remove(queue);
        }
        there
    }

    fn remove_scheduled(&mut self, job: &JobRecord) {
        if let Some(scheduled) = self.scheduled.get_mut(&job.spec.queue) {
            scheduled.remove(job);
            if scheduled.is_empty() {
                self.scheduled.remove(&job.spec.queue);
            }
        }
    }
}

/// Returns when a terminal job ended.
fn ended(job: &JobRecord) -> Option<Timestamp> {
    job.finished_at.filter(|_| job.state.is_terminal())
}

/// Decrements a count and removes it at zero.
fn drop_one<K: Ord>(counts: &mut BTreeMap<K, u64>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count = count.saturating_sub(1);
        if *count == 0 {
            counts.remove(key);
        }
    }
}
