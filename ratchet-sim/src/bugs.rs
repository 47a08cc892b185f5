//! Bugs put in on purpose, at the wire and never in the product: a simulation that does not find them proves nothing.
//!
//! A counter outside of its commit cannot be had at the wire; `bugs/` has it as a patch of the memory store.

use ratchet_core::model::{Orphan, Settlement};

use crate::world::World;

/// A bug to be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bug {
    /// A settle moves whatever run is the current one, not the one it was claimed for.
    UnfencedSettle,
    /// The rescue takes runs of nodes that are alive.
    HastyRescue,
}

impl Bug {
    /// Every bug, by the name the program knows it by.
    pub const ALL: [(&'static str, Self); 2] =
        [("unfenced-settle", Self::UnfencedSettle), ("hasty-rescue", Self::HastyRescue)];
}

/// Gives stale settlements the token of whoever runs the job now.
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

/// Takes a running job of a living node for an orphan, now and then.
pub(crate) fn hasty_rescue(world: &World, mut orphans: Vec<Orphan>) -> Vec<Orphan> {
    if world.bug == Some(Bug::HastyRescue) && world.random(|rng| rng.u8(..8)) == 0 {
        orphans.clear();
        let running = world.oracle().running();
        orphans.extend(running.into_iter().map(|claimed| Orphan { claimed, started: true }));
    }
    orphans
}
