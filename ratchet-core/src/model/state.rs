//! The states of a job and every legal move between them, as data.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The state of a job as its users see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum JobState {
    /// Waits: for its due time, for a worker, for a limit or for a parent.
    Pending,
    /// Claimed by a worker.
    Running,
    /// Finished well. Terminal.
    Succeeded,
    /// Failed for good: in the dead-letter queue. Terminal until somebody retries it.
    Failed,
    /// Set aside by an operator; remembers where it came from.
    Paused,
    /// Called off. Terminal.
    Canceled,
}

/// What moves a job from one state to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Move {
    /// A new job is inserted.
    Submit,
    /// A worker takes it.
    Claim,
    /// Its run succeeded.
    Succeed,
    /// Its run failed and another attempt is due later.
    Retry,
    /// Its run was put off without using an attempt: snooze, reject, open breaker.
    Defer,
    /// Its worker gives it back unharmed, when shutting down.
    Release,
    /// Its worker died; another node brings it back.
    Rescue,
    /// Its run failed for good.
    Fail,
    /// An operator sets it aside.
    Pause,
    /// An operator lets it go on.
    Resume,
    /// It gets a new due time.
    Reschedule,
    /// It is called off.
    Cancel,
    /// An operator has a failed job tried again from the start.
    RetryManually,
}

/// A legal move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    /// The state before; `None` for a job that does not exist yet.
    pub from: Option<JobState>,
    /// The state after.
    pub to: JobState,
    /// What does it.
    pub by: Move,
}

const fn t(from: JobState, to: JobState, by: Move) -> Transition {
    Transition { from: Some(from), to, by }
}

/// Every legal move. Whatever is not here is refused with a typed error.
///
/// Two rows depend on where a paused job came from: it resumes there, and it can be canceled only if it was pending.
pub const TRANSITIONS: &[Transition] = {
    use JobState::{Canceled, Failed, Paused, Pending, Running, Succeeded};
    &[
        Transition { from: None, to: Pending, by: Move::Submit },
        t(Pending, Running, Move::Claim),
        t(Running, Succeeded, Move::Succeed),
        t(Running, Pending, Move::Retry),
        t(Running, Pending, Move::Defer),
        t(Running, Pending, Move::Release),
        t(Running, Pending, Move::Rescue),
        t(Running, Failed, Move::Fail),
        t(Pending, Paused, Move::Pause),
        t(Failed, Paused, Move::Pause),
        t(Paused, Pending, Move::Resume),
        t(Paused, Failed, Move::Resume),
        t(Pending, Pending, Move::Reschedule),
        t(Pending, Canceled, Move::Cancel),
        t(Paused, Canceled, Move::Cancel),
        t(Running, Canceled, Move::Cancel),
        t(Failed, Pending, Move::RetryManually),
    ]
};

impl JobState {
    /// Every state.
    pub const ALL: [Self; 6] =
        [Self::Pending, Self::Running, Self::Succeeded, Self::Failed, Self::Paused, Self::Canceled];

    /// Whether a job in this state has come to its end.
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Canceled)
    }

    /// Whether `by` may move a job that is in this state.
    pub fn allows(self, by: Move) -> bool {
        TRANSITIONS.iter().any(|row| row.from == Some(self) && row.by == by)
    }

    /// The name stored and shown: `PENDING`.
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

/// A text that names no state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a state of a job")]
pub struct UnknownState(String);

impl fmt::Display for Move {
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
            Self::Cancel => "cancel",
            Self::RetryManually => "retry manually",
        })
    }
}
