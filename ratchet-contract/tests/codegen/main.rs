//! The code that is generated from a lock file with every shape, one file per language. `UPDATE_EXPECT=1` writes them.
//!
//! `scripts/proof codegen` compiles and runs them with the tools of each language.

use expect_test::expect_file;
use ratchet_contract::{Codegen, Contract};

fn lock() -> Contract {
    include_str!("ratchet.lock").parse().expect("a lock file")
}

#[test]
fn k_04_the_lock_file_is_read_and_written_without_a_difference() {
    assert_eq!(lock().to_string(), include_str!("ratchet.lock"));
}

#[test]
fn k_04_json_schema() {
    expect_file!["jobs.schema.json"].assert_eq(&Codegen::JsonSchema.generate(&lock()));
}

#[test]
fn k_04_typescript() {
    expect_file!["jobs.ts"].assert_eq(&Codegen::Typescript.generate(&lock()));
}

#[test]
fn k_04_python() {
    expect_file!["jobs.py"].assert_eq(&Codegen::Python.generate(&lock()));
}

#[test]
fn k_04_sql() {
    expect_file!["jobs.sql"].assert_eq(&Codegen::Sql.generate(&lock()));
}

#[test]
fn k_04_docs() {
    expect_file!["jobs.md"].assert_eq(&Codegen::Docs.generate(&lock()));
}

#[test]
fn k_04_the_header_has_the_digest_and_any_change_changes_it() {
    let mut changed = lock();
    changed.jobs.get_mut("shop.clean").expect("a job").queue = "other".to_owned();
    assert_ne!(lock().digest(), changed.digest());
    for codegen in Codegen::ALL {
        let text = codegen.generate(&lock());
        assert!(text.contains(&lock().digest()), "{}", codegen.name());
        assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{}", codegen.name());
        assert_eq!(text, codegen.generate(&lock()), "{} is deterministic", codegen.name());
    }
}
