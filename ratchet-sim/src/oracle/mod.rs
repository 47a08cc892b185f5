//! The judge: sees every commit and every handler, and says what must not be.
//!
//! It keeps a book of its own (who holds which run, whose lease holds, what was sampled) from what went over the wires, and
//! compares it with the store after every commit. The first violation ends the schedule.

mod claims;
mod end;
mod gates;
mod groups;
mod keys;
mod ledger;
mod moves;
mod runs;

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use ratchet_core::model::{Breaker, Claimed, JobId, NodeId};
use ratchet_core::store::Inspection;

use self::keys::KeyBook;
pub(crate) use self::ledger::Ledger;
use self::moves::Shadow;
use self::runs::RunBook;
pub(crate) use self::runs::RunEnd;
use crate::exec::Owner;
use crate::op::Op;
use crate::trace::mix;

/// What is known beside the store.
#[derive(Debug, Default)]
pub(crate) struct Oracle {
    /// Every job as it was after the last commit, by id.
    shadows: Vec<Shadow>,
    /// The current run of every job that is running.
    holding: BTreeMap<JobId, Claimed>,
    /// Until when the lease of a node holds.
    leases: HashMap<NodeId, Timestamp>,
    /// The name a process has, and since when.
    names: HashMap<Owner, (NodeId, Timestamp)>,
    runs: RunBook,
    keys: KeyBook,
    breakers: BTreeMap<String, Breaker>,
    queues: BTreeMap<String, gates::QueueBook>,
    /// Occurrences of schedules that have fired.
    fired: BTreeMap<(String, Timestamp), JobId>,
    pub(crate) ledger: Ledger,
    violation: Option<String>,
    digest: u64,
    /// Lines for the trace; kept only if somebody reads them.
    news: Vec<String>,
    pub(crate) talkative: bool,
}

impl Oracle {
    /// The first thing that must not be.
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

    /// The current runs.
    pub(crate) fn running(&self) -> Vec<Claimed> {
        self.holding.values().cloned().collect()
    }

    /// Looks at everything after a commit that may have moved something.
    pub(crate) fn look(&mut self, op: Op, view: &Inspection<'_>) {
        if self.compare(op, view) {
            self.check_keys(view);
            self.check_groups(view);
        }
    }
}
