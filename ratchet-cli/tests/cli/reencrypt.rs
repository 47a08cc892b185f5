//! `ratchet keys usage` and `ratchet keys reencrypt` on a store, with a process that is killed.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use ratchet::prelude::*;
use ratchet::security::{Encrypt, Keyring};
use ratchet::{Ratchet, SqliteStore};

use super::stored::program;

const JOBS: usize = 20;

#[job(name = "reencrypt.deliver")]
async fn deliver(to: String) -> String {
    to
}

async fn runtime(folder: &Path) -> Ratchet {
    let store = SqliteStore::open(folder.join("jobs.db")).await.expect("opens");
    let keyring = Keyring::from_file(folder.join("keys.json")).expect("a keyring");
    let builder = Ratchet::builder(store).jobs([Deliver::JOB]).keyring(keyring);
    builder.encrypt(Encrypt::All).build().await.expect("builds")
}

fn ratchet(folder: &Path, args: &[&str]) -> Command {
    let mut command = program();
    let store = format!("sqlite:{}", folder.join("jobs.db").display());
    command.args(["--store", &store]).args(args);
    command.env("RATCHET_KEYS_FILE", folder.join("keys.json"));
    command
}

fn run(folder: &Path, args: &[&str]) -> String {
    let output = ratchet(folder, args).output().expect("runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {text}{error}");
    text
}

/// Returns the keys that protect something.
fn used(folder: &Path) -> Vec<String> {
    let text = run(folder, &["keys", "usage", "--json"]);
    let usage: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(usage["complete"], true, "{text}");
    usage["keys"].as_object().expect("keys").keys().cloned().collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn z_03_a_killed_reencryption_is_run_again() {
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = temporary.path();
    for (id, purpose) in [("s1", "sign"), ("e1", "encrypt")] {
        run(folder, &["keys", "new", id, "--purpose", purpose]);
    }
    let client = runtime(folder).await;
    let jobs = (0..JOBS).map(|number| Deliver { to: format!("someone-{number}") });
    let jobs = client.enqueue_many(jobs).await.expect("enqueues");
    drop(client);
    run(folder, &["keys", "rotate", "s1", "s2"]);
    run(folder, &["keys", "rotate", "e1", "e2"]);
    assert_eq!(used(folder), ["e1", "s1"]);

    // It pauses for an hour after its first page, and is killed there.
    let mut child = ratchet(folder, &["keys", "reencrypt", "--page", "5", "--pause", "1h"]);
    let mut child = child.stderr(Stdio::piped()).spawn().expect("starts");
    let mut lines = BufReader::new(child.stderr.take().expect("is piped")).lines();
    let line = lines.next().expect("a line").expect("reads");
    assert_eq!(line, "5 rows read, 5 written");
    child.kill().expect("is killed");
    child.wait().expect("has ended");
    assert_eq!(used(folder), ["e1", "e2", "s1", "s2"]);

    run(folder, &["--dry-run", "keys", "reencrypt"]);
    assert_eq!(used(folder), ["e1", "e2", "s1", "s2"], "a preview changes nothing");
    let text = run(folder, &["keys", "reencrypt", "--pause", "0s", "--json"]);
    let done: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(done["rewritten"], JOBS - 5, "{text}");
    assert_eq!(used(folder), ["e2", "s2"]);

    for old in ["s1", "e1"] {
        run(folder, &["keys", "retire", old]);
    }
    let ratchet = runtime(folder).await;
    let worker = ratchet.start().await.expect("starts");
    for (number, job) in jobs.into_iter().enumerate() {
        let job = ratchet.handle::<Deliver>(job.id());
        let output = job.wait_for(Duration::from_secs(30)).await.expect("succeeds");
        assert_eq!(output, format!("someone-{number}"));
    }
    worker.stop().await;
    let text = run(folder, &["audit", "list", "--verb", "keys.reencrypt", "--json"]);
    let trail: Vec<serde_json::Value> = serde_json::from_str(&text).expect("JSON");
    assert_eq!(trail.len(), 2, "one entry for each page that was written: {text}");
}

#[test]
fn z_03_reencryption_needs_a_keyring() {
    let temporary = tempfile::tempdir().expect("a folder");
    let store = format!("sqlite:{}", temporary.path().join("jobs.db").display());
    let migrate = program().args(["--store", &store, "migrate", "up"]).output().expect("runs");
    assert!(migrate.status.success());
    let run = program().args(["--store", &store, "keys", "reencrypt"]).output().expect("runs");
    assert_eq!(run.status.code(), Some(1));
    let text = String::from_utf8_lossy(&run.stderr);
    assert!(text.contains("RATCHET_KEYS_FILE"), "{text}");
}
