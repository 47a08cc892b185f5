//! Reads and counts jobs, and purges old ones.

use std::time::Duration;

use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{
    ArchivedJobs, AttemptRecord, Counts, Filter, GroupId, JobId, JobRecord, JobState, LogLine,
    Page, PageRequest, TerminalReason, UnknownJob,
};
use ratchet_store::rules::search::{Search, merge};
use uuid::Uuid;

use crate::db;
use crate::fault::{Fault, transact};
use crate::record::{attempt, log, state};
use crate::spec::{clean, clean_option, instant, micros, to_u64};
use crate::store::Inner;
use crate::unreadable::{or_report, readable};
use sqlx::postgres::PgArguments;
use sqlx::query::QueryScalar;
use sqlx::{PgConnection, Postgres, Row};

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
        // The live jobs first, so that a job that is archived meanwhile is in one of the two.
        let page = match filter.archived {
            ArchivedJobs::Exclude => self.page_in(&mut db, filter, page, Place::Live).await?,
            ArchivedJobs::Only => self.page_in(&mut db, filter, page, Place::Archive).await?,
            ArchivedJobs::Include => {
                let live = self.page_in(&mut db, filter, page, Place::Live).await?;
                let archived = self.page_in(&mut db, filter, page, Place::Archive).await?;
                merge(live, archived, filter, page)
            }
        };
        db.commit().await?;
        self.try_to_set_aside_unreadable().await;
        Ok(page)
    }

    async fn page_in(
        &self,
        db: &mut PgConnection,
        filter: &Filter,
        page: PageRequest,
        place: Place,
    ) -> Result<Page, Fault> {
        if filter.searches() {
            return self.search(db, filter, page, place).await;
        }
        let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
        let most = i64::from(page.limit) + 1;
        let mut ids = self.list_ids(db, filter, page.before, most, place).await?;
        let more = ids.len() > limit;
        ids.truncate(limit);
        let next = ids.last().copied().map(JobId::from_uuid).filter(|_| more);
        let jobs = self.jobs_in_order(db, filter, ids, place).await?;
        Ok(Page { jobs, next, examined: None })
    }

    /// Reads the jobs that a statement can select, chunk by chunk, and compares them with the other conditions.
    async fn search(
        &self,
        db: &mut PgConnection,
        filter: &Filter,
        request: PageRequest,
        place: Place,
    ) -> Result<Page, Fault> {
        const CHUNK: i64 = 1000;
        let (mut search, mut before) = (Search::new(filter, request), request.before);
        loop {
            let ids = self.list_ids(db, filter, before, CHUNK, place).await?;
            let Some(last) = ids.last().copied() else { break };
            before = Some(JobId::from_uuid(last));
            let jobs = self.jobs_in_order(db, filter, ids, place).await?;
            if !jobs.iter().all(|job| search.add(job)) {
                break;
            }
        }
        Ok(search.finish())
    }

    /// Returns the ids of jobs that match the conditions that a statement can select by, behind a job.
    async fn list_ids(
        &self,
        db: &mut PgConnection,
        filter: &Filter,
        before: Option<JobId>,
        most: i64,
        place: Place,
    ) -> Result<Vec<Uuid>, Fault> {
        let expiring = filter.expires_by.is_some();
        let statement = match place {
            Place::Live => self.sql.list_ids_by(filter.oldest_first, expiring),
            Place::Archive => self.sql.list_archived_ids_by(filter.oldest_first),
        };
        let query = db::query_scalar(statement).bind(most).bind(before.map(JobId::uuid));
        Ok(bind_filter(query, filter).fetch_all(db).await?)
    }

    /// Returns the readable jobs among these, in the order of the listing.
    async fn jobs_in_order(
        &self,
        db: &mut PgConnection,
        filter: &Filter,
        ids: Vec<Uuid>,
        place: Place,
    ) -> Result<Vec<JobRecord>, Fault> {
        let mut jobs = match place {
            Place::Live => self.jobs(db, ids).await?,
            Place::Archive => self.archived_jobs(db, ids).await?,
        };
        if filter.oldest_first {
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

/// Where jobs are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Live,
    Archive,
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

/// A code that no state has. An empty list would mean any state.
const NO_STATE: i16 = -1;

/// Binds the conditions of a filter, starting at `$3`.
pub(crate) fn bind_filter<'q>(
    query: QueryScalar<'q, Postgres, Uuid, PgArguments>,
    filter: &Filter,
) -> QueryScalar<'q, Postgres, Uuid, PgArguments> {
    let mut states: Vec<_> = filter.states.iter().map(|state| state.code()).collect();
    if filter.expires_by.is_some() {
        // Of the jobs that have a time to expire, only those that have not started expire.
        let waits = [JobState::Pending.code(), JobState::Paused.code()];
        states = waits.into_iter().filter(|it| states.is_empty() || states.contains(it)).collect();
        if states.is_empty() {
            states.push(NO_STATE);
        }
    }
    query
        .bind(states)
        .bind(filter.queues.iter().map(|queue| clean(queue)).collect::<Vec<_>>())
        .bind(filter.names.iter().map(|name| clean(name)).collect::<Vec<_>>())
        .bind(clean_option(filter.tag.as_ref()))
        .bind(clean_option(filter.tenant.as_ref()))
        .bind(clean_option(filter.business_key.as_ref()))
        .bind(clean_option(filter.correlation_id.as_ref()))
        .bind(filter.reason.map(TerminalReason::name))
        .bind(clean_option(filter.fingerprint.as_ref()))
        .bind(filter.queued_before.map(jiff::Timestamp::as_microsecond))
        .bind(filter.queued_after.map(jiff::Timestamp::as_microsecond))
        .bind(filter.group.map(GroupId::uuid))
        .bind(filter.expires_by.map(jiff::Timestamp::as_microsecond))
        .bind(filter.ids.iter().map(|id| id.uuid()).collect::<Vec<_>>())
}
