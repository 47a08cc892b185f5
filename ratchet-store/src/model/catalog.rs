//! The catalog: what the programs of a cluster can run.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{AfterFailure, JobSpec};

/// A job that a program can run, as a starting worker records it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CatalogEntry {
    /// The name under which jobs are stored.
    pub name: String,
    /// Older names under which stored jobs are still run.
    pub aliases: Vec<String>,
    /// The version of the payload format.
    pub version: u32,
    /// The doc comment on the function; empty if there is none.
    pub docs: String,
    /// The stored arguments.
    pub args: Vec<CatalogArg>,
    /// The delay between submission and the first run.
    pub delay: Duration,
    /// The cron expression of its schedule, if it has one.
    pub schedule: Option<String>,
    /// A job with the default options and without arguments: queue, priority, retries, timeout, service, tags and
    /// callbacks. Keys that the job derives from its arguments are not part of it.
    #[serde(with = "template")]
    pub template: JobSpec,
    /// How many jobs with the same concurrency key can run at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency_limit: Option<u32>,
    /// Whether the jobs with the same concurrency key run in the order of their submits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<AfterFailure>,
    /// How long an idempotency key is kept; `None` for permanently.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_within: Option<Duration>,
    /// The contract of the job, in the notation of the lock file: the shapes of its arguments and output, and the templates
    /// of its keys. `None` if the program does not record it.
    pub shape: Option<serde_json::Value>,
    /// The same contract in a form that a database can check arguments with. `None` if the program does not record it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checks: Option<serde_json::Value>,
    /// Whether the workers of the program refuse jobs without a signature.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub signed: bool,
}

impl CatalogEntry {
    /// Creates an entry of a job with these default options. Its payload is ignored.
    pub fn new(mut template: JobSpec) -> Self {
        template.payload.clear();
        Self {
            name: template.name.clone(),
            aliases: Vec::new(),
            version: template.version,
            docs: String::new(),
            args: Vec::new(),
            delay: Duration::ZERO,
            schedule: None,
            template,
            concurrency_limit: None,
            order: None,
            idempotency_within: None,
            shape: None,
            checks: None,
            signed: false,
        }
    }

    /// Returns `true` if a job can be submitted or stored under this name.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.iter().any(|alias| alias == name)
    }
}

/// A stored argument of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CatalogArg {
    /// The name of the argument.
    pub name: String,
    /// Older names under which stored values are still read.
    pub aliases: Vec<String>,
    /// The type as it is written in the code.
    pub ty: String,
    /// The doc comment on the argument; empty if there is none.
    pub docs: String,
    /// Whether a job without this argument cannot be read. An argument with a default and one of a type `Option<…>` may
    /// be absent.
    pub required: bool,
    /// Whether the value is secret, so that it is not displayed.
    pub secret: bool,
}

impl CatalogArg {
    /// Creates an argument that must be present and is not secret.
    pub fn new(name: impl Into<String>, ty: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            aliases: Vec::new(),
            ty: ty.into(),
            docs: String::new(),
            required: true,
            secret: false,
        }
    }
}

/// A stored entry of the catalog. There is one per program, name, version and digest.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CatalogRecord {
    /// The program that has the job.
    pub program: String,
    /// The version of the program that recorded the entry last.
    pub binary_version: String,
    /// The digest of the entry ([`rules::catalog::digest`](crate::rules::catalog::digest)).
    pub digest: String,
    /// The entry.
    #[serde(flatten)]
    pub entry: CatalogEntry,
    /// When a worker recorded it first.
    pub first_seen: Timestamp,
    /// When a worker recorded it last.
    pub last_seen: Timestamp,
}

impl CatalogRecord {
    /// Creates a record as it was stored.
    pub fn stored(
        program: String,
        binary_version: String,
        digest: String,
        entry: CatalogEntry,
        first_seen: Timestamp,
        last_seen: Timestamp,
    ) -> Self {
        Self { program, binary_version, digest, entry, first_seen, last_seen }
    }
}

/// Serializes a template without its payload, which is always empty.
mod template {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::model::JobSpec;

    pub(super) fn serialize<S: Serializer>(spec: &JobSpec, to: S) -> Result<S::Ok, S::Error> {
        spec.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<JobSpec, D::Error> {
        JobSpec::deserialize(from)
    }
}
