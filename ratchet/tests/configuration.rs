//! Settings: the documented table, the environment, and defaults for all jobs of a process.

mod logs;

use std::fmt::Write as _;
use std::process::Command;
use std::time::Duration;

use logs::Logs;
use ratchet::prelude::*;
use ratchet::runtime::{Completion, Config, RunMode, Stopped};
use ratchet::{Backoff, BuildError, MemoryStore};

/// A job without options.
#[job(name = "configuration.plain")]
async fn plain() {}

/// A job that sets every option that has a default.
#[job(
    name = "configuration.explicit",
    queue = "default",
    priority = normal,
    max_retries = 5,
    backoff = exponential("1s", max = "30s"),
    timeout = "30m"
)]
async fn explicit() {}

#[job(name = "configuration.parent", on_success = Plain)]
async fn parent() {}

/// Returns the table of settings as the guide shows it.
fn table() -> String {
    let defaults = Config::default();
    let mut table = String::from("| method | variable | default | effect |\n|---|---|---|---|\n");
    for setting in Config::settings() {
        let default = match setting.name {
            "program" | "binary_version" => "name of the executable".to_owned(),
            _ => format!("`{}`", setting.value(&defaults)),
        };
        let (name, env, about) = (setting.name, setting.env, setting.about);
        writeln!(table, "| `{name}` | `{env}` | {default} | {about} |").expect("writes");
    }
    table
}

#[test]
fn s_12_the_documented_settings_are_those_of_the_code() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/guide/configuration.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let (begin, end) = ("<!-- settings:begin -->\n", "<!-- settings:end -->");
    let (before, rest) = page.split_once(begin).expect("the marker");
    let (documented, after) = rest.split_once(end).expect("the marker");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path, format!("{before}{begin}{}{end}{after}", table())).expect("writes");
        return;
    }
    assert_eq!(documented, table(), "run this test with UPDATE_EXPECT=1");
}

async fn runtime(
    change: impl FnOnce(ratchet::runtime::Builder) -> ratchet::runtime::Builder,
) -> Ratchet {
    let builder =
        Ratchet::builder(MemoryStore::new()).jobs([Plain::JOB, Explicit::JOB, Parent::JOB]);
    change(builder).build().await.expect("builds")
}

#[tokio::test]
async fn s_12_options_come_from_the_call_then_the_job_then_the_process() {
    let ratchet = runtime(|builder| {
        builder
            .default_queue("bulk")
            .default_priority(Priority::Low)
            .default_max_retries(1)
            .default_backoff(Backoff::none())
            .default_timeout(Duration::from_secs(9))
    })
    .await;
    let options = |spec: &ratchet::model::JobSpec| {
        let options = &spec.options;
        (spec.queue.clone(), spec.priority, options.max_retries, options.backoff, options.timeout)
    };
    let process = ("bulk".to_owned(), Priority::Low, 1, Backoff::none(), Duration::from_secs(9));
    let plain = ratchet.enqueue(Plain {}).into_new_job().expect("prepares");
    assert_eq!(options(&plain.spec), process);
    let parent = ratchet.enqueue(Parent {}).into_new_job().expect("prepares");
    let callback = parent.spec.on_success.as_deref().expect("a callback");
    assert_eq!(options(callback), process, "callbacks too");
    let explicit = ratchet.enqueue(Explicit {}).into_new_job().expect("prepares");
    let library =
        ("default".to_owned(), Priority::Normal, 5, Backoff::DEFAULT, Duration::from_mins(30));
    assert_eq!(
        options(&explicit.spec),
        library,
        "an option that repeats the library's default is set"
    );
    let called = ratchet.enqueue(Plain {}).queue("call").max_retries(7).into_new_job();
    let called = called.expect("prepares").spec;
    assert_eq!((called.queue.as_str(), called.options.max_retries), ("call", 7));
    let worker = ratchet.start().await.expect("starts");
    assert_eq!(worker.queues(), ["bulk", "default"], "a worker serves the default queue");
    worker.stop().await;
}

#[tokio::test]
async fn s_12_the_effective_configuration_is_logged_without_secrets() {
    let logs = Logs::install();
    let version = "postgres://user:s3cret@host/db";
    let ratchet = runtime(|builder| builder.concurrency(7).binary_version(version)).await;
    let worker = ratchet.start().await.expect("starts");
    worker.stop().await;
    let lines = logs.containing_all(&["the configuration of the worker", "concurrency=7 "]);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(
        lines[0].contains("shutdown_grace=25s") && lines[0].contains("[REDACTED]"),
        "{lines:?}"
    );
    assert!(!lines[0].contains("s3cret"), "{lines:?}");
}

/// Runs a test of this file in a process of its own, with other variables.
fn in_process(test: &str, variables: &[(&str, &str)]) {
    let mut command = Command::new(std::env::current_exe().expect("a path"));
    command.args(["--exact", test, "--ignored", "--nocapture"]);
    let output = command.envs(variables.iter().copied()).output().expect("starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn s_12_the_environment_is_read() {
    let variables = [
        ("RATCHET_CONCURRENCY", "3"),
        ("RATCHET_QUEUES", "mail"),
        ("RATCHET_RUN", "drain"),
        ("RATCHET_DEFAULT_QUEUE", "mail"),
        ("RATCHET_QUEUS", "misspelled"),
    ];
    in_process("reads_the_environment", &variables);
    in_process("refuses_the_environment", &[("RATCHET_LEASE", "fifteen")]);
}

#[tokio::test]
#[ignore = "needs the variables that another test sets"]
async fn reads_the_environment() {
    let logs = Logs::install();
    let config = Config::from_env().expect("reads");
    assert_eq!((config.concurrency, config.run), (3, RunMode::Drain));
    let warnings = logs.containing("RATCHET_QUEUS");
    assert!(warnings[0].contains("did you mean `RATCHET_QUEUES`?"), "{warnings:?}");
    // What is set after `env()` overrides the environment, and what is set before does not.
    let ratchet = runtime(|builder| builder.concurrency(9).env().max_jobs(5)).await;
    let job = ratchet.enqueue(Plain {}).await.expect("enqueues");
    let worker = ratchet.start().await.expect("starts");
    assert_eq!(worker.queues(), ["mail"]);
    assert_eq!(worker.stopped().await, Stopped::Completed(Completion::Drained));
    job.wait().await.expect("has run");
    assert_eq!(logs.containing_all(&["a worker has started", "concurrency=3 "]).len(), 1);
    assert_eq!(logs.containing_all(&["a worker has stopped", "no job is due"]).len(), 1);
}

#[tokio::test]
#[ignore = "needs the variables that another test sets"]
async fn refuses_the_environment() {
    let built = Ratchet::builder(MemoryStore::new()).jobs([Plain::JOB]).env().build().await;
    let Err(BuildError::Env(error)) = built else { panic!("must not build") };
    let bad = &error.variables[0];
    assert_eq!((bad.variable, bad.value.as_str()), ("RATCHET_LEASE", "fifteen"));
    assert!(error.to_string().contains("must be a duration"), "{error}");
}
