//! The states of concurrency keys in queues with a rate per key.

use std::collections::BTreeMap;

use jiff::Timestamp;

use ratchet_store::model::{KeyRate, Rate};
use ratchet_store::rules::claim::SpentKey;

/// The keys that were claimed within the period of their rate, by queue.
#[derive(Debug, Default)]
pub(super) struct KeyRates {
    queues: BTreeMap<String, BTreeMap<String, Entry>>,
}

#[derive(Debug)]
struct Entry {
    state: KeyRate,
    /// When no counted claim is left in the period.
    ends: Timestamp,
}

impl KeyRates {
    /// Returns the state of a key; the default if there is none.
    pub(super) fn get(&self, queue: &str, key: &str) -> KeyRate {
        let entry = self.queues.get(queue).and_then(|keys| keys.get(key));
        entry.map(|entry| entry.state.clone()).unwrap_or_default()
    }

    pub(super) fn save(&mut self, spent: Vec<SpentKey>) {
        for SpentKey { queue, key, state, ends, .. } in spent {
            self.queues.entry(queue).or_default().insert(key, Entry { state, ends });
        }
    }

    /// Judges the keys of a queue by another rate. Without a rate, their states are removed.
    pub(super) fn change(&mut self, queue: &str, rate: Option<Rate>, now: Timestamp) {
        let Some(rate) = rate else {
            self.queues.remove(queue);
            return;
        };
        for entry in self.queues.get_mut(queue).into_iter().flat_map(BTreeMap::values_mut) {
            entry.state = std::mem::take(&mut entry.state).judged_by(rate, now);
            entry.ends = entry.state.ends_at(rate);
        }
    }

    /// Returns how many keys of a queue have used up their rate.
    pub(super) fn full(&self, queue: &str, now: Timestamp) -> u64 {
        self.states(queue).filter(|state| state.full_until(now).is_some()).count() as u64
    }

    /// Returns when the first key of a queue lets a job start that was passed over.
    pub(super) fn frees_at(&self, queue: &str, now: Timestamp) -> Option<Timestamp> {
        self.states(queue).filter_map(|state| state.frees_waiting_at(now)).min()
    }

    /// Removes the states of keys that have no counted claim in the period.
    pub(super) fn remove_ended(&mut self, now: Timestamp) {
        self.queues.retain(|_, keys| {
            keys.retain(|_, entry| entry.ends > now);
            !keys.is_empty()
        });
    }

    fn states(&self, queue: &str) -> impl Iterator<Item = &KeyRate> {
        self.queues.get(queue).into_iter().flat_map(BTreeMap::values).map(|entry| &entry.state)
    }
}
