//! The archive: jobs that are kept after their retention, apart from the jobs that workers and operators change.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Counts, JobState};

/// Whether a [`Filter`](super::Filter) selects archived jobs.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::{ArchivedJobs, Filter};
///
/// let now = "2026-11-17T12:00:00Z".parse()?;
/// let filter = Filter::parse("queue:mail archived:only", now)?;
/// assert_eq!(filter.archived, ArchivedJobs::Only);
/// assert!(filter.archived.selects(true) && !filter.archived.selects(false));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArchivedJobs {
    /// Only jobs that are not archived.
    #[default]
    Exclude,
    /// All jobs.
    Include,
    /// Only archived jobs.
    Only,
}

impl ArchivedJobs {
    /// All values.
    pub const ALL: [Self; 3] = [Self::Exclude, Self::Include, Self::Only];

    /// Returns the value of the condition `archived` in the text of a filter.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exclude => "false",
            Self::Include => "true",
            Self::Only => "only",
        }
    }

    /// Returns `true` if jobs that are archived, or that are not, are selected.
    pub const fn selects(self, archived: bool) -> bool {
        match self {
            Self::Exclude => !archived,
            Self::Include => true,
            Self::Only => archived,
        }
    }
}

/// What the archive of a store contains.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::{ArchiveStatus, JobState};
///
/// fn show(archive: &ArchiveStatus) -> String {
///     let since = archive.oldest.get(&JobState::Failed).map(ToString::to_string);
///     let since = since.as_deref().unwrap_or("never");
///     format!("{} archived jobs, dead letters since {since}", archive.jobs())
/// }
/// # assert_eq!(show(&ArchiveStatus::default()), "0 archived jobs, dead letters since never");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ArchiveStatus {
    /// The number of archived jobs by queue and state.
    pub counts: Counts,
    /// When the first archived job of each state was archived. States without archived jobs are absent.
    pub oldest: BTreeMap<JobState, Timestamp>,
    /// When the last archived job of each state was archived. States without archived jobs are absent.
    pub newest: BTreeMap<JobState, Timestamp>,
    /// The size of the archive in bytes, if the store knows it.
    pub bytes: Option<u64>,
    /// Where the archive is: a file or a schema. `None` for a store in memory, and before anything was archived.
    pub place: Option<String>,
}

impl ArchiveStatus {
    /// Returns the number of archived jobs.
    pub fn jobs(&self) -> u64 {
        self.counts.queues.values().flat_map(|queue| queue.states.values()).sum()
    }
}
