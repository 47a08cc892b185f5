//! Archived jobs.

use std::time::Duration;

use jiff::Timestamp;
use ratchet_store::model::{
    ArchiveStatus, ArchivedJobs, ChangeError, CommandError, Filter, JobId, JobState, Page,
    PageRequest,
};
use ratchet_store::rules::search::{Place, Source, merge};

use super::query::page_of;
use super::row::Row;
use super::tables::Tables;

impl Tables {
    /// Moves old jobs to the archive.
    pub(super) fn archive(
        &mut self,
        state: JobState,
        age: Duration,
        limit: u32,
        now: Timestamp,
    ) -> u64 {
        let old = self.take_old(state, age, limit, now);
        let moved = old.len();
        for mut row in old {
            row.job.archived_at = Some(now);
            // Its place in a graph is gone.
            row.job.wait = None;
            row.job.root_cause = None;
            self.archive.insert(row.job.id, row);
        }
        u64::try_from(moved).unwrap_or(u64::MAX)
    }

    pub(super) fn purge_archive(
        &mut self,
        state: JobState,
        age: Duration,
        limit: u32,
        now: Timestamp,
    ) -> u64 {
        let Ok(until) = now.checked_sub(age) else { return 0 };
        let is_old =
            |row: &Row| row.job.state == state && row.job.archived_at.is_some_and(|at| at <= until);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let old = self.archive.iter().filter(|(_, row)| is_old(row)).map(|(id, _)| *id);
        let old: Vec<_> = old.take(limit).collect();
        for id in &old {
            self.archive.remove(id);
        }
        u64::try_from(old.len()).unwrap_or(u64::MAX)
    }

    pub(super) fn archive_status(&self) -> ArchiveStatus {
        let mut status = ArchiveStatus::default();
        for job in self.archive.values().map(|row| &row.job) {
            let queue = status.counts.queues.entry(job.spec.queue.clone()).or_default();
            *queue.states.entry(job.state).or_default() += 1;
            let Some(at) = job.archived_at else { continue };
            let oldest = status.oldest.entry(job.state).or_insert(at);
            *oldest = at.min(*oldest);
            let newest = status.newest.entry(job.state).or_insert(at);
            *newest = at.max(*newest);
        }
        status
    }

    /// Returns a job, also if it is archived.
    pub(super) fn stored(&self, id: JobId) -> Option<&Row> {
        self.jobs.get(&id).or_else(|| self.archive.get(&id))
    }

    /// Lists live jobs, archived jobs or both.
    pub(super) fn list(&self, filter: &Filter, page: PageRequest) -> Page {
        match filter.archived {
            ArchivedJobs::Exclude => self.list_live(filter, page),
            ArchivedJobs::Only => self.list_archived(filter, page),
            ArchivedJobs::Include => {
                merge(self.list_live(filter, page), self.list_archived(filter, page), filter, page)
            }
        }
    }

    fn list_archived(&self, filter: &Filter, page: PageRequest) -> Page {
        let jobs = self.archive.values().map(|row| &row.job);
        let is_behind = |id: JobId| {
            page.before.is_none_or(|at| if filter.oldest_first { id > at } else { id < at })
        };
        let source = Source::of(filter, Place::Archive, 0);
        page_of(jobs.filter(|job| is_behind(job.id)), filter, source, page)
    }

    /// Replaces the error about a job that does not exist, if it is archived.
    pub(super) fn refused(&self, error: CommandError) -> CommandError {
        match error {
            CommandError::NotFound(job) => {
                let at = self.archive.get(&job).and_then(|row| row.job.archived_at);
                at.map_or(CommandError::NotFound(job), |at| CommandError::Archived { job, at })
            }
            error => error,
        }
    }

    /// Replaces the error about a job that does not exist, if it is archived.
    pub(super) fn refused_change(&self, error: ChangeError) -> ChangeError {
        match error {
            ChangeError::Command(error) => ChangeError::Command(self.refused(error)),
            error => error,
        }
    }
}
