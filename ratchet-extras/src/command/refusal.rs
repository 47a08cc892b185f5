//! [`CommandRefusal`]: why a command is not called.

use crate::Refusal;

/// Why the job `ratchet.command` refuses to call a function. The job fails as `invalid`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommandRefusal {
    /// No function is registered under this name.
    #[error(
        "the command `{command}` is not registered; register it with `CommandsBuilder::command`"
    )]
    Unknown {
        /// The name, shortened.
        command: String,
    },
    /// The function cannot read the arguments.
    #[error("the arguments do not fit the command `{command}`")]
    BadArguments {
        /// The name of the command.
        command: String,
        /// What does not fit.
        source: serde_json::Error,
    },
}

impl CommandRefusal {
    /// Returns the name under which the refusal is counted.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "unknown_command",
            Self::BadArguments { .. } => "bad_arguments",
        }
    }
}

impl Refusal for CommandRefusal {
    fn reason(&self) -> &'static str {
        Self::reason(self)
    }
}
