//! The page of a listing, collected from jobs in order. Limits how many jobs are compared with conditions that have no
//! index. Also merges the pages of live and of archived jobs.

mod source;

pub use source::{FEW_WAITING, Place, Source};

use std::collections::BTreeSet;

use crate::model::{Filter, JobId, JobRecord, Page, PageRequest};

/// Collects one page. A store adds the jobs of the source in the order of the listing until the page is full.
///
/// ```
/// use ratchet_store::model::{Filter, PageRequest};
/// use ratchet_store::rules::search::{Place, Search, Source};
///
/// let filter = Filter::any().attempts_above(3);
/// let source = Source::of(&filter, Place::Live, 0);
/// let page = Search::new(&filter, source, PageRequest::default()).finish();
/// assert_eq!((page.next, page.examined), (None, Some(0)));
/// ```
#[derive(Debug)]
pub struct Search<'a> {
    filter: &'a Filter,
    source: Source<'a>,
    compares: bool,
    limit: usize,
    most: u64,
    page: Page,
    examined: u64,
    last: Option<JobId>,
}

impl<'a> Search<'a> {
    /// Begins a page.
    pub fn new(filter: &'a Filter, source: Source<'a>, request: PageRequest) -> Self {
        Self {
            filter,
            compares: source.leaves_conditions(filter),
            source,
            limit: usize::try_from(request.limit).unwrap_or(usize::MAX),
            most: most(request),
            page: Page::default(),
            examined: 0,
            last: None,
        }
    }

    /// Returns `true` if jobs of the source may not match, so that the number of examined jobs is limited.
    pub fn compares(&self) -> bool {
        self.compares
    }

    /// Returns how many jobs the page still lacks.
    pub fn missing(&self) -> usize {
        self.limit - self.page.jobs.len()
    }

    /// Adds the next job of the listing if it matches. Jobs that the source does not have are ignored. Returns `false` if
    /// the page is full and no more jobs are needed.
    pub fn add(&mut self, job: &JobRecord) -> bool {
        if !self.source.contains(job) {
            return true;
        }
        if !self.examine(job.id) {
            return false;
        }
        if self.filter.matches(job) {
            self.page.jobs.push(job.clone());
        }
        true
    }

    /// Examines the next job of the source, which does not match. Returns `false` like [`Self::add`].
    pub fn pass(&mut self, job: JobId) -> bool {
        self.examine(job)
    }

    /// Counts a job. Returns `false` if it is behind the end of the page.
    fn examine(&mut self, job: JobId) -> bool {
        let is_full = self.page.jobs.len() >= self.limit;
        if is_full || (self.compares && self.examined >= self.most) {
            // Whether another job matches need not be known: the next page may be empty.
            self.page.next = self.last;
            return false;
        }
        self.examined += 1;
        self.last = Some(job);
        true
    }

    /// Returns the page, after the last job or after [`Self::add`] returned `false`.
    pub fn finish(self) -> Page {
        let examined = self.compares.then_some(self.examined);
        Page { examined, ..self.page }
    }
}

/// Returns how many jobs are examined for a page at most.
pub fn most(request: PageRequest) -> u64 {
    u64::from(request.limit.max(Page::EXAMINED))
}

/// Merges the page of live jobs with the page of archived jobs for the same request. A job that is in both is taken from
/// the live jobs: it was archived between the two reads, or its move to the archive is not complete.
pub fn merge(live: Page, archived: Page, filter: &Filter, request: PageRequest) -> Page {
    let limit = usize::try_from(request.limit).unwrap_or(usize::MAX);
    // Behind the end of a page that is not the last one, its source may have more jobs.
    let nearest = |a: JobId, b: JobId| if filter.oldest_first { a.min(b) } else { a.max(b) };
    let end = live.next.into_iter().chain(archived.next).reduce(nearest);
    let examined = [live.examined, archived.examined].into_iter().flatten().reduce(|a, b| a + b);
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
