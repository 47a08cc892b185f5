//! Counts the jobs that match a filter.

use ratchet_store::StoreError;
use ratchet_store::model::{Filter, Page, PageRequest};
use serde::Serialize;

use super::Jobs;

/// A count or a preview reads no further page after it has compared this many jobs with conditions that have no index. The
/// last page may compare more.
pub(super) const SEARCHED: u64 = Page::EXAMINED as u64 / 2;

/// How many jobs match a filter; see [`Jobs::count`].
///
/// ```
/// # mod ratchet { pub use ratchet_core::*; }
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), ratchet_core::StoreError> {
/// use ratchet::Filter;
///
/// let found = ratchet.jobs().count(&Filter::any().tag("import"), 1000).await?;
/// match found.exact {
///     true => println!("{} jobs", found.count),
///     false => println!("at least {} jobs", found.count),
/// }
/// # Ok(())
/// # }
/// ```
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
    /// A store keeps the number of jobs by queue and state, so a filter with no other conditions is counted at once.
    /// Otherwise jobs are read page by page, and the time grows with `cap`. At most 10,000 jobs are compared with
    /// conditions that have [no index](ratchet_store::model::Page::examined).
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
        if let Some(kept) = self.kept(filter).await? {
            return Ok(JobCount { count: kept.min(cap), exact: kept <= cap });
        }
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

    /// Returns the number that the store keeps, if the filter has no conditions but queues and states.
    async fn kept(&self, filter: &Filter) -> Result<Option<u64>, StoreError> {
        let mut rest = filter.clone();
        rest.oldest_first = false;
        rest.queues.clear();
        rest.states.clear();
        if rest != Filter::any() {
            return Ok(None);
        }
        let counts = self.counts().await?;
        let is_wanted = |queue: &String| filter.queues.is_empty() || filter.queues.contains(queue);
        let queues = counts.queues.iter().filter(|(queue, _)| is_wanted(queue));
        let states = queues.flat_map(|(_, queue)| &queue.states);
        let is_wanted = |state| filter.states.is_empty() || filter.states.contains(state);
        Ok(Some(states.filter(|(state, _)| is_wanted(state)).map(|(_, jobs)| jobs).sum()))
    }
}
