//! The exit code of every kind of result.

use std::fs;

use super::stored::{Stored, ratchet};

#[test]
fn o_12_exit_codes_are_those_of_the_table() {
    let stored = Stored::new();
    let (waiting, succeeded, failed) =
        (stored.waiting.to_string(), stored.succeeded.to_string(), stored.failed.to_string());
    let (waiting, succeeded, failed, chain) =
        (waiting.as_str(), succeeded.as_str(), failed.as_str(), stored.chain.as_str());
    let missing = "00000000-0000-7000-8000-000000000000";
    let table: &[(&[&str], i32)] = &[
        (&["status"], 0),
        (&["stats", "--points", "--last", "2h"], 0),
        (&["jobs", "list", "queue:mail", "state:failed"], 0),
        (&["jobs", "show", waiting], 0),
        (&["jobs", "runs", failed], 0),
        (&["jobs", "wait", succeeded], 0),
        (&["health"], 0),
        (&["migrate", "status"], 0),
        (&["flows", "show", chain], 0),
        (&["flows", "draw", chain, "--as", "svg"], 0),
        // Refused, or a problem was found.
        (&["health", "--worker"], 1),
        (&["doctor"], 1),
        (&["jobs", "wait", failed], 1),
        (&["jobs", "enqueue", "shop.unknown"], 1),
        (&["queues", "limit", "mail", "--concurrency", "0"], 1),
        (&["schedules", "remove", "stored.report"], 1),
        // The command line is wrong.
        (&["jobs", "list", "sate:failed"], 2),
        (&["jobs", "show", "7"], 2),
        (&["jobs", "reschedule", waiting, "tomorrow"], 2),
        (&["queues", "limit", "mail"], 2),
        (&["queues", "limit", "mail", "--rate", "fast"], 2),
        (&["queues", "limit", "mail", "--rate-per-key", "fast"], 2),
        (&["jobs", "enqueue", "a", "--arg", "to"], 2),
        (&["jobs", "export", "--json"], 2),
        (&["jobs", "list", "--json", "--csv"], 2),
        (&["work"], 2),
        (&["frobnicate"], 2),
        (&["operations", "start", "retry"], 2),
        (&["operations", "start", "reschedule", "queue:mail"], 2),
        (&["operations", "start", "retry", "queue:mail", "--pace", "fast"], 2),
        (&["jobs", "retry", waiting, "--canary", "3"], 2),
        // Not found.
        (&["jobs", "show", missing], 3),
        (&["jobs", "explain", missing], 3),
        (&["jobs", "log", missing], 3),
        (&["jobs", "wait", missing], 3),
        (&["jobs", "retry", missing], 3),
        (&["queues", "show", "unknown"], 3),
        (&["breakers", "show", "unknown"], 3),
        (&["schedules", "pause", "unknown"], 3),
        (&["schedules", "next", "unknown"], 3),
        (&["flows", "show", missing], 3),
        (&["flows", "cancel", missing], 3),
        (&["failures", "show", "ffff"], 3),
        (&["unreadable", "drop", missing, "--yes"], 3),
        (&["operations", "show", missing], 3),
        (&["catalog", "show", "unknown"], 3),
        (&["operations", "abort", missing], 3),
        // The state of the object does not allow the command.
        (&["jobs", "retry", waiting], 4),
        (&["jobs", "resume", waiting], 4),
        (&["jobs", "cancel", succeeded], 4),
        (&["jobs", "reschedule", succeeded, "now"], 4),
        (&["unreadable", "repair", waiting], 4),
        (
            &[
                "operations",
                "start",
                "retry",
                "queue:mail",
                "--cutoff",
                "2026-11-17T09:14:00Z",
                "--digest",
                "00",
            ],
            4,
        ),
        // Changes that succeed, after everything that depends on the state.
        (&["operations", "list"], 0),
        (&["catalog", "list"], 0),
        (&["operations", "preview", "retry", "queue:mail"], 0),
        (&["operations", "start", "retry", "queue:none", "--canary", "2", "--pace", "10/s"], 0),
        (&["operations", "start", "retry", "queue:mail", "--dry-run"], 0),
        (&["jobs", "pause", "--filter", "queue:none"], 0),
        (&["failures", "redrive", "queue:none", "--canary", "5", "--max-failed", "10"], 0),
        (&["queues", "pause", "mail"], 0),
        (&["queues", "resume", "mail"], 0),
        (&["queues", "limit", "mail", "--rate", "50/s"], 0),
        (&["queues", "limit", "mail", "--rate-per-key", "5/1m"], 0),
        (&["queues", "reset", "mail"], 0),
        (&["breakers", "open", "smtp", "--for", "10m"], 0),
        (&["breakers", "close", "smtp"], 0),
        (&["jobs", "pause", waiting], 0),
        (&["jobs", "resume", waiting], 0),
        (&["jobs", "reschedule", waiting, "30m"], 0),
        (&["jobs", "retry", failed], 0),
        (&["jobs", "cancel", waiting], 0),
        (&["flows", "cancel", chain], 0),
    ];
    for (args, code) in table {
        let output = stored.ratchet(args);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(*code), "{args:?}: {error}");
        assert!(*code <= 1 || error.contains("error"), "{args:?}: {error}");
    }
}

#[test]
fn l_09_a_job_is_moved_to_a_queue_or_a_priority() {
    let stored = Stored::new();
    let (waiting, succeeded) = (stored.waiting.to_string(), stored.succeeded.to_string());
    let (waiting, succeeded) = (waiting.as_str(), succeeded.as_str());
    let table: &[(&[&str], i32)] = &[
        (&["jobs", "move", waiting], 2),
        (&["jobs", "move", waiting, "--priority", "urgent"], 2),
        (&["jobs", "move", waiting, "--queue", "no queue"], 1),
        (&["jobs", "move", succeeded, "--queue", "express"], 4),
        (&["jobs", "move", waiting, "--queue", "express", "--priority", "high"], 0),
        (&["operations", "preview", "move", "queue:mail"], 2),
        (&["operations", "preview", "retry", "queue:mail", "--queue", "express"], 2),
        (&["operations", "preview", "move", "queue:mail", "--queue", "express"], 0),
    ];
    for (args, code) in table {
        let output = stored.ratchet(args);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(*code), "{args:?}: {error}");
    }
    let moved = stored.prints(&["jobs", "show", waiting, "--json"]);
    assert!(moved.contains("express") && moved.contains("high"), "{moved}");
}

#[test]
fn o_12_a_store_that_cannot_be_opened_is_5() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("text.db");
    fs::write(
        &file,
        "this is not a database, and it is longer than the header of one. ".repeat(20),
    )
    .expect("writes");
    let file = format!("sqlite:{}", file.display());
    for store in
        [file.as_str(), "sqlite:/nonexistent/jobs.db", "postgres://u:s3cret@127.0.0.1:1/db"]
    {
        let output = ratchet(&["--store", store, "status"]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(5), "{store}: {error}");
        assert!(!error.contains("s3cret"), "{error}");
    }
}

#[test]
fn o_12_a_missing_store_is_a_usage_error_that_says_what_to_write() {
    let output = ratchet(&["status"]);
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("--store sqlite:jobs.db"), "{error}");
}

#[test]
fn o_12_contexts_come_from_a_file_and_production_needs_confirmation() {
    let stored = Stored::new();
    let config = stored.folder().join("config.toml");
    let text = format!(
        "context = \"test\"\n[contexts.test]\nstore = \"sqlite:{0}\"\n[contexts.live]\nstore = \"sqlite:{0}\"\nproduction = true\n",
        stored.path().display()
    );
    fs::write(&config, text).expect("writes");
    let config = config.to_str().expect("text");
    let run = |args: &[&str]| ratchet(&[&["--config", config], args].concat());
    assert!(run(&["status"]).status.success());
    assert!(run(&["queues", "pause", "mail"]).status.success());
    let refused = run(&["--context", "live", "queues", "resume", "mail"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--yes"));
    assert!(stored.prints(&["queues", "list", "--csv"]).contains("paused"));
    assert!(run(&["--context", "live", "queues", "resume", "mail", "--yes"]).status.success());
    assert!(run(&["migrate", "up"]).status.success());
    let refused = run(&["--context", "live", "migrate", "up"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(run(&["--context", "live", "migrate", "up", "--yes"]).status.success());
    assert_eq!(run(&["--context", "other", "status"]).status.code(), Some(2));
    fs::write(config, "contexts = 7").expect("writes");
    assert_eq!(run(&["status"]).status.code(), Some(2));
}

#[test]
fn u_04_the_statements_of_a_migration_are_printed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("new.db");
    let target = format!("sqlite:{}", path.display());
    for args in [&["migrate", "sql"][..], &["migrate", "up", "--dry-run"]] {
        let output = ratchet(&[&["--store", &target], args].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let script = String::from_utf8_lossy(&output.stdout);
        assert!(script.starts_with("BEGIN IMMEDIATE;\n"), "{script}");
        assert!(script.contains("CREATE TABLE ratchet_job"), "{script}");
        assert!(script.ends_with("COMMIT;\n"), "{script}");
        assert!(!path.exists(), "{args:?} creates no file");
    }
    assert!(ratchet(&["--store", &target, "migrate", "up"]).status.success());
    let output = ratchet(&["--store", &target, "migrate", "sql"]);
    assert!(output.status.success() && output.stdout.is_empty(), "nothing is missing");
}

#[test]
fn o_12_a_dry_run_changes_nothing() {
    let stored = Stored::new();
    let (waiting, failed) = (stored.waiting.to_string(), stored.failed.to_string());
    let before = stored.prints(&["jobs", "export"]);
    let queues = stored.prints(&["queues", "list", "--json"]);
    for args in [
        &["jobs", "cancel", &waiting][..],
        &["jobs", "pause", &waiting],
        &["jobs", "retry", &failed],
        &["jobs", "reschedule", &waiting, "now"],
        &["failures", "redrive", "queue:mail"],
        &["queues", "pause", "mail"],
        &["queues", "limit", "mail", "--concurrency", "1"],
        &["queues", "reset", "mail"],
        &["breakers", "open", "smtp"],
        &["schedules", "pause", "stored.report"],
        &["schedules", "run", "stored.report"],
        &["schedules", "remove", "stored.report"],
        &["flows", "cancel", &stored.chain],
        &["unreadable", "drop", &waiting],
        &["migrate", "up"],
    ] {
        let output = stored.ratchet(&[args, &["--dry-run"]].concat());
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(stored.prints(&["jobs", "export"]), before);
    assert_eq!(stored.prints(&["queues", "list", "--json"]), queues);
}
