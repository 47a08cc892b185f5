//! What most programs need: `use ratchet::prelude::*;`.
//!
//! [`State`](crate::State) stays outside: web frameworks have one of their own.

pub use ratchet_core::{
    Backoff, Finished, GroupReport, Job, JobContext, JobError, JobHandle, JobState, Priority,
    Ratchet, Worker, fatal, invalid, reject, retry_after, snooze,
};
pub use ratchet_macros::{circuit_breaker, condition, do_not_retry, job, jobs};
