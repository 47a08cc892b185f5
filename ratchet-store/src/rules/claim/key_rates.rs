//! The rates of concurrency keys within one claim: which keys have used up their rate, and until when.

use std::collections::HashMap;

use jiff::Timestamp;

use crate::model::{KeyRate, Rate};

/// The keys of one queue that a claim has met.
#[derive(Debug, Clone, Default)]
pub(super) struct KeyRates {
    keys: HashMap<String, Key>,
}

#[derive(Debug, Clone, Default)]
struct Key {
    state: KeyRate,
    /// The accepted jobs.
    taken: u32,
    /// A job was rejected only because the rate is used up.
    refused: bool,
}

/// The state of a concurrency key that has changed in a claim. The store must write it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpentKey {
    /// The queue with a rate per key.
    pub queue: String,
    /// The concurrency key.
    pub key: String,
    /// Its state.
    pub state: KeyRate,
    /// When no counted claim is left in the period, so that the state can be deleted.
    pub ends: Timestamp,
    /// From when on jobs of the key that were set aside must be considered again.
    pub back: Timestamp,
}

impl KeyRates {
    pub(super) fn set(&mut self, key: String, state: KeyRate) {
        self.keys.insert(key, Key { state, ..Key::default() });
    }

    pub(super) fn is_known(&self, key: &str) -> bool {
        self.keys.contains_key(key)
    }

    /// Returns until when a key has used up its rate. A key whose state was not set counts as used up.
    pub(super) fn full_until(&self, key: &str, rate: Rate, now: Timestamp) -> Option<Timestamp> {
        let Some(key) = self.keys.get(key) else { return Some(now) };
        if key.taken == 0 {
            return key.state.window.full_until(rate, now);
        }
        let mut window = key.state.window.clone();
        window.count(rate, key.taken, now);
        window.full_until(rate, now)
    }

    /// Returns how many more jobs of a key may start.
    pub(super) fn room(&self, key: &str, rate: Rate, now: Timestamp) -> u32 {
        let key = self.keys.get(key);
        key.map_or(0, |key| key.state.window.room(rate, now).saturating_sub(key.taken))
    }

    pub(super) fn accept(&mut self, key: &str) {
        if let Some(key) = self.keys.get_mut(key) {
            key.taken += 1;
        }
    }

    pub(super) fn refuse(&mut self, key: &str) {
        if let Some(key) = self.keys.get_mut(key) {
            key.refused = true;
        }
    }

    /// Forgets the jobs that were offered. The states are kept.
    pub(super) fn restart(&mut self) {
        self.keys.values_mut().for_each(|key| (key.taken, key.refused) = (0, false));
    }

    /// Counts the accepted jobs at the time of the commit. Returns the keys whose state has changed, in order.
    pub(super) fn spend(&mut self, queue: &str, rate: Rate, now: Timestamp) -> Vec<SpentKey> {
        let mut spent = Vec::new();
        for (name, key) in &mut self.keys {
            let (taken, refused) =
                (std::mem::take(&mut key.taken), std::mem::take(&mut key.refused));
            // A claim that has only passed over jobs changes nothing if an earlier one has done so too.
            let is_noted = key.state.frees_waiting_at(now).is_some();
            if taken == 0 && (!refused || is_noted) {
                continue;
            }
            key.state.claimed(rate, taken, refused, now);
            spent.push(SpentKey {
                queue: queue.to_owned(),
                key: name.clone(),
                ends: key.state.ends_at(rate),
                back: key.state.full_until(now).unwrap_or(now),
                state: key.state.clone(),
            });
        }
        spent.sort_unstable_by(|a, b| a.key.cmp(&b.key));
        spent
    }
}
