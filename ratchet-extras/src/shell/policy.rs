//! [`ShellPolicy`]: which programs jobs may run, and how.

mod builder;
mod file_check;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ratchet_core::{JobContext, JobError};

pub use self::builder::{ShellPolicyBuilder, ShellPolicyError};
use super::{Program, ShellError, ShellRefusal};
use crate::Refusals;

/// Which programs the job `ratchet.shell` may run, and how. Without configuration, none.
///
/// Register it with `.state(policy)`. A worker that knows the job does not start without a policy.
#[derive(Debug)]
pub struct ShellPolicy {
    /// By resolved path.
    programs: BTreeMap<PathBuf, Arc<Program>>,
    env: BTreeMap<String, String>,
    job_env: BTreeSet<String>,
    working_dir: PathBuf,
    limits: Limits,
    refusals: Refusals,
}

/// The limits of one run.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(unix), allow(dead_code))]
pub(super) struct Limits {
    pub(super) max_runtime: Option<Duration>,
    pub(super) kill_grace: Duration,
    pub(super) capture: usize,
    pub(super) max_output: u64,
    pub(super) max_args: usize,
    pub(super) max_arg_bytes: usize,
}

/// A run that the policy has admitted.
#[derive(Debug)]
#[cfg_attr(not(unix), allow(dead_code))]
pub(super) struct Plan {
    /// The resolved path, which is executed.
    pub(super) path: PathBuf,
    pub(super) program: Arc<Program>,
    /// The arguments of the job, without the fixed ones.
    pub(super) args: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) working_dir: PathBuf,
    pub(super) limits: Limits,
}

impl ShellPolicy {
    /// Starts building a policy that allows nothing.
    pub fn builder() -> ShellPolicyBuilder {
        ShellPolicyBuilder::default()
    }

    /// Returns the counter of refused jobs.
    pub fn refusals(&self) -> Refusals {
        self.refusals.clone()
    }

    /// Admits a run or refuses it.
    pub(super) async fn admit(
        &self,
        ctx: &JobContext,
        program: &str,
        args: Vec<String>,
        env: BTreeMap<String, String>,
    ) -> Result<Plan, JobError> {
        let refuse = |refusal| self.refusals.refuse(ctx, refusal);
        self.check_form(program, &args, &env).map_err(refuse)?;
        let path = match resolve(program).await {
            Ok(path) => path,
            // The program may be about to be replaced by an update.
            Err(source) if self.programs.contains_key(Path::new(program)) => {
                return Err(ShellError::Start { program: program.into(), source }.into());
            }
            Err(_) => {
                let program = program.to_owned();
                return Err(refuse(ShellRefusal::ProgramNotAllowed { program }));
            }
        };
        let Some(rule) = self.programs.get(&path) else {
            return Err(refuse(ShellRefusal::ProgramNotAllowed { program: program.to_owned() }));
        };
        if let Some(index) = args.iter().position(|arg| !rule.admits(arg)) {
            let program = program.to_owned();
            return Err(refuse(ShellRefusal::OptionNotAllowed { program, index }));
        }
        let mut variables = self.env.clone();
        variables.extend(env);
        Ok(Plan {
            path,
            program: Arc::clone(rule),
            args,
            env: variables,
            working_dir: self.working_dir.clone(),
            limits: self.limits,
        })
    }

    /// Checks everything that needs no look at the file system.
    fn check_form(
        &self,
        program: &str,
        args: &[String],
        env: &BTreeMap<String, String>,
    ) -> Result<(), ShellRefusal> {
        let texts = || args.iter().chain(env.keys()).chain(env.values());
        if program.contains('\0') || texts().any(|text| text.contains('\0')) {
            return Err(ShellRefusal::Nul);
        }
        if let Some(name) = env.keys().find(|name| !self.job_env.contains(*name)) {
            return Err(ShellRefusal::VariableNotAllowed { name: name.clone() });
        }
        let (count, bytes) = (args.len(), texts().map(String::len).sum());
        if count > self.limits.max_args || bytes > self.limits.max_arg_bytes {
            let program = program.to_owned();
            return Err(ShellRefusal::TooManyArguments { program, count, bytes });
        }
        if !Path::new(program).is_absolute() {
            return Err(ShellRefusal::RelativePath { program: program.to_owned() });
        }
        Ok(())
    }
}

/// Resolves all links of a path, on a thread that may block.
async fn resolve(program: &str) -> std::io::Result<PathBuf> {
    let path = PathBuf::from(program);
    let resolved = tokio::task::spawn_blocking(move || std::fs::canonicalize(path));
    resolved.await.map_err(std::io::Error::other)?
}
