//! Runs a few cells as a test of the program itself. `scripts/proof matrix` runs all of them.

use std::process::Command;

/// Runs a part of the matrix and asserts that it passes.
fn green(arguments: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_ratchet-crash-tests"))
        .args(["matrix", "--passings", "1"])
        .args(arguments)
        .output()
        .expect("the program runs");
    let output_text = String::from_utf8_lossy(&output.stdout);
    let problem = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{output_text}\n{problem}");
}

#[test]
fn sqlite_keeps_its_promise_when_a_process_dies() {
    green(&["--store", "sqlite", "--fate", "dies", "--cell", "/batch"]);
}

#[test]
fn sqlite_fences_a_zombie() {
    green(&["--store", "sqlite", "--fate", "freezes", "--cell", "settle./plain"]);
}

#[test]
fn postgresql_keeps_its_promise_when_a_process_dies() {
    green(&["--store", "pg", "--fate", "dies", "--cell", "/batch"]);
}

#[test]
fn postgresql_fences_a_zombie() {
    green(&["--store", "pg", "--fate", "freezes", "--cell", "settle./plain"]);
}
