//! Durable background jobs for Rust.

extern crate self as ratchet;

pub use ratchet_core::*;

#[doc(hidden)]
pub use ratchet_core::__private;
