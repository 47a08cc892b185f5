//! Jobs that run in order: the jobs of one concurrency key form a sequence, in which each job waits for the one before it.
//!
//! A sequence is a graph without a group. A store keeps the last job of each sequence. An insert adds an edge from that job to
//! the new one, unless the new job need not wait. A job that was canceled in the middle of a sequence passes the turn on
//! only when its own turn has come. The limit of the concurrency key guarantees that two jobs of a sequence never run at
//! once, whatever operators do.

use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::rules::turn_is_over;
use crate::model::{AfterFailure, Edge, EdgeTrigger, JobId, JobSpec, Member, NewJob, Vertex};

/// Returns the key of the sequence that a job belongs to, if it runs in order.
pub fn sequence(spec: &JobSpec) -> Option<&str> {
    let key = spec.concurrency.as_ref()?;
    after_failure(spec).map(|_| key.key.as_str())
}

/// Returns the id of the graph that a sequence is.
pub fn sequence_id(key: &str) -> Uuid {
    let digest = Sha256::new().chain_update("ratchet sequence\0").chain_update(key).finalize();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid()
}

/// Returns the job that a new job must wait for, given the last job of its sequence.
pub fn held_up_by(spec: &JobSpec, last: &Member) -> Option<JobId> {
    let held_up =
        after_failure(spec).is_some_and(|after_failure| !turn_is_over(after_failure, last));
    held_up.then_some(last.id)
}

/// Returns the edge to a new job that waits for its turn.
pub fn turn_edge(job: &NewJob) -> Option<Edge> {
    let (last, after_failure) = (job.follows?, after_failure(&job.spec)?);
    let trigger = EdgeTrigger::Turn(after_failure);
    Some(Edge::new(Vertex::Job(last), Vertex::Job(job.id), trigger))
}

fn after_failure(spec: &JobSpec) -> Option<AfterFailure> {
    spec.step.as_ref().and_then(|step| step.order)
}
