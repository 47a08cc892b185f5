//! Reads and counts jobs, and purges old ones.

use std::time::Duration;

use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{
    ArchivedJobs, AttemptRecord, Counts, Filter, JobId, JobRecord, JobState, LogLine, Page,
    PageRequest, UnknownJob,
};
use ratchet_store::rules::search::{FEW_WAITING, Place, Source, merge, most};
use uuid::Uuid;

use crate::db;
use crate::fault::{Fault, transact};
use crate::record::{attempt, log, state};
use crate::spec::{instant, micros, to_u64};
use crate::store::Inner;
use crate::unreadable::{or_report, readable};
use sqlx::{PgConnection, Row};

/// Binds the conditions of a filter, starting at `$3`.
macro_rules! bind_filter {
    ($query:expr, $filter:expr) => {
        $query
            .bind($filter.states.iter().map(|state| state.code()).collect::<Vec<_>>())
            .bind($filter.queues.iter().map(|queue| crate::spec::clean(queue)).collect::<Vec<_>>())
            .bind($filter.names.iter().map(|name| crate::spec::clean(name)).collect::<Vec<_>>())
            .bind(crate::spec::clean_option($filter.tag.as_ref()))
            .bind(crate::spec::clean_option($filter.tenant.as_ref()))
            .bind(crate::spec::clean_option($filter.business_key.as_ref()))
            .bind(crate::spec::clean_option($filter.correlation_id.as_ref()))
            .bind($filter.reason.map(ratchet_store::model::TerminalReason::name))
            .bind(crate::spec::clean_option($filter.fingerprint.as_ref()))
            .bind($filter.queued_before.map(jiff::Timestamp::as_microsecond))
            .bind($filter.queued_after.map(jiff::Timestamp::as_microsecond))
            .bind($filter.group.map(ratchet_store::model::GroupId::uuid))
            .bind($filter.expires_by.map(jiff::Timestamp::as_microsecond))
            .bind($filter.ids.iter().map(|id| id.uuid()).collect::<Vec<_>>())
    };
}
pub(crate) use bind_filter;

impl Inner {
    pub(crate) async fn get(&self, id: JobId) -> Result<Option<JobRecord>, Fault> {
        let mut db = self.pool.acquire().await?;
        let (mut jobs, mut unread) = self.read_jobs(&mut db, vec![id.uuid()]).await?;
        db.done().await?;
        match unread.pop() {
            None => match jobs.pop() {
                Some(job) => Ok(Some(job)),
                None => self.archived_job(id).await,
            },
            Some(unread) => {
                let refusal = unread.refusal();
                self.noted.note([unread]);
                self.try_to_set_aside_unreadable().await;
                Err(Fault::Store(refusal))
            }
        }
    }

    pub(crate) async fn list(&self, filter: &Filter, page: PageRequest) -> Result<Page, Fault> {
        let mut db = self.pool.begin().await?;
        db::query(self.sql.plan_anew()).execute(&mut *db).await?;
        let waiting = match filter.states.contains(&JobState::Pending) {
            true => self.count_waiting(&mut db).await?,
            false => 0,
        };
        let live = Listing::new(filter, page, Place::Live, waiting);
        let archived = Listing::new(filter, page, Place::Archive, 0);
        // The live jobs first, so that a job that is archived meanwhile is in one of the two.
        let page = match filter.archived {
            ArchivedJobs::Exclude => self.page_of(&mut db, &live).await?,
            ArchivedJobs::Only => self.page_of(&mut db, &archived).await?,
            ArchivedJobs::Include => {
                let live = self.page_of(&mut db, &live).await?;
                let archived = self.page_of(&mut db, &archived).await?;
                merge(live, archived, filter, page)
            }
        };
        db.commit().await?;
        self.try_to_set_aside_unreadable().await;
        Ok(page)
    }

    /// Returns how many jobs wait, or any number above [`FEW_WAITING`] if there are more.
    async fn count_waiting(&self, db: &mut PgConnection) -> Result<u64, Fault> {
        let limit = i64::try_from(FEW_WAITING).unwrap_or(i64::MAX).saturating_add(1);
        let waiting: i64 =
            db::query_scalar(self.sql.count_waiting()).bind(limit).fetch_one(db).await?;
        Ok(to_u64(waiting))
    }

    async fn page_of(&self, db: &mut PgConnection, listing: &Listing<'_>) -> Result<Page, Fault> {
        let limit = usize::try_from(listing.request.limit).unwrap_or(usize::MAX);
        let ids = self.list_ids(db, listing).await?;
        if !listing.compares {
            let next = ids.get(..limit).filter(|_| ids.len() > limit);
            let next = next.map(|ids| ids.last().copied().map(JobId::from_uuid));
            let ids = ids.into_iter().take(limit).collect();
            let jobs = self.jobs_in_order(db, listing, ids).await?;
            return Ok(Page { jobs, next: next.flatten(), examined: None });
        }
        let mut jobs = Vec::new();
        for ids in ids.chunks(CHUNK) {
            let read = self.jobs_in_order(db, listing, ids.to_vec()).await?;
            jobs.extend(read.into_iter().filter(|job| listing.finds(job)));
            if jobs.len() >= limit {
                break;
            }
        }
        jobs.truncate(limit);
        let last = if listing.decides_later() {
            jobs.last().filter(|_| jobs.len() == limit).map(|job| job.id)
        } else {
            // Some of these jobs may not be readable. The next page must begin behind them all the same.
            ids.last().filter(|_| ids.len() == limit).copied().map(JobId::from_uuid)
        };
        let (examined, next) = self.examined(db, listing, last).await?;
        Ok(Page { jobs, next, examined: Some(examined) })
    }

    /// Returns the ids of the jobs of the source that match the conditions that a statement can compare.
    async fn list_ids(
        &self,
        db: &mut PgConnection,
        listing: &Listing<'_>,
    ) -> Result<Vec<Uuid>, Fault> {
        let Listing { filter, request, place, source, .. } = listing;
        let limit = i64::from(request.limit);
        let (limit, window) = match listing.compares {
            false => (limit + 1, limit + 1),
            true if listing.decides_later() => (listing.most(), listing.most()),
            true => (limit, listing.most()),
        };
        let [statement, _] = self.sql.listing(source, *place, filter.oldest_first);
        let query = db::query_scalar(statement).bind(limit).bind(request.before.map(JobId::uuid));
        let query = bind_filter!(query, filter).bind(window).bind(listing.states());
        let arguments: Vec<_> =
            filter.arguments.iter().map(|test| crate::spec::clean(&test.value)).collect();
        let query = query.bind(arguments).bind(filter.attempts_above.map(i64::from));
        Ok(query.fetch_all(db).await?)
    }

    /// Returns how many jobs a page has examined, and where the next page begins. `last` is the last job of a full page.
    async fn examined(
        &self,
        db: &mut PgConnection,
        listing: &Listing<'_>,
        last: Option<JobId>,
    ) -> Result<(u64, Option<JobId>), Fault> {
        let Listing { filter, request, place, source, .. } = listing;
        let [_, statement] = self.sql.listing(source, *place, filter.oldest_first);
        // The parameters have the same numbers as those of the list. This statement does not use the first one.
        let query = db::query(statement).bind(listing.most()).bind(request.before.map(JobId::uuid));
        let row = bind_filter!(query, filter)
            .bind(listing.most() + 1)
            .bind(listing.states())
            .bind(last.map(JobId::uuid))
            .fetch_one(db)
            .await?;
        let (all, passed): (i64, i64) = (row.try_get("n")?, row.try_get("passed")?);
        if last.is_some() {
            return Ok((to_u64(passed), last.filter(|_| all > passed)));
        }
        let end: Option<Uuid> = row.try_get("last")?;
        let more = all > listing.most();
        Ok((to_u64(all.min(listing.most())), end.filter(|_| more).map(JobId::from_uuid)))
    }

    /// Returns the readable jobs among these, in the order of the listing.
    async fn jobs_in_order(
        &self,
        db: &mut PgConnection,
        listing: &Listing<'_>,
        ids: Vec<Uuid>,
    ) -> Result<Vec<JobRecord>, Fault> {
        let mut jobs = match listing.place {
            Place::Live => self.jobs(db, ids).await?,
            Place::Archive => self.archived_jobs(db, ids).await?,
        };
        if listing.filter.oldest_first {
            jobs.reverse();
        }
        Ok(jobs)
    }

    pub(crate) async fn counts(&self) -> Result<Counts, Fault> {
        let mut counts = Counts::default();
        for row in db::query(self.sql.select_counts()).fetch_all(&self.pool).await? {
            let Some(state) = or_report("count", state(row.try_get("state")?))? else {
                continue;
            };
            let queue = counts.queues.entry(row.try_get("queue")?).or_default();
            queue.states.insert(state, to_u64(row.try_get("n")?));
        }
        Ok(counts)
    }

    pub(crate) async fn attempts(&self, id: JobId) -> Result<Vec<AttemptRecord>, Fault> {
        let rows = db::query(self.sql.select_attempts()).bind(id.uuid());
        let rows = rows.fetch_all(&self.pool).await?;
        if rows.is_empty() {
            return self.archived_attempts(id).await;
        }
        Ok(readable("attempt", &rows, attempt)?)
    }

    pub(crate) async fn logs(&self, id: JobId) -> Result<Vec<LogLine>, Fault> {
        let rows = db::query(self.sql.select_logs()).bind(id.uuid());
        let rows = rows.fetch_all(&self.pool).await?;
        if rows.is_empty() {
            return self.archived_logs(id).await;
        }
        Ok(readable("log line", &rows, log)?)
    }

    pub(crate) async fn unknown_jobs(&self) -> Result<Vec<UnknownJob>, Fault> {
        let rows = db::query(self.sql.select_unknown()).fetch_all(&self.pool).await?;
        let unknown = |row: &sqlx::postgres::PgRow| {
            let (name, waiting): (String, i64) = (row.try_get("name")?, row.try_get("n")?);
            // The row of a job is never missing, except after damage.
            let oldest: Option<i64> = row.try_get("oldest")?;
            Ok(UnknownJob::new(name, to_u64(waiting), instant(oldest.unwrap_or_default())))
        };
        rows.iter().map(unknown).collect()
    }

    pub(crate) async fn purge(
        &self,
        state: JobState,
        age: Duration,
        limit: u32,
    ) -> Result<u64, Fault> {
        if !state.is_terminal() {
            return Ok(0);
        }
        let dropped = match state {
            JobState::Succeeded => self.drop_parts(age, limit).await,
            _ => 0,
        };
        // The next partition may be ready as well. Its jobs need not be deleted one by one.
        if dropped >= u64::from(limit) {
            return Ok(dropped);
        }
        // The best index depends on the state.
        let removed: i64 = transact!(self, |db| {
            db::query(self.sql.plan_anew()).execute(&mut *db).await?;
            self.remove_within(db, state, age, limit, Removal::Delete).await?
        })?;
        // Whole partitions do not count against the limit, because dropping them is cheap.
        Ok(dropped + to_u64(removed))
    }
}

/// What becomes of old jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Removal {
    Delete,
    Archive,
}

/// How many jobs are read at once and compared with conditions that need the whole record.
const CHUNK: usize = 1000;

/// A request for a page of live or of archived jobs.
struct Listing<'a> {
    filter: &'a Filter,
    request: PageRequest,
    place: Place,
    source: Source<'a>,
    /// Whether jobs of the source may not match.
    compares: bool,
}

impl<'a> Listing<'a> {
    fn new(filter: &'a Filter, request: PageRequest, place: Place, waiting: u64) -> Self {
        let source = Source::of(filter, place, waiting);
        let compares = source.leaves_conditions(filter);
        Self { filter, request, place, source, compares }
    }

    /// Returns how many jobs the page examines at most.
    fn most(&self) -> i64 {
        i64::try_from(most(self.request)).unwrap_or(i64::MAX)
    }

    /// Returns the states of the source.
    fn states(&self) -> Vec<i16> {
        match &self.source {
            Source::States(states) => states.iter().map(|state| state.code()).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns `true` if jobs that a statement has found may not match.
    fn decides_later(&self) -> bool {
        let is_source = matches!(self.source, Source::Group(_) | Source::Expiring(_));
        self.filter.needs_records()
            || (!is_source && (self.filter.group.is_some() || self.filter.expires_by.is_some()))
            || (self.filter.group.is_some() && self.filter.expires_by.is_some())
    }

    /// Returns `true` if a job that a statement has found matches.
    fn finds(&self, job: &JobRecord) -> bool {
        let is_in = |source: Option<Source<'_>>| source.is_none_or(|source| source.contains(job));
        self.filter.finds(job)
            && is_in(self.filter.group.map(Source::Group))
            && is_in(self.filter.expires_by.map(Source::Expiring))
    }
}

impl Inner {
    /// Moves old jobs to the archive, like [`Self::purge`].
    pub(crate) async fn archive_within(
        &self,
        db: &mut PgConnection,
        state: JobState,
        age: Duration,
        limit: u32,
    ) -> Result<i64, Fault> {
        let moved = self.remove_within(db, state, age, limit, Removal::Archive).await?;
        crash_point(CrashPoint::ArchiveMoved);
        Ok(moved)
    }

    /// Removes old jobs. Locks them first, then checks the conditions again, because they may have changed before the
    /// lock.
    async fn remove_within(
        &self,
        db: &mut PgConnection,
        state: JobState,
        age: Duration,
        limit: u32,
        removal: Removal,
    ) -> Result<i64, Fault> {
        let old = db::query(self.sql.lock_old())
            .bind(state.code())
            .bind(micros(age))
            .bind(i64::from(limit))
            .fetch_all(&mut *db)
            .await?;
        let (mut jobs, mut leases) = (Vec::<Uuid>::new(), Vec::<Uuid>::new());
        for row in &old {
            jobs.push(row.try_get("job")?);
            leases.extend(row.try_get::<Option<Uuid>, _>("lease")?);
        }
        // Skip jobs whose graph or lease is locked: waiting for the lock could deadlock. The next purge takes them.
        let graphs = db::query_scalar(self.sql.try_lock_graphs()).bind(&jobs);
        let graphs: Vec<Uuid> = graphs.fetch_all(&mut *db).await?;
        let leases = db::query_scalar(self.sql.try_lock_leases()).bind(leases);
        let leases: Vec<Uuid> = leases.fetch_all(&mut *db).await?;
        let statement = match removal {
            Removal::Delete => self.sql.purge_jobs(),
            Removal::Archive => {
                if !jobs.is_empty() {
                    db::query(self.sql.make_archive_parts()).bind(&jobs).execute(&mut *db).await?;
                }
                self.sql.archive_jobs()
            }
        };
        let removed = db::query(statement)
            .bind(state.code())
            .bind(jobs)
            .bind(graphs)
            .bind(leases)
            .fetch_one(&mut *db)
            .await?;
        self.purge_groups(db, age, limit, removed.try_get("graphs")?).await?;
        crash_point(CrashPoint::PurgeRemoved);
        Ok(removed.try_get("n")?)
    }
}
