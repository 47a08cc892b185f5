//! Listings, counts of unknown jobs, and purges.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::time::Duration;

use jiff::Timestamp;

use super::tables::Tables;
use ratchet_store::model::{Filter, JobState, Page, PageRequest};

impl Tables {
    pub(super) fn list(&self, filter: &Filter, page: PageRequest) -> Page {
        let end = page.before.map_or(Bound::Unbounded, Bound::Excluded);
        let newest_first = self.jobs.range((Bound::Unbounded, end)).rev();
        let mut fitting = newest_first.map(|(_, row)| &row.job).filter(|job| filter.matches(job));
        let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
        let jobs: Vec<_> = fitting.by_ref().take(limit).cloned().collect();
        let more = fitting.next().is_some();
        let next = jobs.last().map(|job| job.id).filter(|_| more);
        Page { jobs, next }
    }

    pub(super) fn unknown_jobs(&self, now: Timestamp) -> Vec<(String, u64)> {
        let mut unknown = BTreeMap::<_, u64>::new();
        for (name, version, count) in self.index.waiting() {
            if !self.nodes.alive(now).any(|node| node.known.knows(name, version)) {
                *unknown.entry(name.to_owned()).or_default() += count;
            }
        }
        unknown.into_iter().collect()
    }

    pub(super) fn purge(
        &mut self,
        state: JobState,
        age: Duration,
        limit: u32,
        now: Timestamp,
    ) -> u64 {
        let Ok(until) = now.checked_sub(age) else { return 0 };
        if !state.is_terminal() {
            return 0;
        }
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        // A job with a lingering run is kept, because its row identifies the queue and keys that the run holds.
        let old = self.index.finished(state, until).filter(|id| !self.keys.lingers(*id));
        let old: Vec<_> = old.filter(|id| !self.is_needed(*id)).take(limit).collect();
        for row in old.iter().filter_map(|id| self.jobs.remove(id)) {
            self.index.remove(&row.job);
            self.graph.forget(&row.job);
            self.items.forget_job(row.job.id);
        }
        self.purge_groups(until, limit);
        u64::try_from(old.len()).unwrap_or(u64::MAX)
    }
}
