//! Where each run stands in its lease, remembered from the claim: a settle names places instead of jobs.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ratchet_core::model::{JobId, Token};
use uuid::Uuid;

/// More leases than this are not remembered: what is forgotten is settled the long way.
const MOST: usize = 4096;

/// The members of a lease.
type Members = HashMap<JobId, Kept>;

/// What is remembered of a run: its place, the version it was claimed with, and whether it is part of a graph.
#[derive(Debug, Clone, Copy)]
struct Kept {
    at: usize,
    version: u64,
    step: bool,
}

/// The leases this process has claimed and not settled to the end. The newest are kept.
#[derive(Debug, Default)]
pub(crate) struct Leases {
    known: Mutex<BTreeMap<Uuid, Members>>,
}

/// The place of a run in its lease, and how many places that has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) at: usize,
    pub(crate) of: usize,
}

impl Leases {
    fn known(&self) -> MutexGuard<'_, BTreeMap<Uuid, Members>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the members of new leases, in the order they have there.
    pub(crate) fn remember(
        &self,
        leases: &[Uuid],
        members: impl Iterator<Item = (usize, Token, bool)>,
    ) {
        let mut fresh = vec![Members::new(); leases.len()];
        for (lease, token, step) in members {
            let at = fresh[lease].len();
            fresh[lease].insert(token.job, Kept { at, version: token.version, step });
        }
        let mut known = self.known();
        known.extend(leases.iter().copied().zip(fresh).filter(|(_, members)| !members.is_empty()));
        while known.len() > MOST {
            known.pop_first();
        }
    }

    /// The places of these runs; none for one that is not known here, or is part of a graph: what follows from its end is
    /// for the long way.
    pub(crate) fn places(&self, tokens: impl Iterator<Item = Token>) -> Vec<Option<Place>> {
        let known = self.known();
        let place = |token: Token| {
            let members = known.get(&token.lease.uuid())?;
            let kept = members.get(&token.job)?;
            let plain = kept.version == token.version && !kept.step;
            plain.then_some(Place { at: kept.at, of: members.len() })
        };
        tokens.map(place).collect()
    }

    /// Whether this run may be part of a graph.
    pub(crate) fn may_be_step(&self, token: Token) -> bool {
        let known = self.known();
        let kept = known.get(&token.lease.uuid()).and_then(|members| members.get(&token.job));
        kept.is_none_or(|kept| kept.step)
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
