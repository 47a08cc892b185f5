//! Jobs that are not due yet, grouped by name and version, so that a claim visits only the first of each.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use ratchet_store::model::{JobId, JobRecord, KnownJobs};

/// The future jobs of one queue.
#[derive(Debug, Default)]
pub(super) struct Scheduled {
    /// By name and version.
    kinds: BTreeMap<(String, u32), BTreeSet<(Timestamp, JobId)>>,
}

impl Scheduled {
    pub(super) fn insert(&mut self, job: &JobRecord) {
        self.kinds.entry(kind(job)).or_default().insert((job.due, job.id));
    }

    pub(super) fn remove(&mut self, job: &JobRecord) {
        let kind = kind(job);
        if let Some(times) = self.kinds.get_mut(&kind) {
            times.remove(&(job.due, job.id));
            if times.is_empty() {
                self.kinds.remove(&kind);
            }
        }
    }

    /// Removes and returns the jobs that are due.
    pub(super) fn take_due(&mut self, now: Timestamp) -> Vec<JobId> {
        let mut due = Vec::new();
        self.kinds.retain(|_, times| {
            while let Some((at, id)) = times.first().copied()
                && at <= now
            {
                times.pop_first();
                due.push(id);
            }
            !times.is_empty()
        });
        due
    }

    /// Returns when the next job that is in `known` falls due.
    pub(super) fn next(&self, known: &KnownJobs) -> Option<Timestamp> {
        self.kinds
            .iter()
            .filter(|((name, version), _)| known.knows(name, *version))
            .filter_map(|(_, times)| times.first())
            .map(|(at, _)| *at)
            .min()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }
}

fn kind(job: &JobRecord) -> (String, u32) {
    (job.spec.name.clone(), job.spec.version)
}
