//! Outcomes of jobs and lines of the attempt history, collected as columns.

use ratchet_store::model::{AttemptOutcome, CancelCause, JobState};
use uuid::Uuid;

use crate::db;
use crate::fault::Fault;
use crate::graph::Place;
use crate::job_row::WaitingRow;
use crate::store::Inner;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

/// A member of a lease: a run that has not ended, with the row of its job.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub(crate) row: WaitingRow,
    pub(crate) lease: Uuid,
    pub(crate) node: Uuid,
    pub(crate) started_at: i64,
    /// Whether the run may hold a slot.
    pub(crate) held: bool,
    /// Its place in a graph, or `None` if it is not a step.
    pub(crate) step: Option<Place>,
}

impl Member {
    pub(crate) fn read(row: &PgRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            row: WaitingRow::read(row)?,
            lease: row.try_get("lease")?,
            node: row.try_get("node")?,
            started_at: row.try_get("started_at")?,
            held: row.try_get("held")?,
            step: row.try_get::<bool, _>("step")?.then(|| Place::read(row)).transpose()?,
        })
    }

    pub(crate) fn attempt(&self) -> i32 {
        self.row.attempts.saturating_add(1)
    }
}

/// How a run ended, for the attempt history.
#[derive(Debug, Clone)]
pub(crate) struct RunEnd {
    pub(crate) outcome: AttemptOutcome,
    pub(crate) duration: i64,
}

/// Ended jobs as columns.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    job: Vec<Uuid>,
    due: Vec<i64>,
    version: Vec<i64>,
    run: Vec<i64>,
    lease: Vec<Option<Uuid>>,
    node: Vec<Option<Uuid>>,
    started_at: Vec<Option<i64>>,
    duration: Vec<Option<i64>>,
    attempts: Vec<i32>,
    crashes: Vec<i32>,
    deferrals: Vec<i32>,
    generation: Vec<i32>,
    attempt: Vec<Option<i32>>,
    state: Vec<i16>,
    result: Vec<Option<i16>>,
    cause: Vec<Option<i16>>,
    output: Vec<Option<String>>,
    envelope: Vec<Option<String>>,
    reason: Vec<Option<String>>,
    fingerprint: Vec<Option<String>>,
    queue: Vec<String>,
}

/// The result or error of an ended job.
#[derive(Debug, Default)]
pub(crate) struct Left {
    pub(crate) cause: Option<CancelCause>,
    pub(crate) output: Option<String>,
    pub(crate) envelope: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) fingerprint: Option<String>,
}

impl Ends {
    /// Adds an ended job. `run` is the run that ended it, if any.
    pub(crate) fn push(
        &mut self,
        row: &WaitingRow,
        run: Option<(&Member, RunEnd)>,
        state: JobState,
        left: Left,
    ) {
        let (member, end) = run.unzip();
        self.job.push(row.job);
        self.due.push(row.due);
        self.version.push(row.version + 1);
        self.run.push(row.run);
        self.lease.push(member.map(|member| member.lease));
        self.node.push(member.map(|member| member.node));
        self.started_at.push(member.map(|member| member.started_at));
        self.duration.push(end.as_ref().map(|end| end.duration));
        self.attempts.push(row.attempts);
        self.crashes.push(row.crashes);
        self.deferrals.push(row.deferrals);
        self.generation.push(row.generation);
        self.attempt.push(member.map(Member::attempt));
        self.state.push(state.code());
        self.result.push(end.map(|end| end.outcome.code()));
        self.cause.push(left.cause.map(CancelCause::code));
        self.output.push(left.output);
        self.envelope.push(left.envelope);
        self.reason.push(left.reason);
        self.fingerprint.push(left.fingerprint);
        self.queue.push(row.queue.clone());
    }

    pub(crate) async fn write(
        self,
        inner: &Inner,
        db: &mut PgConnection,
        now: i64,
    ) -> Result<(), Fault> {
        if self.job.is_empty() {
            return Ok(());
        }
        db::query(inner.sql.insert_outcomes())
            .bind(now)
            .bind(self.job)
            .bind(self.due)
            .bind(self.version)
            .bind(self.run)
            .bind(self.lease)
            .bind(self.node)
            .bind(self.started_at)
            .bind(self.duration)
            .bind(self.attempts)
            .bind(self.crashes)
            .bind(self.deferrals)
            .bind(self.generation)
            .bind(self.attempt)
            .bind(self.state)
            .bind(self.result)
            .bind(self.cause)
            .bind(self.output)
            .bind(self.envelope)
            .bind(self.reason)
            .bind(self.fingerprint)
            .bind(self.queue)
            .execute(db)
            .await?;
        Ok(())
    }
}

/// Lines of the attempt history as columns.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    job: Vec<Uuid>,
    run: Vec<i64>,
    started_at: Vec<i64>,
    finished_at: Vec<i64>,
    due: Vec<i64>,
    duration: Vec<i64>,
    node: Vec<Uuid>,
    attempt: Vec<i32>,
    generation: Vec<i32>,
    result: Vec<i16>,
    error: Vec<Option<String>>,
    note: Vec<Option<String>>,
}

impl Lines {
    /// Adds the run of a job that returns to the queue.
    pub(crate) fn push(
        &mut self,
        member: &Member,
        end: &RunEnd,
        now: i64,
        error: Option<String>,
        note: Option<String>,
    ) {
        self.job.push(member.row.job);
        self.run.push(member.row.run);
        self.started_at.push(member.started_at);
        self.finished_at.push(now);
        self.due.push(member.row.due);
        self.duration.push(end.duration);
        self.node.push(member.node);
        self.attempt.push(member.attempt());
        self.generation.push(member.row.generation);
        self.result.push(end.outcome.code());
        self.error.push(error);
        self.note.push(note);
    }

    /// Adds the last run of a job whose outcome is undone.
    pub(crate) fn push_undone(
        &mut self,
        job: Uuid,
        row: &PgRow,
        error: Option<String>,
    ) -> Result<(), sqlx::Error> {
        self.job.push(job);
        self.run.push(row.try_get("run")?);
        self.started_at.push(row.try_get("started_at")?);
        self.finished_at.push(row.try_get("at")?);
        self.due.push(row.try_get("due")?);
        self.duration.push(row.try_get("duration")?);
        self.node.push(row.try_get("node")?);
        self.attempt.push(row.try_get("attempt")?);
        self.generation.push(row.try_get("generation")?);
        self.result.push(row.try_get("result")?);
        self.error.push(error);
        self.note.push(None);
        Ok(())
    }

    pub(crate) async fn write(self, inner: &Inner, db: &mut PgConnection) -> Result<(), Fault> {
        if self.job.is_empty() {
            return Ok(());
        }
        db::query(inner.sql.insert_attempts())
            .bind(self.job)
            .bind(self.run)
            .bind(self.started_at)
            .bind(self.finished_at)
            .bind(self.due)
            .bind(self.duration)
            .bind(self.node)
            .bind(self.attempt)
            .bind(self.generation)
            .bind(self.result)
            .bind(self.error)
            .bind(self.note)
            .execute(db)
            .await?;
        Ok(())
    }
}
