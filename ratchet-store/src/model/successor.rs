//! The link between a job and the job that an operator has submitted in its place.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{GroupId, JobId, JobState};

/// How a job is linked by edit and retry. Most jobs have no such links.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::{JobId, Succession};
///
/// let failed: JobId = "01a1e59f-1126-7000-aa3b-d90d531ee120".parse()?;
/// let edited: JobId = "01a1e5a0-0000-7000-aa3b-d90d531ee121".parse()?;
/// let links = Succession::new(None, Some(edited)); // the links of the failed job
/// if let Some(successor) = links.successor {
///     println!("{failed} was edited, see {successor}");
/// }
/// # assert_eq!(links.successor_of, None);
/// # Ok::<_, uuid::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Succession {
    /// The job in whose place this one was submitted, with edited arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successor_of: Option<JobId>,
    /// The job that was submitted in place of this one. It may have been purged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successor: Option<JobId>,
}

impl Succession {
    /// Creates the links of a job.
    pub fn new(successor_of: Option<JobId>, successor: Option<JobId>) -> Self {
        Self { successor_of, successor }
    }
}

/// Why a job cannot have a successor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotEditable {
    /// The job has neither failed nor been canceled. This is its state.
    State(JobState),
    /// The job is a step of this group. The other steps wait for the job itself.
    Step(GroupId),
    /// The job runs in order with others, which wait until it is retried.
    HoldsUpOthers,
}

impl fmt::Display for NotEditable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::State(state) => {
                write!(f, "it is {state}, and only failed and canceled jobs can be edited")
            }
            Self::Step(group) => write!(
                f,
                "it is a step of group {group}, and other steps depend on this job; retry it, or submit the group again"
            ),
            Self::HoldsUpOthers => {
                f.write_str("the jobs with its key run in order and wait for this one; retry it")
            }
        }
    }
}
