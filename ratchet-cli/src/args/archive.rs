//! Commands about the archive.

use clap::{Subcommand, ValueEnum};
use ratchet_core::JobState;

use super::global::Listing;

#[derive(Debug, Subcommand)]
pub(crate) enum Archive {
    /// Shows how many jobs are archived, since when, and when they leave the archive
    Status,
    /// Lists archived jobs, newest first
    List(Listing),
    /// Prints all archived jobs that match a filter, one JSON document per line unless `--csv` is given
    Export {
        /// Conditions such as `queue:mail state:failed queued>2h`; all of them must hold
        #[arg(value_name = "FILTER")]
        filter: Vec<String>,
    },
    /// Deletes archived jobs of one state; idempotency keys are kept
    Purge {
        /// The state of the jobs
        #[arg(value_enum)]
        state: EndState,
        /// Only jobs that were archived at least this long ago, such as 90d
        #[arg(long, value_name = "DURATION")]
        older_than: String,
    },
}

/// The state in which a job has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EndState {
    /// Succeeded jobs
    Succeeded,
    /// Canceled jobs
    Canceled,
    /// Failed jobs
    Failed,
}

impl From<EndState> for JobState {
    fn from(state: EndState) -> Self {
        match state {
            EndState::Succeeded => Self::Succeeded,
            EndState::Canceled => Self::Canceled,
            EndState::Failed => Self::Failed,
        }
    }
}
