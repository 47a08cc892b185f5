//! One mistake per file under `fail`, with the message of the compiler. What must compile is in `tests/accepted`: with
//! a program that compiles, `trybuild` would start the compiler for one file after the other.
//!
//! `TRYBUILD=overwrite cargo test -p ui-tests` writes the answers again; read the diff.

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn mistakes_are_explained() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("fail/*/*.rs");
}

/// Files whose mistake the compiler cannot be brought to mention only once, and why.
const MORE_THAN_ONE: [(&str, usize); 5] = [
    // The macro does not see other items. Both structs clash, and rustc also compares all of their implementations.
    ("signature/two_jobs_one_struct", 4),
    // The first struct is used where the macro means its own, so each of its fields is unknown three times.
    ("signature/struct_name_is_taken_with_arguments", 7),
    // The macro does not see the `impl` block around the function. `self` or `Self` in the signature would show it.
    ("placement/associated_function_without_self", 4),
    // The message is the same each time. rustc repeats it where the implementation is compared with its trait, and for a
    // path of several segments where the path is a type, because stable macros cannot join the spans of its segments.
    ("declarations/implements_no_job", 2),
    ("declarations/implements_a_job_with_a_body", 3),
];

#[test]
fn one_mistake_is_one_error() {
    let mut cases = 0;
    for file in files("stderr") {
        let name = name(&file);
        let text = fs::read_to_string(&file).expect("the answer is text");
        let errors = text.lines().filter(|line| line.starts_with("error")).count();
        let warnings = text.lines().filter(|line| line.starts_with("warning")).count();
        let exception = MORE_THAN_ONE.iter().find(|(exception, _)| *exception == name);
        let expected = exception.map_or(1, |(_, errors)| *errors);
        assert_eq!((errors, warnings), (expected, 0), "{name}:\n{text}");
        cases += 1;
    }
    assert!(cases >= 230, "only {cases} mistakes are covered");
}

/// A message must not contain what only the library knows: private modules, or types that were too long to print.
#[test]
fn messages_name_nothing_internal() {
    for file in files("stderr") {
        let text = fs::read_to_string(&file).expect("the answer is text");
        for internal in ["__private", "ratchet_core::", "long-type"] {
            assert!(!text.contains(internal), "{} mentions `{internal}`:\n{text}", name(&file));
        }
    }
}

#[test]
fn every_mistake_has_its_answer() {
    let (sources, answers) = (files("rs"), files("stderr"));
    let names = |files: &[PathBuf]| files.iter().map(|file| name(file)).collect::<Vec<_>>();
    assert_eq!(names(&sources), names(&answers));
}

/// The files of one kind under `fail`, in order.
fn files(extension: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fail");
    let read = |dir: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(dir).expect("the folder is there");
        entries.map(|entry| entry.expect("it can be listed").path()).collect()
    };
    let mut files: Vec<PathBuf> = read(&root).iter().flat_map(|theme| read(theme)).collect();
    files.retain(|file| file.extension().is_some_and(|found| found == extension));
    files.sort();
    files
}

/// `options/misspelled`.
fn name(file: &Path) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fail");
    let name = file.strip_prefix(&root).expect("it is below the folder").with_extension("");
    name.to_string_lossy().replace('\\', "/")
}
