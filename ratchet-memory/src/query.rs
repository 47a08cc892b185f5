//! Listings, counts of unknown jobs, and purges.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::time::Duration;

use jiff::Timestamp;

use super::row::Row;
use super::tables::Tables;
use ratchet_store::model::{Filter, JobId, JobRecord, JobState, Page, PageRequest, UnknownJob};
use ratchet_store::rules::search::{Place, Search, Source};

impl Tables {
    pub(super) fn list_live(&self, filter: &Filter, page: PageRequest) -> Page {
        let end = page.before.map_or(Bound::Unbounded, Bound::Excluded);
        let range = match filter.oldest_first {
            true => (end, Bound::Unbounded),
            false => (Bound::Unbounded, end),
        };
        let source = Source::of(filter, Place::Live, self.index.counts().state(JobState::Pending));
        if let Source::Expiring(until) = source {
            let ids = self.index.expiring(until);
            let job = |id: &JobId| self.jobs.get(id).map(|row| &row.job);
            return page_of(ids.range(range).filter_map(job), filter, source, page);
        }
        page_of(self.jobs.range(range).map(|(_, row)| &row.job), filter, source, page)
    }

    pub(super) fn unknown_jobs(&self, now: Timestamp) -> Vec<UnknownJob> {
        let is_unknown = |name: &str, version| {
            !self.nodes.alive(now).any(|node| node.known.knows(name, version))
        };
        let mut unknown = BTreeMap::<&str, UnknownJob>::new();
        for (name, version, count) in self.index.waiting() {
            if count > 0 && is_unknown(name, version) {
                let report = unknown.entry(name);
                report.or_insert_with(|| UnknownJob::new(name, 0, now)).waiting += count;
            }
        }
        if unknown.is_empty() {
            return Vec::new();
        }
        let pending = self.jobs.values().map(|row| &row.job);
        for job in pending.filter(|job| job.state == JobState::Pending) {
            if let Some(report) = unknown.get_mut(job.spec.name.as_str())
                && is_unknown(&job.spec.name, job.spec.version)
            {
                report.oldest = report.oldest.min(job.queued_at);
            }
        }
        unknown.into_values().collect()
    }

    pub(super) fn purge(
        &mut self,
        state: JobState,
        age: Duration,
        limit: u32,
        now: Timestamp,
    ) -> u64 {
        let purged = self.take_old(state, age, limit, now).len();
        u64::try_from(purged).unwrap_or(u64::MAX)
    }

    /// Removes and returns old jobs, with everything that belongs to them. Removes old groups.
    pub(super) fn take_old(
        &mut self,
        state: JobState,
        age: Duration,
        limit: u32,
        now: Timestamp,
    ) -> Vec<Row> {
        let Ok(until) = now.checked_sub(age) else { return Vec::new() };
        if !state.is_terminal() {
            return Vec::new();
        }
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        // A job with a lingering run is kept, because its row identifies the queue and keys that the run holds.
        let old = self.index.finished(state, until).filter(|id| !self.keys.lingers(*id));
        let old: Vec<_> = old.filter(|id| !self.is_needed(*id)).take(limit).collect();
        let old = self.remove_jobs(&old);
        for row in &old {
            self.items.forget_job(row.job.id);
        }
        self.remove_groups(limit, |group| group.finished_at.is_some_and(|at| at <= until));
        old
    }

    /// Removes and returns jobs, with their places in graphs.
    pub(super) fn remove_jobs(&mut self, ids: &[JobId]) -> Vec<Row> {
        let removed: Vec<_> = ids.iter().filter_map(|id| self.jobs.remove(id)).collect();
        for row in &removed {
            self.index.remove(&row.job);
            self.graph.forget(&row.job);
            self.successors.remove(&row.job.id);
        }
        removed
    }
}

/// Returns the first matching jobs, and where the next page begins. The jobs are those of a source, oldest first.
pub(super) fn page_of<'a>(
    jobs: impl DoubleEndedIterator<Item = &'a JobRecord>,
    filter: &Filter,
    source: Source<'_>,
    page: PageRequest,
) -> Page {
    let mut search = Search::new(filter, source, page);
    if filter.oldest_first {
        jobs.take_while(|job| search.add(job)).for_each(drop);
    } else {
        jobs.rev().take_while(|job| search.add(job)).for_each(drop);
    }
    search.finish()
}
