//! Durable background jobs for Rust.

pub use ratchet_core::*;

#[doc(hidden)]
pub use ratchet_core::__private;

#[doc = include_str!("job.md")]
pub use ratchet_macros::job;
pub use ratchet_macros::{circuit_breaker, do_not_retry, jobs};
