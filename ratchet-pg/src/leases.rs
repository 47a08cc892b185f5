//! The position of each run in its lease, remembered from the claim, so that a settlement can name positions instead of
//! jobs.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ratchet_store::model::{JobId, Token};
use uuid::Uuid;

use crate::graph;

/// The most leases to remember. Runs of forgotten leases are settled on the slow path.
const MOST: usize = 4096;

/// The members of a lease. `keyed` means that one of them has keys.
#[derive(Debug, Clone, Default)]
struct Members {
    runs: HashMap<JobId, Kept>,
    keyed: bool,
}

/// A remembered run: its position, the version it was claimed with, and its place in a graph.
#[derive(Debug, Clone, Copy)]
struct Kept {
    at: usize,
    version: u64,
    step: Option<graph::Place>,
}

/// The leases that this process has claimed and not completely settled. Only the newest are kept.
#[derive(Debug, Default)]
pub(crate) struct Leases {
    known: Mutex<BTreeMap<Uuid, Members>>,
}

/// The position `at` of a run in its lease, which has `of` positions, and the run's place in a graph.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) at: usize,
    pub(crate) of: usize,
    pub(crate) step: Option<graph::Place>,
    /// A run of this lease may free a key or slot when it ends.
    pub(crate) keyed: bool,
}

/// Whether a run is part of a graph.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Known {
    /// The run is not remembered, so it may be part of a graph.
    Nothing,
    /// The run is not part of a graph.
    NoStep,
    /// The run has this place in a graph.
    Step(graph::Place),
}

impl Leases {
    fn known(&self) -> MutexGuard<'_, BTreeMap<Uuid, Members>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers the members of new leases, in the order of the lease.
    pub(crate) fn remember(
        &self,
        leases: &[Uuid],
        members: impl Iterator<Item = (usize, Token, Option<graph::Place>, bool)>,
    ) {
        let mut fresh = vec![Members::default(); leases.len()];
        for (lease, token, step, keyed) in members {
            let Members { runs, keyed: any } = &mut fresh[lease];
            runs.insert(token.job, Kept { at: runs.len(), version: token.version, step });
            *any |= keyed;
        }
        let mut known = self.known();
        let leases = leases.iter().copied().zip(fresh);
        known.extend(leases.filter(|(_, members)| !members.runs.is_empty()));
        while known.len() > MOST {
            known.pop_first();
        }
    }

    /// Returns the positions of these runs, or `None` for a run that is not remembered.
    pub(crate) fn places(&self, tokens: impl Iterator<Item = Token>) -> Vec<Option<Place>> {
        let known = self.known();
        let place = |token: Token| {
            let members = known.get(&token.lease.uuid())?;
            let Kept { at, version, step } = *members.runs.get(&token.job)?;
            let place = Place { at, of: members.runs.len(), step, keyed: members.keyed };
            (version == token.version).then_some(place)
        };
        tokens.map(place).collect()
    }

    /// Returns the place of a run in a graph, if it is remembered.
    pub(crate) fn step(&self, token: Token) -> Known {
        let known = self.known();
        let kept = known.get(&token.lease.uuid()).and_then(|members| members.runs.get(&token.job));
        match kept {
            None => Known::Nothing,
            Some(Kept { step: None, .. }) => Known::NoStep,
            Some(Kept { step: Some(place), .. }) => Known::Step(*place),
        }
    }

    /// Forgets leases that no longer exist.
    pub(crate) fn forget(&self, leases: &[Uuid]) {
        if !leases.is_empty() {
            let mut known = self.known();
            for lease in leases {
                known.remove(lease);
            }
        }
    }
}
