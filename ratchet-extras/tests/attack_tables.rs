//! Checks that the attack tables of the README name tests that exist, each once.

use std::collections::BTreeSet;
use std::path::Path;

/// The names of all test functions below a folder.
fn tests(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            tests(&path, found);
            continue;
        }
        let source = std::fs::read_to_string(&path).expect("a source");
        let mut is_test = false;
        for line in source.lines() {
            let name = line.trim_start_matches("async ").strip_prefix("fn ");
            match name.and_then(|rest| rest.split('(').next()) {
                Some(name) if is_test => _ = found.insert(name.to_owned()),
                _ => {}
            }
            is_test = line.starts_with("#[test]") || line.starts_with("#[tokio::test]");
        }
    }
}

#[test]
fn every_row_names_a_test() {
    let mut found = BTreeSet::new();
    tests(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"), &mut found);
    let readme = include_str!("../README.md");
    let (_, tables) = readme.split_once("## Attacks").expect("the section");
    let rows =
        tables.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| attack "));
    let mut named = BTreeSet::new();
    for row in rows {
        let test = row.trim_end_matches(" |").rsplit("| ").next().unwrap_or_default();
        let test = test.trim_matches('`');
        assert!(found.contains(test), "no such test: {row}");
        assert!(named.insert(test), "named twice: {row}");
    }
    assert!(named.len() > 70, "the tables are read: {}", named.len());
}
