//! The recorded use of an idempotency key.

use crate::model::{InsertError, Inserted, JobId, NewGraph, NewJob, RepeatCheck};
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
    /// are of the arguments as they were stored.
    pub digest: Vec<u8>,
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
            record: IdempotencyRecord { job: job.id, name: job.spec.name.clone(), digest },
            first_format: arguments::digest_of_bytes(job).to_vec(),
            by_key_alone: job.repeat_check == RepeatCheck::KeyAlone,
        }
    }

    /// Returns the use of the key by a graph, or `None` if the graph has no groups.
    pub fn of_graph(new: &NewGraph) -> Option<Self> {
        let root = new.root()?;
        let job = JobId::from_uuid(root.id.uuid());
        let digest = numbered(graph::digest(new));
        Some(Self {
            record: IdempotencyRecord { job, name: graph::identity(root), digest },
            first_format: graph::digest_of_bytes(new).to_vec(),
            by_key_alone: new.key.as_ref().is_some_and(|key| key.by_key_alone),
        })
    }
}

impl IdempotencyRecord {
    /// Returns the result for a repeated use of the key. Fails if the name or the arguments differ.
    pub fn answer(&self, again: &KeyUse, key: &str) -> Result<Inserted, InsertError> {
        let current = self.digest.first() == Some(&FORMAT) && self.digest.len() > 32;
        let digest = if current { &again.record.digest } else { &again.first_format };
        let same = again.by_key_alone || (&self.name, &self.digest) == (&again.record.name, digest);
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
