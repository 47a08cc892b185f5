//! A consistent view of the whole store, for simulations that check invariants after every step.

use jiff::Timestamp;

use super::MemoryStore;
use super::keys::Slot;
use super::tables::Tables;
use ratchet_store::model::{
    Breaker, Declarations, Edge, GroupRecord, JobId, JobRecord, NodeId, Token,
};

/// A consistent view of the store, without a copy.
#[derive(Debug)]
pub struct Inspection<'a> {
    tables: &'a Tables,
    now: Timestamp,
}

impl MemoryStore {
    /// Calls `look` with a consistent view of the store. The store is locked meanwhile: calling it from within `look`
    /// deadlocks.
    ///
    /// ```
    /// use ratchet_memory::MemoryStore;
    ///
    /// assert_eq!(MemoryStore::new().inspect(|store| store.jobs().count()), 0);
    /// ```
    pub fn inspect<T>(&self, look: impl FnOnce(Inspection<'_>) -> T) -> T {
        let tables = self.lock();
        look(Inspection { tables: &tables, now: self.shared.clock.now() })
    }
}

impl<'a> Inspection<'a> {
    /// Returns the time by the store's clock.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Returns all jobs, ordered by id.
    pub fn jobs(&self) -> impl Iterator<Item = &'a JobRecord> {
        self.tables.jobs.values().map(|row| &row.job)
    }

    /// Returns the token of the current run of a job.
    pub fn token(&self, id: JobId) -> Option<Token> {
        self.tables.jobs.get(&id)?.token()
    }

    /// Returns runs that have ended while their handlers may still be running.
    pub fn lingering(&self) -> impl Iterator<Item = Token> {
        self.tables.keys.lingering().map(|(token, _)| token)
    }

    /// Returns the jobs whose runs hold a concurrency key.
    pub fn key_holders(&self, key: &str) -> Vec<JobId> {
        self.tables.keys.holders(&Slot::Key(key.to_owned()))
    }

    /// Returns the business keys, whether each is the second place, and their holders, in no particular order.
    pub fn business_keys(&self) -> impl Iterator<Item = (&'a str, bool, JobId)> {
        self.tables
            .keys
            .business
            .iter()
            .map(|((_, key, second), holder)| (key.as_str(), *second, *holder))
    }

    /// Returns all groups, ordered by id.
    pub fn groups(&self) -> impl Iterator<Item = &'a GroupRecord> {
        self.tables.graph.groups.values()
    }

    /// Returns all edges, ordered by parent.
    pub fn edges(&self) -> impl Iterator<Item = &'a Edge> {
        self.tables.graph.edges.values()
    }

    /// Returns `true` if these are the newest declarations of their program.
    pub fn are_newest(&self, declarations: &Declarations) -> bool {
        self.tables.nodes.are_newest(declarations)
    }

    /// Returns the breaker of a service, if it is declared, has counted a call or was changed manually.
    pub fn breaker(&self, service: &str) -> Option<&'a Breaker> {
        self.tables.gates.breakers.get(service)
    }

    /// Returns `true` if the node has joined and its lease is valid.
    pub fn is_alive(&self, node: NodeId) -> bool {
        self.tables.nodes.is_alive(node, self.now)
    }
}
