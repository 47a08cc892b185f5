//! The job `ratchet.shell`, and attacks on it. The tables in the README name these tests.
#![cfg(all(unix, feature = "shell"))]

mod arguments;
mod environment;
mod outcomes;
mod paths;
mod policies;
mod processes;

use std::path::PathBuf;

use ratchet::model::{Envelope, TerminalReason};
use ratchet::testing::Sandbox;
use ratchet::{Job as _, WaitError};
use ratchet_extras::shell::{Program, Shell, ShellOutput, ShellPolicy};

/// Allows a fixed script. The arguments of the job are `$1` and so on.
pub(crate) fn script(text: &str) -> Program {
    let program = Program::at("/bin/sh").allow_interpreter();
    program.fixed_arg("-c").fixed_arg(text).fixed_arg("script")
}

pub(crate) fn policy(program: Program) -> ShellPolicy {
    ShellPolicy::builder().program(program).build().expect("a policy")
}

pub(crate) fn resolved(path: &str) -> PathBuf {
    std::fs::canonicalize(path).expect("exists")
}

/// Runs one job to its end in a sandbox, with retries.
pub(crate) async fn run(policy: ShellPolicy, job: Shell) -> Result<ShellOutput, Box<Envelope>> {
    let builder = Sandbox::builder().jobs([Shell::JOB]).state(policy);
    let sandbox = builder.build().await.expect("a sandbox");
    let handle = sandbox.enqueue(job).max_retries(1).await.expect("enqueued");
    sandbox.drain_for(std::time::Duration::from_hours(24)).await.expect("drained");
    match handle.wait().await {
        Ok(output) => Ok(output),
        Err(WaitError::Failed(envelope)) => Err(envelope),
        Err(error) => panic!("{error}"),
    }
}

/// Runs a job that must be refused for this reason, in its first attempt.
pub(crate) async fn assert_refused(policy: ShellPolicy, job: Shell, reason: &str) {
    let refusals = policy.refusals();
    let envelope = run(policy, job.clone()).await.expect_err("refused");
    assert_eq!(envelope.reason, TerminalReason::Invalid, "{job:?}: {}", envelope.failure.message);
    assert_eq!(envelope.failure.code, reason, "{job:?}: {}", envelope.failure.message);
    assert_eq!(envelope.attempts, 1, "a refusal is not retried: {job:?}");
    assert_eq!((refusals.total(), refusals.count(reason)), (1, 1), "{job:?}");
}

// spec: Y-01
#[tokio::test]
async fn y_01_nothing_is_allowed_by_default() {
    let policy = ShellPolicy::builder().build().expect("a policy");
    assert_refused(policy, Shell::run("/bin/echo").arg("hello"), "program_not_allowed").await;
}

// spec: Y-01
#[tokio::test]
async fn y_01_an_allowed_program_runs_and_its_output_is_captured() {
    let policy = policy(script("printf '%s' \"$1\"; printf 'careful' >&2"));
    let refusals = policy.refusals();
    let output = run(policy, Shell::run("/bin/sh").arg("hello")).await.expect("succeeds");
    assert_eq!(output.exit_code, 0);
    assert_eq!(output.stdout.complete(), Some("hello"));
    assert_eq!(output.stderr.complete(), Some("careful"));
    assert_eq!(refusals.total(), 0);
}
