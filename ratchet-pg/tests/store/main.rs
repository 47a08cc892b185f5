//! What only the PostgreSQL store has or does.
//!
//! One program, because each test program carries and links all of the store again.

mod archive;
mod blocked;
mod canonical;
mod competing_claimers;
mod enqueue_from_catalog;
mod erasure;
mod faults;
mod graphs;
#[path = "../../../ratchet-conformance/shared/graphs_in_tx.rs"]
mod graphs_in_tx;
mod group_commit;
mod half_open_connections;
mod in_tx;
#[path = "../jobs/mod.rs"]
mod jobs;
mod key_rates;
mod older;
mod opening;
mod outages;
mod partitions;
mod protected;
mod restored;
mod roles;
mod shop;
mod snapshot;
mod sql_limits;
mod submit_overhead;
#[path = "../support/mod.rs"]
mod support;
mod tls;
mod transaction_pooler;
mod transactions;
mod unreachable;
mod unreadable;
mod views;
mod vitals;
