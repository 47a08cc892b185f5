//! Exit codes, and the errors that cause them.

use std::error::Error;
use std::{fmt, io};

use ratchet_core::{
    BuildError, BulkError, EditError, FailureError, NodeError, RevealError, ScheduleError,
    StartError, StoreError, StoreErrorKind, SubmitError, WaitError,
};
use ratchet_store::model::{CommandError, FilterError};

/// The exit code of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[non_exhaustive]
pub enum ExitStatus {
    /// The command did what it says.
    Done = 0,
    /// The command was refused, or `doctor` or `health` found a problem.
    Refused = 1,
    /// The command line is wrong.
    Usage = 2,
    /// The job, queue, schedule or group does not exist.
    NotFound = 3,
    /// The object is in a state that does not allow the command.
    Conflict = 4,
    /// The store cannot be reached or opened.
    Unreachable = 5,
    /// The database does not permit the command.
    Denied = 6,
}

impl ExitStatus {
    /// Every exit code with its meaning.
    pub const ALL: [(Self, &'static str); 7] = [
        (Self::Done, "done"),
        (Self::Refused, "refused, or a problem was found"),
        (Self::Usage, "the command line is wrong"),
        (Self::NotFound, "not found"),
        (Self::Conflict, "the state of the object does not allow the command"),
        (Self::Unreachable, "the store cannot be reached or opened"),
        (Self::Denied, "the database does not permit the command"),
    ];

    /// Returns the number that the process exits with.
    pub const fn code(self) -> u8 {
        self as u8
    }
}

/// A command that failed: its exit code and the message for the operator.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: ExitStatus,
    message: String,
}

impl Failure {
    pub(crate) fn new(status: ExitStatus, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(ExitStatus::Usage, message)
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(ExitStatus::NotFound, message)
    }

    pub(crate) fn refused(message: impl Into<String>) -> Self {
        Self::new(ExitStatus::Refused, message)
    }

    fn of(status: ExitStatus, error: &dyn Error) -> Self {
        Self::new(status, with_sources(error))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Returns the message of an error and of its sources.
pub(crate) fn with_sources(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(": ");
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
}

fn store_status(error: &StoreError) -> ExitStatus {
    match error.kind() {
        StoreErrorKind::Unavailable
        | StoreErrorKind::Locked
        | StoreErrorKind::Schema
        | StoreErrorKind::Config => ExitStatus::Unreachable,
        StoreErrorKind::ReadOnly | StoreErrorKind::Denied => ExitStatus::Denied,
        _ => ExitStatus::Refused,
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::of(store_status(&error), &error)
    }
}

impl From<CommandError> for Failure {
    fn from(error: CommandError) -> Self {
        let status = match &error {
            CommandError::NotFound(_)
            | CommandError::GroupNotFound(_)
            | CommandError::OperationNotFound(_) => ExitStatus::NotFound,
            CommandError::IllegalTransition { .. }
            | CommandError::BusinessKeyTaken { .. }
            | CommandError::Moved { .. }
            | CommandError::HasSuccessor { .. }
            | CommandError::Archived { .. }
            | CommandError::NotEditable { .. }
            | CommandError::OperationEnded { .. } => ExitStatus::Conflict,
            CommandError::Store(error) => store_status(error),
            _ => ExitStatus::Refused,
        };
        Self::of(status, &error)
    }
}

impl From<EditError> for Failure {
    fn from(error: EditError) -> Self {
        match error {
            EditError::Command(error) => error.into(),
            EditError::Submit(error) => error.into(),
            error => Self::of(ExitStatus::Refused, &error),
        }
    }
}

impl From<RevealError> for Failure {
    fn from(error: RevealError) -> Self {
        match error {
            RevealError::Command(error) => error.into(),
            error => Self::of(ExitStatus::Refused, &error),
        }
    }
}

impl From<BulkError> for Failure {
    fn from(error: BulkError) -> Self {
        match error {
            BulkError::Command(error) => error.into(),
            error => Self::of(ExitStatus::Conflict, &error),
        }
    }
}

impl From<ScheduleError> for Failure {
    fn from(error: ScheduleError) -> Self {
        let status = match &error {
            ScheduleError::NotFound(_) => ExitStatus::NotFound,
            ScheduleError::Contended(_) => ExitStatus::Conflict,
            ScheduleError::Store(error) => store_status(error),
            _ => ExitStatus::Refused,
        };
        Self::of(status, &error)
    }
}

impl From<FailureError> for Failure {
    fn from(error: FailureError) -> Self {
        let status = match &error {
            FailureError::NotFound { .. } => ExitStatus::NotFound,
            FailureError::Store(error) => store_status(error),
            _ => ExitStatus::Refused,
        };
        Self::of(status, &error)
    }
}

impl From<NodeError> for Failure {
    fn from(error: NodeError) -> Self {
        let status = match &error {
            NodeError::NotFound(_) => ExitStatus::NotFound,
            NodeError::Stopping(_) => ExitStatus::Conflict,
            NodeError::Store(error) => store_status(error),
            _ => ExitStatus::Refused,
        };
        Self::of(status, &error)
    }
}

impl From<FilterError> for Failure {
    fn from(error: FilterError) -> Self {
        Self::of(ExitStatus::Usage, &error)
    }
}

/// Converts errors that have no exit code of their own.
macro_rules! refused {
    ($($error:ty),*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::of(ExitStatus::Refused, &error)
            }
        }
    )*};
}

refused!(BuildError, StartError, SubmitError, WaitError);

/// Converts errors of the output. A reader that needs no more, such as `head`, is no error.
macro_rules! output {
    ($($error:ty => $is_broken_pipe:expr),* $(,)?) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                let is_broken_pipe: fn(&$error) -> bool = $is_broken_pipe;
                if is_broken_pipe(&error) {
                    return Self::new(ExitStatus::Done, "");
                }
                Self::of(ExitStatus::Refused, &error)
            }
        }
    )*};
}

output! {
    io::Error => |error| error.kind() == io::ErrorKind::BrokenPipe,
    serde_json::Error => |error| error.io_error_kind() == Some(io::ErrorKind::BrokenPipe),
    csv::Error => |error| {
        matches!(error.kind(), csv::ErrorKind::Io(error) if error.kind() == io::ErrorKind::BrokenPipe)
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: O-12
    #[test]
    fn o_12_a_missing_right_is_denied() {
        for (kind, status) in [
            (StoreErrorKind::Denied, ExitStatus::Denied),
            (StoreErrorKind::ReadOnly, ExitStatus::Denied),
            (StoreErrorKind::Config, ExitStatus::Unreachable),
        ] {
            assert_eq!(Failure::from(StoreError::new(kind, "no")).status, status);
        }
    }
}
