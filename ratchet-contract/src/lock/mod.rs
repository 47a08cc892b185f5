//! The lock file: the text form of a [`Contract`].
//!
//! It has its own format instead of TOML or JSON, because it is read in diffs: each fact is one line without quotes, a
//! job is one block, and nothing depends on what comes before, so that a diff shows exactly what changed.

mod read;
mod write;

pub use read::LockError;

#[cfg(doc)]
use crate::job::Contract;

/// The first line of a lock file. The number is that of the format.
pub(crate) const HEADER: &str = "# ratchet.lock 1";
