//! The recorded use of an idempotency key.

use sha2::{Digest as _, Sha256};

use crate::model::{InsertError, Inserted, JobId, NewGraph, NewJob};
use crate::rules::graph::{digest, identity};

/// The recorded use of an idempotency key. Kept permanently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// The id of the job; for a graph, the id of its group.
    pub job: JobId,
    /// The name of the job; for a graph, its kind and name.
    pub name: String,
    /// The SHA-256 digest of the arguments.
    pub digest: Vec<u8>,
}

impl IdempotencyRecord {
    /// Returns the use of the key by a job.
    pub fn of(job: &NewJob) -> Self {
        let digest = Sha256::digest(&job.spec.payload).to_vec();
        Self { job: job.id, name: job.spec.name.clone(), digest }
    }

    /// Returns the use of the key by a graph, or `None` if the graph has no groups.
    pub fn of_graph(graph: &NewGraph) -> Option<Self> {
        let root = graph.root()?;
        let job = JobId::from_uuid(root.id.uuid());
        Some(Self { job, name: identity(root), digest: digest(graph).to_vec() })
    }

    /// Returns the result for a repeated use of the key. Fails if the name or the arguments differ.
    pub fn answer(&self, again: &Self, key: &str) -> Result<Inserted, InsertError> {
        if (&self.name, &self.digest) != (&again.name, &again.digest) {
            return Err(InsertError::IdempotencyMismatch {
                job: again.job,
                key: key.to_owned(),
                original: self.job,
            });
        }
        // The same id means that the reply to the first insert was lost, so the same reply is returned.
        let same = self.job == again.job;
        Ok(if same { Inserted::Created(self.job) } else { Inserted::Duplicate(self.job) })
    }
}
