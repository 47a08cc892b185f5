//! Templates: the common parts of job specs, stored once, because most jobs of a name differ only in their payload.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, PoisonError, RwLock};

use ratchet_store::model::{ConcurrencyKey, Deadline, FinishedParent, JobSpec, Step};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use sqlx::{Row as _, SqliteConnection};

use crate::error::unreadable;
use crate::sql;
use crate::value::in_column;

/// A cache of stored templates. There are usually only a few per job name.
#[derive(Debug, Default)]
pub(crate) struct Templates {
    known: RwLock<Known>,
}

#[derive(Debug, Default)]
struct Known {
    by_id: HashMap<i64, Arc<JobSpec>>,
    /// By a hash of the fields that usually distinguish templates.
    by_hash: HashMap<u64, Vec<(i64, Arc<JobSpec>)>>,
}

/// The most templates to cache. Options that differ for every job must not exhaust memory.
const MOST_KNOWN: usize = 10_000;

impl Templates {
    pub(crate) fn get(&self, id: i64) -> Option<Arc<JobSpec>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).by_id.get(&id).cloned()
    }

    pub(crate) fn find(&self, spec: &JobSpec) -> Option<i64> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        find(known.by_hash.get(&look(spec))?, spec)
    }

    pub(crate) fn add(&self, id: i64, template: Arc<JobSpec>) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.by_id.len() >= MOST_KNOWN {
            *known = Known::default();
        }
        if known.by_id.insert(id, Arc::clone(&template)).is_none() {
            known.by_hash.entry(look(&template)).or_default().push((id, template));
        }
    }
}

/// Finds the template of a spec.
pub(crate) fn find(templates: &[(i64, Arc<JobSpec>)], spec: &JobSpec) -> Option<i64> {
    templates.iter().find(|(_, template)| is_template_of(template, spec)).map(|(id, _)| *id)
}

fn look(spec: &JobSpec) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&spec.name, &spec.queue, spec.version, spec.options.max_retries).hash(&mut hasher);
    hasher.finish()
}

fn is_template_of(template: &JobSpec, spec: &JobSpec) -> bool {
    template.name == spec.name
        && template.version == spec.version
        && template.queue == spec.queue
        && template.priority == spec.priority
        && template.options == spec.options
        && template.service == spec.service
        && template.boost == spec.boost
}

/// Returns the template of a spec, with its id and its stored form.
pub(crate) fn template_of(spec: &JobSpec) -> Result<(i64, Arc<JobSpec>, String), sqlx::Error> {
    let mut template = JobSpec::new(spec.name.clone(), Vec::new());
    template.version = spec.version;
    template.queue.clone_from(&spec.queue);
    template.priority = spec.priority;
    template.options = spec.options.clone();
    template.service.clone_from(&spec.service);
    template.boost = spec.boost;
    let body =
        serde_json::to_string(&template).map_err(|error| sqlx::Error::Encode(Box::new(error)))?;
    let digest = Sha256::digest(&body);
    let id = i64::from_be_bytes(digest[..8].try_into().map_err(unreadable)?);
    Ok((id, Arc::new(template), body))
}

/// Reads a template from the database.
pub(crate) async fn load(
    conn: &mut SqliteConnection,
    id: i64,
) -> Result<Arc<JobSpec>, sqlx::Error> {
    let row = sqlx::query(sql::insert::GET_TEMPLATE).bind(id).fetch_optional(conn).await?;
    let read = match &row {
        Some(row) => row.try_get(0).and_then(|body| serde_json::from_str(body).map_err(unreadable)),
        None => Err(sqlx::Error::Decode(format!("there is no template {id}").into())),
    };
    // A damaged template makes all of its jobs unreadable, so the error names the job's `template` column.
    let read = read.map_err(|error| match error {
        sqlx::Error::ColumnDecode { source, .. } => sqlx::Error::Decode(source),
        other => other,
    });
    in_column("template", read.map(Arc::new))
}

/// The fields of a spec that are not part of its template, except the payload.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct PerJobFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    business_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    idempotency_key: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tenant: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    correlation_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    on_success: Option<Box<JobSpec>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    on_failure: Option<Box<JobSpec>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finished: Option<Box<FinishedParent>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<Box<Step>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<Deadline>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_until: Option<Deadline>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    successor: bool,
    /// A text, because a malformed context must not keep the job from running.
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<String>,
}

impl PerJobFields {
    /// Returns the stored form, or `None` if all fields are empty.
    pub(crate) fn of(spec: &JobSpec) -> Result<Option<String>, sqlx::Error> {
        let plain = spec.business_key.is_none()
            && spec.idempotency_key.is_none()
            && spec.tags.is_empty()
            && spec.tenant.is_none()
            && spec.correlation_id.is_none()
            && spec.on_success.is_none()
            && spec.on_failure.is_none()
            && spec.finished.is_none()
            && spec.step.is_none()
            && spec.expires.is_none()
            && spec.trace.is_none()
            && spec.retry_until.is_none();
        if plain {
            return Ok(None);
        }
        let own = Self {
            business_key: spec.business_key.clone(),
            idempotency_key: spec.idempotency_key.clone(),
            tags: spec.tags.clone(),
            tenant: spec.tenant.clone(),
            correlation_id: spec.correlation_id.clone(),
            on_success: spec.on_success.clone(),
            on_failure: spec.on_failure.clone(),
            finished: spec.finished.clone(),
            step: spec.step.clone(),
            expires: spec.expires,
            retry_until: spec.retry_until,
            successor: spec.successor,
            trace: spec.trace.as_deref().map(ToString::to_string),
        };
        serde_json::to_string(&own).map(Some).map_err(|error| sqlx::Error::Encode(Box::new(error)))
    }
}

/// Builds the spec of a job from its template and its own fields.
pub(crate) fn spec(
    template: &JobSpec,
    payload: Vec<u8>,
    own: Option<&str>,
    concurrency: Option<ConcurrencyKey>,
) -> Result<JobSpec, sqlx::Error> {
    let mut spec = template.clone();
    spec.payload = payload;
    spec.concurrency = concurrency;
    if let Some(own) = own {
        let own: PerJobFields = in_column("own", serde_json::from_str(own).map_err(unreadable))?;
        spec.business_key = own.business_key;
        spec.idempotency_key = own.idempotency_key;
        spec.tags = own.tags;
        spec.tenant = own.tenant;
        spec.correlation_id = own.correlation_id;
        spec.on_success = own.on_success;
        spec.on_failure = own.on_failure;
        spec.finished = own.finished;
        spec.step = own.step;
        spec.expires = own.expires;
        spec.retry_until = own.retry_until;
        spec.successor = own.successor;
        spec.trace = own.trace.and_then(|text| text.parse().ok()).map(Box::new);
    }
    Ok(spec)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// A field that is added to the spec but not here would be lost.
    #[test]
    fn every_field_of_a_spec_is_kept() {
        let mut spec = JobSpec::new("mail", Vec::new());
        spec.step = Some(Box::default());
        spec.expires = Some(Deadline::In(Duration::ZERO));
        spec.retry_until = Some(Deadline::In(Duration::ZERO));
        spec.successor = true;
        let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".parse();
        spec.trace = Some(Box::new(trace.expect("a trace context")));
        let spec = serde_json::to_value(spec).expect("it is JSON");
        let fields: Vec<_> = spec.as_object().expect("an object").keys().cloned().collect();
        let mut kept = vec![
            "boost",
            "business_key",
            "concurrency",
            "correlation_id",
            "expires",
            "finished",
            "idempotency_key",
            "name",
            "on_failure",
            "on_success",
            "options",
            "payload",
            "priority",
            "queue",
            "retry_until",
            "service",
            "step",
            "successor",
            "tags",
            "tenant",
            "trace",
            "version",
        ];
        kept.sort_unstable();
        let mut fields: Vec<_> = fields.iter().map(String::as_str).collect();
        fields.sort_unstable();
        assert_eq!(fields, kept);
    }
}
