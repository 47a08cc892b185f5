//! Rejected items and handed-off checkpoints.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use super::tables::Tables;
use ratchet_store::model::{
    HandOff, HandOffContent, JobId, NewHandOff, NewReject, Reject, RejectCount, RejectFilter,
    RejectGroup, later, reject_interval,
};

#[derive(Debug, Default)]
pub(super) struct Items {
    pub(super) rejects: BTreeMap<(JobId, u64), Reject>,
    /// By pipeline and key.
    pub(super) hand_offs: BTreeMap<(String, String), Handed>,
    last: u64,
}

#[derive(Debug)]
pub(super) struct Handed {
    pub(super) hand_off: HandOff,
    pub(super) number: u64,
    pub(super) held_until: Option<Timestamp>,
    pub(super) finished: bool,
}

impl Items {
    pub(super) fn rejects(
        &self,
        filter: &RejectFilter,
        after: Option<(JobId, u64)>,
        limit: u32,
    ) -> Vec<Reject> {
        let start = after.map_or(std::ops::Bound::Unbounded, std::ops::Bound::Excluded);
        let rejects = self.rejects.range((start, std::ops::Bound::Unbounded)).map(|(_, it)| it);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        rejects.filter(|reject| filter.matches(reject)).take(limit).cloned().collect()
    }

    pub(super) fn reject_groups(&self, filter: &RejectFilter) -> Vec<RejectGroup> {
        let mut groups = BTreeMap::<_, RejectGroup>::new();
        for reject in self.rejects.values().filter(|reject| filter.matches(reject)) {
            let (job_name, error_type, fingerprint) = kind(reject);
            let group = groups.entry(kind(reject)).or_insert(RejectGroup {
                job_name,
                error_type,
                fingerprint,
                count: 0,
                oldest: reject.at,
                latest: reject.at,
            });
            group.count += 1;
            group.oldest = group.oldest.min(reject.at);
            group.latest = group.latest.max(reject.at);
        }
        groups.into_values().collect()
    }

    pub(super) fn reject_counts(
        &self,
        filter: &RejectFilter,
        interval: Duration,
    ) -> Vec<RejectCount> {
        let mut counts = BTreeMap::<_, u64>::new();
        for reject in self.rejects.values().filter(|reject| filter.matches(reject)) {
            *counts.entry((kind(reject), reject_interval(reject.at, interval))).or_default() += 1;
        }
        let count = |(((job_name, error_type, fingerprint), interval), count)| RejectCount {
            job_name,
            error_type,
            fingerprint,
            interval,
            count,
        };
        counts.into_iter().map(count).collect()
    }

    pub(super) fn forget(&mut self, rejects: &[(JobId, u64)]) {
        for key in rejects {
            self.rejects.remove(key);
        }
    }

    /// Removes the rejected items of a deleted job.
    pub(super) fn forget_job(&mut self, job: JobId) {
        let gone: Vec<_> =
            self.rejects.range((job, 0)..=(job, u64::MAX)).map(|(key, _)| *key).collect();
        self.forget(&gone);
    }

    /// Removes hand-offs, at most `limit`. Returns their number.
    pub(super) fn erase_hand_offs(
        &mut self,
        limit: u32,
        mut erased: impl FnMut(&HandOff) -> bool,
    ) -> u64 {
        let before = self.hand_offs.len();
        let mut left = limit;
        self.hand_offs.retain(|_, it| {
            let gone = left > 0 && erased(&it.hand_off);
            left -= u32::from(gone);
            !gone
        });
        (before - self.hand_offs.len()) as u64
    }

    pub(super) fn take(
        &mut self,
        pipeline: &str,
        limit: u32,
        hold: Duration,
        now: Timestamp,
    ) -> Vec<HandOff> {
        let free = |handed: &&mut Handed| {
            handed.hand_off.handed.pipeline == pipeline
                && !handed.finished
                && handed.held_until.is_none_or(|until| until <= now)
        };
        let mut waiting: Vec<_> = self.hand_offs.values_mut().filter(free).collect();
        waiting.sort_by_key(|handed| handed.number);
        waiting.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        let take = |handed: &mut Handed| {
            handed.held_until = Some(later(now, hold));
            handed.hand_off.clone()
        };
        waiting.into_iter().map(take).collect()
    }

    pub(super) fn finish(&mut self, pipeline: &str, keys: &[String]) {
        for key in keys {
            if let Some(handed) = self.hand_offs.get_mut(&(pipeline.to_owned(), key.clone())) {
                handed.finished = true;
            }
        }
    }
}

/// Returns what the items of a group have in common.
fn kind(reject: &Reject) -> (String, String, String) {
    let item = &reject.item;
    (reject.job_name.clone(), item.error_type.clone(), item.fingerprint.clone())
}

impl Tables {
    /// Stores the rejected items and hand-offs of a settled run.
    pub(super) fn keep_items(
        &mut self,
        job: JobId,
        rejects: Vec<NewReject>,
        hand_offs: Vec<NewHandOff>,
        refused: Vec<(String, u64)>,
        now: Timestamp,
    ) {
        let Some(record) = self.jobs.get(&job).map(|row| &row.job) else { return };
        let (job_name, run) = (record.spec.name.clone(), record.run);
        for (pipeline, count) in refused {
            if let Some(accepted) = self.pipelines.accepted.get_mut(&pipeline) {
                accepted.refusals += count;
            }
        }
        for item in rejects {
            let reject = Reject { job, job_name: job_name.clone(), run, at: now, item };
            self.items.rejects.insert((job, reject.item.index), reject);
        }
        for handed in hand_offs {
            let key = (handed.pipeline.clone(), handed.key.clone());
            if let Some(first) = self.items.hand_offs.get_mut(&key) {
                first.hand_off.repeats += 1;
                continue;
            }
            self.items.last += 1;
            let content = HandOffContent::Plain;
            let hand_off = HandOff { handed, job, at: now, repeats: 0, content };
            let number = self.items.last;
            let handed = Handed { hand_off, number, held_until: None, finished: false };
            self.items.hand_offs.insert(key, handed);
        }
    }
}
