//! Pages of listings.

use serde::Serialize;

use crate::model::{JobId, JobRecord};

/// A request for one page of a listing.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::{Page, PageRequest};
///
/// // The page after another one, with the same number of jobs.
/// fn next(request: PageRequest, page: &Page) -> Option<PageRequest> {
///     page.next.map(|job| PageRequest { before: Some(job), ..request })
/// }
///
/// let first = PageRequest { limit: 20, ..PageRequest::default() };
/// assert_eq!(next(first, &Page::default()), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    /// Continue behind this job: the `next` of the previous page. Without it the listing begins with the first page.
    pub before: Option<JobId>,
    /// The maximum number of jobs per page. A page may have fewer and not be the last one; see [`Page::examined`].
    pub limit: u32,
}

impl Default for PageRequest {
    fn default() -> Self {
        Self { before: None, limit: 100 }
    }
}

/// One page of a listing, newest jobs first unless the filter says [`oldest_first`](super::Filter::oldest_first).
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Page {
    /// The jobs of the page.
    pub jobs: Vec<JobRecord>,
    /// The `before` of the request for the next page; `None` on the last page.
    ///
    /// A page that was limited by [`Self::EXAMINED`] may have fewer jobs than were requested, or none, and a next page.
    pub next: Option<JobId>,
    /// How many jobs were compared with conditions that have no index. `None` if the filter has no such condition.
    ///
    /// Ids, a group, the time at which jobs expire, and the states running, paused, failed and canceled have an index, and
    /// so does the business key of archived jobs. Of several conditions with an index, one is used. The state pending has
    /// one as long as at most [100,000 jobs](crate::rules::search::FEW_WAITING) wait.
    pub examined: Option<u64>,
}

impl Page {
    /// How many jobs are compared for one page with conditions that have no index. More are compared only if more were
    /// requested.
    pub const EXAMINED: u32 = 10_000;

    /// Returns `true` if the page ended because it had examined [as many jobs as it may](Self::EXAMINED), although fewer
    /// jobs than requested were found.
    pub fn is_limited(&self, request: PageRequest) -> bool {
        let found = u32::try_from(self.jobs.len()).unwrap_or(u32::MAX);
        self.examined.is_some() && self.next.is_some() && found < request.limit
    }
}
