//! Measurements of a store, by which the doctor judges its condition.

use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

/// What a store says about its own condition. A store leaves out what does not apply to it, and what its user may not
/// see.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Vitals {
    /// Until when a node leads maintenance; `None` if no node does.
    pub leader_until: Option<Timestamp>,
    /// Tables, views and indexes that should exist and do not, and indexes that are not valid.
    pub missing: Vec<String>,
    /// The setting with which a commit can be lost in a crash of the machine, such as `synchronous_commit = off`.
    pub unsafe_commits: Option<String>,
    /// The transaction of the database that has been open longest.
    pub oldest_transaction: Option<OpenTransaction>,
    /// Tables that change often.
    pub tables: Vec<TableRows>,
    /// Why the server does not vacuum, if it does not.
    pub no_autovacuum: Option<String>,
    /// The connections of the server.
    pub connections: Option<Connections>,
    /// The address of the server, if the connection to it is neither local nor encrypted.
    pub unencrypted: Option<String>,
    /// Until when partitions exist, if the tables are partitioned.
    pub partitions_until: Option<Timestamp>,
    /// The sizes of the files.
    pub file: Option<FileSizes>,
    /// What an examination of all pages has found. Only a thorough reading fills it.
    pub damage: Vec<String>,
}

/// An open transaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OpenTransaction {
    /// For how long it has been open.
    pub age: Duration,
    /// The session: its process, its user and its program.
    pub session: String,
}

/// The rows of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableRows {
    /// The name of the table.
    pub table: String,
    /// The estimated number of rows.
    pub live: u64,
    /// The estimated number of rows that were deleted and not removed yet.
    pub dead: u64,
}

/// The connections of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Connections {
    /// How many are open.
    pub open: u64,
    /// How many the server allows.
    pub limit: u64,
}

/// The sizes of a database file, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct FileSizes {
    /// The file.
    pub total: u64,
    /// The part of the file that is not used.
    pub free: u64,
    /// The write-ahead log.
    pub log: u64,
}
