//! What exit codes and signals mean for a job.

use std::time::Duration;

use ratchet::Job as _;
use ratchet::model::TerminalReason;
use ratchet::testing::Sandbox;
use ratchet_extras::shell::{Shell, ShellPolicy};

use super::{policy, run, script};

#[tokio::test]
async fn exit_codes_decide_about_the_job() {
    let program = || script("echo why >&2; exit $1").fatal_exit(2).ok_exit(24);
    let ended = |code: &'static str| run(policy(program()), Shell::run("/bin/sh").arg(code));
    assert_eq!(ended("24").await.expect("a success").exit_code, 24);
    let failed = ended("1").await.expect_err("fails");
    assert_eq!((failed.reason, failed.attempts), (TerminalReason::RetryExhausted, 2));
    assert!(
        failed.failure.message.contains("exited with code 1: why"),
        "{}",
        failed.failure.message
    );
    assert_eq!(failed.failure.error_type, "ShellError");
    let fatal = ended("2").await.expect_err("fails");
    assert_eq!((fatal.reason, fatal.attempts), (TerminalReason::NonRetryable, 1));
}

#[tokio::test]
async fn an_exit_code_can_set_the_delay_of_the_retry() {
    let hour = Duration::from_hours(1);
    let policy = policy(script("exit 75").retry_exit_after(75, hour));
    let builder = Sandbox::builder().jobs([Shell::JOB]).state(policy);
    let sandbox = builder.build().await.expect("a sandbox");
    sandbox.enqueue(Shell::run("/bin/sh")).max_retries(1).await.expect("enqueued");
    assert_eq!(sandbox.drain().await.expect("drained").retried, 1);
    sandbox.advance(hour.saturating_sub(Duration::from_secs(1)));
    assert_eq!(sandbox.drain().await.expect("drained").runs(), 0);
    sandbox.advance(Duration::from_secs(1));
    assert_eq!(sandbox.drain().await.expect("drained").failed, 1);
}

#[tokio::test]
async fn a_signal_is_a_failed_attempt() {
    let failed = run(policy(script("kill -9 $$")), Shell::run("/bin/sh")).await.expect_err("fails");
    assert_eq!((failed.reason, failed.attempts), (TerminalReason::RetryExhausted, 2));
    assert!(failed.failure.message.contains("ended by signal 9"), "{}", failed.failure.message);
}

#[tokio::test]
async fn the_beginning_and_the_end_of_a_long_output_are_kept() {
    let text = "i=0; while [ $i -lt 1000 ]; do echo $i; i=$((i+1)); done";
    let policy = ShellPolicy::builder().program(script(text)).capture(8).build().expect("a policy");
    let stdout = run(policy, Shell::run("/bin/sh")).await.expect("succeeds").stdout;
    assert_eq!((stdout.head.as_str(), stdout.tail.as_str(), stdout.cut), ("0\n1\n", "999\n", 3882));
    assert_eq!(stdout.complete(), None);
}
