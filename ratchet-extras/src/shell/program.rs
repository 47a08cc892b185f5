//! [`Program`]: an allowed program, and what its arguments and exit codes mean.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use super::outcome::ExitMeaning;

/// A program that a [`ShellPolicy`](super::ShellPolicy) allows.
///
/// Jobs may pass arguments, but none that begins with `-` unless it is allowed as an [option](Self::option).
///
/// ```
/// use std::time::Duration;
/// use ratchet_extras::shell::Program;
///
/// let program = Program::at("/usr/bin/rsync")
///     .fixed_arg("--archive")            // before the arguments of every job
///     .option("--dry-run")               // a job may pass this
///     .ok_exit(24)                       // some files vanished
///     .retry_exit_after(30, Duration::from_secs(60));
/// ```
#[derive(Debug, Clone)]
#[must_use = "a program is allowed when it is given to `ShellPolicyBuilder::program`"]
pub struct Program {
    pub(super) path: PathBuf,
    pub(super) fixed_args: Vec<String>,
    pub(super) options: BTreeSet<String>,
    pub(super) any_option: bool,
    pub(super) is_interpreter: bool,
    pub(super) exits: BTreeMap<i32, ExitMeaning>,
}

impl Program {
    /// Names a program by its absolute path. Links are resolved when the policy is built.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            fixed_args: Vec::new(),
            options: BTreeSet::new(),
            any_option: false,
            is_interpreter: false,
            exits: BTreeMap::from([(0, ExitMeaning::Success)]),
        }
    }

    /// Adds an argument that is passed before the arguments of the job.
    pub fn fixed_arg(mut self, arg: impl Into<String>) -> Self {
        self.fixed_args.push(arg.into());
        self
    }

    /// Allows jobs to pass this option. `--depth` allows `--depth` and `--depth=…`; `-v` allows `-v` only.
    ///
    /// `--` is an option too: it is refused unless it is allowed or a [fixed argument](Self::fixed_arg).
    pub fn option(mut self, option: impl Into<String>) -> Self {
        self.options.insert(option.into());
        self
    }

    /// Allows jobs to pass any option. An option of many programs can run another program or write a file.
    pub fn any_option(mut self) -> Self {
        self.any_option = true;
        self
    }

    /// Allows a program that runs other programs or code from its arguments, such as `sh`, `env` or `python3`.
    ///
    /// A job that can pass arguments to such a program can do anything that the worker can do.
    pub fn allow_interpreter(mut self) -> Self {
        self.is_interpreter = true;
        self
    }

    /// Treats an exit code as a success.
    pub fn ok_exit(self, code: i32) -> Self {
        self.exit(code, ExitMeaning::Success)
    }

    /// Treats an exit code as a permanent failure.
    pub fn fatal_exit(self, code: i32) -> Self {
        self.exit(code, ExitMeaning::Fatal)
    }

    /// Treats an exit code as a failed attempt with this delay before the next one.
    pub fn retry_exit_after(self, code: i32, delay: Duration) -> Self {
        self.exit(code, ExitMeaning::RetryAfter(delay))
    }

    fn exit(mut self, code: i32, meaning: ExitMeaning) -> Self {
        self.exits.insert(code, meaning);
        self
    }

    /// Returns what an exit code means. A code without a rule is a failed attempt.
    #[cfg_attr(not(unix), allow(dead_code))]
    pub(super) fn meaning(&self, code: i32) -> ExitMeaning {
        self.exits.get(&code).copied().unwrap_or(ExitMeaning::Retry)
    }

    /// Returns `true` if a job may pass this argument.
    pub(super) fn admits(&self, arg: &str) -> bool {
        if self.any_option || !arg.starts_with('-') || self.options.contains(arg) {
            return true;
        }
        let name = arg.split_once('=').map(|(name, _)| name);
        name.is_some_and(|name| name.starts_with("--") && self.options.contains(name))
    }
}

/// Program names that run other programs or code from their arguments.
pub(super) const INTERPRETERS: &[&str] = &[
    "ash", "awk", "bash", "busybox", "csh", "dash", "doas", "env", "expect", "fish", "gawk", "gdb",
    "ksh", "lua", "mawk", "mksh", "nice", "node", "nohup", "perl", "php", "python", "python2",
    "python3", "ruby", "setsid", "sh", "ssh", "stdbuf", "strace", "su", "sudo", "tclsh", "tcsh",
    "timeout", "unshare", "xargs", "yash", "zsh",
];

/// Returns `true` if a file name is that of an interpreter, with or without a version: `python3.12`, `bash`.
pub(super) fn is_interpreter(file_name: &str) -> bool {
    let name = file_name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    INTERPRETERS.contains(&file_name) || INTERPRETERS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_refused_unless_allowed() {
        let program = Program::at("/bin/x").option("--depth").option("-v");
        for (arg, admitted) in [
            ("file", true),
            ("", true),
            ("a-b", true),
            ("--depth", true),
            ("--depth=3", true),
            ("-v", true),
            ("-v=3", false),
            ("-vx", false),
            ("--depths", false),
            ("--depth-x=3", false),
            ("--", false),
            ("-", false),
            ("--exec=sh", false),
        ] {
            assert_eq!(program.admits(arg), admitted, "{arg}");
        }
        assert!(Program::at("/bin/x").any_option().admits("--exec=sh"));
    }

    #[test]
    fn exit_codes_have_a_meaning() {
        let minute = Duration::from_mins(1);
        let program = Program::at("/bin/x").ok_exit(24).fatal_exit(2).retry_exit_after(75, minute);
        for (code, meaning) in [
            (0, ExitMeaning::Success),
            (24, ExitMeaning::Success),
            (1, ExitMeaning::Retry),
            (2, ExitMeaning::Fatal),
            (75, ExitMeaning::RetryAfter(minute)),
        ] {
            assert_eq!(program.meaning(code), meaning, "{code}");
        }
    }

    #[test]
    fn interpreters_are_known_by_name() {
        for name in ["sh", "bash", "python3.12", "lua5.4", "env", "sudo"] {
            assert!(is_interpreter(name), "{name}");
        }
        for name in ["git", "pg_dump", "7z", "shred"] {
            assert!(!is_interpreter(name), "{name}");
        }
    }
}
