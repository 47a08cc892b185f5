//! What an idempotency key was used for.

use sha2::{Digest as _, Sha256};

use crate::graph::{digest, identity};
use crate::model::{InsertError, Inserted, JobId, NewGraph, NewJob};

/// What an idempotency key was used for, for ever.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyUse {
    /// The job; of a graph, the id of its group.
    pub job: JobId,
    /// The job's name, or what a graph is called.
    pub name: String,
    /// The digest of the arguments.
    pub digest: Vec<u8>,
}

impl KeyUse {
    /// The use that a job makes of its key.
    pub fn of(job: &NewJob) -> Self {
        let digest = Sha256::digest(&job.spec.payload).to_vec();
        Self { job: job.id, name: job.spec.name.clone(), digest }
    }

    /// The use that a graph makes of its key. One without groups has none.
    pub fn of_graph(graph: &NewGraph) -> Option<Self> {
        let root = graph.root()?;
        let job = JobId::from_uuid(root.id.uuid());
        Some(Self { job, name: identity(root), digest: digest(graph).to_vec() })
    }

    /// The answer to whoever uses the key again.
    pub fn answer(&self, again: &Self, key: &str) -> Result<Inserted, InsertError> {
        if (&self.name, &self.digest) != (&again.name, &again.digest) {
            return Err(InsertError::IdempotencyMismatch {
                job: again.job,
                key: key.to_owned(),
                original: self.job,
            });
        }
        // The same job again: the first answer was lost, so it is given again.
        let same = self.job == again.job;
        Ok(if same { Inserted::Created(self.job) } else { Inserted::Duplicate(self.job) })
    }
}
