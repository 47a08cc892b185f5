//! Builds a [`ShellPolicy`].

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::file_check::{check_directory, check_program};
use super::{Limits, ShellPolicy};
use crate::Refusals;
use crate::shell::Program;

/// Builds a [`ShellPolicy`]. What is not allowed here is refused.
///
/// ```
/// use ratchet_extras::shell::{Program, ShellPolicy, ShellPolicyError};
///
/// # #[cfg(unix)] {
/// let error = ShellPolicy::builder().program(Program::at("pg_dump")).build().unwrap_err();
/// assert!(matches!(error, ShellPolicyError::RelativePath { .. }));
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is allowed until `.build()`"]
pub struct ShellPolicyBuilder {
    programs: Vec<Program>,
    env: BTreeMap<String, String>,
    job_env: BTreeSet<String>,
    working_dir: PathBuf,
    limits: Limits,
}

/// Why a [`ShellPolicy`] cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShellPolicyError {
    /// The path of a program or of the working directory is not absolute.
    #[error("`{}` must be an absolute path", path.display())]
    RelativePath {
        /// The path.
        path: PathBuf,
    },
    /// A program or the working directory does not exist or cannot be read.
    #[error("`{}` cannot be read; it must exist when the policy is built", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The path is not an executable file.
    #[error("`{}` must be an executable file", path.display())]
    NotExecutable {
        /// The path.
        path: PathBuf,
    },
    /// The working directory is not a directory.
    #[error("the working directory `{}` must be a directory", path.display())]
    NotADirectory {
        /// The path.
        path: PathBuf,
    },
    /// Every user of the machine can replace the program.
    #[error("every user can write to `{}`, and thereby replace the program `{}`; remove that permission", writable.display(), program.display())]
    WritableByAll {
        /// The program.
        program: PathBuf,
        /// The program itself or one of its directories.
        writable: PathBuf,
    },
    /// The program runs other programs or code from its arguments.
    #[error("`{}` runs other programs or code from its arguments; if jobs may do that, add `Program::allow_interpreter`", path.display())]
    Interpreter {
        /// The resolved path of the program.
        path: PathBuf,
    },
    /// Two rules name the same program.
    #[error("two programs of the policy resolve to `{}`; merge their rules", path.display())]
    Duplicate {
        /// The resolved path of the program.
        path: PathBuf,
    },
    /// The name or the value of a variable is not valid.
    #[error(
        "`{name}` cannot be a variable: a name must not be empty or contain `=`, and neither part may contain NUL"
    )]
    BadVariable {
        /// The name of the variable.
        name: String,
    },
    /// Jobs must not set a variable that makes a program load other code.
    #[error(
        "jobs must not set `{name}`, because it can make a program load other code; set a fixed value with `env`"
    )]
    DangerousVariable {
        /// The name of the variable.
        name: String,
    },
    /// Programs can be run on Unix only.
    #[error("programs can be allowed on Unix only")]
    Unsupported,
}

impl Default for ShellPolicyBuilder {
    fn default() -> Self {
        Self {
            programs: Vec::new(),
            env: BTreeMap::new(),
            job_env: BTreeSet::new(),
            working_dir: PathBuf::from("/"),
            limits: Limits {
                max_runtime: None,
                kill_grace: Duration::from_secs(2),
                capture: 16 * 1024,
                max_output: 64 * 1024 * 1024,
                max_args: 256,
                max_arg_bytes: 64 * 1024,
            },
        }
    }
}

impl ShellPolicyBuilder {
    /// Allows a program.
    pub fn program(mut self, program: Program) -> Self {
        self.programs.push(program);
        self
    }

    /// Sets a variable of the environment of all programs. No other variable is passed on, not even `PATH`.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// Passes on a variable of the worker's environment, with its value when this method is called. A missing variable
    /// is not passed on.
    pub fn inherit_env(self, name: impl Into<String>) -> Self {
        let name = name.into();
        match std::env::var(&name) {
            Ok(value) => self.env(name, value),
            Err(_) => self,
        }
    }

    /// Allows jobs to set this variable.
    pub fn job_env(mut self, name: impl Into<String>) -> Self {
        self.job_env.insert(name.into());
        self
    }

    /// Sets the working directory of all programs; `/` unless set.
    pub fn working_dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.working_dir = path.into();
        self
    }

    /// Sets how long a program may run. Without it, only the timeout of the job applies.
    pub fn max_runtime(mut self, limit: Duration) -> Self {
        self.limits.max_runtime = Some(limit);
        self
    }

    /// Sets how long a program may continue after `SIGTERM`; 2 s unless set. Then its process group is killed.
    ///
    /// A canceled run is dropped after the `cancel_grace` of the runtime, which kills the group at once.
    pub fn kill_grace(mut self, grace: Duration) -> Self {
        self.limits.kill_grace = grace;
        self
    }

    /// Sets how many bytes of each output are kept, half of them at the end; 16 KiB unless set.
    ///
    /// The result of a job is kept only if it fits into the `output_limit` of the runtime, 64 KiB of JSON unless set.
    pub fn capture(mut self, bytes: usize) -> Self {
        self.limits.capture = bytes;
        self
    }

    /// Sets how many bytes a program may write before it is killed; 64 MiB unless set.
    pub fn max_output(mut self, bytes: u64) -> Self {
        self.limits.max_output = bytes;
        self
    }

    /// Sets how many arguments a job may pass, and how many bytes they may take together with its variables; 256 and
    /// 64 KiB unless set.
    pub fn max_arguments(mut self, count: usize, bytes: usize) -> Self {
        (self.limits.max_args, self.limits.max_arg_bytes) = (count, bytes);
        self
    }

    /// Builds the policy. Resolves the paths of the programs and checks them.
    pub fn build(self) -> Result<ShellPolicy, ShellPolicyError> {
        if !cfg!(unix) && !self.programs.is_empty() {
            return Err(ShellPolicyError::Unsupported);
        }
        let mut programs = BTreeMap::new();
        for program in self.programs {
            let path = check_program(&program)?;
            if programs.insert(path.clone(), Arc::new(program)).is_some() {
                return Err(ShellPolicyError::Duplicate { path });
            }
        }
        let job_names = self.job_env.iter().map(|name| (name, ""));
        for (name, value) in self.env.iter().map(|(name, value)| (name, &**value)).chain(job_names)
        {
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                return Err(ShellPolicyError::BadVariable { name: name.clone() });
            }
        }
        if let Some(name) = self.job_env.iter().find(|name| loads_code(name)) {
            return Err(ShellPolicyError::DangerousVariable { name: name.clone() });
        }
        // A policy that allows nothing works on every system.
        if !programs.is_empty() {
            check_directory(&self.working_dir)?;
        }
        Ok(ShellPolicy {
            programs,
            env: self.env,
            job_env: self.job_env,
            working_dir: self.working_dir,
            limits: self.limits,
            refusals: Refusals::default(),
        })
    }
}

/// Returns `true` if a variable can make a program or its interpreter load other code.
fn loads_code(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "BASH_ENV",
        "BROWSER",
        "CDPATH",
        "EDITOR",
        "ENV",
        "GCONV_PATH",
        "GLOBIGNORE",
        "HOSTALIASES",
        "IFS",
        "LESSOPEN",
        "NODE_OPTIONS",
        "NODE_PATH",
        "PAGER",
        "PATH",
        "PROMPT_COMMAND",
        "PS4",
        "SHELL",
        "SHELLOPTS",
        "BASHOPTS",
        "VISUAL",
    ];
    const PREFIXES: &[&str] = &[
        "BASH_FUNC_",
        "DYLD_",
        "GIT_",
        "GLIBC_TUNABLES",
        "JAVA_",
        "_JAVA_",
        "JDK_JAVA_",
        "LD_",
        "LUA_",
        "MALLOC_",
        "PERL",
        "PYTHON",
        "RUBY",
        "SSH_ASKPASS",
    ];
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}
