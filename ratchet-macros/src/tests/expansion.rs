//! Snapshot tests: `tests/expand/<job>.in.rs` expands to `<job>.out.rs`.
//!
//! `UPDATE_EXPECT=1 cargo test -p ratchet-jobs-macros` rewrites the snapshots. Review their diff with every macro change.

use std::fs;
use std::path::{Path, PathBuf};

use super::{expand_file, pretty};

fn inputs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expand");
    let entries = fs::read_dir(folder).expect("the folder is there");
    let mut inputs: Vec<_> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    inputs.retain(|path| path.to_string_lossy().ends_with(".in.rs"));
    inputs.sort();
    inputs
}

#[test]
fn jobs_expand_as_before() {
    let inputs = inputs();
    assert!(inputs.len() >= 15, "only {} jobs are covered", inputs.len());
    for input in inputs {
        let source = fs::read_to_string(&input).expect("it is text");
        let expansion = pretty(expand_file(&source));
        let output = input.to_string_lossy().replace(".in.rs", ".out.rs");
        expect_test::expect_file![output].assert_eq(&expansion);
    }
}

/// The expansion of a job with two arguments must fit on one screen. Tokens that only editors see are not counted.
#[test]
fn the_expansion_stays_short() {
    let source = "
        /// Sends one e-mail.
        #[job(queue = \"mail\", max_retries = 5, timeout = \"30s\")]
        pub async fn send_email(to: String, subject: String) -> Result<(), MailError> {
            deliver(to, subject).await
        }";
    let expansion = pretty(expand_file(source));
    let editor = |line: &str| line.contains("rust_analyzer") || line.contains("__ratchet::options");
    let lines = expansion.lines().filter(|line| !line.trim().is_empty() && !editor(line)).count();
    assert!(lines < 70, "{lines} lines:\n{expansion}");
}

/// With `crate = ::x`, the expansion must not name any other crate path.
#[test]
fn a_renamed_crate_is_named_by_its_new_name_only() {
    let source = r#"
        #[do_not_retry(all, crate = ::x)]
        enum Error { A }

        #[job(crate = ::x, queue = "q", business_key = "{n}", backoff = fixed("1s"), cron = "0 3 * * *")]
        #[circuit_breaker(service = "s", ignore(E))]
        async fn tick(#[inject] ctx: JobContext, #[job(default)] n: u32) -> u32 { n }

        #[jobs(crate = ::x)]
        impl Service {
            #[job]
            async fn charge(&self) {}
        }"#;
    let expansion = expand_file(source).to_string();
    assert!(expansion.contains(":: x :: __private"), "{expansion}");
    let words = expansion.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    assert_eq!(words.filter(|word| *word == "ratchet").count(), 0, "{expansion}");
}
