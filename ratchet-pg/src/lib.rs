//! The cluster store of Ratchet on PostgreSQL: many workers, nothing lost.
//!
//! ```no_run
//! # async fn demo() -> Result<(), ratchet_core::store::StoreError> {
//! let store = ratchet_pg::PgStore::connect("postgres://localhost/shop").await?;
//! # Ok(()) }
//! ```
//!
//! What was submitted is written once; what moves is narrow. A claim deletes rows of `ready` and leaves one row per
//! batch in `lease`; the end of a job is appended to `outcome`. The two are the fence: a run ends its job only while its
//! lease has the member at the version it was claimed with, and a job has one outcome.

mod blocked;
mod bounds;
mod claim;
mod claims;
mod clock;
mod command;
mod doubt;
mod error;
mod exchange;
mod fault;
mod gates;
mod graph;
mod group;
mod home;
mod in_tx;
mod insert;
mod items;
mod leases;
mod line;
mod look_ups;
mod migrate;
mod moving;
mod nodes;
mod open;
mod options;
mod outbox;
mod pace;
mod parts;
mod pool;
mod query;
mod record;
mod retry;
mod schedule;
mod settle;
mod spec;
mod sql;
mod sqlx;
mod store;
mod sweep;
mod turns;
mod unclaimable;
mod unreadable;
mod wake;
mod warm;

pub use in_tx::EnqueueInTx;
pub use options::PgOptions;
pub use store::PgStore;
pub use sweep::Repairs;
