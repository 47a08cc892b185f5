//! [`ShellRefusal`]: why a program is not run.

use crate::Refusal;

/// Why the job `ratchet.shell` refuses to run a program. The job fails as `invalid`.
///
/// Messages contain neither arguments nor values of variables, because these can be confidential.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShellRefusal {
    /// The program is not an absolute path.
    #[error("`{program}` is not an absolute path; programs are not searched in `PATH`")]
    RelativePath {
        /// The program as the job names it.
        program: String,
    },
    /// The resolved path of the program is not on the allow-list.
    #[error(
        "`{program}` is not an allowed program; allow its resolved path with `ShellPolicyBuilder::program`"
    )]
    ProgramNotAllowed {
        /// The program as the job names it.
        program: String,
    },
    /// An argument begins with `-` and is not an allowed option.
    #[error(
        "argument {index} of `{program}` is an option that is not allowed; allow it with `Program::option`"
    )]
    OptionNotAllowed {
        /// The program as the job names it.
        program: String,
        /// The position of the argument. The first is 0.
        index: usize,
    },
    /// There are more or longer arguments than the policy allows.
    #[error(
        "the {count} arguments of `{program}` take {bytes} bytes, which is more than the policy allows"
    )]
    TooManyArguments {
        /// The program as the job names it.
        program: String,
        /// The number of arguments.
        count: usize,
        /// Their length, with the variables of the environment.
        bytes: usize,
    },
    /// The program, an argument or a variable contains a NUL.
    #[error("the program, an argument or a variable contains a NUL character")]
    Nul,
    /// The job sets a variable of the environment that is not allowed.
    #[error(
        "the variable `{name}` may not be set by a job; allow it with `ShellPolicyBuilder::job_env`"
    )]
    VariableNotAllowed {
        /// The name of the variable.
        name: String,
    },
}

impl ShellRefusal {
    /// Returns the name under which the refusal is counted.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::RelativePath { .. } => "relative_path",
            Self::ProgramNotAllowed { .. } => "program_not_allowed",
            Self::OptionNotAllowed { .. } => "option_not_allowed",
            Self::TooManyArguments { .. } => "too_many_arguments",
            Self::Nul => "nul",
            Self::VariableNotAllowed { .. } => "variable_not_allowed",
        }
    }
}

impl Refusal for ShellRefusal {
    fn reason(&self) -> &'static str {
        Self::reason(self)
    }
}
