//! No planted secret is in the log of a worker, in its events, or in what its panics print.

#[path = "../../ratchet/tests/logs/mod.rs"]
mod logs;

use std::process::Command;
use std::sync::Arc;

use logs::Logs;
use ratchet_conformance::planted_secrets;
use ratchet_memory::MemoryStore;

/// Runs jobs with planted secrets, and prints the secrets to the standard output, and log and events to the error output,
/// where the panics are. A program of its own, because a test cannot read what the process prints.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "started by the test below"]
#[allow(clippy::print_stdout, reason = "read by the test below")]
async fn the_run() {
    let logs = Logs::install();
    let keyring = std::env::var_os("PLANTED_PLAIN").is_none().then(planted_secrets::keyring);
    let store = Arc::new(MemoryStore::new());
    let ratchet = planted_secrets::runtime(store, keyring).await;
    let mut events = ratchet.events();
    let secrets = planted_secrets::play(&ratchet).await;
    println!("secrets {}", secrets.join(" "));
    while let Some(event) = events.try_next() {
        eprintln!("{event:?}");
    }
    logs.containing("").iter().for_each(|line| eprintln!("{line}"));
}

#[test]
fn z_05_no_planted_secret_is_logged_published_or_printed() {
    for plain in [false, true] {
        let mut run = Command::new(std::env::current_exe().expect("a path"));
        run.args(["--exact", "the_run", "--include-ignored", "--nocapture"]);
        if plain {
            run.env("PLANTED_PLAIN", "1");
        }
        let output = run.output().expect("runs");
        let printed = String::from_utf8(output.stdout).expect("text");
        let text = String::from_utf8(output.stderr).expect("text");
        assert!(output.status.success(), "{text}");
        let line = printed.lines().find_map(|line| line.split_once("secrets ")).expect("a line");
        let secrets: Vec<_> = line.1.split(' ').collect();
        assert_eq!(secrets.len(), 90);
        let found: Vec<_> = secrets.iter().filter(|secret| text.contains(**secret)).collect();
        assert!(found.is_empty(), "{found:?} in {text}");
        for expected in ["panicked at", "the password is ***", "DeadLettered"] {
            assert!(text.contains(expected), "`{expected}` is not in {text}");
        }
        // The log of an encrypted job has no texts of its handler.
        let mut lines = text.lines().filter(|line| line.contains("ratchet::job:"));
        assert_eq!(lines.any(|line| line.contains("***")), plain, "{text}");
    }
}
