//! Builds the records of the model (jobs, attempts, claimed jobs, log lines) from rows.

use std::sync::Arc;
use std::time::Duration;

use ratchet_store::model::{
    AttemptOutcome, AttemptRecord, CancelCause, Claimed, Due, Envelope, JobId, JobRecord, JobState,
    LeaseId, LogLevel, LogLine, NodeId, Token,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

pub(crate) use crate::spec::notes_of;
use crate::spec::{duration, instant, json_in, spec, to_u32, to_u64};

/// Returns the value that a stored code stands for, given the result of `from_code`.
pub(crate) fn known<T>(code: i16, value: Option<T>) -> Result<T, sqlx::Error> {
    value.ok_or_else(|| sqlx::Error::Decode(format!("no such code: {code}").into()))
}

pub(crate) fn state(code: i16) -> Result<JobState, sqlx::Error> {
    known(code, JobState::from_code(code))
}

pub(crate) fn cancel_cause(code: i16) -> Result<CancelCause, sqlx::Error> {
    known(code, CancelCause::from_code(code))
}

/// Serializes a value as JSON for a text column. JSON escapes NUL characters.
pub(crate) fn text<T: Serialize>(value: &T) -> Option<String> {
    serde_json::to_string(value).ok()
}

pub(crate) fn parsed<T: DeserializeOwned>(
    row: &PgRow,
    column: &str,
) -> Result<Option<T>, sqlx::Error> {
    row.try_get::<Option<&str>, _>(column)?.map(|text| json_in(column, text)).transpose()
}

pub(crate) fn token(row: &PgRow) -> Result<Token, sqlx::Error> {
    Ok(Token {
        job: JobId::from_uuid(row.try_get("job")?),
        lease: LeaseId::from_uuid(row.try_get("lease")?),
        version: to_u64(row.try_get("version")?),
    })
}

/// Reads a claimed job. The column `now` is the time of the claim.
pub(crate) fn claimed(row: &PgRow, node: NodeId) -> Result<Claimed, sqlx::Error> {
    let (progress, checkpoint) = notes_of(row)?;
    Ok(Claimed {
        token: token(row)?,
        spec: Arc::new(spec(row)?),
        attempts: to_u32(row.try_get("attempts")?),
        crashes: to_u32(row.try_get("crashes")?),
        deferrals: to_u32(row.try_get("deferrals")?),
        generation: to_u32(row.try_get("generation")?),
        run: to_u64(row.try_get("run")?),
        queued_at: instant(row.try_get("queued_at")?),
        due: instant(row.try_get("due")?),
        claimed_at: instant(row.try_get("now")?),
        node,
        progress,
        checkpoint,
        probe: None,
    })
}

pub(crate) fn job(row: &PgRow) -> Result<JobRecord, sqlx::Error> {
    let id = JobId::from_uuid(row.try_get("job")?);
    let queued_at = instant(row.try_get("queued_at")?);
    let due = instant(row.try_get("due")?);
    let mut job = JobRecord::pending(id, spec(row)?, due, queued_at);
    job.state = state(row.try_get("state")?)?;
    let failed = row.try_get::<Option<bool>, _>("failed")?;
    let from = |failed: bool| if failed { JobState::Failed } else { JobState::Pending };
    job.paused_from = failed.map(from);
    job.version = to_u64(row.try_get("version")?);
    job.run = to_u64(row.try_get("run")?);
    job.attempts = to_u32(row.try_get("attempts")?);
    job.crashes = to_u32(row.try_get("crashes")?);
    job.deferrals = to_u32(row.try_get("deferrals")?);
    job.generation = to_u32(row.try_get("generation")?);
    job.finished_at = row.try_get::<Option<i64>, _>("finished_at")?.map(instant);
    let started = row.try_get::<Option<i64>, _>("started_at")?;
    let run_due = row.try_get::<Option<i64>, _>("run_due")?;
    job.started_at = started.map(instant);
    job.queue_wait = started.zip(run_due).map(|(started, due)| wait(started, due));
    job.duration = row.try_get::<Option<i64>, _>("duration")?.map(duration);
    job.node = row.try_get::<Option<Uuid>, _>("node")?.map(NodeId::from_uuid);
    (job.progress, job.checkpoint) = notes_of(row)?;
    job.output = row.try_get("output")?;
    job.envelope = parsed::<Envelope>(row, "envelope")?;
    job.error = match &job.envelope {
        Some(envelope) => Some(envelope.failure.clone()),
        None => parsed(row, "error")?,
    };
    let cause = row.try_get::<Option<i16>, _>("cause")?;
    job.canceled = cause.map(cancel_cause).transpose()?;
    job.wait = parsed(row, "wait")?;
    job.root_cause = parsed(row, "root")?;
    job.warnings = row.try_get::<Option<Vec<String>>, _>("warnings")?.unwrap_or_default();
    Ok(job)
}

pub(crate) fn attempt(row: &PgRow) -> Result<AttemptRecord, sqlx::Error> {
    let started: i64 = row.try_get("started_at")?;
    let claimed = Claimed {
        token: Token {
            job: JobId::from_uuid(Uuid::nil()),
            lease: LeaseId::from_uuid(Uuid::nil()),
            version: 0,
        },
        spec: Arc::new(ratchet_store::model::JobSpec::new(String::new(), Vec::new())),
        attempts: to_u32(row.try_get("attempt")?).saturating_sub(1),
        crashes: 0,
        deferrals: 0,
        generation: to_u32(row.try_get("generation")?),
        run: to_u64(row.try_get("run")?),
        queued_at: instant(started),
        due: instant(row.try_get("due")?),
        claimed_at: instant(started),
        node: NodeId::from_uuid(row.try_get("node")?),
        progress: None,
        checkpoint: None,
        probe: None,
    };
    let result = row.try_get("result")?;
    let result = known(result, AttemptOutcome::from_code(result))?;
    let mut line = AttemptRecord::new(&claimed, instant(row.try_get("finished_at")?), result);
    line.duration = duration(row.try_get("duration")?);
    line.error = match parsed::<Envelope>(row, "envelope")? {
        Some(envelope) => Some(envelope.failure),
        None => parsed(row, "error")?,
    };
    line.note = row.try_get("note")?;
    Ok(line)
}

pub(crate) fn log(row: &PgRow) -> Result<LogLine, sqlx::Error> {
    let level = row.try_get("level")?;
    Ok(LogLine {
        after: duration(row.try_get("after")?),
        level: known(level, LogLevel::from_code(level))?,
        message: row.try_get("message")?,
        run: to_u64(row.try_get("run")?),
    })
}

fn wait(started: i64, due: i64) -> Duration {
    duration(started.saturating_sub(due))
}

/// Returns the due time in microseconds, given the store's clock.
pub(crate) fn due_micros(due: Due, now: i64) -> i64 {
    due.at(instant(now)).as_microsecond()
}
