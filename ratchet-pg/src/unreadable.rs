//! Jobs whose rows cannot be read, because a column is damaged or was written by a newer version.
//!
//! An operation that finds such a row notes it and continues without it, so that it blocks no other job. Noted jobs are
//! set aside after the operation: a waiting job moves to `blocked` with the cause `unreadable`, and a claimed job is
//! first removed from its lease. An operator can list them, and return them to the queue or delete them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ratchet_store::model::{
    AttemptOutcome, CancelCause, JobId, JobRecord, JobState, LeaseId, Settlement, Token,
    Unreadable, Verdict,
};
use ratchet_store::rules::graph::GraphEvent;
use ratchet_store::{StoreError, StoreErrorKind};
use uuid::Uuid;

use crate::db;
use crate::fault::{Fault, transact};
use crate::job_row::WaitingRow;
use crate::record::token;
use crate::settle::PostCommit;
use crate::spec::to_u64;
use crate::store::Inner;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

/// Returns whether an error concerns the content of a row, not the database or the connection.
pub(crate) fn is_unreadable(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Decode(_) | sqlx::Error::ColumnDecode { .. })
}

/// Reads all readable rows. The rest are logged and left out.
pub(crate) fn readable<T>(
    what: &str,
    rows: &[PgRow],
    read: impl Fn(&PgRow) -> Result<T, sqlx::Error>,
) -> Result<Vec<T>, sqlx::Error> {
    let mut all = Vec::with_capacity(rows.len());
    for row in rows {
        all.extend(or_report(what, read(row))?);
    }
    Ok(all)
}

/// Returns the value, or logs the error and returns `None` if the row cannot be read.
pub(crate) fn or_report<T>(
    what: &str,
    read: Result<T, sqlx::Error>,
) -> Result<Option<T>, sqlx::Error> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(error) if is_unreadable(&error) => {
            tracing::warn!(what, %error, "a stored row cannot be read and is left out");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// A job that could not be read.
#[derive(Debug, Clone)]
pub(crate) struct Unread {
    pub(crate) job: JobId,
    /// The lease that has the job as a member, if it was claimed.
    pub(crate) lease: Option<LeaseId>,
    column: String,
    why: String,
}

impl Unread {
    pub(crate) fn new(job: JobId, lease: Option<LeaseId>, error: &sqlx::Error) -> Self {
        let (column, why) = match error {
            // The driver puts names in quotes.
            sqlx::Error::ColumnDecode { index, source } => {
                (index.trim_matches('"').to_owned(), source.to_string())
            }
            sqlx::Error::Decode(source) => ("?".to_owned(), source.to_string()),
            other => ("?".to_owned(), other.to_string()),
        };
        Self { job, lease, column, why }
    }

    /// A claimed job that has no row in `job`.
    pub(crate) fn missing(job: JobId, lease: LeaseId) -> Self {
        let (column, why) = ("job".to_owned(), "there is no such job".to_owned());
        Self { job, lease: Some(lease), column, why }
    }

    /// Returns the column that could not be read, and the reason.
    pub(crate) fn cause(&self) -> (&str, &str) {
        (&self.column, &self.why)
    }

    /// Returns the error for a caller that needs this job.
    pub(crate) fn refusal(&self) -> StoreError {
        let job = Unreadable::new(self.job, &self.column, &self.why);
        let why = format!(
            "{job}; it was set aside and holds up no other job: repair the row and call `repair_unreadable`, or delete it \
             with `drop_unreadable`"
        );
        StoreError::new(StoreErrorKind::Data, why)
    }
}

/// Jobs that could not be read and have not been set aside yet.
#[derive(Debug, Default)]
pub(crate) struct Noted(Mutex<Vec<Unread>>);

impl Noted {
    fn noted(&self) -> MutexGuard<'_, Vec<Unread>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn note(&self, unread: impl IntoIterator<Item = Unread>) {
        self.noted().extend(unread);
    }
}

impl Inner {
    /// Sets aside the noted jobs. If that fails, they stay noted.
    async fn set_aside_unreadable(&self) -> Result<(), Fault> {
        let noted = std::mem::take(&mut *self.noted.noted());
        if noted.is_empty() {
            return Ok(());
        }
        match transact!(self, |db| self.set_aside_within(db, &noted).await?) {
            Ok(post_commit) => {
                for Unread { job, column, why, .. } in &noted {
                    tracing::warn!(job.id = %job, column, why, "a stored job cannot be read and is set aside");
                }
                self.tell(post_commit);
                Ok(())
            }
            Err(fault) => {
                self.noted.note(noted);
                Err(fault)
            }
        }
    }

    /// Sets aside the noted jobs. A failure is logged, and the next claim tries again.
    pub(crate) async fn try_to_set_aside_unreadable(&self) {
        if let Err(fault) = self.set_aside_unreadable().await {
            let error = StoreError::from(fault);
            tracing::warn!(%error, "jobs that cannot be read could not be set aside; the next claim tries again");
        }
    }

    async fn set_aside_within(
        &self,
        db: &mut PgConnection,
        noted: &[Unread],
    ) -> Result<PostCommit, Fault> {
        let post_commit = self.leave_unreadable(db, noted).await?;
        let mut each: BTreeMap<_, _> =
            noted.iter().map(|unread| (unread.job.uuid(), unread)).collect();
        let jobs: Vec<_> = each.keys().copied().collect();
        db::query(self.sql.lock_jobs()).bind(&jobs).fetch_all(&mut *db).await?;
        // A job that was repaired in the meantime is not set aside.
        for job in self.read_jobs(db, jobs).await?.0 {
            each.remove(&job.id.uuid());
        }
        let jobs: Vec<_> = each.keys().copied().collect();
        db::query(self.sql.record_unreadable())
            .bind(&jobs)
            .bind(each.values().map(|unread| unread.column.as_str()).collect::<Vec<_>>())
            .bind(each.values().map(|unread| unread.why.as_str()).collect::<Vec<_>>())
            .execute(&mut *db)
            .await?;
        db::query(self.sql.set_aside_unreadable()).bind(jobs).execute(db).await?;
        Ok(post_commit)
    }

    /// Removes claimed jobs that cannot be read from their leases, and returns them to the queue.
    async fn leave_unreadable(
        &self,
        db: &mut PgConnection,
        noted: &[Unread],
    ) -> Result<PostCommit, Fault> {
        let claimed: HashMap<_, _> =
            noted.iter().filter_map(|unread| Some((unread.job, unread.lease?))).collect();
        if claimed.is_empty() {
            return Ok(PostCommit::default());
        }
        let standing = self.standing(db, &claimed).await?;
        let release = |token| Settlement::new(token, Verdict::Release, AttemptOutcome::Released);
        let settlements: Vec<_> = standing.into_iter().map(release).collect();
        let asked: Vec<_> = settlements.iter().collect();
        let (_, post_commit) = self.settle_general(db, &asked).await?;
        // A job without a row in `job` has no run to settle. The leases are locked by now.
        let left = self.standing(db, &claimed).await?;
        let left = left.into_iter().map(|token| (token.lease.uuid(), token.job.uuid())).collect();
        self.leave_leases(db, left).await?;
        Ok(post_commit)
    }

    /// Returns the runs of these jobs that are still members of their leases.
    async fn standing(
        &self,
        db: &mut PgConnection,
        claimed: &HashMap<JobId, LeaseId>,
    ) -> Result<Vec<Token>, Fault> {
        let leases: BTreeSet<_> = claimed.values().map(|lease| lease.uuid()).collect();
        let leases: Vec<_> = leases.into_iter().collect();
        let rows = db::query(self.sql.select_tokens()).bind(leases).fetch_all(db).await?;
        let mut tokens = readable("member of a lease", &rows, token)?;
        tokens.retain(|token| claimed.get(&token.job) == Some(&token.lease));
        Ok(tokens)
    }

    pub(crate) async fn unreadable(&self, limit: u32) -> Result<Vec<Unreadable>, Fault> {
        let rows = db::query(self.sql.select_unreadable()).bind(i64::from(limit));
        let read = |row: &PgRow| {
            let id = JobId::from_uuid(row.try_get("job")?);
            let (column, why): (String, String) = (row.try_get("cause")?, row.try_get("why")?);
            let mut job = Unreadable::new(id, column, why);
            (job.queue, job.name) = (row.try_get("queue")?, row.try_get("name")?);
            Ok(job)
        };
        Ok(readable("unreadable job", &rows.fetch_all(&self.pool).await?, read)?)
    }

    pub(crate) async fn count_unreadable(&self) -> Result<u64, Fault> {
        let count = db::query_scalar(self.sql.count_unreadable()).fetch_one(&self.pool).await?;
        Ok(to_u64(count))
    }

    /// Returns a job to the queue if it can be read now.
    pub(crate) async fn repair_unreadable(&self, id: JobId) -> Result<bool, Fault> {
        let (repaired, post_commit) = transact!(self, |db| {
            let mut post_commit = PostCommit { unsettled: true, ..PostCommit::default() };
            (self.repair_within(db, id, &mut post_commit).await?, post_commit)
        })?;
        self.tell(post_commit);
        self.try_to_set_aside_unreadable().await;
        Ok(repaired)
    }

    pub(crate) async fn repair_within(
        &self,
        db: &mut PgConnection,
        id: JobId,
        post_commit: &mut PostCommit,
    ) -> Result<bool, Fault> {
        let known = db::query(self.sql.lock_unreadable()).bind(id.uuid());
        if known.fetch_optional(&mut *db).await?.is_none() {
            return Ok(false);
        }
        let (jobs, unread) = self.read_jobs(db, vec![id.uuid()]).await?;
        if jobs.is_empty() {
            self.noted.note(unread);
            return Ok(false);
        }
        db::query(self.sql.forget_unreadable()).bind(vec![id.uuid()]).execute(&mut *db).await?;
        let back = db::query(self.sql.take_set_aside()).bind(id.uuid());
        if let Some(row) = back.fetch_optional(&mut *db).await? {
            let (row, now) = (WaitingRow::read(&row)?, self.now(&mut *db).await?);
            self.put_back(db, &[row], now, &mut post_commit.hints).await?;
        }
        Ok(true)
    }

    /// Deletes a job that cannot be read. Its graph continues as if the job had been canceled.
    pub(crate) async fn drop_unreadable(&self, id: JobId) -> Result<bool, Fault> {
        let (gone, post_commit) = transact!(self, |db| {
            let mut post_commit = PostCommit { unsettled: true, ..PostCommit::default() };
            (self.drop_within(db, id, &mut post_commit).await?, post_commit)
        })?;
        self.tell(post_commit);
        Ok(gone)
    }

    pub(crate) async fn drop_within(
        &self,
        db: &mut PgConnection,
        id: JobId,
        post_commit: &mut PostCommit,
    ) -> Result<bool, Fault> {
        self.lock_graphs(db, vec![id.uuid()], BTreeSet::new()).await?;
        let known = db::query(self.sql.lock_unreadable()).bind(id.uuid());
        if known.fetch_optional(&mut *db).await?.is_none() {
            return Ok(false);
        }
        let now = self.now(&mut *db).await?;
        let found = db::query(self.sql.find_runs()).bind(vec![id.uuid()]);
        let leases = readable("lease", &found.fetch_all(&mut *db).await?, |row| {
            Ok((row.try_get::<Uuid, _>("lease")?, row.try_get::<Uuid, _>("job")?))
        })?;
        let member = self.steps(db, &[id]).await?.pop();
        if let Some(mut member) = member.filter(|member| !member.state.is_terminal()) {
            member.state = JobState::Canceled;
            member.canceled = Some(CancelCause::Requested);
            let event = GraphEvent::Ended { member, condition_results: Vec::new() };
            self.propagate(db, vec![event], now, post_commit).await?;
        }
        self.leave_standing(db, id, leases).await?;
        db::query(self.sql.delete_job()).bind(id.uuid()).execute(&mut *db).await?;
        db::query(self.sql.forget_unreadable()).bind(vec![id.uuid()]).execute(db).await?;
        Ok(true)
    }

    /// Removes a job from the leases in which it is still a member.
    async fn leave_standing(
        &self,
        db: &mut PgConnection,
        id: JobId,
        leases: Vec<(Uuid, Uuid)>,
    ) -> Result<(), Fault> {
        if leases.is_empty() {
            return Ok(());
        }
        let token = |(lease, _): &(Uuid, Uuid)| Token {
            job: id,
            lease: LeaseId::from_uuid(*lease),
            version: 0,
        };
        let tokens: Vec<_> = leases.iter().map(token).collect();
        let (_, members) = self.members(db, &tokens).await?;
        let standing = members.get(&id).map(|member| (member.lease, member.row.job));
        self.leave_leases(db, standing.into_iter().collect()).await
    }

    /// Reads jobs, newest first. Also returns those that cannot be read.
    pub(crate) async fn read_jobs(
        &self,
        db: &mut PgConnection,
        ids: Vec<Uuid>,
    ) -> Result<(Vec<JobRecord>, Vec<Unread>), Fault> {
        let rows = db::query(self.sql.select_jobs()).bind(ids).fetch_all(db).await?;
        let (mut jobs, mut unread) = (Vec::with_capacity(rows.len()), Vec::new());
        for row in &rows {
            match crate::record::job(row) {
                Ok(job) => jobs.push(job),
                Err(error) if is_unreadable(&error) => {
                    unread.push(Unread::new(JobId::from_uuid(row.try_get("job")?), None, &error));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok((jobs, unread))
    }

    /// Reads jobs, newest first. Jobs that cannot be read are noted and left out.
    pub(crate) async fn jobs(
        &self,
        db: &mut PgConnection,
        ids: Vec<Uuid>,
    ) -> Result<Vec<JobRecord>, Fault> {
        let (jobs, unread) = self.read_jobs(db, ids).await?;
        self.noted.note(unread);
        Ok(jobs)
    }
}
