//! What operators say about failures and request of nodes, from the command line.

use std::time::Duration;

use ratchet_sqlite::SqliteStore;
use ratchet_store::Store as _;
use ratchet_store::model::{NodeId, NodeInfo};
use serde_json::Value;

use super::stored::Stored;

fn listed(stored: &Stored, command: &[&str]) -> Vec<Value> {
    let mut command = command.to_vec();
    command.push("--json");
    serde_json::from_str(&stored.prints(&command)).expect("JSON")
}

// spec: O-06
#[test]
fn o_06_a_group_is_acknowledged_resolved_ignored_and_reopened() {
    let stored = Stored::new();
    let fingerprint = listed(&stored, &["failures", "list"])[0]["fingerprint"].clone();
    let fingerprint = fingerprint.as_str().expect("text");
    for (command, state) in [
        (vec!["acknowledge", fingerprint], "acknowledged"),
        (vec!["resolve", &fingerprint[..6]], "resolved"),
        (vec!["ignore", fingerprint, "--for", "7d"], "ignored"),
        (vec!["reopen", fingerprint], "open"),
    ] {
        let mut args = vec!["failures"];
        args.extend(command);
        stored.prints(&args);
        let group = &listed(&stored, &["failures", "list", "--state", state])[0];
        assert_eq!(group["state"], state, "{args:?}");
    }
    assert_eq!(listed(&stored, &["failures", "list", "--state", "resolved,ignored"]).len(), 0);
    for (args, code) in [
        (vec!["failures", "resolve", "ffffffffffffffff"], 3),
        (vec!["failures", "list", "--state", "broken"], 2),
        (vec!["failures", "ignore", fingerprint, "--for", "long"], 2),
    ] {
        assert_eq!(stored.ratchet(&args).status.code(), Some(code), "{args:?}");
    }
    stored.prints(&["audit", "verify"]);
}

/// Joins a node that no process belongs to.
fn join(stored: &Stored, id: NodeId) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let store = SqliteStore::open(stored.path()).await.expect("opens");
        store.join(NodeInfo::new(id), Duration::from_hours(1)).await.expect("joins");
    });
}

// spec: O-01
#[test]
fn o_01_a_node_is_made_quiet_resumed_and_stopped() {
    let stored = Stored::new();
    let id = "00000000-0000-7000-8000-000000000001";
    join(&stored, id.parse().expect("an id"));
    let request = |stored: &Stored| {
        let nodes = listed(stored, &["nodes", "list"]);
        let node = nodes.iter().find(|node| node["info"]["id"] == id).expect("a node").clone();
        node["info"]["request"]["action"].clone()
    };
    stored.prints(&["nodes", "quiet", id, "--actor", "ada", "--reason", "a new kernel"]);
    assert_eq!(request(&stored), "quiet");
    let table = stored.prints(&["nodes", "list"]);
    assert!(table.contains("quiet"), "{table}");
    stored.prints(&["nodes", "resume", id]);
    assert_eq!(request(&stored), Value::Null);
    for (args, code) in [
        (vec!["nodes", "stop", id], 1),
        (vec!["nodes", "stop", id, "--dry-run"], 0),
        (vec!["nodes", "stop", id, "--yes"], 0),
        (vec!["nodes", "resume", id], 4),
        (vec!["nodes", "quiet", "00000000-0000-7000-8000-000000000002"], 3),
    ] {
        let output = stored.ratchet(&args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
    }
    assert_eq!(request(&stored), "stop");
}

// spec: O-05
#[test]
fn o_05_a_failed_job_is_edited_and_retried_once() {
    let stored = Stored::new();
    let failed = stored.failed.to_string();
    let show = |id: &str| -> Value {
        serde_json::from_str(&stored.prints(&["jobs", "show", id, "--json"])).expect("JSON")
    };
    let edit = |options: &[&str]| {
        let mut args = vec!["jobs", "edit", failed.as_str()];
        args.extend(options);
        stored.ratchet(&args)
    };
    for (options, code) in [
        (vec!["--arg", "to=7", "--arg", "cc=x"], 1),
        (vec!["--arg", "to"], 2),
        (vec!["--object", "[]"], 1),
        (vec!["--arg", "to=x", "--if-version", "99"], 4),
        (vec!["--arg", "to=x", "--dry-run"], 0),
    ] {
        let output = edit(&options);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{options:?}: {said}");
        assert_eq!(show(&failed)["successor"], Value::Null, "{options:?} stores nothing");
    }
    let output = edit(&["--arg", "to=ada@example.com", "--reason", "a wrong address", "--json"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let made: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let successor = made["successor"].as_str().expect("an id");
    let (original, new) = (show(&failed), show(successor));
    assert_eq!((&original["state"], &new["state"]), (&"FAILED".into(), &"PENDING".into()));
    assert_eq!(original["successor"], successor);
    assert_eq!(new["successor_of"], failed.as_str());
    assert_eq!(new["spec"]["queue"], original["spec"]["queue"]);
    let text = stored.prints(&["jobs", "show", &failed]);
    assert!(text.contains(&format!("successor    {successor}")), "{text}");
    let explained = stored.prints(&["jobs", "explain", &failed]);
    assert!(explained.contains(successor), "{explained}");
    for again in [edit(&["--arg", "to=b@example.com"]), stored.ratchet(&["jobs", "retry", &failed])]
    {
        let said = String::from_utf8_lossy(&again.stderr).into_owned();
        assert_eq!(again.status.code(), Some(4), "{said}");
        assert!(said.contains(successor), "{said}");
    }
    let waiting = stored.waiting.to_string();
    assert_eq!(stored.ratchet(&["jobs", "edit", &waiting]).status.code(), Some(4));
    let trail = listed(&stored, &["audit", "list", "--verb", "jobs.edit"]);
    assert_eq!(trail.len(), 1, "{trail:?}");
    stored.prints(&["audit", "verify"]);
}

#[test]
fn z_05_secrets_are_printed_to_an_operator_and_that_is_recorded() {
    let stored = Stored::new();
    let failed = stored.failed.to_string();
    let untouched = stored.ratchet(&["jobs", "reveal", &failed, "--dry-run"]);
    assert!(untouched.status.success() && untouched.stdout.is_empty(), "{untouched:?}");
    assert!(listed(&stored, &["audit", "list", "--verb", "jobs.reveal"]).is_empty());
    let options = ["jobs", "reveal", &failed, "--reason", "a dispute", "--json"];
    let revealed: Value = serde_json::from_str(&stored.prints(&options)).expect("JSON");
    assert_eq!(revealed["job"], failed.as_str());
    assert_eq!(revealed["arguments"], serde_json::json!({ "to": "nowhere" }));
    let trail = listed(&stored, &["audit", "list", "--verb", "jobs.reveal"]);
    assert_eq!(trail.len(), 1, "{trail:?}");
    assert_eq!(trail[0]["reason"], "a dispute");
    stored.prints(&["audit", "verify"]);
}
