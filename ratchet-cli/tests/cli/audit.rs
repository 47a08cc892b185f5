//! The audit trail: what commands record, and what `audit verify` finds.

use ratchet::sqlite::sqlx::{self, Connection as _};
use serde_json::Value;

use super::stored::Stored;

/// Returns the entries of the trail, newest first.
fn entries(stored: &Stored) -> Vec<Value> {
    serde_json::from_str(&stored.prints(&["audit", "list", "--json"])).expect("JSON")
}

#[test]
fn z_06_every_changing_command_is_recorded_with_its_reason() {
    let stored = Stored::new();
    let (waiting, failed) = (stored.waiting.to_string(), stored.failed.to_string());
    let commands: &[&[&str]] = &[
        &["jobs", "pause", &waiting],
        &["jobs", "resume", &waiting],
        &["jobs", "reschedule", &waiting, "2h"],
        &["jobs", "move", &waiting, "--queue", "express", "--priority", "high"],
        &["jobs", "cancel", &waiting],
        &["jobs", "retry", &failed],
        &["queues", "pause", "mail"],
        &["queues", "resume", "mail"],
        &["queues", "limit", "mail", "--concurrency", "3"],
        &["queues", "reset", "mail"],
        &["breakers", "open", "pay"],
        &["breakers", "close", "pay"],
        &["breakers", "set", "pay", "--failure-rate", "90"],
        &["breakers", "reset", "pay"],
        &["schedules", "pause", "stored.report"],
        &["schedules", "resume", "stored.report"],
        &["schedules", "edit", "stored.report", "--zone", "Europe/Berlin"],
        &["schedules", "run", "stored.report"],
        &["schedules", "remove", "stored.report", "--yes"],
        &["flows", "cancel", &stored.chain],
    ];
    for (index, command) in commands.iter().enumerate() {
        let reason = format!("reason {index}");
        let mut command = command.to_vec();
        command.extend(["--reason", &reason, "--actor", "ada"]);
        let output = stored.ratchet(&command);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{command:?}: {said}");
        assert!(said.contains(&format!("audit entry {}", index + 1)), "{command:?}: {said}");
        let newest = &entries(&stored)[0];
        assert_eq!(newest["verb"], format!("{}.{}", command[0], command[1]));
        assert_eq!((&newest["name"], &newest["via"]), (&"ada".into(), &"cli".into()));
        assert_eq!(newest["reason"], reason);
    }
    assert_eq!(entries(&stored).len(), commands.len());
    let known = ratchet_core::VERBS.map(|verb| verb.name);
    for entry in entries(&stored) {
        let verb = entry["verb"].as_str().expect("text").to_owned();
        assert!(known.contains(&verb.as_str()), "{verb} is no verb");
    }
    stored.prints(&["audit", "verify"]);
}

#[test]
fn o_02_a_job_that_has_moved_is_a_conflict() {
    let stored = Stored::new();
    let failed = stored.failed.to_string();
    let job: Value =
        serde_json::from_str(&stored.prints(&["jobs", "show", &failed, "--json"])).expect("JSON");
    let version = job["version"].to_string();
    stored.prints(&["jobs", "retry", &failed, "--if-version", &version]);
    let second = stored.ratchet(&["jobs", "retry", &failed, "--if-version", &version]);
    assert_eq!(second.status.code(), Some(4));
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(said.contains("has changed: it is PENDING"), "{said}");
    assert_eq!(entries(&stored).len(), 1);
}

#[test]
fn z_06_a_changed_and_a_missing_entry_are_found() {
    for (statement, found) in [
        ("UPDATE ratchet_audit SET reason = 'other' WHERE number = 2", "entry 2"),
        ("UPDATE ratchet_audit SET before = NULL WHERE number = 3", "entry 3"),
        ("UPDATE ratchet_audit SET hash = x'00' WHERE number = 1", "entry 1"),
        ("DELETE FROM ratchet_audit WHERE number = 2", "the entries 2 to 2"),
        ("DELETE FROM ratchet_audit WHERE number = 4", "the entries 4 to 4"),
        ("DELETE FROM ratchet_audit", "the entries 1 to 4"),
        ("UPDATE ratchet_audit_head SET number = 3", "entry 4"),
    ] {
        let stored = Stored::new();
        for command in ["pause", "resume", "pause", "resume"] {
            stored.prints(&["queues", command, "mail", "--reason", "test"]);
        }
        let end = stored.prints(&["audit", "verify"]);
        let end = end.lines().find_map(|line| line.strip_prefix("end ")).expect("printed");
        stored.prints(&["audit", "verify", "--since", end]);
        execute(&stored, statement);
        let verified = stored.ratchet(&["audit", "verify"]);
        assert_eq!(verified.status.code(), Some(1), "{statement}");
        let said = String::from_utf8_lossy(&verified.stderr).into_owned();
        assert!(said.contains(found), "{statement}: {said}");
    }
}

#[test]
fn z_06_a_replaced_trail_is_found_with_a_saved_end() {
    let stored = Stored::new();
    stored.prints(&["queues", "pause", "mail", "--reason", "first"]);
    stored.prints(&["queues", "resume", "mail"]);
    let end = stored.prints(&["audit", "verify"]);
    let end = end.lines().find_map(|line| line.strip_prefix("end ")).expect("printed");
    // The end is moved back together with the removal of the last entry.
    execute(&stored, "DELETE FROM ratchet_audit WHERE number = 2");
    execute(
        &stored,
        "UPDATE ratchet_audit_head SET number = 1, hash = (SELECT hash FROM ratchet_audit)",
    );
    stored.prints(&["audit", "verify"]);
    let verified = stored.ratchet(&["audit", "verify", "--since", end]);
    assert_eq!(verified.status.code(), Some(1));
    // Another entry takes its place.
    stored.prints(&["queues", "limit", "mail", "--concurrency", "9"]);
    stored.prints(&["audit", "verify"]);
    let verified = stored.ratchet(&["audit", "verify", "--since", end]);
    assert_eq!(verified.status.code(), Some(1));
    assert_eq!(stored.ratchet(&["audit", "verify", "--since", "7"]).status.code(), Some(2));
}

fn execute(stored: &Stored, statement: &'static str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let url = format!("sqlite:{}", stored.path().display());
        let mut db = sqlx::SqliteConnection::connect(&url).await.expect("connects");
        sqlx::query(statement).execute(&mut db).await.expect("writes");
    });
}
