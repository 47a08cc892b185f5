//! Jobs as columns, and back.

use std::borrow::Cow;
use std::time::Duration;

use jiff::Timestamp;
use ratchet_core::Priority;
use ratchet_core::model::{
    ConcurrencyKey, Due, FinishedParent, JobSpec, NewJob, Progress, RunOptions,
};
use serde::{Deserialize, Serialize};
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{Postgres, Row};
use uuid::Uuid;

/// What few jobs set: kept as JSON, and not at all where it is at its defaults.
#[derive(Serialize, Deserialize)]
struct Extra<'a> {
    options: Cow<'a, RunOptions>,
    boost: Duration,
    on_success: Option<Cow<'a, JobSpec>>,
    on_failure: Option<Cow<'a, JobSpec>>,
    finished: Option<Cow<'a, FinishedParent>>,
}

fn extra(spec: &JobSpec) -> Option<String> {
    let plain = spec.options == RunOptions::default()
        && spec.boost == JobSpec::DEFAULT_BOOST
        && spec.on_success.is_none()
        && spec.on_failure.is_none()
        && spec.finished.is_none();
    if plain {
        return None;
    }
    let extra = Extra {
        options: Cow::Borrowed(&spec.options),
        boost: spec.boost,
        on_success: spec.on_success.as_deref().map(Cow::Borrowed),
        on_failure: spec.on_failure.as_deref().map(Cow::Borrowed),
        finished: spec.finished.as_deref().map(Cow::Borrowed),
    };
    serde_json::to_string(&extra).ok()
}

/// PostgreSQL has no text with a NUL in it; one must not void its batch.
pub(crate) fn clean(text: &str) -> String {
    if text.contains('\0') { text.replace('\0', "") } else { text.to_owned() }
}

pub(crate) fn clean_option(text: Option<&String>) -> Option<String> {
    text.map(|text| clean(text))
}

/// Microseconds, held within what the store can add to its clock.
pub(crate) fn micros(duration: Duration) -> i64 {
    /// Longer than all of time.
    const AGES: i64 = 300_000_000_000_000_000;
    i64::try_from(duration.as_micros()).map_or(AGES, |micros| micros.min(AGES))
}

pub(crate) fn duration(micros: i64) -> Duration {
    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
}

pub(crate) fn instant(micros: i64) -> Timestamp {
    Timestamp::from_microsecond(micros).unwrap_or(Timestamp::MAX)
}

pub(crate) fn small(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

pub(crate) fn natural(number: i32) -> u32 {
    u32::try_from(number).unwrap_or(0)
}

pub(crate) fn large(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) fn whole(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// The scope of a key: no tenant is not the tenant without a name.
pub(crate) fn scope(tenant: Option<&str>) -> String {
    tenant.map_or_else(String::new, |tenant| format!("={}", clean(tenant)))
}

/// New jobs, column by column.
#[derive(Default)]
pub(crate) struct Columns {
    id: Vec<Uuid>,
    at: Vec<Option<i64>>,
    delay: Vec<i64>,
    head: Vec<i64>,
    version: Vec<i32>,
    priority: Vec<i16>,
    climit: Vec<Option<i32>>,
    name: Vec<String>,
    queue: Vec<String>,
    payload: Vec<Vec<u8>>,
    business_key: Vec<Option<String>>,
    idempotency_key: Vec<Option<String>>,
    ckey: Vec<Option<String>>,
    service: Vec<Option<String>>,
    tenant: Vec<Option<String>>,
    correlation_id: Vec<Option<String>>,
    tags: Vec<Option<String>>,
    extra: Vec<Option<String>>,
}

impl Columns {
    pub(crate) fn push(&mut self, job: NewJob) {
        let NewJob { id, spec, due, on_taken: _ } = job;
        let (at, delay) = match due {
            Due::Now => (None, Duration::ZERO),
            Due::In(delay) => (None, delay),
            Due::At(instant) => (Some(instant.as_microsecond()), Duration::ZERO),
        };
        self.id.push(id.uuid());
        self.at.push(at);
        self.delay.push(micros(delay));
        self.head.push(-spec.sort_key(0));
        self.version.push(small(spec.version));
        self.priority.push(i16::from(spec.priority.level()));
        self.climit.push(spec.concurrency.as_ref().map(|key| small(key.limit)));
        self.extra.push(extra(&spec));
        self.name.push(clean(&spec.name));
        self.queue.push(clean(&spec.queue));
        self.payload.push(spec.payload);
        self.business_key.push(clean_option(spec.business_key.as_ref()));
        self.idempotency_key.push(clean_option(spec.idempotency_key.as_ref()));
        self.ckey.push(spec.concurrency.as_ref().map(|key| clean(&key.key)));
        self.service.push(clean_option(spec.service.as_ref()));
        self.tenant.push(clean_option(spec.tenant.as_ref()));
        self.correlation_id.push(clean_option(spec.correlation_id.as_ref()));
        let tags: Vec<_> = spec.tags.iter().map(|tag| clean(tag)).collect();
        self.tags.push((!tags.is_empty()).then(|| serde_json::json!(tags).to_string()));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.id.is_empty()
    }

    pub(crate) fn bind(
        self,
        query: Query<'_, Postgres, PgArguments>,
    ) -> Query<'_, Postgres, PgArguments> {
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
    }
}

/// The spec in a row that has the columns of `job`.
pub(crate) fn spec(row: &PgRow) -> Result<JobSpec, sqlx::Error> {
    let mut spec = JobSpec::new(row.try_get::<String, _>("name")?, row.try_get("payload")?);
    spec.version = natural(row.try_get("job_version")?);
    spec.queue = row.try_get("queue")?;
    let level = u8::try_from(row.try_get::<i16, _>("priority")?).unwrap_or(u8::MAX);
    spec.priority = Priority::from_level(level).unwrap_or_default();
    spec.business_key = row.try_get("business_key")?;
    spec.idempotency_key = row.try_get("idempotency_key")?;
    let limit = row.try_get::<Option<i32>, _>("climit")?.map_or(1, natural);
    spec.concurrency =
        row.try_get::<Option<String>, _>("ckey")?.map(|key| ConcurrencyKey { key, limit });
    spec.service = row.try_get("service")?;
    spec.tenant = row.try_get("tenant")?;
    spec.correlation_id = row.try_get("correlation_id")?;
    if let Some(tags) = row.try_get::<Option<&str>, _>("tags")? {
        spec.tags = json(tags)?;
    }
    if let Some(extra) = row.try_get::<Option<&str>, _>("extra")? {
        let extra: Extra<'_> = json(extra)?;
        spec.options = extra.options.into_owned();
        spec.boost = extra.boost;
        spec.on_success = extra.on_success.map(|spec| Box::new(spec.into_owned()));
        spec.on_failure = extra.on_failure.map(|spec| Box::new(spec.into_owned()));
        spec.finished = extra.finished.map(|finished| Box::new(finished.into_owned()));
    }
    Ok(spec)
}

/// Progress and checkpoint in a row that has the columns of `note`.
pub(crate) fn notes(
    row: &PgRow,
) -> Result<(Option<Progress>, Option<serde_json::Value>), sqlx::Error> {
    let message = row.try_get::<Option<String>, _>("message")?.unwrap_or_default();
    let progress = row.try_get::<Option<f32>, _>("percent")?;
    let progress = progress.map(|percent| Progress { percent, message });
    let checkpoint = row.try_get::<Option<&str>, _>("checkpoint")?.map(json).transpose()?;
    Ok((progress, checkpoint))
}

pub(crate) fn json<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, sqlx::Error> {
    serde_json::from_str(text).map_err(|error| sqlx::Error::Decode(error.into()))
}
