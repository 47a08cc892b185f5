//! The job `ratchet.command`, and attacks on it. The tables in the README name these tests.
#![cfg(feature = "command")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ratchet::model::{Envelope, TerminalReason};
use ratchet::testing::Sandbox;
use ratchet::{Job as _, WaitError};
use ratchet_extras::command::{Command, Commands, CommandsError};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Add {
    left: u32,
    right: u32,
}

/// Commands that count their calls.
fn commands() -> (Commands, Arc<AtomicU32>) {
    let calls = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&calls);
    let commands = Commands::builder()
        .command("add", move |_, add: Add| {
            count.fetch_add(1, Ordering::Relaxed);
            async move { Ok::<_, String>(add.left + add.right) }
        })
        .command("fail", async |_, permanently: bool| match permanently {
            true => Err::<(), _>(ratchet::failure::fatal("broken").into()),
            false => Err(Box::<dyn std::error::Error + Send + Sync>::from("down")),
        })
        .command("nan", async |_, (): ()| {
            Ok::<_, String>(std::collections::BTreeMap::from([((1, 2), 3)]))
        });
    (commands.build().expect("commands"), calls)
}

async fn run(commands: Commands, job: Command) -> Result<Value, Box<Envelope>> {
    let builder = Sandbox::builder().jobs([Command::JOB]).state(commands);
    let sandbox = builder.build().await.expect("a sandbox");
    let handle = sandbox.enqueue(job).max_retries(1).await.expect("enqueued");
    sandbox.drain_for(Duration::from_hours(24)).await.expect("drained");
    match handle.wait().await {
        Ok(value) => Ok(value),
        Err(WaitError::Failed(envelope)) => Err(envelope),
        Err(error) => panic!("{error}"),
    }
}

async fn assert_refused(job: Command, reason: &str) {
    let (commands, calls) = commands();
    let refusals = commands.refusals();
    let envelope = run(commands, job.clone()).await.expect_err("refused");
    assert_eq!((envelope.reason, envelope.attempts), (TerminalReason::Invalid, 1), "{job:?}");
    assert_eq!(envelope.failure.code, reason, "{}", envelope.failure.message);
    assert_eq!((refusals.total(), refusals.count(reason)), (1, 1));
    assert_eq!(calls.load(Ordering::Relaxed), 0, "nothing is called: {job:?}");
}

fn call(name: &str, args: &Value) -> Command {
    Command::call(name, args).expect("JSON")
}

#[tokio::test]
async fn a_registered_function_is_called() {
    let job = call("add", &json!({"left": 2, "right": 3}));
    assert_eq!(run(commands().0, job).await.expect("succeeds"), json!(5));
}

#[tokio::test]
async fn names_that_are_not_registered_are_refused() {
    let args = json!({"left": 2, "right": 3});
    for attack in ["", "sub", "ADD", "add ", "add;sub", "../add", "std::process::abort", "ad"] {
        assert_refused(call(attack, &args), "unknown_command").await;
    }
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_refused() {
    for attack in [
        json!(null),
        json!({}),
        json!({"left": 2}),
        json!({"left": 2, "right": -1}),
        json!({"left": 2, "right": "3"}),
        json!({"left": 2, "right": 4_294_967_296_u64}),
        json!({"left": 2, "right": 3, "evil": true}),
        json!("add"),
    ] {
        assert_refused(call("add", &attack), "bad_arguments").await;
    }
}

#[tokio::test]
async fn an_error_of_the_function_decides_about_the_job() {
    let retried = run(commands().0, call("fail", &json!(false))).await.expect_err("fails");
    assert_eq!((retried.reason, retried.attempts), (TerminalReason::RetryExhausted, 2));
    assert!(
        retried.failure.message.contains("the command `fail` has failed"),
        "{}",
        retried.failure.message
    );
    let fatal = run(commands().0, call("fail", &json!(true))).await.expect_err("fails");
    assert_eq!((fatal.reason, fatal.attempts), (TerminalReason::NonRetryable, 1));
}

#[tokio::test]
async fn an_output_that_is_not_json_does_not_repeat_the_call() {
    assert_eq!(run(commands().0, call("nan", &json!(null))).await.expect("succeeds"), Value::Null);
}

#[test]
fn names_must_differ_and_must_not_be_empty() {
    let twice = Commands::builder()
        .command("a", async |_, (): ()| Ok::<_, String>(()))
        .command("a", async |_, (): ()| Ok::<_, String>(()));
    assert_eq!(
        twice.build().expect_err("refused"),
        CommandsError::Duplicate { command: "a".to_owned() }
    );
    let empty = Commands::builder().command("", async |_, (): ()| Ok::<_, String>(()));
    assert_eq!(empty.build().expect_err("refused"), CommandsError::EmptyName);
}
