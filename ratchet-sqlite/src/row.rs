//! The stored form of one job, and the functions that move a single job between states.

use std::time::Duration;

use jiff::Timestamp;
use ratchet_store::model::{
    AttemptOutcome, AttemptRecord, Claimed, ConcurrencyKey, JobId, JobRecord, JobSpec, JobState,
    LeaseId, RunNotes, Token,
};
use ratchet_store::{MAX_LOG_LINES, Wake};
use serde::de::DeserializeOwned;
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use crate::session::Session;
use crate::value::{
    bytes, changed, counter, in_column, job_id, json, lease_id, nanos, node_id, number,
    optional_json, parse_optional, signed, state, time,
};
use crate::{sql, template};

/// A row of `ratchet_job`.
#[derive(Debug)]
pub(crate) struct JobRow {
    pub(crate) seq: i64,
    pub(crate) template: i64,
    pub(crate) job: JobRecord,
    pub(crate) scoped_key: Option<Vec<u8>>,
    /// Set while the job is running.
    pub(crate) lease: Option<LeaseId>,
    pub(crate) handler_started: bool,
    /// The opening of a breaker that the current run probes.
    probe: Option<String>,
}

impl JobRow {
    /// Returns the token of the current run, or `None` if the job is not running.
    pub(crate) fn token(&self) -> Option<Token> {
        let lease = self.lease.filter(|_| self.job.state == JobState::Running)?;
        Some(Token { job: self.job.id, lease, version: self.job.version })
    }

    /// Returns the current run as it was returned by its claim.
    pub(crate) fn claimed(&self) -> Option<Claimed> {
        self.job.claimed(self.token()?.lease)
    }

    /// Returns a history line for the current run.
    pub(crate) fn line(&self, now: Timestamp, outcome: AttemptOutcome) -> Option<AttemptRecord> {
        Some(AttemptRecord::new(&self.claimed()?, now, outcome))
    }

    /// Returns the history line of the last, successful run. It is not stored, because the job has all of its data.
    pub(crate) fn implied_line(&self) -> Option<AttemptRecord> {
        let job = &self.job;
        // The lease ended with the run, and the line does not contain it.
        let claimed = job.claimed(LeaseId::from_uuid(uuid::Uuid::nil()))?;
        let mut line = AttemptRecord::new(&claimed, job.finished_at?, AttemptOutcome::Success);
        line.duration = job.duration?;
        Some(line)
    }
}

/// Reads a required number.
fn whole<T: TryFrom<i64>>(row: &SqliteRow, column: &str) -> Result<T, sqlx::Error> {
    in_column(column, number(row.try_get(column)?))
}

/// Reads an optional number.
fn part<T>(
    row: &SqliteRow,
    column: &str,
    read: impl Fn(i64) -> Result<T, sqlx::Error>,
) -> Result<Option<T>, sqlx::Error> {
    in_column(column, row.try_get::<Option<i64>, _>(column)?.map(read).transpose())
}

/// Reads optional JSON.
fn parsed<T: DeserializeOwned>(row: &SqliteRow, column: &str) -> Result<Option<T>, sqlx::Error> {
    in_column(column, parse_optional(row.try_get(column)?))
}

/// Returns an error for a column whose value is well-formed but not valid in this row.
fn misplaced(column: &str, why: &str) -> sqlx::Error {
    sqlx::Error::ColumnDecode { index: column.to_owned(), source: why.into() }
}

/// Reads a complete row of `ratchet_job`. Errors name the column.
pub(crate) fn job_row(row: &SqliteRow, template_spec: &JobSpec) -> Result<JobRow, sqlx::Error> {
    let now = in_column("state", state(row.try_get("state")?))?;
    if row.try_get::<&str, _>("queue")? != template_spec.queue {
        return Err(misplaced("queue", "it is not the queue that the job was submitted to"));
    }
    if !(0..=4).contains(&row.try_get::<i64, _>("ready")?) {
        return Err(misplaced("ready", "it is not a place in the line"));
    }
    let slot: Option<String> = row.try_get("slot_key")?;
    let limit = part(row, "slot_limit", number)?;
    let concurrency = slot.zip(limit).map(|(key, limit)| ConcurrencyKey { key, limit });
    let spec =
        template::spec(template_spec, row.try_get("payload")?, row.try_get("own")?, concurrency)?;
    let mut job = JobRecord::pending(
        in_column("id", job_id(row.try_get("id")?))?,
        spec,
        in_column("due", time(row.try_get("due")?))?,
        in_column("queued_at", time(row.try_get("queued_at")?))?,
    );
    job.state = now;
    job.paused_from = part(row, "paused_from", state)?;
    job.started_at = part(row, "started_at", time)?;
    job.finished_at = part(row, "finished_at", time)?;
    job.queue_wait = part(row, "queue_wait", number)?.map(Duration::from_micros);
    job.duration = part(row, "duration", number)?.map(Duration::from_nanos);
    let node: Option<&[u8]> = row.try_get("node")?;
    job.node = in_column("node", node.map(node_id).transpose())?;
    job.attempts = whole(row, "attempts")?;
    job.crashes = whole(row, "crashes")?;
    job.deferrals = whole(row, "deferrals")?;
    job.generation = whole(row, "generation")?;
    job.run = in_column("run", counter(row.try_get("run")?))?;
    job.version = in_column("fence", counter(row.try_get("fence")?))?;
    job.progress = parsed(row, "progress")?;
    job.checkpoint = parsed(row, "checkpoint")?;
    job.output = row.try_get("output")?;
    job.error = parsed(row, "error")?;
    job.envelope = parsed(row, "envelope")?;
    job.canceled = parsed(row, "canceled")?;
    job.root_cause = parsed(row, "root_cause")?;
    job.wait = parsed(row, "wait")?;
    job.warnings = parsed(row, "warnings")?.unwrap_or_default();
    let lease: Option<&[u8]> = row.try_get("lease")?;
    let lease = in_column("lease", lease.map(lease_id).transpose())?;
    if now == JobState::Running && lease.is_none() {
        return Err(misplaced("lease", "a running job has one"));
    }
    if now == JobState::Running && job.node.is_none() {
        return Err(misplaced("node", "a running job has one"));
    }
    Ok(JobRow {
        seq: row.try_get("seq")?,
        template: row.try_get("template")?,
        job,
        scoped_key: row.try_get("scoped_key")?,
        lease,
        handler_started: row.try_get::<Option<bool>, _>("handler_started")?.unwrap_or_default(),
        probe: row.try_get("probe")?,
    })
}

/// Returns the `ready` column of a job: 1 if it can be claimed, 3 if it waits for other steps, 0 otherwise.
pub(crate) fn readiness(job: &JobRecord, now: Timestamp) -> i64 {
    match job.state {
        JobState::Pending if job.wait.is_some() => 3,
        JobState::Pending if job.due <= now => 1,
        _ => 0,
    }
}

/// Whether a run releases its slot and key when it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    /// They are released.
    Freed,
    /// They stay held, because the handler is still running.
    Lingering,
    /// They stay held, because the handler has not been notified of the cancel yet.
    Canceled,
}

impl Session<'_> {
    /// Reads a job. Returns `None` if it does not exist or cannot be read. A job that cannot be read is set aside.
    pub(crate) async fn load(&mut self, id: JobId) -> Result<Option<JobRow>, sqlx::Error> {
        let row = sqlx::query(sql::job::GET_JOB.as_str())
            .bind(bytes(id.uuid()))
            .fetch_optional(&mut *self.conn)
            .await?;
        match row {
            Some(row) => self.decode(&row).await,
            None => Ok(None),
        }
    }

    /// Moves a job to another state. Increments the fence, and updates counts, keys and wake-ups.
    pub(crate) async fn advance(
        &mut self,
        row: &mut JobRow,
        change: impl FnOnce(&mut JobRecord),
    ) -> Result<(), sqlx::Error> {
        self.effects.count(row.template, row.job.state, -1);
        let was_pending = row.job.state == JobState::Pending;
        change(&mut row.job);
        row.job.version += 1;
        self.effects.count(row.template, row.job.state, 1);
        self.save(row).await?;
        let job = &row.job;
        if was_pending && let Some(slot) = &job.spec.concurrency {
            // It may have been brought back for a free slot that it will not use now.
            self.bring_back_slot(&slot.key, 1).await?;
        }
        if job.state.is_terminal() {
            self.effects.wakes.push(Wake::Finished(job.id));
        }
        if job.is_claimable() && job.due <= self.now {
            self.effects.wake_queue(&job.spec.queue);
        }
        self.free_business_key(row).await
    }

    async fn save(&mut self, row: &JobRow) -> Result<(), sqlx::Error> {
        let job = &row.job;
        let due = job.due.as_microsecond();
        let warnings = Some(&job.warnings).filter(|warnings| !warnings.is_empty());
        let saved = sqlx::query(sql::job::SAVE_JOB)
            .bind(row.seq)
            .bind(job.state.code())
            .bind(readiness(job, self.now))
            .bind(job.spec.sort_key(due))
            .bind(due)
            .bind(signed(job.version))
            .bind(i64::from(job.generation))
            .bind(i64::from(job.attempts))
            .bind(i64::from(job.crashes))
            .bind(i64::from(job.deferrals))
            .bind(row.lease.map(|lease| bytes(lease.uuid())))
            .bind(row.lease.map(|_| row.handler_started))
            .bind(job.finished_at.map(Timestamp::as_microsecond))
            .bind(job.duration.map(nanos))
            .bind(job.paused_from.map(JobState::code))
            .bind(optional_json(job.canceled.as_ref())?)
            .bind(optional_json(job.progress.as_ref())?)
            .bind(optional_json(job.checkpoint.as_ref())?)
            .bind(job.output.as_deref())
            .bind(optional_json(job.error.as_ref())?)
            .bind(optional_json(job.envelope.as_ref())?)
            .bind(optional_json(warnings)?)
            .bind(optional_json(job.wait.as_ref())?)
            .bind(optional_json(job.root_cause.as_ref())?)
            .execute(&mut *self.conn)
            .await?;
        changed(&saved, 1)
    }

    /// Ends the current run of a job and moves the job.
    pub(crate) async fn end_run(
        &mut self,
        row: &mut JobRow,
        token: Token,
        held: Held,
        change: impl FnOnce(&mut JobRecord),
    ) -> Result<(), sqlx::Error> {
        row.lease = None;
        match (held, row.job.node) {
            (Held::Lingering | Held::Canceled, Some(node)) => {
                sqlx::query(sql::key::INSERT_LINGERING)
                    .bind(bytes(token.job.uuid()))
                    .bind(bytes(token.lease.uuid()))
                    .bind(signed(token.version))
                    .bind(bytes(node.uuid()))
                    .bind(held == Held::Canceled)
                    .bind(row.job.spec.concurrency.as_ref().map(|slot| slot.key.as_str()))
                    .bind(row.job.spec.queue.as_str())
                    .bind(row.probe.as_deref())
                    .execute(&mut *self.conn)
                    .await?;
            }
            _ => self.free_slot(&row.job.spec).await?,
        }
        self.advance(row, change).await
    }

    /// Adds the notes of a run to the job in memory, and writes its log lines.
    pub(crate) async fn keep(
        &mut self,
        row: &mut JobRow,
        notes: &RunNotes,
    ) -> Result<(), sqlx::Error> {
        let job = &mut row.job;
        if notes.progress.is_some() {
            job.progress.clone_from(&notes.progress);
        }
        if notes.checkpoint.is_some() {
            job.checkpoint.clone_from(&notes.checkpoint);
        }
        job.warnings.extend(notes.warnings.iter().cloned());
        if notes.logs.is_empty() {
            return Ok(());
        }
        let id = bytes(job.id.uuid());
        for line in &notes.logs {
            sqlx::query(sql::settle::INSERT_LOG_LINE)
                .bind(id.as_slice())
                .bind(json(line)?)
                .execute(&mut *self.conn)
                .await?;
        }
        let most = i64::try_from(MAX_LOG_LINES).unwrap_or(i64::MAX);
        sqlx::query(sql::settle::TRIM_LOG).bind(id).bind(most).execute(&mut *self.conn).await?;
        Ok(())
    }

    /// Writes the notes of a job whose state does not change.
    pub(crate) async fn save_notes(&mut self, row: &JobRow) -> Result<(), sqlx::Error> {
        let job = &row.job;
        let warnings = Some(&job.warnings).filter(|warnings| !warnings.is_empty());
        let saved = sqlx::query(sql::job::SAVE_NOTES)
            .bind(row.seq)
            .bind(optional_json(job.progress.as_ref())?)
            .bind(optional_json(job.checkpoint.as_ref())?)
            .bind(optional_json(warnings)?)
            .execute(&mut *self.conn)
            .await?;
        changed(&saved, 1)
    }

    pub(crate) async fn add_line(
        &mut self,
        id: JobId,
        line: &AttemptRecord,
    ) -> Result<(), sqlx::Error> {
        sqlx::query(sql::settle::INSERT_ATTEMPT)
            .bind(bytes(id.uuid()))
            .bind(signed(line.run))
            .bind(json(line)?)
            .execute(&mut *self.conn)
            .await?;
        Ok(())
    }
}
