//! What a run of a program results in.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use ratchet_core::{JobError, fatal, retry_after};
use serde::{Deserialize, Serialize};

use super::capture::Captured;

/// The output of the job `ratchet.shell`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ShellOutput {
    /// The exit code. It is 0, or one that [`Program::ok_exit`](super::Program::ok_exit) allows.
    pub exit_code: i32,
    /// The standard output.
    pub stdout: Captured,
    /// The standard error output.
    pub stderr: Captured,
}

/// Why a program that was allowed has not succeeded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShellError {
    /// The program ended with an exit code that is not a success.
    #[error("`{}` exited with code {code}{}", program.display(), said(stderr))]
    Exit {
        /// The resolved path of the program.
        program: PathBuf,
        /// The exit code.
        code: i32,
        /// The standard output.
        stdout: Captured,
        /// The standard error output.
        stderr: Captured,
    },
    /// A signal ended the program.
    #[error("`{}` was ended by signal {signal}{}", program.display(), said(stderr))]
    Signal {
        /// The resolved path of the program.
        program: PathBuf,
        /// The number of the signal.
        signal: i32,
        /// The standard error output.
        stderr: Captured,
    },
    /// The program ran longer than the policy allows. It was killed.
    #[error("`{}` was killed because it ran longer than {limit:?}, the `max_runtime` of the policy", program.display())]
    TimedOut {
        /// The resolved path of the program.
        program: PathBuf,
        /// The limit of the policy.
        limit: Duration,
    },
    /// The run was canceled, timed out, or must end because its worker stops. The program was killed.
    #[error("`{}` was killed because its run was stopped", program.display())]
    Stopped {
        /// The resolved path of the program.
        program: PathBuf,
    },
    /// The program wrote more than the policy allows. It was killed.
    #[error("`{}` was killed because it wrote more than {limit} bytes, the `max_output` of the policy", program.display())]
    TooMuchOutput {
        /// The resolved path of the program.
        program: PathBuf,
        /// The limit of the policy.
        limit: u64,
    },
    /// The program is allowed, but cannot be started or waited for.
    #[error("`{}` could not be run; check that it exists and that the worker may execute it", program.display())]
    Start {
        /// The path of the program.
        program: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Programs can be run on Unix only.
    #[error("`{}` cannot be run: the job `ratchet.shell` needs Unix", program.display())]
    Unsupported {
        /// The path of the program.
        program: PathBuf,
    },
}

/// The last line of an error output, for the message of an error.
fn said(stderr: &Captured) -> String {
    let end = if stderr.cut == 0 { &stderr.head } else { &stderr.tail };
    let line = end.trim_end().lines().next_back().unwrap_or_default();
    let line = &line[line.ceil_char_boundary(line.len().saturating_sub(500))..];
    if line.is_empty() { String::new() } else { format!(": {line}") }
}

/// What an exit code means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExitMeaning {
    Success,
    /// A failed attempt, with the backoff of the job.
    Retry,
    /// A failed attempt, with this delay.
    RetryAfter(Duration),
    /// The job fails permanently.
    Fatal,
}

impl ExitMeaning {
    /// Applies the meaning to an error. A success is not an error.
    #[cfg_attr(not(unix), allow(dead_code))]
    pub(super) fn apply(self, error: ShellError) -> JobError {
        match self {
            Self::Success | Self::Retry => error.into(),
            Self::RetryAfter(delay) => retry_after(error, delay).into(),
            Self::Fatal => fatal(error).into(),
        }
    }
}
