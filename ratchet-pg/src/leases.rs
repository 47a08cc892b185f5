//! Where each run stands in its lease, remembered from the claim: a settle names places instead of jobs.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ratchet_core::model::{JobId, Token};
use uuid::Uuid;

use crate::graph;

/// More leases than this are not remembered: what is forgotten is settled the long way.
const MOST: usize = 4096;

/// The members of a lease, and whether one of them has keys.
#[derive(Debug, Clone, Default)]
struct Members {
    runs: HashMap<JobId, Kept>,
    keyed: bool,
}

/// What is remembered of a run: its place, the version it was claimed with, and what it is in a graph.
#[derive(Debug, Clone, Copy)]
struct Kept {
    at: usize,
    version: u64,
    step: Option<graph::Place>,
}

/// The leases this process has claimed and not settled to the end. The newest are kept.
#[derive(Debug, Default)]
pub(crate) struct Leases {
    known: Mutex<BTreeMap<Uuid, Members>>,
}

/// The place of a run in its lease, how many places that has, and what the run is in a graph.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) at: usize,
    pub(crate) of: usize,
    pub(crate) step: Option<graph::Place>,
    /// Something may come free when runs of this lease end.
    pub(crate) keyed: bool,
}

/// What is remembered of a run and graphs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Known {
    /// Nothing: it may be part of one.
    Nothing,
    /// It is part of none.
    Alone,
    /// It is this in one.
    Step(graph::Place),
}

impl Leases {
    fn known(&self) -> MutexGuard<'_, BTreeMap<Uuid, Members>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the members of new leases, in the order they have there.
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

    /// The places of these runs; none for one that is not known here.
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

    /// What this run is in a graph, if it is known here.
    pub(crate) fn step(&self, token: Token) -> Known {
        let known = self.known();
        let kept = known.get(&token.lease.uuid()).and_then(|members| members.runs.get(&token.job));
        match kept {
            None => Known::Nothing,
            Some(Kept { step: None, .. }) => Known::Alone,
            Some(Kept { step: Some(place), .. }) => Known::Step(*place),
        }
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
