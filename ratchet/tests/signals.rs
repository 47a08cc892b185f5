//! Sends real signals to a child process and checks how its worker stops.
#![cfg(unix)]
#![allow(clippy::print_stdout)] // the child reports to its parent on stdout

use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use ratchet::MemoryStore;
use ratchet::prelude::*;

const MODE: &str = "RATCHET_SIGNAL_TEST";

/// Prints when it starts and when the worker stops, then returns or, if `forever`, keeps running.
#[job(max_retries = 0)]
async fn linger(#[inject] ctx: JobContext, forever: bool) {
    println!("begun");
    ctx.shutdown().cancelled().await;
    println!("stopping");
    if forever {
        std::future::pending::<()>().await;
    }
}

/// Blocks its thread for longer than any test takes.
#[job(max_retries = 0, blocking)]
fn block() {
    println!("begun");
    std::thread::sleep(Duration::from_hours(1));
}

/// Blocks a thread of the runtime, which async handlers must not do.
#[job(max_retries = 0)]
async fn hog() {
    println!("begun");
    std::thread::sleep(Duration::from_hours(1));
}

/// The program under test. Does nothing unless it was started by one of the tests below.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child() {
    let Ok(mode) = std::env::var(MODE) else { return };
    let ratchet = Ratchet::builder(MemoryStore::new())
        .jobs([Linger::JOB, Block::JOB, Hog::JOB])
        .shutdown_grace(if matches!(&*mode, "no grace" | "return") {
            Duration::ZERO
        } else {
            Duration::from_hours(1)
        })
        .build()
        .await
        .expect("builds");
    let worker = ratchet.start().await.expect("starts");
    let job = match mode.as_str() {
        "hog" => ratchet.enqueue(Hog {}).into_new_job(),
        "blocking" | "no grace" | "return" => ratchet.enqueue(Block {}).into_new_job(),
        mode => ratchet.enqueue(Linger { forever: mode == "forever" }).into_new_job(),
    };
    let job = job.expect("is checked");
    let id = job.id;
    // The signal handler must be installed before the job reports that it runs.
    tokio::select! {
        biased;
        ended = worker.run_until_signal() => ended.expect("listens"),
        () = async { ratchet.store().insert(vec![job]).await.expect("inserts"); std::future::pending().await } => {}
    }
    let job = ratchet.jobs().get(id).await.expect("reads").expect("exists");
    println!("ended {} {} {}", job.state, job.attempts, job.crashes);
    if mode == "no grace" {
        std::future::pending::<()>().await;
    }
}

/// A child process: this test binary, running only [`child`].
struct Program {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Program {
    fn start(mode: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("a path"))
            .args(["child", "--exact", "--nocapture"])
            .env(MODE, mode)
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        let stdout = child.stdout.take().expect("piped");
        Self { child, lines: BufReader::new(stdout).lines() }
    }

    /// Reads lines until one contains `wanted`, and returns it.
    fn until(&mut self, wanted: &str) -> String {
        self.lines
            .by_ref()
            .map(|line| line.expect("readable"))
            .find(|line| line.contains(wanted))
            .unwrap_or_else(|| panic!("it ended without saying {wanted:?}"))
    }

    fn signal(&self, name: &str) {
        let sent =
            Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(sent.expect("kill runs").success());
    }

    /// Waits until the process has ended, and returns its exit code.
    fn exit_code(&mut self) -> Option<i32> {
        self.child.wait().expect("is a child").code()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // The child has already exited if the test passed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn x_07_sigterm_lets_runs_finish() {
    let mut program = Program::start("once");
    program.until("begun");
    program.signal("TERM");
    program.until("stopping");
    assert_eq!(program.until("ended"), "ended SUCCEEDED 0 0");
}

#[test]
fn x_07_sigint_does_too() {
    let mut program = Program::start("once");
    program.until("begun");
    program.signal("INT");
    assert_eq!(program.until("ended"), "ended SUCCEEDED 0 0");
}

#[test]
fn x_07_a_second_signal_stops_at_once_and_harms_nothing() {
    let mut program = Program::start("forever");
    program.until("begun");
    program.signal("TERM");
    program.until("stopping");
    program.signal("INT");
    assert_eq!(program.until("ended"), "ended PENDING 0 0");
}

#[test]
fn x_07_a_second_signal_ends_the_process_while_handlers_hold_their_threads() {
    for mode in ["blocking", "hog"] {
        let mut program = Program::start(mode);
        program.until("begun");
        program.signal("TERM");
        program.signal("INT");
        // Two signals that arrive at the same time may be seen in either order.
        let code = program.exit_code();
        assert!(matches!(code, Some(130 | 143)), "{mode}: {code:?}");
    }
}

#[test]
fn x_07_a_blocking_thread_does_not_keep_a_stopped_process_alive() {
    let mut program = Program::start("no grace");
    program.until("begun");
    program.signal("TERM");
    assert_eq!(program.until("ended"), "ended PENDING 0 0");
    // The program goes on for another reason. The signal must not be ignored.
    program.signal("TERM");
    assert_eq!(program.exit_code(), Some(143));
}

#[test]
fn x_07_a_program_can_return_while_a_blocking_thread_runs() {
    let mut program = Program::start("return");
    program.until("begun");
    program.signal("TERM");
    assert_eq!(program.until("ended"), "ended PENDING 0 0");
    assert_eq!(program.exit_code(), Some(0));
}
