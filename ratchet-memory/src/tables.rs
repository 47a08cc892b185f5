//! All data of the store, and the function through which every job transition goes.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::gates::Gates;
use super::graph::Graph;
use super::index::Index;
use super::items::Items;
use super::keys::{Keys, Lingering, business_key};
use super::nodes::Nodes;
use super::outbox::Outbox;
use super::pipelines::Pipelines;
use super::row::Row;
use super::stats::Stats;
use ratchet_store::Wake;
use ratchet_store::model::{
    AuditRecord, CatalogRecord, FailureMark, JobId, JobRecord, OperationId, OperationRecord,
    ScheduleRecord, Token,
};

/// All data of the store. Its methods are spread over the sibling modules.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) jobs: BTreeMap<JobId, Row>,
    pub(super) archive: BTreeMap<JobId, Row>,
    pub(super) index: Index,
    pub(super) keys: Keys,
    pub(super) gates: Gates,
    pub(super) nodes: Nodes,
    pub(super) outbox: Outbox,
    pub(super) graph: Graph,
    pub(super) items: Items,
    pub(super) pipelines: Pipelines,
    pub(super) stats: Stats,
    pub(super) schedules: BTreeMap<String, ScheduleRecord>,
    /// By name and fingerprint.
    pub(super) failure_marks: BTreeMap<(String, String), FailureMark>,
    /// The successor of each job that has one.
    pub(super) successors: BTreeMap<JobId, JobId>,
    pub(super) operations: BTreeMap<OperationId, OperationRecord>,
    /// By name, program, version and digest.
    pub(super) catalog: BTreeMap<(String, String, u32, String), CatalogRecord>,
    /// The audit trail, in order.
    pub(super) audit: Vec<AuditRecord>,
    /// The number of claimed batches; the source of lease ids.
    pub(super) leases: u128,
    /// Wake-ups to send after the lock is released.
    pub(super) wakes: Vec<Wake>,
}

/// What happens to the slots and keys of a run when it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    /// They are released.
    Freed,
    /// They stay held, because the handler is still running.
    Lingering,
    /// They stay held, because the handler has not been notified of the cancellation yet.
    Canceled,
}

impl Tables {
    /// Returns `true` if this is the token of a current run.
    pub(super) fn is_current(&self, token: &Token) -> bool {
        self.jobs.get(&token.job).and_then(Row::token).as_ref() == Some(token)
    }

    /// Applies a transition to a job: increments its version, and updates indexes, keys and wake-ups.
    pub(super) fn advance(
        &mut self,
        id: JobId,
        now: Timestamp,
        change: impl FnOnce(&mut JobRecord),
    ) {
        let Some(row) = self.jobs.get_mut(&id) else { return };
        self.index.remove(&row.job);
        change(&mut row.job);
        row.job.version += 1;
        self.index.add(&row.job, now);
        if row.job.state.is_terminal() {
            self.wakes.push(Wake::Finished(id));
        }
        self.wake_if_ready(id, now);
        self.free_business_key(id);
    }

    /// Applies the transition that ends a run.
    pub(super) fn end_run(
        &mut self,
        token: Token,
        held: Held,
        now: Timestamp,
        change: impl FnOnce(&mut JobRecord),
    ) {
        let Some(row) = self.jobs.get_mut(&token.job) else { return };
        row.claim = None;
        let (node, queue) = (row.job.node, row.job.spec.queue.clone());
        if let Some(node) = node {
            self.nodes.release(node, token.job);
        }
        match (held, node) {
            (Held::Lingering | Held::Canceled, Some(node)) => {
                let canceled = held == Held::Canceled;
                self.keys.linger(token, Lingering { node, queue, canceled });
            }
            _ => self.free_slot(token, queue),
        }
        self.advance(token.job, now, change);
    }

    /// Releases the slots and keys that a run still held after its end.
    pub(super) fn release_holds(&mut self, token: Token) {
        if let Some(run) = self.keys.end_lingering(token) {
            self.free_slot(token, run.queue);
            self.free_business_key(token.job);
        }
    }

    /// Sends a wake-up for the queue if this job is due.
    pub(super) fn wake_if_ready(&mut self, id: JobId, now: Timestamp) {
        let Some(job) = self.jobs.get(&id).map(|row| &row.job) else { return };
        if job.is_claimable() && job.due <= now {
            let queue = job.spec.queue.clone();
            self.wake(queue);
        }
    }

    /// Skips a wake-up that equals the previous one.
    fn wake(&mut self, queue: String) {
        let wake = Wake::Work { queue };
        if self.wakes.last() != Some(&wake) {
            self.wakes.push(wake);
        }
    }

    /// Frees the slots of a run that was claimed from this queue.
    fn free_slot(&mut self, token: Token, queue: String) {
        // Jobs that wait for the same key are probably in the same queue.
        if self.keys.free_slots(token) || self.gates.limits_runs(&queue) {
            self.wake(queue);
        }
    }

    fn free_business_key(&mut self, id: JobId) {
        let Some(row) = self.jobs.get(&id) else { return };
        if !row.job.is_live()
            && !self.keys.lingers(id)
            && let Some(key) = business_key(&row.job.spec)
            && self.keys.business.get(&key) == Some(&id)
        {
            self.keys.business.remove(&key);
        }
    }
}
