//! The archive: what it contains, its lists and exports, and how jobs are deleted from it.

use std::time::Duration;

use ratchet_core::JobState;
use ratchet_sqlite::SqliteStore;
use ratchet_store::Store as _;
use serde_json::Value;

use super::stored::Stored;

/// Archives the jobs that have succeeded or failed.
fn archived() -> Stored {
    let stored = Stored::new();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let store = SqliteStore::open(stored.path()).await.expect("opens");
        for state in [JobState::Succeeded, JobState::Failed] {
            assert_eq!(store.archive(state, Duration::ZERO, 10).await.expect("archives"), 1);
        }
    });
    stored
}

fn ids(jobs: &str) -> Vec<String> {
    let jobs = jobs.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    jobs.map(|job| job["id"].as_str().expect("an id").to_owned()).collect()
}

#[test]
fn a_01_the_status_has_the_jobs_of_each_state_and_when_they_leave() {
    let stored = archived();
    let text = stored.prints(&["archive", "status"]);
    assert!(text.contains("jobs-archive.db") && text.contains("KiB"), "{text}");
    let lines: Vec<Vec<_>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert!(lines.contains(&vec!["jobs", "2"]), "{text}");
    assert!(lines.iter().any(|line| line.starts_with(&["canceled", "0", "–", "–"])), "{text}");
    let command = |args: &[&str]| {
        let mut command = stored.command(args);
        command.env("RATCHET_ARCHIVE_FAILED", "365d");
        command.env("RATCHET_PURGE_WINDOW", "0 2 * * *; 4h; Europe/Vienna");
        String::from_utf8(command.output().expect("runs").stdout).expect("text")
    };
    let text = command(&["archive", "status"]);
    assert!(
        text.contains("0 2 * * * for 4h, Europe/Vienna") && text.contains("opens in"),
        "{text}"
    );
    let failed = text.lines().find(|line| line.starts_with("failed")).expect("a line");
    assert!(failed.ends_with("365d"), "{text}");
    let json: Value =
        serde_json::from_str(&command(&["archive", "status", "--json"])).expect("JSON");
    assert_eq!((&json["jobs"], &json["window"]["zone"]), (&2.into(), &"Europe/Vienna".into()));
    let states = json["states"].as_array().expect("a list");
    let failed = states.iter().find(|it| it["state"] == "FAILED").expect("the state");
    assert_eq!((&failed["jobs"], &failed["archive"]), (&1.into(), &"365d".into()));
    assert_eq!(failed["oldest"], failed["newest"]);
    assert_eq!(stored.prints(&["archive", "status", "--csv"]).lines().count(), 4);
}

/// The list and the export are those of jobs, with `archived:only`.
#[test]
fn a_01_archived_jobs_are_listed_and_exported_like_others() {
    let stored = archived();
    let all = stored.prints(&["archive", "list", "--ndjson"]);
    assert_eq!(ids(&all), [stored.failed.to_string(), stored.succeeded.to_string()]);
    for filter in ["", "state:failed", "archived:false", "queue:none", "order:oldest"] {
        let only = format!("{filter} archived:only");
        for format in ["--ndjson", "--csv"] {
            for verb in ["list", "export"] {
                let printed = stored.prints(&["archive", verb, filter, format]);
                assert_eq!(printed, stored.prints(&["jobs", verb, &only, format]), "{filter}");
            }
        }
    }
    let page = stored.ratchet(&["archive", "list", "-n", "1", "--ndjson"]);
    let hint = String::from_utf8_lossy(&page.stderr).into_owned();
    assert!(hint.contains(&format!("--after {}", stored.failed)), "{hint}");
}

#[test]
fn a_01_exit_codes_of_the_archive_are_those_of_other_commands() {
    let stored = Stored::new();
    let table: &[(&[&str], i32)] = &[
        (&["status"], 0),
        (&["list", "queue:mail"], 0),
        (&["purge", "failed", "--older-than", "1d", "--dry-run"], 0),
        (&["purge", "failed", "--older-than", "1d", "--yes"], 0),
        (&["purge", "failed", "--older-than", "1d"], 1),
        (&["export", "--json"], 2),
        (&["list", "sate:failed"], 2),
        (&["purge", "failed"], 2),
        (&["purge", "pending", "--older-than", "1d"], 2),
        (&["purge", "failed", "--older-than", "long"], 2),
    ];
    for (args, code) in table {
        let output = stored.ratchet(&[&["archive"], *args].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(*code), "{args:?}: {said}");
    }
}

#[test]
fn a_01_archived_jobs_are_deleted_after_a_question_and_recorded() {
    let stored = archived();
    let purge = |options: &[&str]| {
        let args = ["archive", "purge", "failed", "--reason", "a request of the customer"];
        let output = stored.ratchet(&[&args[..], options].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned(), said)
    };
    let (code, _, said) = purge(&["--older-than", "0s"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("delete failed jobs") && said.contains("of 1 failed job in"), "{said}");
    let (code, _, said) = purge(&["--older-than", "0s", "--dry-run"]);
    assert!(code == Some(0) && said.contains("would delete failed jobs"), "{said}");
    assert_eq!(ids(&stored.prints(&["archive", "export"])).len(), 2, "nothing was deleted");
    let (_, printed, said) = purge(&["--older-than", "1d", "--yes"]);
    assert_eq!(printed, "0 failed jobs deleted from the archive\n", "{said}");
    let (_, printed, said) = purge(&["--older-than", "0s", "--yes", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&printed).expect("JSON")["deleted"], 1, "{said}");
    assert!(said.contains("audit entry 1"), "{said}");
    assert_eq!(ids(&stored.prints(&["archive", "export"])), [stored.succeeded.to_string()]);
    let trail = stored.prints(&["audit", "list", "--verb", "archive.purge", "--ndjson"]);
    assert_eq!(trail.lines().count(), 1, "{trail}");
    assert!(trail.contains("a request of the customer"), "{trail}");
    assert!(ratchet_core::VERBS.iter().any(|verb| verb.name == "archive.purge"));
    stored.prints(&["audit", "verify"]);
}

#[test]
fn a_01_doctor_finds_jobs_that_outlive_their_time_in_the_archive() {
    let stored = archived();
    let doctor = |time: &str| {
        let mut command = stored.command(&["doctor", "--json"]);
        command.env("RATCHET_ARCHIVE_FAILED", time);
        String::from_utf8(command.output().expect("runs").stdout).expect("text")
    };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        use ratchet::sqlite::sqlx::{self, Connection as _};
        let file = format!("sqlite://{}", stored.folder().join("jobs-archive.db").display());
        let mut db = sqlx::SqliteConnection::connect(&file).await.expect("connects");
        let earlier = "UPDATE ratchet_archived SET at = at - 3 * 86400000000";
        sqlx::query(earlier).execute(&mut db).await.expect("is older");
    });
    for (time, found) in [("forever", false), ("off", false), ("30d", false), ("2d", true)] {
        let printed = doctor(time);
        assert_eq!(printed.contains("ARC-01"), found, "{time}: {printed}");
    }
    let remedy = "ratchet archive purge failed --older-than 2d";
    assert!(doctor("2d").contains(remedy));
    stored.prints(&["archive", "purge", "failed", "--older-than", "2d", "--yes"]);
    assert!(!doctor("2d").contains("ARC-01"));
}
