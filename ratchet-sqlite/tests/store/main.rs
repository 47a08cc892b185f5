//! What only the SQLite store has or does.
//!
//! One program, because each test program carries and links all of the store again.

mod archive;
mod erasure;
mod file;
#[path = "../../../ratchet-conformance/shared/graphs_in_tx.rs"]
mod graphs_in_tx;
mod in_tx;
#[path = "../jobs/mod.rs"]
mod jobs;
mod key_rates;
mod later_columns;
#[path = "../node/mod.rs"]
mod node;
mod older;
mod open;
mod protected;
mod restored;
mod shop;
mod snapshot;
mod stats_size;
mod unreadable;
mod views;
mod vitals;
