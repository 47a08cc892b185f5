//! Waiting jobs that no live node can run.

use jiff::Timestamp;
use serde::Serialize;

/// Pending jobs of one name that no live node knows, for example because a function was renamed without an `alias`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UnknownJob {
    /// The stored name of the jobs.
    pub name: String,
    /// The number of pending jobs with this name whose version no live node knows.
    pub waiting: u64,
    /// When the oldest of them was submitted.
    pub oldest: Timestamp,
}

impl UnknownJob {
    /// Creates the report about one name.
    pub fn new(name: impl Into<String>, waiting: u64, oldest: Timestamp) -> Self {
        Self { name: name.into(), waiting, oldest }
    }
}
