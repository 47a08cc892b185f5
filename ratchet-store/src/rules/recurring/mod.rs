//! Occurrences of recurring jobs. This module uses neither a clock nor a store.
//!
//! Cron expressions use local time, which is affected by daylight saving time. A local time that is **skipped** fires
//! once, at the next valid instant. A local time that is **repeated** fires once if the hour field is fixed, and at
//! every matching instant if it is a wildcard (`*`, `*/2`).

mod cron;
mod fire;
#[cfg(test)]
mod fuzz;
mod overlap;
#[cfg(test)]
mod tests;
mod watch;

pub use cron::{Cron, CronError};
pub use fire::{Firing, fire};
pub use watch::{Watched, watch};
