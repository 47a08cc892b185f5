//! Programs that do not want to end.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use ratchet::model::TerminalReason;
use ratchet::{Job as _, JobContext, MemoryStore, Ratchet, State, WaitError};
use ratchet_extras::shell::{Shell, ShellPolicy, shell};

use super::{run, script};

/// A process that is reaped by nobody but has ended is not alive.
#[cfg(target_os = "linux")]
fn is_alive(pid: &str) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())) else {
        return false;
    };
    !stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with(['Z', 'X']))
}

#[cfg(not(target_os = "linux"))]
fn is_alive(pid: &str) -> bool {
    let pid = pid.trim().parse().ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
}

/// Waits for a condition. The limit is only for a test that fails.
async fn until(what: &str, mut is_true: impl FnMut() -> bool) {
    let wait = async {
        while !is_true() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let in_time = tokio::time::timeout(Duration::from_mins(1), wait).await;
    assert!(in_time.is_ok(), "waited too long: {what}");
}

/// Waits until a script has written all of its process ids, and returns them.
async fn pids(file: &Path, count: usize) -> Vec<String> {
    let read = || std::fs::read_to_string(file).unwrap_or_default();
    until("the script has started", || read().lines().count() >= count && read().ends_with('\n'))
        .await;
    read().lines().map(str::to_owned).collect()
}

async fn assert_ended(pids: &[String]) {
    for pid in pids {
        until(&format!("process {pid} has ended"), || !is_alive(pid)).await;
    }
}

/// Ignores SIGTERM, has a child that does the same, and writes both process ids to `$1`.
const STUBBORN: &str = "trap '' TERM; (trap '' TERM; sleep 600) & \
    echo $! >>\"$1\"; echo $$ >>\"$1\"; sleep 600; sleep 600";

#[tokio::test]
async fn a_canceled_program_that_ignores_sigterm_is_killed_with_its_children() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("pids");
    let policy = ShellPolicy::builder().program(script(STUBBORN)).env("PATH", "/bin:/usr/bin");
    let policy = policy.kill_grace(Duration::from_millis(20)).build().expect("a policy");
    let builder = Ratchet::builder(MemoryStore::new()).jobs([Shell::JOB]).state(policy);
    let ratchet = builder.build().await.expect("a runtime");
    let worker = ratchet.start().await.expect("a worker");
    let job = Shell::run("/bin/sh").arg(file.to_str().expect("text"));
    let handle = ratchet.enqueue(job).await.expect("enqueued");
    let pids = pids(&file, 2).await;
    assert!(pids.iter().all(|pid| is_alive(pid)));
    handle.cancel().await.expect("canceled");
    assert!(matches!(handle.wait().await, Err(WaitError::Canceled(_))));
    assert_ended(&pids).await;
    worker.stop().await;
}

#[tokio::test]
async fn a_program_that_exceeds_the_timeout_of_its_job_is_killed_with_its_children() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("pids");
    let policy = ShellPolicy::builder().program(script(STUBBORN)).env("PATH", "/bin:/usr/bin");
    let builder = Ratchet::builder(MemoryStore::new())
        .jobs([Shell::JOB])
        .state(policy.build().expect("a policy"));
    let ratchet = builder.build().await.expect("a runtime");
    let worker = ratchet.start().await.expect("a worker");
    let job = Shell::run("/bin/sh").arg(file.to_str().expect("text"));
    let handle = ratchet.enqueue(job).timeout(Duration::from_secs(1)).max_retries(0).await;
    let ended = handle.expect("enqueued").wait().await;
    assert!(matches!(ended, Err(WaitError::Failed(_))), "{ended:?}");
    // On a slow machine the script may have been killed before it wrote anything.
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert_ended(&written.lines().map(str::to_owned).collect::<Vec<_>>()).await;
    worker.stop().await;
}

#[tokio::test]
async fn a_program_that_exceeds_the_limit_of_the_policy_is_killed() {
    let policy = ShellPolicy::builder()
        .program(script("trap '' TERM; sleep 600; sleep 600"))
        .env("PATH", "/bin:/usr/bin")
        .max_runtime(Duration::from_millis(50))
        .kill_grace(Duration::from_millis(10))
        .build()
        .expect("a policy");
    let failed = run(policy, Shell::run("/bin/sh")).await.expect_err("killed");
    assert_eq!((failed.reason, failed.attempts), (TerminalReason::RetryExhausted, 2));
    assert!(failed.failure.message.contains("ran longer than 50ms"), "{}", failed.failure.message);
}

#[tokio::test]
async fn a_dropped_run_kills_the_program_with_its_children() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("pids");
    let policy = ShellPolicy::builder().program(script(STUBBORN)).env("PATH", "/bin:/usr/bin");
    let policy = State::new(policy.build().expect("a policy"));
    let args = vec![file.to_str().expect("text").to_owned()];
    let run = shell(JobContext::for_test(), policy, "/bin/sh".to_owned(), args, BTreeMap::new());
    let pids = tokio::select! {
        ended = run => panic!("ended: {ended:?}"),
        pids = pids(&file, 2) => pids,
    };
    assert_ended(&pids).await;
}

#[tokio::test]
async fn a_grandchild_does_not_outlive_the_program() {
    let text = "sleep 600 & echo $!";
    let policy = ShellPolicy::builder().program(script(text)).env("PATH", "/bin:/usr/bin");
    let output = run(policy.build().expect("a policy"), Shell::run("/bin/sh")).await;
    let stdout = output.expect("the program itself has succeeded").stdout;
    assert_ended(&[stdout.complete().expect("a line").to_owned()]).await;
}

/// It cannot be killed with the group, but it must not keep the run from ending by holding the output open.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_process_that_leaves_the_group_does_not_delay_the_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("pid");
    let text = "setsid sh -c 'echo $$ >\"$1\"; exec sleep 600' sh \"$1\" & while ! [ -s \"$1\" ]; do :; done";
    let policy = ShellPolicy::builder().program(script(text)).env("PATH", "/bin:/usr/bin");
    let job = Shell::run("/bin/sh").arg(file.to_str().expect("text"));
    run(policy.build().expect("a policy"), job).await.expect("the program itself has succeeded");
    let pid = pids(&file, 1).await.remove(0);
    assert!(is_alive(&pid), "the run has ended first");
    let kill = std::process::Command::new("kill").args(["-9", &pid]).status();
    assert!(kill.expect("kill").success());
}

#[tokio::test]
async fn endless_output_is_counted_and_ended() {
    let policy = ShellPolicy::builder()
        .program(script("while :; do echo endless; done"))
        .max_output(100_000)
        .build()
        .expect("a policy");
    let failed = run(policy, Shell::run("/bin/sh")).await.expect_err("killed");
    assert_eq!((failed.reason, failed.attempts), (TerminalReason::NonRetryable, 1));
    assert!(
        failed.failure.message.contains("wrote more than 100000 bytes"),
        "{}",
        failed.failure.message
    );
}

#[tokio::test]
async fn output_that_comes_before_the_exit_is_not_lost() {
    let text = "i=0; while [ $i -lt 2000 ]; do echo 0123456789; echo e >&2; i=$((i+1)); done";
    let policy = ShellPolicy::builder().program(script(text)).capture(60_000);
    let policy = policy.build().expect("a policy");
    let output = run(policy, Shell::run("/bin/sh")).await.expect("succeeds");
    assert_eq!(output.stdout.complete().map(str::len), Some(22_000));
    assert_eq!(output.stderr.complete().map(str::len), Some(4000));
}
