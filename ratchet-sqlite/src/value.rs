//! Converts values to and from their stored form.

use std::time::Duration;

use jiff::Timestamp;
use ratchet_store::model::{GraphKey, JobId, JobSpec, JobState, LeaseId, NodeId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use sqlx::sqlite::SqliteQueryResult;
use uuid::Uuid;

use crate::error::unreadable;

pub(crate) fn state(code: i64) -> Result<JobState, sqlx::Error> {
    JobState::from_code(code)
        .ok_or_else(|| sqlx::Error::Decode(format!("{code} is not a state").into()))
}

/// Reads a timestamp in microseconds. [`Timestamp::MAX`] is not a whole number of microseconds, so it is handled
/// separately.
pub(crate) fn time(micros: i64) -> Result<Timestamp, sqlx::Error> {
    if micros == Timestamp::MAX.as_microsecond() {
        return Ok(Timestamp::MAX);
    }
    Timestamp::from_microsecond(micros).map_err(unreadable)
}

/// Converts to nanoseconds, clamped to about 292 years.
pub(crate) fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

pub(crate) fn number<T: TryFrom<i64>>(number: i64) -> Result<T, sqlx::Error> {
    T::try_from(number).map_err(|_| sqlx::Error::Decode(format!("{number} is out of range").into()))
}

/// Checks that a statement changed exactly this many rows.
pub(crate) fn changed(done: &SqliteQueryResult, rows: usize) -> Result<(), sqlx::Error> {
    if done.rows_affected() == rows as u64 {
        return Ok(());
    }
    let why = format!("{} rows were changed instead of {rows}", done.rows_affected());
    Err(sqlx::Error::Protocol(why))
}

/// Reads a counter. Counters grow with every run or move, so a damaged one must not overflow the column.
pub(crate) fn counter(count: i64) -> Result<u64, sqlx::Error> {
    match u64::try_from(count) {
        Ok(counter) if counter < 1 << 62 => Ok(counter),
        _ => Err(sqlx::Error::Decode(format!("{count} is out of range").into())),
    }
}

/// Adds the name of the column to a decode error.
#[inline]
pub(crate) fn in_column<T>(column: &str, read: Result<T, sqlx::Error>) -> Result<T, sqlx::Error> {
    match read {
        Ok(value) => Ok(value),
        Err(error) => Err(with_column(column, error)),
    }
}

/// Kept out of [`in_column`], so that a claim, which reads many columns, does not pay for errors.
#[cold]
fn with_column(column: &str, error: sqlx::Error) -> sqlx::Error {
    match error {
        sqlx::Error::Decode(source) => {
            sqlx::Error::ColumnDecode { index: column.to_owned(), source }
        }
        other => other,
    }
}

pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn uuid(bytes: &[u8]) -> Result<Uuid, sqlx::Error> {
    Uuid::from_slice(bytes).map_err(unreadable)
}

pub(crate) fn job_id(bytes: &[u8]) -> Result<JobId, sqlx::Error> {
    uuid(bytes).map(JobId::from_uuid)
}

pub(crate) fn node_id(bytes: &[u8]) -> Result<NodeId, sqlx::Error> {
    uuid(bytes).map(NodeId::from_uuid)
}

pub(crate) fn lease_id(bytes: &[u8]) -> Result<LeaseId, sqlx::Error> {
    uuid(bytes).map(LeaseId::from_uuid)
}

/// Decodes the output of SQLite's `hex()`.
pub(crate) fn unhex(text: &str) -> Result<Vec<u8>, sqlx::Error> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    };
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    };
    let bytes: Option<Vec<_>> = text.as_bytes().chunks(2).map(pair).collect();
    bytes.ok_or_else(|| sqlx::Error::Decode("not written in hex".into()))
}

pub(crate) fn bytes(uuid: Uuid) -> Vec<u8> {
    uuid.as_bytes().to_vec()
}

pub(crate) fn json<T: Serialize>(value: &T) -> Result<String, sqlx::Error> {
    serde_json::to_string(value).map_err(|error| sqlx::Error::Encode(Box::new(error)))
}

pub(crate) fn optional_json<T: Serialize>(
    value: Option<&T>,
) -> Result<Option<String>, sqlx::Error> {
    value.map(json).transpose()
}

pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, sqlx::Error> {
    serde_json::from_str(text).map_err(unreadable)
}

pub(crate) fn parse_borrowed<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, sqlx::Error> {
    serde_json::from_str(text).map_err(unreadable)
}

pub(crate) fn parse_optional<T: DeserializeOwned>(
    text: Option<&str>,
) -> Result<Option<T>, sqlx::Error> {
    text.map(parse).transpose()
}

/// Encodes a tenant and a key so that different pairs never have the same bytes.
fn scoped(tenant: Option<&str>, key: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(key.len() + 8);
    match tenant {
        None => bytes.push(0),
        Some(tenant) => {
            bytes.push(1);
            bytes.extend_from_slice(&(tenant.len() as u64).to_be_bytes());
            bytes.extend_from_slice(tenant.as_bytes());
        }
    }
    bytes.extend_from_slice(key.as_bytes());
    bytes
}

/// Decodes a tenant and a key.
pub(crate) fn unscoped(scoped: &[u8]) -> Option<(Option<&str>, &str)> {
    let (tenant, key) = match scoped.split_first()? {
        (0, key) => (None, key),
        (1, rest) => {
            let (length, rest) = rest.split_first_chunk()?;
            let length = usize::try_from(u64::from_be_bytes(*length)).ok()?;
            let (tenant, key) = rest.split_at_checked(length)?;
            (Some(std::str::from_utf8(tenant).ok()?), key)
        }
        _ => return None,
    };
    Some((tenant, std::str::from_utf8(key).ok()?))
}

/// Returns bounds of the keys of a tenant that begin with a text: the first one, and the first one behind them.
pub(crate) fn keys_from(tenant: Option<&str>, prefix: &str) -> (Vec<u8>, Vec<u8>) {
    let first = scoped(tenant, prefix);
    let mut end = first.clone();
    // The first byte is 0 or 1, so that something remains.
    while end.pop_if(|byte| *byte == u8::MAX).is_some() {}
    if let Some(byte) = end.last_mut() {
        *byte += 1;
    }
    (first, end)
}

/// Returns bounds of all keys of a tenant: the first one, and the first one behind them.
pub(crate) fn keys_of_tenant(tenant: Option<&str>) -> (Vec<u8>, Vec<u8>) {
    keys_from(tenant, "")
}

pub(crate) fn business_key(spec: &JobSpec) -> Option<Vec<u8>> {
    let key = scoped(spec.tenant.as_deref(), spec.business_key.as_ref()?);
    Some(if spec.successor { second_place(&key) } else { key })
}

/// Returns the second place of a business key. The first byte of a key is 0 or 1.
pub(crate) fn second_place(key: &[u8]) -> Vec<u8> {
    [&[2], key].concat()
}

pub(crate) fn idempotency_key(spec: &JobSpec) -> Option<Vec<u8>> {
    spec.idempotency_key.as_ref().map(|key| scoped(spec.tenant.as_deref(), key))
}

/// Returns the ledger key of a graph. Graphs share the ledger with jobs.
pub(crate) fn graph_key(key: &GraphKey) -> Vec<u8> {
    scoped(key.tenant.as_deref(), &key.key)
}

/// Returns the lane of a job. A claim treats jobs of one lane alike, unless they have crashed their worker.
pub(crate) fn lane(spec: &JobSpec) -> i64 {
    let mut hash = Sha256::new();
    let mut add = |text: &str| {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text);
    };
    add(&spec.queue);
    add(&spec.name);
    add(&spec.version.to_string());
    if let Some(slot) = &spec.concurrency {
        add(&slot.key);
        add(&slot.limit.to_string());
    }
    if let Some(service) = &spec.service {
        add("service");
        add(service);
    }
    let digest: [u8; 32] = hash.finalize().into();
    digest[..8].iter().fold(0, |lane, byte| lane << 8 | i64::from(*byte))
}
