//! What happens to nodes and to the store: planned by the seed, before anything runs.

use std::time::Duration;

use fastrand::Rng;

use crate::faults::{Cut, Storm};

/// Something that happens to one of the places where a node runs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Chaos {
    /// The clients do something.
    Act,
    /// The node of this place stands still for so long: its tasks do not run, its requests stay on the wire.
    Pause(usize, Duration),
    Thaw(usize),
    /// The process is gone; another one starts after a while.
    Kill(usize, Duration),
    /// It is told to stop in good order, and another one starts at once.
    Stop(usize),
    Start(usize),
    /// It cannot reach the store.
    Cut(usize, Cut, Duration),
    Heal(usize),
    Storm(Storm, Duration),
    Clear,
    /// The faults are over.
    Calm,
}

/// The plan of a schedule, by time.
pub(crate) fn plan(rng: &mut Rng, places: usize) -> Vec<(Duration, Chaos)> {
    let length = rng.u64(6_000..14_000);
    let mut plan = Vec::new();
    for _ in 0..rng.usize(10..18) {
        // Most of it early, so that faults find something to hit.
        let at = if rng.bool() { rng.u64(..length / 3) } else { rng.u64(..length) };
        plan.push((at, Chaos::Act));
    }
    for _ in 0..rng.usize(1..5) {
        let (at, place) = (rng.u64(300..length), rng.usize(..places));
        // Around the length of a lease, which is three seconds.
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
