//! Simulates a whole cluster on one thread: real workers on the memory store, virtual time, and faults derived from a
//! seed.
//!
//! A schedule is identified by its seed. The same seed always gives the same schedule, so every violation can be
//! reproduced. `docs/proof/simulation.md` describes the checks and the faults.

#![forbid(unsafe_code)]

mod bugs;
mod chaos;
mod clock;
mod exec;
mod faults;
mod jobs;
mod op;
mod oracle;
mod sim;
mod spawn;
mod store;
mod trace;
mod wire;
mod workload;
mod world;

use std::time::Duration;

pub use bugs::Bug;

/// The minimum number of steps. A shorter schedule is reported as a violation, because it tests too little.
pub const MIN_STEPS: u64 = 200;

/// Options of [`run`].
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// A deliberate bug to inject.
    pub bug: Option<Bug>,
    /// Whether to record every event as text, in [`Report::lines`].
    pub trace: bool,
}

/// The result of a schedule.
#[derive(Debug, Clone)]
pub struct Report {
    /// The seed of the schedule.
    pub seed: u64,
    /// The number of executed store calls and of starts and ends of handlers.
    pub steps: u64,
    /// The number of node processes that were started.
    pub nodes: u32,
    /// The number of handlers that were started.
    pub handlers: u64,
    /// The number of ended runs that the statistics in the store contain.
    pub counted: u64,
    /// The number of runs whose end the store has applied.
    pub ended: u64,
    /// The duration of the schedule in virtual time.
    pub virtual_time: Duration,
    /// A hash over all steps. The same seed gives the same hash.
    pub hash: u64,
    /// The first violation, if any.
    pub violation: Option<String>,
    /// The trace; empty unless [`Options::trace`] is set.
    pub lines: Vec<String>,
}

/// Runs the schedule of a seed.
pub fn run(seed: u64, options: Options) -> Report {
    sim::Sim::new(seed, options).run()
}

/// Suppresses the output of panics in simulated handlers. Other panics are still printed.
pub fn quiet_panics() {
    use std::sync::Once;
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let message = info.payload().downcast_ref::<&str>();
            if message.is_none_or(|message| *message != "a panic on purpose") {
                previous(info);
            }
        }));
    });
}
