//! Submits, reads and idempotent operations survive lost connections. `steps` cuts the connection of one operation at
//! each of its requests. `restarts` submits for two minutes while the server restarts:
//!
//! ```sh
//! scripts/proof outages
//! ```

mod restarts;
mod steps;
#[path = "../support/mod.rs"]
mod support;
