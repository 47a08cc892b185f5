//! The oracle: observes every commit and every handler, and detects violations.
//!
//! It builds its own model (holders of runs, leases, breaker samples) from the calls on the wires, and compares it with
//! the store after every commit. The first violation ends the schedule.

mod claims;
mod end;
mod gates;
mod groups;
mod keys;
mod ledger;
mod moves;
mod operations;
mod runs;
mod stats;

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use ratchet_memory::Inspection;
use ratchet_store::model::{Breaker, Claimed, JobId, NodeId, OperationId};

use self::keys::KeyBook;
pub(crate) use self::ledger::Ledger;
use self::moves::Shadow;
use self::runs::RunBook;
pub(crate) use self::runs::RunEnd;
use crate::exec::Owner;
use crate::op::Op;
use crate::trace::mix;

/// The model that is compared with the store.
#[derive(Debug, Default)]
pub(crate) struct Oracle {
    /// The state of every job after the last commit, sorted by id.
    shadows: Vec<Shadow>,
    /// The current run of every running job.
    holding: BTreeMap<JobId, Claimed>,
    /// The time at which each node's lease expires.
    leases: HashMap<NodeId, Timestamp>,
    /// The node id of each process, and the time at which it joined with it.
    names: HashMap<Owner, (NodeId, Timestamp)>,
    runs: RunBook,
    keys: KeyBook,
    breakers: BTreeMap<String, Breaker>,
    queues: BTreeMap<String, gates::QueueBook>,
    /// The occurrences of schedules that have fired, with their jobs.
    fired: BTreeMap<(String, Timestamp), JobId>,
    stats: stats::StatsBook,
    operations: BTreeMap<OperationId, operations::OperationBook>,
    pub(crate) ledger: Ledger,
    violation: Option<String>,
    digest: u64,
    /// Lines for the trace. Only recorded if the trace is enabled.
    news: Vec<String>,
    pub(crate) talkative: bool,
}

impl Oracle {
    /// Returns the first violation, if any.
    pub(crate) fn violation(&self) -> Option<&str> {
        self.violation.as_deref()
    }

    pub(crate) fn accuse(&mut self, what: impl FnOnce() -> String) {
        if self.violation.is_none() {
            self.violation = Some(what());
        }
    }

    pub(crate) fn note(&mut self, line: impl FnOnce() -> String) {
        if self.talkative {
            self.news.push(line());
        }
    }

    pub(crate) fn take_news(&mut self) -> String {
        std::mem::take(&mut self.news).join("\n                 ")
    }

    pub(crate) fn digest(&mut self, word: u64) {
        self.digest = mix(self.digest ^ word);
    }

    pub(crate) fn take_digest(&mut self) -> u64 {
        std::mem::take(&mut self.digest)
    }

    /// Returns the current runs.
    pub(crate) fn running(&self) -> Vec<Claimed> {
        self.holding.values().cloned().collect()
    }

    /// Runs all checks after a commit that may have changed a job.
    pub(crate) fn look(&mut self, op: Op, view: &Inspection<'_>) {
        if self.compare(op, view) {
            self.check_keys(view);
            self.check_groups(view);
        }
    }
}
