//! The PostgreSQL store of Ratchet, for any number of worker processes.
//!
//! ```no_run
//! # async fn demo() -> Result<(), ratchet_store::StoreError> {
//! let store = ratchet_pg::PgStore::connect("postgres://localhost/shop").await?;
//! # Ok(()) }
//! ```
//!
//! The submitted part of a job is written once, and the rows that change are narrow. A claim deletes rows of `ready`
//! and inserts one row per batch into `lease`. The end of a job is appended to `outcome`. These two tables are the
//! fence: a run can settle its job only while its lease has the job as a member with the claimed version, and a job has
//! at most one outcome.

mod archive;
mod blocked;
mod bulk;
mod catalog;
mod claim;
mod claim_turnstile;
mod claimed_columns;
mod clock;
mod command;
mod connection_cache;
mod content;
mod db;
mod decode_claim;
mod erasure;
mod error;
mod exchange;
mod expiry;
mod failure_marks;
mod fault;
mod gates;
mod graph;
mod group_commit;
mod in_tx;
mod insert;
mod items;
mod job_row;
mod key_rates;
mod leases;
mod lost_connection;
mod migrate;
mod nodes;
mod notify_throttle;
mod open;
mod operate;
mod options;
mod outbox;
mod partitions;
mod pipelines;
mod plain_claims;
mod pool;
mod query;
mod record;
mod retry;
mod roles;
mod runtime;
mod scan_start;
mod schedule;
mod settle;
mod spec;
mod sql;
mod stats;
mod store;
mod successors;
mod sweep;
mod tls;
mod unclaimable;
mod unconfirmed_claims;
mod unreachable;
mod unreadable;
mod vitals;
mod wake;

/// The driver. Its version is part of the API: a transaction for [`EnqueueInTx`] must be of sqlx 0.9.
pub use sqlx;

pub use in_tx::EnqueueInTx;
pub use options::PgOptions;
pub use roles::{DatabaseRole, UnknownRole};
pub use store::PgStore;
pub use sweep::Repairs;
