//! Converts job specs to columns and back.

use std::borrow::Cow;
use std::time::Duration;

use jiff::Timestamp;
use ratchet_store::model::Priority;
use ratchet_store::model::{
    ConcurrencyKey, Deadline, Due, FinishedParent, JobSpec, NewJob, Progress, RunOptions, Step,
};
use serde::{Deserialize, Serialize};
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{Column as _, Postgres, Row};
use uuid::Uuid;

/// The rarely used fields of a spec, stored as JSON. `NULL` if all of them have their defaults.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Extra<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    options: Option<Cow<'a, RunOptions>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    boost: Option<Duration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    on_success: Option<Cow<'a, JobSpec>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    on_failure: Option<Cow<'a, JobSpec>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finished: Option<Cow<'a, FinishedParent>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<Cow<'a, Step>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<Deadline>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_until: Option<Deadline>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    successor: bool,
}

/// Returns the rarely used fields as JSON, or `None` if all of them have their defaults.
pub(crate) fn extra(spec: &JobSpec) -> Option<String> {
    let extra = Extra {
        options: (spec.options != RunOptions::default()).then_some(Cow::Borrowed(&spec.options)),
        boost: (spec.boost != JobSpec::DEFAULT_BOOST).then_some(spec.boost),
        on_success: spec.on_success.as_deref().map(Cow::Borrowed),
        on_failure: spec.on_failure.as_deref().map(Cow::Borrowed),
        finished: spec.finished.as_deref().map(Cow::Borrowed),
        step: spec.step.as_deref().map(Cow::Borrowed),
        expires: spec.expires,
        retry_until: spec.retry_until,
        successor: spec.successor,
    };
    let plain = extra.options.is_none()
        && extra.boost.is_none()
        && extra.on_success.is_none()
        && extra.on_failure.is_none()
        && extra.finished.is_none()
        && extra.step.is_none()
        && extra.expires.is_none()
        && extra.retry_until.is_none()
        && !extra.successor;
    if plain { None } else { serde_json::to_string(&extra).ok() }
}

/// Removes NUL characters. PostgreSQL cannot store them, and one must not fail the whole batch.
pub(crate) fn clean(text: &str) -> String {
    if text.contains('\0') { text.replace('\0', "") } else { text.to_owned() }
}

/// Like [`clean`], but copies the text only if it contains a NUL.
pub(crate) fn cleaned(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { Cow::Owned(clean(text)) } else { Cow::Borrowed(text) }
}

pub(crate) fn clean_option(text: Option<&String>) -> Option<String> {
    text.map(|text| clean(text))
}

/// Converts to microseconds, clamped to a value that can be added to the store's clock without overflow.
pub(crate) fn micros(duration: Duration) -> i64 {
    /// About 9500 years.
    const MAX_MICROS: i64 = 300_000_000_000_000_000;
    i64::try_from(duration.as_micros()).map_or(MAX_MICROS, |micros| micros.min(MAX_MICROS))
}

pub(crate) fn duration(micros: i64) -> Duration {
    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
}

pub(crate) fn instant(micros: i64) -> Timestamp {
    Timestamp::from_microsecond(micros).unwrap_or(Timestamp::MAX)
}

pub(crate) fn to_i32(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

pub(crate) fn to_u32(number: i32) -> u32 {
    u32::try_from(number).unwrap_or(0)
}

pub(crate) fn to_i64(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) fn to_u64(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// Returns the scope of a key. Jobs without a tenant and jobs of a tenant with an empty name have different scopes.
pub(crate) fn scope(tenant: Option<&str>) -> String {
    tenant.map_or_else(String::new, |tenant| format!("={}", clean(tenant)))
}

/// New jobs as columns.
#[derive(Default)]
pub(crate) struct Columns<'a> {
    id: Vec<Uuid>,
    at: Vec<Option<i64>>,
    delay: Vec<i64>,
    head: Vec<i64>,
    version: Vec<i32>,
    priority: Vec<i16>,
    climit: Vec<Option<i32>>,
    name: Vec<Cow<'a, str>>,
    queue: Vec<Cow<'a, str>>,
    payload: Vec<&'a [u8]>,
    business_key: Vec<Option<Cow<'a, str>>>,
    idempotency_key: Vec<Option<Cow<'a, str>>>,
    ckey: Vec<Option<Cow<'a, str>>>,
    service: Vec<Option<Cow<'a, str>>>,
    tenant: Vec<Option<Cow<'a, str>>>,
    correlation_id: Vec<Option<Cow<'a, str>>>,
    tags: Vec<Option<String>>,
    extra: Vec<Option<String>>,
    trace: Vec<Option<String>>,
}

impl<'a> Columns<'a> {
    pub(crate) fn push(&mut self, job: &'a NewJob) {
        let spec = &job.spec;
        let (at, delay) = match job.due {
            Due::Now => (None, Duration::ZERO),
            Due::In(delay) => (None, delay),
            Due::At(instant) => (Some(instant.as_microsecond()), Duration::ZERO),
        };
        let clean = |text: &'a Option<String>| text.as_deref().map(cleaned);
        self.id.push(job.id.uuid());
        self.at.push(at);
        self.delay.push(micros(delay));
        self.head.push(-spec.sort_key(0));
        self.version.push(to_i32(spec.version));
        self.priority.push(i16::from(spec.priority.level()));
        self.climit.push(spec.concurrency.as_ref().map(|key| to_i32(key.limit)));
        self.extra.push(extra(spec));
        self.trace.push(spec.trace.as_deref().map(ToString::to_string));
        self.name.push(cleaned(&spec.name));
        self.queue.push(cleaned(&spec.queue));
        self.payload.push(&spec.payload);
        self.business_key.push(clean(&spec.business_key));
        self.idempotency_key.push(clean(&spec.idempotency_key));
        self.ckey.push(spec.concurrency.as_ref().map(|key| cleaned(&key.key)));
        self.service.push(clean(&spec.service));
        self.tenant.push(clean(&spec.tenant));
        self.correlation_id.push(clean(&spec.correlation_id));
        let tags = (!spec.tags.is_empty()).then(|| {
            let tags: Vec<_> = spec.tags.iter().map(|tag| cleaned(tag)).collect();
            serde_json::json!(tags).to_string()
        });
        self.tags.push(tags);
    }

    pub(crate) fn bind(
        self,
        query: Query<'a, Postgres, PgArguments>,
    ) -> Query<'a, Postgres, PgArguments> {
        query
            .bind(self.id)
            .bind(self.at)
            .bind(self.delay)
            .bind(self.head)
            .bind(self.version)
            .bind(self.priority)
            .bind(self.climit)
            .bind(self.name)
            .bind(self.queue)
            .bind(self.payload)
            .bind(self.business_key)
            .bind(self.idempotency_key)
            .bind(self.ckey)
            .bind(self.service)
            .bind(self.tenant)
            .bind(self.correlation_id)
            .bind(self.tags)
            .bind(self.extra)
            .bind(self.trace)
    }
}

impl<'a> Columns<'a> {
    /// Binds the ids and payloads of a batch, and the values that its jobs have in common, taken from the one job that
    /// was pushed.
    pub(crate) fn bind_shared(
        mut self,
        query: Query<'a, Postgres, PgArguments>,
        ids: Vec<Uuid>,
        payloads: Vec<&'a [u8]>,
        now: Option<i64>,
    ) -> Query<'a, Postgres, PgArguments> {
        query
            .bind(ids)
            .bind(payloads)
            .bind(now)
            .bind(self.head.pop())
            .bind(self.version.pop())
            .bind(self.priority.pop())
            .bind(self.climit.pop().flatten())
            .bind(self.name.pop())
            .bind(self.queue.pop())
            .bind(self.ckey.pop().flatten())
            .bind(self.service.pop().flatten())
            .bind(self.tenant.pop().flatten())
            .bind(self.correlation_id.pop().flatten())
            .bind(self.tags.pop().flatten())
            .bind(self.trace.pop().flatten())
    }
}

/// Reads the spec from a row with the columns of `job`.
pub(crate) fn spec(row: &PgRow) -> Result<JobSpec, sqlx::Error> {
    let first = row.column("name").ordinal();
    spec_from(row, first, row.try_get("queue")?)
}

/// Reads the spec from a row that has the columns of `job` without the queue, starting at column `first`. Column types
/// are not checked: they are those of the store's own statements, and a check per value would take much of the time.
pub(crate) fn spec_from(row: &PgRow, first: usize, queue: &str) -> Result<JobSpec, sqlx::Error> {
    let text = |at: usize| row.try_get_unchecked::<Option<String>, _>(first + at);
    let mut spec =
        JobSpec::new(row.try_get_unchecked::<String, _>(first)?, row.try_get_unchecked(first + 3)?);
    spec.version = to_u32(row.try_get_unchecked(first + 1)?);
    queue.clone_into(&mut spec.queue);
    let level = u8::try_from(row.try_get_unchecked::<i16, _>(first + 2)?).unwrap_or(u8::MAX);
    spec.priority = Priority::from_level(level).unwrap_or_default();
    spec.business_key = text(4)?;
    spec.idempotency_key = text(5)?;
    if let Some(key) = text(6)? {
        let limit = row.try_get_unchecked::<Option<i32>, _>(first + 7)?.map_or(1, to_u32);
        spec.concurrency = Some(ConcurrencyKey { key, limit });
    }
    spec.service = text(8)?;
    if let Some(tags) = row.try_get_unchecked::<Option<&str>, _>(first + 9)? {
        spec.tags = json_in("tags", tags)?;
    }
    spec.tenant = text(10)?;
    spec.correlation_id = text(11)?;
    if let Some(extra) = row.try_get_unchecked::<Option<&str>, _>(first + 12)? {
        let extra: Extra<'_> = json_in("extra", extra)?;
        spec.options = extra.options.map(Cow::into_owned).unwrap_or_default();
        spec.boost = extra.boost.unwrap_or(JobSpec::DEFAULT_BOOST);
        spec.on_success = extra.on_success.map(|spec| Box::new(spec.into_owned()));
        spec.on_failure = extra.on_failure.map(|spec| Box::new(spec.into_owned()));
        spec.finished = extra.finished.map(|finished| Box::new(finished.into_owned()));
        spec.step = extra.step.map(|step| Box::new(step.into_owned()));
        spec.expires = extra.expires;
        spec.retry_until = extra.retry_until;
        spec.successor = extra.successor;
    }
    // A malformed context must not keep the job from running.
    let trace = row.try_get_unchecked::<Option<&str>, _>(first + 13)?;
    spec.trace = trace.and_then(|text| text.parse().ok()).map(Box::new);
    Ok(spec)
}

/// Reads progress and checkpoint from a row with the columns of `note`.
pub(crate) fn notes_of(
    row: &PgRow,
) -> Result<(Option<Progress>, Option<serde_json::Value>), sqlx::Error> {
    let message = row.try_get::<Option<String>, _>("message")?.unwrap_or_default();
    let progress = row.try_get::<Option<f32>, _>("percent")?;
    let progress = progress.map(|percent| Progress { percent, message });
    let checkpoint = row.try_get::<Option<&str>, _>("checkpoint")?;
    let checkpoint = checkpoint.map(|text| json_in("checkpoint", text)).transpose()?;
    Ok((progress, checkpoint))
}

/// Parses the JSON text of a column. Errors name the column.
pub(crate) fn json_in<'a, T: Deserialize<'a>>(
    column: &str,
    text: &'a str,
) -> Result<T, sqlx::Error> {
    serde_json::from_str(text).map_err(|error| sqlx::Error::ColumnDecode {
        index: column.to_owned(),
        source: error.into(),
    })
}

pub(crate) fn json<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, sqlx::Error> {
    serde_json::from_str(text).map_err(|error| sqlx::Error::Decode(error.into()))
}
