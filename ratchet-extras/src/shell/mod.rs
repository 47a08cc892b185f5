//! The job `ratchet.shell`: runs an allowed program.
//!
//! There is no shell: the arguments are passed to the program as they are. The program is an absolute path, which is
//! resolved and compared with the allow-list of the [`ShellPolicy`]. Its environment contains only what the policy
//! allows, its working directory is fixed, and its input is empty. Its output is captured up to a limit. The program
//! runs in a process group of its own, and the whole group is killed when the run ends, however it ends.
//!
//! ```no_run
//! use std::time::Duration;
//! use ratchet::{MemoryStore, Ratchet};
//! use ratchet_extras::shell::{Program, Shell, ShellPolicy};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let policy = ShellPolicy::builder()
//!     .program(Program::at("/usr/bin/pg_dump").option("--schema").fatal_exit(2))
//!     .env("LANG", "C.UTF-8")
//!     .working_dir("/var/backups")
//!     .max_runtime(Duration::from_secs(600))
//!     .build()?;
//! let ratchet = Ratchet::builder(MemoryStore::new()).state(policy).build().await?;
//! let worker = ratchet.start().await?;
//!
//! let dump = Shell::run("/usr/bin/pg_dump").arg("--schema=shop").arg("orders");
//! let output = ratchet.enqueue(dump).await?.wait().await?;
//! println!("{}", output.stdout);
//! # worker.stop().await;
//! # Ok(())
//! # }
//! ```
//!
//! # What the policy does not contain
//!
//! - An allowed program runs with the rights of the worker. Run the worker as a user with few rights.
//! - A process that leaves its process group (`setsid`) is not killed. It does not delay the end of the run.
//! - If the worker itself is killed by `SIGKILL`, its programs continue until they end or write to their closed output.
//! - A user who can write to the directory of an allowed program can replace it. The policy refuses programs that every user
//!   of the machine can replace.

mod capture;
mod outcome;
mod policy;
#[cfg(unix)]
mod process;
mod program;
mod refusal;

use std::collections::BTreeMap;

use ratchet_core::{JobContext, JobError, State};
use ratchet_macros::job;

pub use self::capture::Captured;
pub use self::outcome::{ShellError, ShellOutput};
pub use self::policy::{ShellPolicy, ShellPolicyBuilder, ShellPolicyError};
pub use self::program::Program;
pub use self::refusal::ShellRefusal;

/// Runs a program that the [`ShellPolicy`] allows. The stored name of the job is `ratchet.shell`.
///
/// See the [module](self) for what is refused. The outcome follows the exit code: 0 succeeds, other codes and signals
/// are retried, unless the [`Program`] says otherwise.
#[job(name = "ratchet.shell", derive(Debug, Clone, PartialEq), crate = ::ratchet_core)]
pub async fn shell(
    #[inject] ctx: JobContext,
    #[inject] policy: State<ShellPolicy>,
    /// The absolute path of the program.
    program: String,
    /// The arguments, without the name of the program.
    #[job(default)]
    args: Vec<String>,
    /// Variables of the environment. The policy must allow each name.
    #[job(default, secret)]
    env: BTreeMap<String, String>,
) -> Result<ShellOutput, JobError> {
    let plan = policy.admit(&ctx, &program, args, env).await?;
    #[cfg(unix)]
    return process::run(&ctx, plan).await;
    #[cfg(not(unix))]
    return Err(ratchet_core::fatal(ShellError::Unsupported { program: plan.path }).into());
}

impl Shell {
    /// Creates an invocation without arguments. `program` is an absolute path.
    ///
    /// ```
    /// use ratchet_extras::shell::Shell;
    ///
    /// let invocation = Shell::run("/usr/bin/du").args(["-s", "/var/lib/shop"]);
    /// assert_eq!(invocation.args.len(), 2);
    /// ```
    pub fn run(program: impl Into<String>) -> Self {
        Self { program: program.into(), args: Vec::new(), env: BTreeMap::new() }
    }

    /// Adds one argument.
    pub fn arg(mut self, arg: impl Into<String>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets a variable of the environment.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }
}
