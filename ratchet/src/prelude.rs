//! The items that most programs need: `use ratchet::prelude::*;`.
//!
//! [`State`](crate::State) is not included because its name clashes with the `State` of web frameworks.

pub use ratchet_core::{
    Backoff, Finished, GroupReport, HandedOff, Job, JobContext, JobError, JobHandle, JobState,
    Priority, Ratchet, Secret, Worker, fatal, invalid, reject, retry_after, snooze,
};
pub use ratchet_macros::{
    DoNotRetry, circuit_breaker, classify, condition, do_not_retry, job, jobs,
};
