//! Recurring jobs: schedules and their cron expressions.
//!
//! `#[job(cron = "…")]` declares a schedule with the job. [`Ratchet::schedules`](crate::Ratchet::schedules) declares
//! and controls schedules at run time.

pub use ratchet_core::{DeclareSchedule, Missed, Overlap, ScheduleError, ScheduleView, Schedules};
pub use ratchet_store::rules::recurring::{Cron, CronError};
