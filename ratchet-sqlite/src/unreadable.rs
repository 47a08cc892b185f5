//! Jobs whose rows cannot be read, because a column is damaged or was written by a newer version.
//!
//! An operation that finds such a row records it and continues without it, so that it blocks no other job. A pending
//! job is taken out of the line (`ready` is 4). A job whose run is over becomes pending and is taken out of the line.
//! An operator can list these jobs, and return them to the queue or delete them.

use ratchet_store::model::{JobId, JobRecord, JobSpec, JobState, Member, Token, Unreadable};
use ratchet_store::{StoreError, StoreErrorKind};
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;
use uuid::Builder;

use crate::error::is_unreadable;
use crate::graph::group_id;
use crate::query::Look;
use crate::row::{JobRow, job_row, readiness};
use crate::session::Session;
use crate::sql;
use crate::value::{bytes, job_id, json, number, parse_optional, signed, state};

/// Returns the column that could not be read, and the reason.
fn cause(error: &sqlx::Error) -> (String, String) {
    match error {
        // The driver puts names in quotes.
        sqlx::Error::ColumnDecode { index, source } => {
            (index.trim_matches('"').to_owned(), source.to_string())
        }
        sqlx::Error::Decode(source) => ("?".to_owned(), source.to_string()),
        other => ("?".to_owned(), other.to_string()),
    }
}

/// Returns the id of a row, or a substitute made from its row id if the id is damaged.
fn id_of(stored: &[u8], seq: i64) -> JobId {
    job_id(stored).unwrap_or_else(|_| {
        let mut substitute = [0; 16];
        substitute[8..].copy_from_slice(&seq.to_be_bytes());
        JobId::from_uuid(Builder::from_custom_bytes(substitute).into_uuid())
    })
}

/// Reads all readable rows. The rest are logged and left out.
pub(crate) fn readable<T>(
    what: &str,
    rows: &[SqliteRow],
    read: impl Fn(&SqliteRow) -> Result<T, sqlx::Error>,
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

/// Returns the error for a caller that needs a job that cannot be read.
pub(crate) fn refusal(id: JobId, cause: &str, why: &str) -> StoreError {
    let job = Unreadable::new(id, cause, why);
    let why = format!(
        "{job}; it was set aside and holds up no other job: repair the row and call `repair_unreadable`, or delete it with \
         `drop_unreadable`"
    );
    StoreError::new(StoreErrorKind::Data, why)
}

/// Converts the error of reading one job for its caller.
pub(crate) fn refusal_of(id: JobId, error: &sqlx::Error) -> StoreError {
    let (column, why) = cause(error);
    refusal(id, &column, &why)
}

impl Session<'_> {
    /// Reads a job. A job that cannot be read is recorded and set aside.
    pub(crate) async fn decode(&mut self, row: &SqliteRow) -> Result<Option<JobRow>, sqlx::Error> {
        let read = match self.template(row.try_get("template")?).await {
            Ok(template) => job_row(row, &template),
            Err(error) => Err(error),
        };
        match read {
            Ok(row) => Ok(Some(row)),
            Err(error) if is_unreadable(&error) => {
                self.set_unreadable(row.try_get("seq")?, &error).await?;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Records a job that could not be read, and takes it out of the line.
    pub(crate) async fn set_unreadable(
        &mut self,
        seq: i64,
        error: &sqlx::Error,
    ) -> Result<(), sqlx::Error> {
        let row = sqlx::query(sql::unreadable::FIND_JOB).bind(seq);
        let Some(row) = row.fetch_optional(&mut *self.conn).await? else { return Ok(()) };
        let id = id_of(row.try_get(0)?, seq);
        let (column, why) = cause(error);
        let new = sqlx::query(sql::unreadable::RECORD)
            .bind(seq)
            .bind(bytes(id.uuid()))
            .bind(self.micros())
            .bind(column.as_str())
            .bind(why.as_str())
            .fetch_optional(&mut *self.conn)
            .await?;
        sqlx::query(sql::unreadable::SET_ASIDE).bind(seq).execute(&mut *self.conn).await?;
        if new.is_some() {
            tracing::warn!(
                job.id = %id, column, why,
                "a stored job cannot be read and is set aside; other jobs are not affected"
            );
        }
        Ok(())
    }

    /// Reads jobs again that a read connection could not read.
    pub(crate) async fn look_again(&mut self, jobs: &[i64]) -> Result<(), sqlx::Error> {
        for seq in jobs {
            let row = sqlx::query(sql::unreadable::GET_JOB.as_str()).bind(seq);
            if let Some(row) = row.fetch_optional(&mut *self.conn).await? {
                self.decode(&row).await?;
            }
        }
        Ok(())
    }

    /// Ends a run whose job cannot be read. Its outcome is lost, and the job is set aside.
    pub(crate) async fn end_unreadable_run(&mut self, token: Token) -> Result<(), sqlx::Error> {
        let run = sqlx::query(sql::unreadable::FIND_RUN)
            .bind(bytes(token.job.uuid()))
            .bind(bytes(token.lease.uuid()))
            .bind(signed(token.version));
        match run.fetch_optional(&mut *self.conn).await? {
            Some(row) => self.release_unreadable(row.try_get(0)?).await,
            None => Ok(()),
        }
    }

    /// Ends the run of a job that cannot be read, when the run is over or lost.
    pub(crate) async fn release_unreadable(&mut self, seq: i64) -> Result<(), sqlx::Error> {
        let ended = sqlx::query(sql::unreadable::END_RUN).bind(seq);
        let Some(row) = ended.fetch_optional(&mut *self.conn).await? else { return Ok(()) };
        let template = row.try_get(0)?;
        self.effects.count(template, JobState::Running, -1);
        self.effects.count(template, JobState::Pending, 1);
        if let Ok(Some(slot)) = row.try_get::<Option<String>, _>(1) {
            self.bring_back_slot(&slot, 1).await?;
        }
        if let Ok(queue) = row.try_get(2) {
            self.effects.wake_queue(queue);
        }
        Ok(())
    }

    /// Returns the record of a job that could not be read: its row id, the column, and the reason.
    pub(crate) async fn find_unreadable(
        &mut self,
        id: JobId,
    ) -> Result<Option<(i64, String, String)>, sqlx::Error> {
        for statement in [sql::unreadable::FIND, sql::unreadable::FIND_BY_JOB] {
            let found = sqlx::query(statement).bind(bytes(id.uuid()));
            if let Some(row) = found.fetch_optional(&mut *self.conn).await? {
                return Ok(Some((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?)));
            }
        }
        Ok(None)
    }

    pub(crate) async fn repair_unreadable(&mut self, id: JobId) -> Result<bool, sqlx::Error> {
        let Some((seq, column, _)) = self.find_unreadable(id).await? else { return Ok(false) };
        // If it still cannot be read, a new record is written.
        sqlx::query(sql::unreadable::FORGET).bind(json(&[seq])?).execute(&mut *self.conn).await?;
        let row = sqlx::query(sql::unreadable::GET_JOB.as_str()).bind(seq);
        let Some(row) = row.fetch_optional(&mut *self.conn).await? else { return Ok(false) };
        let Some(row) = self.decode(&row).await? else { return Ok(false) };
        let due = row.job.due.as_microsecond();
        sqlx::query(sql::unreadable::PUT_BACK)
            .bind(seq)
            .bind(readiness(&row.job, self.now))
            .bind(row.job.spec.sort_key(due))
            .execute(&mut *self.conn)
            .await?;
        if is_counted(&column) {
            self.count_anew().await?;
        }
        // A lingering run that ended in the meantime could not free the key.
        self.free_business_key(&row).await?;
        if row.job.is_claimable() && row.job.due <= self.now {
            self.effects.wake_queue(&row.job.spec.queue);
        }
        Ok(true)
    }

    pub(crate) async fn drop_unreadable(&mut self, id: JobId) -> Result<bool, sqlx::Error> {
        let Some((seq, column, _)) = self.find_unreadable(id).await? else { return Ok(false) };
        let remains = sqlx::query(sql::unreadable::GET_REMAINS).bind(seq);
        let remains = remains.fetch_optional(&mut *self.conn).await?;
        if let Some(row) = &remains {
            let state = state(row.try_get(1)?);
            let ended = state.as_ref().is_ok_and(|state| state.is_terminal());
            let stored: &[u8] = row.try_get(0)?;
            if !ended && let Ok(id) = job_id(stored) {
                let member = lost_member(id, row.try_get(3)?, row.try_get(4)?, self.now);
                self.propagate(vec![ratchet_store::rules::graph::GraphEvent::Ended {
                    member,
                    condition_results: Vec::new(),
                }])
                .await?;
            }
            if let Ok(state) = state {
                self.effects.count(row.try_get(2)?, state, -1);
            }
        }
        for statement in [sql::unreadable::DELETE_BUSINESS, sql::unreadable::DELETE_LINGERING] {
            sqlx::query(statement).bind(seq).execute(&mut *self.conn).await?;
        }
        self.delete_jobs(&[seq]).await?;
        if is_counted(&column) {
            self.count_anew().await?;
        }
        Ok(remains.is_some())
    }

    /// Counts all jobs again, because it is unknown how a damaged row was counted.
    async fn count_anew(&mut self) -> Result<(), sqlx::Error> {
        self.write_counts().await?;
        for statement in [sql::unreadable::CLEAR_COUNTS, sql::unreadable::COUNT_ANEW] {
            sqlx::query(statement).execute(&mut *self.conn).await?;
        }
        Ok(())
    }

    /// Returns a job as a graph walk needs it, as far as it can be read.
    pub(crate) async fn member(&mut self, id: JobId) -> Result<Option<Member>, sqlx::Error> {
        if let Some(row) = self.load(id).await? {
            return Ok(Some(row.job.member()));
        }
        let row = sqlx::query(sql::unreadable::GET_STEP).bind(bytes(id.uuid()));
        let Some(row) = row.fetch_optional(&mut *self.conn).await? else { return Ok(None) };
        let mut member = lost_member(id, row.try_get(1)?, row.try_get(2)?, self.now);
        let Ok(now) = state(row.try_get(0)?) else { return Ok(None) };
        member.state = now;
        member.wait = row.try_get(3).and_then(parse_optional).unwrap_or_default();
        let paused_from: Option<i64> = row.try_get(4)?;
        member.paused_from = paused_from.and_then(|from| state(from).ok());
        Ok(Some(member))
    }

    /// Writes a graph change to a step that cannot be read, so that the step has the right state after it is repaired.
    pub(crate) async fn change_unreadable(
        &mut self,
        change: &ratchet_store::rules::graph::JobChange,
    ) -> Result<(), sqlx::Error> {
        use ratchet_store::rules::graph::JobChange;
        let save = |job: JobId, wait: Option<String>| {
            sqlx::query(sql::unreadable::SAVE_WAIT).bind(bytes(job.uuid())).bind(wait)
        };
        match change {
            JobChange::Wait { job, wait } => {
                save(*job, Some(json(wait)?)).execute(&mut *self.conn).await?;
            }
            JobChange::Release { job } => {
                save(*job, None).execute(&mut *self.conn).await?;
            }
            JobChange::Cancel { job, cause, root, wait } => {
                let canceled = sqlx::query(sql::unreadable::CANCEL)
                    .bind(bytes(job.uuid()))
                    .bind(self.micros())
                    .bind(json(cause)?)
                    .bind(json(root)?)
                    .bind(wait.as_ref().map(json).transpose()?)
                    .fetch_optional(&mut *self.conn)
                    .await?;
                if let Some(row) = canceled {
                    let (seq, template): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
                    self.effects.count(template, JobState::Pending, -1);
                    self.effects.count(template, JobState::Canceled, 1);
                    let free = sqlx::query(sql::unreadable::DELETE_BUSINESS).bind(seq);
                    free.execute(&mut *self.conn).await?;
                }
            }
            JobChange::Reopen { .. } => {}
        }
        Ok(())
    }
}

/// Returns whether jobs are counted by this column. If so, it is unknown how a damaged row was counted.
fn is_counted(column: &str) -> bool {
    ["template", "state"].contains(&column)
}

/// Builds a canceled member for a step of which only the place in the graph is known.
fn lost_member(
    id: JobId,
    group: Option<&[u8]>,
    linked: Option<i64>,
    now: jiff::Timestamp,
) -> Member {
    let mut member = JobRecord::pending(id, JobSpec::new("", Vec::new()), now, now).member();
    member.state = JobState::Canceled;
    member.group = group.and_then(|group| group_id(group).ok());
    member.edges = linked == Some(1);
    member
}

impl Look<'_> {
    pub(crate) async fn unreadable(&mut self, limit: u32) -> Result<Vec<Unreadable>, sqlx::Error> {
        let rows = sqlx::query(sql::unreadable::LIST).bind(i64::from(limit));
        let rows = rows.fetch_all(&mut *self.conn).await?;
        let read = |row: &SqliteRow| {
            let id = job_id(row.try_get(0)?)?;
            let mut job =
                Unreadable::new(id, row.try_get::<&str, _>(1)?, row.try_get::<&str, _>(2)?);
            job.queue = row.try_get(3).ok();
            job.name = row.try_get(4).ok().flatten();
            Ok(job)
        };
        readable("unreadable job", &rows, read)
    }

    pub(crate) async fn count_unreadable(&mut self) -> Result<u64, sqlx::Error> {
        let row = sqlx::query(sql::unreadable::COUNT).fetch_one(&mut *self.conn).await?;
        number(row.try_get(0)?)
    }
}
