//! Counts the jobs that match a filter.

use ratchet_store::StoreError;
use ratchet_store::model::{Filter, PageRequest};
use serde::Serialize;

use super::Jobs;

/// How many jobs are compared with conditions that a store cannot select by.
pub(super) const SEARCHED: u64 = 100_000;

/// How many jobs match a filter; see [`Jobs::count`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct JobCount {
    /// The number of jobs that were found.
    pub count: u64,
    /// Whether all jobs were counted. If `false`, at least `count` jobs match.
    pub exact: bool,
}

impl Jobs {
    /// Counts the jobs that match a filter, but not beyond `cap`.
    ///
    /// Jobs are read page by page, so the time grows with `cap`. [`Self::counts`] returns the number of all jobs by
    /// queue and state at once. If the filter has conditions that a store cannot select by, at most 100,000 jobs are
    /// compared with them.
    ///
    /// ```
    /// # use ratchet_core::{Filter, Ratchet};
    /// # use ratchet_store::StoreError;
    /// # async fn example(ratchet: &Ratchet) -> Result<(), StoreError> {
    /// let found = ratchet.jobs().count(&Filter::any().tenant("acme"), 10_000).await?;
    /// let more = if found.exact { "" } else { " or more" };
    /// println!("{}{more} jobs", found.count);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn count(&self, filter: &Filter, cap: u64) -> Result<JobCount, StoreError> {
        let (mut before, mut searched) = (None, 0);
        let mut found = JobCount { count: 0, exact: false };
        while found.count < cap && searched < SEARCHED && !found.exact {
            let left = cap - found.count;
            let limit = u32::try_from(left).unwrap_or(u32::MAX).min(1000);
            let page = self.list(filter, PageRequest { before, limit }).await?;
            found.count += page.jobs.len() as u64;
            searched += page.examined.unwrap_or_default();
            (before, found.exact) = (page.next, page.next.is_none());
        }
        Ok(found)
    }
}
