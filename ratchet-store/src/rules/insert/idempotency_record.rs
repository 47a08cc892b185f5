//! The recorded use of an idempotency key.

use std::time::Duration;

use jiff::Timestamp;

use crate::model::{InsertError, Inserted, JobId, NewGraph, NewJob, later};
use crate::rules::{arguments, graph};

/// The recorded use of an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// The id of the job; for a graph, the id of its group.
    pub job: JobId,
    /// The name of the job; for a graph, its kind and name.
    pub name: String,
    /// The digest of the arguments: the number of its format (1), and the SHA-256 digest of the canonical arguments
    /// without those that have their default value. Digests of 32 bytes were written before there were formats, and
    /// are of the arguments as they were stored. Empty if the key was erased: then only the key is compared.
    pub digest: Vec<u8>,
    /// How long the key is kept after this use; `None` for permanently. Not set in a record that a store has read.
    pub lifetime: Option<Duration>,
}

/// A use of an idempotency key that may be a repeat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyUse {
    /// What is recorded if the key is new.
    pub record: IdempotencyRecord,
    /// The digest of the first format.
    first_format: Vec<u8>,
    /// Whether only the key is compared.
    by_key_alone: bool,
}

/// The number of the current format of digests.
const FORMAT: u8 = 1;

/// Returns a digest of the current format.
fn numbered(digest: impl AsRef<[u8]>) -> Vec<u8> {
    [&[FORMAT], digest.as_ref()].concat()
}

impl KeyUse {
    /// Returns the use of the key by a job.
    pub fn of(job: &NewJob) -> Self {
        let digest = numbered(arguments::digest(job));
        Self {
            record: IdempotencyRecord {
                job: job.id,
                name: job.spec.name.clone(),
                digest,
                lifetime: job.key_lifetime,
            },
            first_format: arguments::digest_of_bytes(job).to_vec(),
            by_key_alone: arguments::is_by_key_alone(job),
        }
    }

    /// Returns the use of the key by a graph, or `None` if the graph has no groups.
    pub fn of_graph(new: &NewGraph) -> Option<Self> {
        let root = new.root()?;
        let job = JobId::from_uuid(root.id.uuid());
        let digest = numbered(graph::digest(new));
        let key = new.key.as_ref();
        let lifetime = key.and_then(|key| key.lifetime);
        Some(Self {
            record: IdempotencyRecord { job, name: graph::identity(root), digest, lifetime },
            first_format: graph::digest_of_bytes(new).to_vec(),
            by_key_alone: key.is_some_and(|key| key.by_key_alone),
        })
    }
}

impl IdempotencyRecord {
    /// Returns the use of a key that was erased. Of the key, only a digest is kept
    /// ([`erasure::key_digest`](crate::rules::erasure::key_digest)).
    pub fn erased(job: JobId) -> Self {
        Self { job, name: String::new(), digest: Vec::new(), lifetime: None }
    }

    /// Returns when the key expires if it is used at `now`; `None` if it does not.
    pub fn expires(&self, now: Timestamp) -> Option<Timestamp> {
        self.lifetime.map(|lifetime| later(now, lifetime))
    }

    /// Returns `true` if a stored record that expires at `expires` counts when `job` uses the key at `now`.
    ///
    /// An expired record counts for the job that made it, because its insert may be repeated after a lost reply.
    pub fn counts(&self, expires: Option<Timestamp>, job: JobId, now: Timestamp) -> bool {
        self.job == job || expires.is_none_or(|expires| now < expires)
    }

    /// Returns the result for a repeated use of the key. Fails if the name or the arguments differ.
    pub fn answer(&self, again: &KeyUse, key: &str) -> Result<Inserted, InsertError> {
        let current = self.digest.first() == Some(&FORMAT) && self.digest.len() > 32;
        let digest = if current { &again.record.digest } else { &again.first_format };
        let by_key_alone = again.by_key_alone || self.digest.is_empty();
        let same = by_key_alone || (&self.name, &self.digest) == (&again.record.name, digest);
        if !same {
            return Err(InsertError::IdempotencyMismatch {
                job: again.record.job,
                key: key.to_owned(),
                original: self.job,
            });
        }
        // The same id means that the reply to the first insert was lost, so the same reply is returned.
        let same = self.job == again.record.job;
        Ok(if same { Inserted::Created(self.job) } else { Inserted::Duplicate(self.job) })
    }
}
