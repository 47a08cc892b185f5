//! The plan of a schedule: client actions and faults of nodes and the store, derived from the seed before the run.

use std::time::Duration;

use fastrand::Rng;

use crate::faults::{Cut, Storm};

/// A planned event. A place is one of the slots in which a node runs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Chaos {
    /// A client performs an action.
    Act,
    /// The node is paused: its tasks do not run, but its requests stay on the wire.
    Pause(usize, Duration),
    Thaw(usize),
    /// The process is killed. Another one starts after the delay.
    Kill(usize, Duration),
    /// The node stops gracefully. Another one starts immediately.
    Stop(usize),
    Start(usize),
    /// The node is cut off from the store.
    Cut(usize, Cut, Duration),
    Heal(usize),
    Storm(Storm, Duration),
    Clear,
    /// All faults end.
    Calm,
}

/// Generates the plan of a schedule.
pub(crate) fn plan(rng: &mut Rng, places: usize) -> Vec<(Duration, Chaos)> {
    let length = rng.u64(6_000..14_000);
    let mut plan = Vec::new();
    for _ in 0..rng.usize(10..18) {
        // Most actions are early, so that faults hit running work.
        let at = if rng.bool() { rng.u64(..length / 3) } else { rng.u64(..length) };
        plan.push((at, Chaos::Act));
    }
    for _ in 0..rng.usize(1..5) {
        let (at, place) = (rng.u64(300..length), rng.usize(..places));
        // Values around the lease of three seconds.
        let long =
            Duration::from_millis([500, 2_000, 3_500, 7_000][rng.usize(..4)] + rng.u64(..500));
        let chaos = match rng.u8(..11) {
            0..=2 => Chaos::Pause(place, long),
            3..=5 => Chaos::Kill(place, long / 4),
            6 => Chaos::Stop(place),
            7 => Chaos::Cut(place, Cut::Both, long),
            8 => Chaos::Cut(place, Cut::Answers, long),
            9 => Chaos::Storm(Storm::Down, long),
            _ => Chaos::Storm(Storm::Slow, long),
        };
        plan.push((at, chaos));
    }
    plan.push((length, Chaos::Calm));
    plan.into_iter().map(|(at, chaos)| (Duration::from_millis(at), chaos)).collect()
}
