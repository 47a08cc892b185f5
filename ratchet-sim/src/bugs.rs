//! Deliberate bugs, injected at the wire, to check that the simulation finds them.
//!
//! A counter that is updated outside of its commit cannot be injected at the wire. `bugs/` contains it as a patch of
//! the memory store.

use ratchet_store::model::{Orphan, Settlement};

use crate::world::World;

/// A bug that the simulation must find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bug {
    /// A settlement is applied to the current run of the job instead of the run it was claimed for.
    UnfencedSettle,
    /// Runs of live nodes are rescued.
    HastyRescue,
}

impl Bug {
    /// All bugs, with their names on the command line.
    pub const ALL: [(&'static str, Self); 2] =
        [("unfenced-settle", Self::UnfencedSettle), ("hasty-rescue", Self::HastyRescue)];
}

/// Replaces the token of each settlement with that of the job's current run, if this bug is enabled.
pub(crate) fn unfenced(world: &World, mut settlements: Vec<Settlement>) -> Vec<Settlement> {
    if world.bug == Some(Bug::UnfencedSettle) {
        world.store.inspect(|view| {
            for settlement in &mut settlements {
                settlement.token = view.token(settlement.token.job).unwrap_or(settlement.token);
            }
        });
    }
    settlements
}

/// Occasionally reports all running jobs as orphans, if this bug is enabled.
pub(crate) fn hasty_rescue(world: &World, mut orphans: Vec<Orphan>) -> Vec<Orphan> {
    if world.bug == Some(Bug::HastyRescue) && world.random(|rng| rng.u8(..8)) == 0 {
        orphans.clear();
        let running = world.oracle().running();
        orphans.extend(running.into_iter().map(|claimed| Orphan { claimed, started: true }));
    }
    orphans
}
