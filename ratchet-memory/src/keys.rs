//! Idempotency keys, business keys and slots, with their holders.

use std::collections::{BTreeMap, HashMap, HashSet};

use uuid::Uuid;

use jiff::Timestamp;
use ratchet_store::model::{JobId, JobSpec, LeaseId, NodeId, Token};
use ratchet_store::rules::erasure;
use ratchet_store::rules::insert::IdempotencyRecord;

/// A key within its tenant, and whether it is the second place of a business key.
pub(super) type Scoped = (Option<String>, String, bool);

/// A run that has ended in the store while its handler may still be running.
#[derive(Debug, Clone)]
pub(super) struct Lingering {
    pub(super) node: NodeId,
    /// The queue that the run was claimed from. The job may have been moved since.
    pub(super) queue: String,
    /// Whether the run was canceled and its node must be notified.
    pub(super) canceled: bool,
}

/// A resource that a limited number of runs can hold at once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Slot {
    /// A concurrency key.
    Key(String),
    /// A probe of a service's breaker, by service and opening.
    Probe(String, u64),
}

/// The holders of all keys. Stores sets of holders instead of counters, because counters can drift.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// Idempotency keys, and when they expire.
    idempotency: HashMap<Scoped, (IdempotencyRecord, Option<Timestamp>)>,
    /// The digests that have replaced idempotency keys, with their jobs and when they expire.
    erased: HashMap<[u8; 32], (IdempotencyRecord, Option<Timestamp>)>,
    /// Business keys.
    pub(super) business: HashMap<Scoped, JobId>,
    /// The runs that hold each slot.
    slots: HashMap<Slot, HashSet<Token>>,
    /// The slots that each run holds.
    held: HashMap<Token, Vec<Slot>>,
    /// Ended runs that still hold their keys and slots.
    lingering: BTreeMap<Token, Lingering>,
}

impl Keys {
    /// Returns the earlier use of an idempotency key that counts when `job` uses it.
    pub(super) fn earlier_use(
        &self,
        key: &Scoped,
        job: JobId,
        now: Timestamp,
    ) -> Option<&IdempotencyRecord> {
        let clear = self.idempotency.get(key).filter(|(it, expires)| it.counts(*expires, job, now));
        let erased = || {
            let erased = self.erased.get(&erasure::key_digest(key.0.as_deref(), &key.1));
            erased.filter(|(it, expires)| it.counts(*expires, job, now))
        };
        clear.or_else(erased).map(|(record, _)| record)
    }

    /// Replaces a key by its digest, if this job has used it. Returns `true` if it has.
    pub(super) fn erase(&mut self, key: &Scoped, job: JobId) -> bool {
        if self.idempotency.get(key).is_none_or(|(record, _)| record.job != job) {
            return false;
        }
        if let Some((_, expires)) = self.idempotency.remove(key) {
            let digest = erasure::key_digest(key.0.as_deref(), &key.1);
            self.erased.insert(digest, (IdempotencyRecord::erased(job), expires));
        }
        true
    }

    /// Returns the idempotency keys and the jobs that have used them.
    pub(super) fn idempotent(&self) -> impl Iterator<Item = (Scoped, JobId)> {
        self.idempotency.iter().map(|(key, (record, _))| (key.clone(), record.job))
    }

    /// Removes keys of a tenant that begin with `prefix` and whose jobs are older than `first`.
    pub(super) fn purge(
        &mut self,
        tenant: Option<&String>,
        prefix: &str,
        first: JobId,
        limit: usize,
    ) -> u64 {
        let own = |key: &Scoped| key.0.as_ref() == tenant && key.1.starts_with(prefix);
        let old = self.idempotency.iter().filter(|(key, (it, _))| own(key) && it.job < first);
        let old: Vec<_> = old.map(|(key, _)| key.clone()).take(limit).collect();
        for key in &old {
            self.idempotency.remove(key);
        }
        old.len() as u64
    }

    /// Removes digests of keys whose jobs are older than `first`.
    pub(super) fn purge_erased(&mut self, first: JobId, limit: usize) -> u64 {
        let old = self.erased.iter().filter(|(_, (it, _))| it.job < first);
        let old: Vec<_> = old.map(|(digest, _)| *digest).take(limit).collect();
        for digest in &old {
            self.erased.remove(digest);
        }
        old.len() as u64
    }

    /// Records uses of idempotency keys.
    pub(super) fn record(
        &mut self,
        uses: impl IntoIterator<Item = (Scoped, IdempotencyRecord)>,
        now: Timestamp,
    ) {
        let uses = uses.into_iter().map(|(key, record)| {
            let expires = record.expires(now);
            (key, (record, expires))
        });
        self.idempotency.extend(uses);
    }

    /// Removes the idempotency keys that have expired.
    pub(super) fn remove_expired(&mut self, now: Timestamp) {
        self.idempotency.retain(|_, (_, expires)| expires.is_none_or(|expires| now < expires));
        self.erased.retain(|_, (_, expires)| expires.is_none_or(|expires| now < expires));
    }

    /// Returns how many runs hold a slot.
    pub(super) fn taken(&self, slot: &Slot) -> u64 {
        self.slots.get(slot).map_or(0, HashSet::len) as u64
    }

    /// Returns the jobs whose runs hold a slot.
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

    /// Releases the slots of a run. Returns `true` if it held any.
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

    /// Ends a run that was lingering.
    pub(super) fn end_lingering(&mut self, token: Token) -> Option<Lingering> {
        self.lingering.remove(&token)
    }

    /// Returns `true` if a run of this job is lingering.
    pub(super) fn lingers(&self, job: JobId) -> bool {
        let first = Token { job, lease: LeaseId::from_uuid(Uuid::nil()), version: 0 };
        self.lingering.range(first..).next().is_some_and(|(token, _)| token.job == job)
    }

    pub(super) fn lingering(&self) -> impl Iterator<Item = (Token, &Lingering)> {
        self.lingering.iter().map(|(token, run)| (*token, run))
    }
}

/// Returns the business key of a job, within its tenant.
pub(super) fn business_key(spec: &JobSpec) -> Option<Scoped> {
    spec.business_key.clone().map(|key| (spec.tenant.clone(), key, spec.successor))
}

/// Returns the second place of a business key.
pub(super) fn second(key: &Scoped) -> Scoped {
    (key.0.clone(), key.1.clone(), true)
}

/// Returns the idempotency key of a job, within its tenant.
pub(super) fn idempotency_key(spec: &JobSpec) -> Option<Scoped> {
    spec.idempotency_key.clone().map(|key| (spec.tenant.clone(), key, false))
}
