//! Where each run stands in its lease, remembered from the claim: a settle names places instead of jobs.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ratchet_core::model::{JobId, Token};
use uuid::Uuid;

/// More leases than this are not remembered: what is forgotten is settled the long way.
const MOST: usize = 4096;

/// The leases this process has claimed and not settled to the end. The newest are kept.
#[derive(Debug, Default)]
pub(crate) struct Leases {
    known: Mutex<BTreeMap<Uuid, HashMap<JobId, (usize, u64)>>>,
}

/// The place of a run in its lease, and how many places that has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) at: usize,
    pub(crate) of: usize,
}

impl Leases {
    fn known(&self) -> MutexGuard<'_, BTreeMap<Uuid, HashMap<JobId, (usize, u64)>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the members of new leases, in the order they have there.
    pub(crate) fn remember(&self, leases: &[Uuid], members: impl Iterator<Item = (usize, Token)>) {
        let mut fresh = vec![HashMap::new(); leases.len()];
        for (lease, token) in members {
            let at = fresh[lease].len();
            fresh[lease].insert(token.job, (at, token.version));
        }
        let mut known = self.known();
        known.extend(leases.iter().copied().zip(fresh).filter(|(_, members)| !members.is_empty()));
        while known.len() > MOST {
            known.pop_first();
        }
    }

    /// The places of these runs, none if one of them is not known here.
    pub(crate) fn places(&self, tokens: impl Iterator<Item = Token>) -> Vec<Option<Place>> {
        let known = self.known();
        let place = |token: Token| {
            let members = known.get(&token.lease.uuid())?;
            let (at, version) = members.get(&token.job)?;
            (*version == token.version).then_some(Place { at: *at, of: members.len() })
        };
        tokens.map(place).collect()
    }

    /// These leases are gone.
    pub(crate) fn forget(&self, leases: &[Uuid]) {
        if !leases.is_empty() {
            let mut known = self.known();
            for lease in leases {
                known.remove(lease);
            }
        }
    }
}
