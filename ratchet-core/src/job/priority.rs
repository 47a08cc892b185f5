//! How urgent a job is.

use serde::{Deserialize, Serialize};

/// How urgent a job is within its queue.
///
/// Waiting work ages: by default it gains one level every 15 minutes, so old low-priority jobs overtake new urgent ones.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// Runs when nothing else waits.
    Lowest,
    /// Below normal.
    Low,
    /// The default.
    #[default]
    Normal,
    /// Above normal.
    High,
    /// Ahead of everything that has not aged.
    Critical,
}

impl Priority {
    /// Every level, lowest first.
    pub const ALL: [Self; 5] = [Self::Lowest, Self::Low, Self::Normal, Self::High, Self::Critical];

    /// The level as a number, `0` (lowest) to `4` (critical): what stores keep.
    pub const fn level(self) -> u8 {
        self as u8
    }

    /// The priority of a level, if there is one.
    pub fn from_level(level: u8) -> Option<Self> {
        Self::ALL.get(usize::from(level)).copied()
    }
}
