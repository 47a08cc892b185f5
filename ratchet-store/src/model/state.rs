//! The states of a job, and the table of every legal transition between them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The state of a job.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model::*; }
/// use ratchet::JobState;
///
/// assert!(JobState::Failed.is_terminal());
/// assert!(!JobState::Paused.is_terminal());
/// assert_eq!(JobState::Pending.to_string(), "PENDING");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum JobState {
    /// Waiting for its due time, a worker, a limit or a parent step.
    Pending,
    /// Claimed by a worker.
    Running,
    /// Completed successfully. Terminal.
    Succeeded,
    /// Failed permanently: in the dead-letter queue. Terminal unless it is retried manually.
    Failed,
    /// Set aside by an operator. The record keeps the state it was paused from.
    Paused,
    /// Canceled. Terminal.
    Canceled,
}

/// The operation that causes a state transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TransitionKind {
    /// A new job is inserted.
    Submit,
    /// A worker claims the job.
    Claim,
    /// The run succeeded.
    Succeed,
    /// The run failed, and another attempt is scheduled.
    Retry,
    /// The run was deferred without using an attempt: snooze, reject or open breaker.
    Defer,
    /// The worker returns the job to the queue at shutdown.
    Release,
    /// The worker died, and another node returns the job to the queue.
    Rescue,
    /// The run failed permanently.
    Fail,
    /// An operator pauses the job.
    Pause,
    /// An operator resumes the job.
    Resume,
    /// The job gets a new due time.
    Reschedule,
    /// An operator moves the job to another queue or priority.
    Move,
    /// The job is canceled.
    Cancel,
    /// An operator retries a failed job from the start.
    RetryManually,
}

/// A legal state transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    /// The state before, or `None` for a job that does not exist yet.
    pub from: Option<JobState>,
    /// The state after.
    pub to: JobState,
    /// The operation that causes the transition.
    pub by: TransitionKind,
}

const fn t(from: JobState, to: JobState, by: TransitionKind) -> Transition {
    Transition { from: Some(from), to, by }
}

/// Every legal transition. A transition that is not listed is refused with a typed error.
///
/// Two rows depend on the state a paused job was paused from: the job resumes to that state, and it can be canceled
/// only if that state was pending.
pub const TRANSITIONS: &[Transition] = {
    use JobState::{Canceled, Failed, Paused, Pending, Running, Succeeded};
    &[
        Transition { from: None, to: Pending, by: TransitionKind::Submit },
        t(Pending, Running, TransitionKind::Claim),
        t(Running, Succeeded, TransitionKind::Succeed),
        t(Running, Pending, TransitionKind::Retry),
        t(Running, Pending, TransitionKind::Defer),
        t(Running, Pending, TransitionKind::Release),
        t(Running, Pending, TransitionKind::Rescue),
        t(Running, Failed, TransitionKind::Fail),
        t(Pending, Paused, TransitionKind::Pause),
        t(Failed, Paused, TransitionKind::Pause),
        t(Paused, Pending, TransitionKind::Resume),
        t(Paused, Failed, TransitionKind::Resume),
        t(Pending, Pending, TransitionKind::Reschedule),
        t(Pending, Pending, TransitionKind::Move),
        t(Paused, Paused, TransitionKind::Move),
        t(Pending, Canceled, TransitionKind::Cancel),
        t(Paused, Canceled, TransitionKind::Cancel),
        t(Running, Canceled, TransitionKind::Cancel),
        t(Failed, Pending, TransitionKind::RetryManually),
    ]
};

impl JobState {
    /// All states.
    pub const ALL: [Self; 6] =
        [Self::Pending, Self::Running, Self::Succeeded, Self::Failed, Self::Paused, Self::Canceled];

    /// Returns `true` if the state is terminal.
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Canceled)
    }

    /// Returns `true` if `by` can move a job out of this state.
    pub fn allows(self, by: TransitionKind) -> bool {
        TRANSITIONS.iter().any(|row| row.from == Some(self) && row.by == by)
    }

    /// Returns the name that is stored and displayed, such as `PENDING`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::Running => "RUNNING",
            Self::Succeeded => "SUCCEEDED",
            Self::Failed => "FAILED",
            Self::Paused => "PAUSED",
            Self::Canceled => "CANCELED",
        }
    }
}

impl fmt::Display for JobState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for JobState {
    type Err = UnknownState;

    fn from_str(text: &str) -> Result<Self, UnknownState> {
        Self::ALL
            .into_iter()
            .find(|state| state.name() == text)
            .ok_or_else(|| UnknownState(text.to_owned()))
    }
}

/// The error returned when a string does not name a job state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a state of a job")]
pub struct UnknownState(String);

impl fmt::Display for TransitionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Submit => "submit",
            Self::Claim => "claim",
            Self::Succeed => "succeed",
            Self::Retry => "retry",
            Self::Defer => "defer",
            Self::Release => "release",
            Self::Rescue => "rescue",
            Self::Fail => "fail",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Reschedule => "reschedule",
            Self::Move => "move",
            Self::Cancel => "cancel",
            Self::RetryManually => "retry manually",
        })
    }
}
