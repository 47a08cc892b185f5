//! The priority of jobs.

use serde::{Deserialize, Serialize};

/// The priority of a job within its queue.
///
/// Waiting jobs age: by default, a job gains one level per 15 minutes, so an old low-priority job overtakes a new
/// urgent one.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model::*; }
/// use ratchet::Priority;
///
/// assert!(Priority::High > Priority::default());
/// ```
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// Runs when no other job is waiting.
    Lowest,
    /// Below normal.
    Low,
    /// The default.
    #[default]
    Normal,
    /// Above normal.
    High,
    /// Runs before all jobs that have not aged.
    Critical,
}

impl Priority {
    /// All priorities, lowest first.
    pub const ALL: [Self; 5] = [Self::Lowest, Self::Low, Self::Normal, Self::High, Self::Critical];

    /// Returns the number that stores keep, from 0 (lowest) to 4 (critical).
    pub const fn level(self) -> u8 {
        self as u8
    }

    /// Returns the name, such as `normal`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lowest => "lowest",
            Self::Low => "low",
            Self::Normal => "normal",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }

    /// Returns the priority with this name, or `None` if there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|priority| priority.name() == name)
    }

    /// Returns the priority with this level, or `None` if the level is greater than 4.
    pub fn from_level(level: u8) -> Option<Self> {
        Self::ALL.get(usize::from(level)).copied()
    }
}
