//! A whole cluster on one thread: real workers over the memory store, virtual time, and faults that a seed decides.
//!
//! A schedule is a number. The same number gives the same schedule to the last step: whatever it finds can be looked at
//! again. `docs/proof/simulation.md` says what is checked and which faults there are.

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

/// A schedule with fewer steps than this says nothing.
pub const MIN_STEPS: u64 = 200;

/// How a schedule is run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// A bug to put in.
    pub bug: Option<Bug>,
    /// Keep what happened as text.
    pub trace: bool,
}

/// What became of a schedule.
#[derive(Debug, Clone)]
pub struct Report {
    /// Its seed.
    pub seed: u64,
    /// Store calls that arrived, and beginnings and ends of handlers.
    pub steps: u64,
    /// Incarnations of nodes.
    pub nodes: u32,
    /// Handlers that were started.
    pub handlers: u64,
    /// How long it took by its own clock.
    pub virtual_time: Duration,
    /// Tells schedules apart: the same seed gives the same.
    pub hash: u64,
    /// The first thing that must not be, if anything.
    pub violation: Option<String>,
    /// What happened, if it was to be kept.
    pub lines: Vec<String>,
}

/// Runs the schedule of a seed.
pub fn run(seed: u64, options: Options) -> Report {
    sim::Sim::new(seed, options).run()
}

/// Keeps panics of simulated handlers from being printed; those of anything else still are.
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
