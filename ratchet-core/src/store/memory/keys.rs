//! Who holds which key.

use std::collections::{BTreeMap, HashMap, HashSet};

use uuid::Uuid;

use crate::insert::KeyUse;
use crate::model::{JobId, JobSpec, LeaseId, NodeId, Token};

/// A key within its tenant.
pub(super) type Scoped = (Option<String>, String);

/// A run that is over in the store while its handler may still be running.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lingering {
    pub(super) node: NodeId,
    /// Whether the run was canceled and its node must be told.
    pub(super) canceled: bool,
}

/// What only so many runs may hold at once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Slot {
    /// A concurrency key.
    Key(String),
    /// A probe of an opening of a service's breaker.
    Probe(String, u64),
}

/// The holders of all keys. Sets of holders, never counters: a counter can be wrong.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// Idempotency keys. Never shrinks.
    pub(super) ledger: HashMap<Scoped, KeyUse>,
    /// Business keys.
    pub(super) business: HashMap<Scoped, JobId>,
    /// Runs by what they hold.
    slots: HashMap<Slot, HashSet<Token>>,
    /// What runs hold.
    held: HashMap<Token, Vec<Slot>>,
    /// What keeps keys taken although its job has moved on.
    lingering: BTreeMap<Token, Lingering>,
}

impl Keys {
    /// How many runs hold a slot.
    pub(super) fn taken(&self, slot: &Slot) -> u64 {
        self.slots.get(slot).map_or(0, HashSet::len) as u64
    }

    /// The jobs whose runs hold a slot.
    pub(super) fn holders(&self, slot: &Slot) -> Vec<JobId> {
        let mut holders: Vec<_> =
            self.slots.get(slot).into_iter().flatten().map(|token| token.job).collect();
        holders.sort_unstable();
        holders
    }

    pub(super) fn take_slot(&mut self, slot: Slot, token: Token) {
        self.slots.entry(slot.clone()).or_default().insert(token);
        self.held.entry(token).or_default().push(slot);
    }

    /// Frees what a run held. Answers whether it held anything.
    pub(super) fn free_slots(&mut self, token: Token) -> bool {
        let Some(held) = self.held.remove(&token) else { return false };
        for slot in held {
            if let Some(holders) = self.slots.get_mut(&slot) {
                holders.remove(&token);
                if holders.is_empty() {
                    self.slots.remove(&slot);
                }
            }
        }
        true
    }

    pub(super) fn linger(&mut self, token: Token, run: Lingering) {
        self.lingering.insert(token, run);
    }

    /// Answers whether the run was lingering.
    pub(super) fn end_lingering(&mut self, token: Token) -> bool {
        self.lingering.remove(&token).is_some()
    }

    /// Whether a run of this job lingers.
    pub(super) fn lingers(&self, job: JobId) -> bool {
        let first = Token { job, lease: LeaseId::from_uuid(Uuid::nil()), version: 0 };
        self.lingering.range(first..).next().is_some_and(|(token, _)| token.job == job)
    }

    pub(super) fn lingering(&self) -> impl Iterator<Item = (Token, Lingering)> {
        self.lingering.iter().map(|(token, run)| (*token, *run))
    }
}

/// The business key of a job, within its tenant.
pub(super) fn business_key(spec: &JobSpec) -> Option<Scoped> {
    spec.business_key.clone().map(|key| (spec.tenant.clone(), key))
}

/// The idempotency key of a job, within its tenant.
pub(super) fn idempotency_key(spec: &JobSpec) -> Option<Scoped> {
    spec.idempotency_key.clone().map(|key| (spec.tenant.clone(), key))
}
