//! A look at everything at one instant: for simulations that check invariants after every step.

use jiff::Timestamp;

use super::MemoryStore;
use super::keys::Slot;
use super::tables::Tables;
use crate::model::{Breaker, Edge, GroupRecord, JobId, JobRecord, NodeId, Token};

/// The store as it stands, without a copy.
#[derive(Debug)]
pub struct Inspection<'a> {
    tables: &'a Tables,
    now: Timestamp,
}

impl MemoryStore {
    /// Looks at everything at one instant. The store waits meanwhile: do not call it from within.
    ///
    /// ```
    /// use ratchet_core::MemoryStore;
    ///
    /// assert_eq!(MemoryStore::new().inspect(|store| store.jobs().count()), 0);
    /// ```
    pub fn inspect<T>(&self, look: impl FnOnce(Inspection<'_>) -> T) -> T {
        let tables = self.lock();
        look(Inspection { tables: &tables, now: self.shared.clock.now() })
    }
}

impl<'a> Inspection<'a> {
    /// The store's clock.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Every job, by id.
    pub fn jobs(&self) -> impl Iterator<Item = &'a JobRecord> {
        self.tables.jobs.values().map(|row| &row.job)
    }

    /// The token of the current run of a job.
    pub fn token(&self, id: JobId) -> Option<Token> {
        self.tables.jobs.get(&id)?.token()
    }

    /// Runs that are over while their handlers may still be running.
    pub fn lingering(&self) -> impl Iterator<Item = Token> {
        self.tables.keys.lingering().map(|(token, _)| token)
    }

    /// The jobs whose runs hold a concurrency key.
    pub fn key_holders(&self, key: &str) -> Vec<JobId> {
        self.tables.keys.holders(&Slot::Key(key.to_owned()))
    }

    /// Who holds which business key, in no order.
    pub fn business_keys(&self) -> impl Iterator<Item = (&'a str, JobId)> {
        self.tables.keys.business.iter().map(|((_, key), holder)| (key.as_str(), *holder))
    }

    /// Every group, by id.
    pub fn groups(&self) -> impl Iterator<Item = &'a GroupRecord> {
        self.tables.graph.groups.values()
    }

    /// Every edge, by what it leads from.
    pub fn edges(&self) -> impl Iterator<Item = &'a Edge> {
        self.tables.graph.edges.values()
    }

    /// The breaker of a service, if it was ever counted or ordered.
    pub fn breaker(&self, service: &str) -> Option<&'a Breaker> {
        self.tables.gates.breakers.get(service)
    }

    /// Whether a node has joined and its lease holds.
    pub fn is_alive(&self, node: NodeId) -> bool {
        self.tables.nodes.is_alive(node, self.now)
    }
}
