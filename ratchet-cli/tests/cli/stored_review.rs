//! `ratchet doctor --lock`: the exit code and what it prints.

use std::fs;
use std::process::Output;

use super::stored::Stored;

/// Runs the doctor with this text as the lock file.
fn doctor(stored: &Stored, lock: &str, args: &[&str]) -> Output {
    let path = stored.folder().join("ratchet.lock");
    fs::write(&path, lock).expect("writes");
    stored.ratchet(&[&["doctor", "--lock", path.to_str().expect("text")], args].concat())
}

const REPORT: &str = "\njob stored.report\n  version 1\n  queue reports\n  payload 1 {}\n";

// spec: K-06
#[test]
fn k_06_doctor_compares_the_stored_jobs_with_a_lock_file() {
    let stored = Stored::new();
    let head = "# ratchet.lock 1\n\njob stored.deliver\n  version 1\n  queue mail\n";
    let fits = format!("{head}  arg to: string\n  payload 1 {{}}\n{REPORT}");
    let output = doctor(&stored, &fits, &[]);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{printed}");
    assert!(printed.contains("checked, 0 could not be read"), "{printed}");

    let changed = format!("{head}  arg to: u32\n  payload 1 {{}}\n{REPORT}");
    let output = doctor(&stored, &changed, &[]);
    assert_eq!(output.status.code(), Some(1));
    let printed = String::from_utf8_lossy(&output.stdout);
    for line in [
        "stored.deliver  1 queued: $.to must be a whole number from 0 to 4294967295, not a string",
        "stored.deliver  1 scheduled: $.to must be",
        "stored.deliver  1 archived: $.to must be",
        "checked, 3 could not be read",
    ] {
        assert!(printed.contains(line), "{line}: {printed}");
    }
    let json = doctor(&stored, &changed, &["--json"]).stdout;
    assert!(String::from_utf8_lossy(&json).contains(r#""kind": "archived""#));
    let csv = doctor(&stored, &changed, &["--csv"]).stdout;
    assert!(String::from_utf8_lossy(&csv).contains("stored.deliver,archived,1,\"$.to must"));

    let output = doctor(&stored, head, &["--program", "shop"]);
    assert_eq!(output.status.code(), Some(1));
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.contains("stored.report  1 recurring: no job of the lock file"), "{printed}");

    assert_eq!(doctor(&stored, "job", &[]).status.code(), Some(1), "not a lock file");
    assert_eq!(stored.ratchet(&["doctor", "--lock", "/nonexistent"]).status.code(), Some(3));
    assert_eq!(stored.ratchet(&["doctor", "--program", "shop"]).status.code(), Some(2));
}
