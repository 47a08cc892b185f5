//! Recurring jobs: when they are due, and what is fired. Pure: no clock, no store.
//!
//! Cron expressions speak of local time; what daylight saving does to them is said here. A local time that is **skipped**
//! fires once, at the next valid instant. A local time that is **repeated** fires once if the hour field is fixed, and at
//! every matching instant if it is a wildcard (`*`, `*/2`).

mod cron;
mod fire;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;

pub use cron::{Cron, CronError};
pub(crate) use fire::fire;
