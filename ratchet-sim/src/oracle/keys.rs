//! Checks concurrency keys and business keys.

use ratchet_core::JobState;
use ratchet_memory::Inspection;
use ratchet_store::model::{JobId, JobSpec};

use super::Oracle;
use super::moves::Shadow;

/// Returns the name of a place of a business key, of which there are two.
fn place_of(key: &str, second: bool) -> String {
    if second { format!("{key} (second place)") } else { key.to_owned() }
}

/// All keys that have been used in the schedule.
#[derive(Debug, Default)]
pub(crate) struct KeyBook {
    concurrency: Vec<(String, usize)>,
    business: Vec<String>,
}

impl KeyBook {
    /// Returns the indexes of the concurrency and business key of a job, and adds new keys.
    pub(super) fn learn(&mut self, spec: &JobSpec) -> (Option<usize>, Option<usize>) {
        let key = spec.concurrency.as_ref().map(|key| {
            let known = self.concurrency.iter().position(|(name, _)| *name == key.key);
            known.unwrap_or_else(|| {
                self.concurrency.push((key.key.clone(), key.limit as usize));
                self.concurrency.len() - 1
            })
        });
        let business = spec.business_key.as_ref().map(|key| {
            let key = place_of(key, spec.successor);
            self.business.iter().position(|name| *name == key).unwrap_or_else(|| {
                self.business.push(key);
                self.business.len() - 1
            })
        });
        (key, business)
    }

    pub(super) fn limit(&self, key: usize) -> (&str, usize) {
        let (name, limit) = &self.concurrency[key];
        (name, *limit)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.concurrency.iter().map(|(name, _)| name.as_str())
    }
}

impl Oracle {
    pub(super) fn shadow(&self, id: JobId) -> Option<&Shadow> {
        let at = self.shadows.binary_search_by_key(&id, |shadow| shadow.id).ok()?;
        self.shadows.get(at)
    }

    /// Checks the limits of all keys, after every commit that changed a job.
    pub(super) fn check_keys(&mut self, view: &Inspection<'_>) {
        let mut running = [0_usize; 16];
        let mut holder = [None::<JobId>; 16];
        let mut problem = None;
        for shadow in &self.shadows {
            if let Some(key) = shadow.key.filter(|_| shadow.state == JobState::Running) {
                running[key] += 1;
                let (name, limit) = self.keys.limit(key);
                if running[key] > limit {
                    problem = Some(format!("more than {limit} jobs of key `{name}` run"));
                }
            }
            if let Some(key) = shadow.business.filter(|_| shadow.holds_business_key())
                && let Some(other) = holder[key].replace(shadow.id)
            {
                let name = &self.keys.business[key];
                problem = Some(format!("{other} and {} both hold `{name}`", shadow.id));
            }
        }
        let held = view
            .business_keys()
            .map(|(name, second, id)| (self.keys.business_of(&place_of(name, second)), id));
        for (key, id) in held {
            if let Some(live) = key.and_then(|key| holder[key])
                && live != id
            {
                problem = Some(format!("{live} lives, but its business key belongs to {id}"));
            }
        }
        if let Some(problem) = problem {
            self.accuse(|| problem);
        }
    }
}

impl KeyBook {
    fn business_of(&self, name: &str) -> Option<usize> {
        self.business.iter().position(|known| known == name)
    }
}
