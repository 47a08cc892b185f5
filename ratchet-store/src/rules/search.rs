//! The page of a listing, collected from jobs in order. Limits how many jobs are compared with conditions that a store
//! cannot select by. Also merges the pages of live and of archived jobs.

use std::collections::BTreeSet;

use crate::model::{Filter, JobId, JobRecord, Page, PageRequest};

/// Collects one page. A store adds jobs in the order of the listing until the page is full.
///
/// ```
/// use ratchet_store::model::{Filter, PageRequest};
/// use ratchet_store::rules::search::Search;
///
/// let filter = Filter::any().attempts_above(3);
/// let page = Search::new(&filter, PageRequest::default()).finish();
/// assert_eq!((page.next, page.examined), (None, Some(0)));
/// ```
#[derive(Debug)]
pub struct Search<'a> {
    filter: &'a Filter,
    limit: usize,
    most: u64,
    page: Page,
    examined: u64,
    last: Option<JobId>,
}

impl<'a> Search<'a> {
    /// Begins a page.
    pub fn new(filter: &'a Filter, request: PageRequest) -> Self {
        Self {
            filter,
            limit: usize::try_from(request.limit).unwrap_or(usize::MAX),
            most: u64::from(request.limit.max(Page::EXAMINED)),
            page: Page::default(),
            examined: 0,
            last: None,
        }
    }

    /// Adds the next job of the listing if it matches. Returns `false` if the page is full and no more jobs are needed.
    pub fn add(&mut self, job: &JobRecord) -> bool {
        if !self.filter.selects(job) {
            return true;
        }
        let searches = self.filter.searches();
        if searches && self.examined >= self.most {
            self.page.next = self.last;
            return false;
        }
        if self.page.jobs.len() < self.limit {
            self.examined += 1;
            self.last = Some(job.id);
            if self.filter.finds(job) {
                self.page.jobs.push(job.clone());
            }
            return true;
        }
        // Whether another job matches need not be known: the next page may be empty if conditions are searched for.
        if searches || self.filter.finds(job) {
            self.page.next = self.page.jobs.last().map(|job| job.id);
            return false;
        }
        true
    }

    /// Returns the page, after the last job or after [`Self::add`] returned `false`.
    pub fn finish(self) -> Page {
        let examined = self.filter.searches().then_some(self.examined);
        Page { examined, ..self.page }
    }
}

/// Merges the page of live jobs with the page of archived jobs for the same request. A job that is in both is taken from
/// the live jobs: it was archived between the two reads, or its move to the archive is not complete.
pub fn merge(live: Page, archived: Page, filter: &Filter, request: PageRequest) -> Page {
    let limit = usize::try_from(request.limit).unwrap_or(usize::MAX);
    // Behind the end of a page that is not the last one, its source may have more jobs.
    let nearest = |a: JobId, b: JobId| if filter.oldest_first { a.min(b) } else { a.max(b) };
    let end = live.next.into_iter().chain(archived.next).reduce(nearest);
    let examined = live.examined.map(|live| live + archived.examined.unwrap_or_default());
    let mut jobs = live.jobs;
    let found: BTreeSet<_> = jobs.iter().map(|job| job.id).collect();
    jobs.extend(archived.jobs.into_iter().filter(|job| !found.contains(&job.id)));
    jobs.retain(|job| end.is_none_or(|end| nearest(job.id, end) == job.id));
    jobs.sort_by_key(|job| job.id);
    if !filter.oldest_first {
        jobs.reverse();
    }
    let next = if jobs.len() > limit {
        jobs.truncate(limit);
        jobs.last().map(|job| job.id)
    } else {
        end
    };
    Page { jobs, next, examined }
}
