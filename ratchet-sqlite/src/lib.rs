//! The embedded store of Ratchet: durable background jobs in one SQLite file, without a server.
//!
//! ```
//! use ratchet_core::{JobState, Ratchet};
//! use ratchet_sqlite::SqliteStore;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("jobs.db");
//! let ratchet = Ratchet::builder(SqliteStore::open(path).await?).build().await?;
//! assert_eq!(ratchet.store().counts().await?.state(JobState::Pending), 0);
//! # Ok::<_, Box<dyn std::error::Error>>(()) }).unwrap();
//! ```
//!
//! - **Durable.** `synchronous = FULL` in WAL mode: once an operation has returned, a power loss does not undo it.
//! - **One writer, group commit.** Waiting operations share one transaction and one sync. Readers never wait for it.
//! - **Several processes on one file.** Another process sees new work within milliseconds.
//! - **In your transaction.** [`EnqueueInTx`] enqueues in a transaction of your own on the same file, which
//!   [`SqliteStore::begin`] begins.
//! - **Backup.** [`SqliteStore::backup_to`] works while jobs run. `VACUUM INTO` and the `.backup` command of the
//!   `sqlite3` shell do the same. A plain copy of the file is a backup only while no process has it open: a copy of
//!   the file and its `-wal` that is taken during writes can be damaged, and a copy without the `-wal` lacks the
//!   latest jobs.

#![forbid(unsafe_code)]

mod archive;
mod backup;
mod blocked;
mod bulk;
mod catalog;
mod claim;
mod command;
mod content;
mod due_jobs;
mod erasure;
mod error;
mod explain;
mod failure_marks;
mod file;
mod gates;
mod graph;
mod in_tx;
mod insert;
mod items;
mod key_rates;
mod keys;
mod listing;
mod migrate;
mod nodes;
mod open;
mod operate;
mod options;
mod outbox;
mod pipelines;
mod purge;
mod query;
mod read_jobs;
mod readers;
mod row;
mod schedule;
mod scrub;
mod sequence;
mod session;
mod settle;
mod sql;
mod stats;
mod store;
mod successors;
mod template;
mod transaction;
mod turns;
mod unreadable;
mod value;
mod verb;
mod vitals;
mod writer;

/// The driver. Its version is part of the API: a transaction for [`EnqueueInTx`] must be of sqlx 0.9.
pub use sqlx;

pub use in_tx::EnqueueInTx;
pub use options::{SqliteOptions, Synchronous};
pub use store::SqliteStore;
