//! Compares the tables of options with everything derived from them.

use std::fs;
use std::path::Path;

use crate::table::{Opt, Table, Takes};
use crate::{breaker, classify, condition, do_not_retry, job, jobs};

const TABLES: [&Table; 8] = [
    &job::options::OPTIONS,
    &job::marks::OPTIONS,
    &job::marks::INPUT,
    &classify::OPTIONS,
    &condition::OPTIONS,
    &jobs::OPTIONS,
    &do_not_retry::OPTIONS,
    &breaker::OPTIONS,
];

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The macro must accept the example of every option. A typo in the table would mislead users.
#[test]
fn every_example_is_accepted() {
    for Opt { key, example, .. } in job::options::OPTIONS.options {
        let item = match *key {
            "blocking" => "fn f(to: String, order_id: u32, customer_id: u32) {}",
            "cron" | "tz" | "overlap" | "alert_after" => "async fn f() {}",
            "accepts" | "backlog_limit" => "async fn f(page: HandedOff<Page>) {}",
            _ => "async fn f(to: String, order_id: u32, customer_id: u32) {}",
        };
        let args = match *key {
            "tz" | "overlap" | "alert_after" => format!("cron = \"0 3 * * *\", {example}"),
            "idempotency_within" => format!("idempotency_key = \"k\", {example}"),
            "on_conflict" => format!("business_key = \"b\", {example}"),
            "after_failure" => format!("ordered_by = \"o\", {example}"),
            "backlog_limit" => format!("accepts = \"p\", {example}"),
            "on_full" => format!("hands_off = \"p\", {example}"),
            "upgrade" => format!("version = 2, {example}"),
            "oldest" => format!("version = 3, upgrade(2 => from_v2), {example}"),
            "concurrency_key" => format!("{example}, concurrency_limit = 3"),
            "concurrency_limit" => format!("concurrency_key = \"c\", {example}"),
            _ => (*example).to_owned(),
        };
        let expansion = job::expand(args.parse().expect("tokens"), item.parse().expect("tokens"));
        assert!(!expansion.to_string().contains("compile_error"), "{args}: {expansion}");
    }
}

/// The options of a block are options of `#[job]`, and every option of `#[job]` is either or explained.
#[test]
fn a_block_knows_every_option_of_a_job() {
    for Opt { key, .. } in jobs::OPTIONS.options {
        assert!(job::options::OPTIONS.find(key).is_some(), "`{key}` is no option of a job");
    }
    for Opt { key, .. } in job::options::OPTIONS.options {
        let explained = jobs::OPTIONS.elsewhere.iter().any(|(known, _)| known == key);
        assert!(
            explained || jobs::OPTIONS.find(key).is_some(),
            "`#[jobs({key})]` is not explained"
        );
    }
    for Opt { example, .. } in jobs::OPTIONS.options {
        let block = "impl Mailer { #[job] async fn send(&self) {} }".parse().expect("tokens");
        let expansion = jobs::expand(example.parse().expect("tokens"), &block);
        assert!(!expansion.to_string().contains("compile_error"), "{example}: {expansion}");
    }
}

#[test]
fn foreign_words_lead_to_options_that_exist() {
    for table in TABLES {
        for (theirs, ours) in table.foreign {
            assert!(table.find(ours).is_some(), "`{theirs}` leads to `{ours}`");
            assert!(table.find(theirs).is_none(), "`{theirs}` is an option itself");
        }
        for (theirs, _) in table.elsewhere {
            assert!(table.find(theirs).is_none(), "`{theirs}` is an option itself");
        }
    }
}

/// Editors complete option names from a module of the runtime, which cannot share this table.
#[test]
fn the_runtime_documents_the_same_options_for_editors() {
    let module = read("ratchet-core/src/__private/options.rs");
    let documented: Vec<_> = module
        .lines()
        .filter_map(|line| line.trim().strip_prefix("pub const ")?.strip_suffix(": () = ();"))
        .collect();
    let options = job::options::OPTIONS.options.iter().filter(|option| option.key != "crate");
    let keys: Vec<_> = options.clone().map(|option| option.key).collect();
    assert_eq!(documented, keys);
    for Opt { key, help, example, .. } in options {
        let text = format!("/// {help}\n    ///\n    /// `{example}`\n    pub const {key}:");
        assert!(module.contains(&text), "`{key}` is documented in other words:\n{text}");
    }
}

/// The pages of the manual, with the table whose options each of them lists.
const PAGES: [(&str, Option<&Table>); 9] = [
    ("ratchet/src/job.md", Some(&job::options::OPTIONS)),
    ("ratchet/docs/attributes/argument.md", Some(&job::marks::OPTIONS)),
    ("ratchet/docs/attributes/input.md", Some(&job::marks::INPUT)),
    ("ratchet/docs/attributes/inject.md", None),
    ("ratchet/docs/attributes/classify.md", Some(&classify::OPTIONS)),
    ("ratchet/docs/attributes/condition.md", Some(&condition::OPTIONS)),
    ("ratchet/docs/attributes/jobs.md", Some(&jobs::OPTIONS)),
    ("ratchet/docs/attributes/do_not_retry.md", Some(&do_not_retry::OPTIONS)),
    ("ratchet/docs/attributes/circuit_breaker.md", Some(&breaker::OPTIONS)),
];

/// Returns the rows of the table below a heading.
fn rows<'a>(page: &'a str, heading: &str) -> Vec<&'a str> {
    let below = page.split(&format!("\n# {heading}\n")).nth(1).unwrap_or_default();
    let section = below.split("\n# ").next().unwrap_or_default();
    section.lines().filter(|line| line.starts_with("| ")).skip(1).collect()
}

/// A page of the manual must list exactly the options of the parser, in their order.
#[test]
fn the_manual_lists_the_options_of_the_parser() {
    for (path, table) in PAGES {
        let expected: Vec<_> = table.iter().flat_map(|table| table.options).collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|Opt { key, takes, example, help }| {
                let written = if *takes == Takes::Flag { key } else { example };
                format!("| `{written}` | {help} |")
            })
            .collect();
        assert_eq!(rows(&read(path), "Options"), expected, "{path}");
    }
    assert_eq!(TABLES.len(), PAGES.iter().filter(|(_, table)| table.is_some()).count());
}

/// The errors of the manual must be messages that the compile-fail tests have seen.
#[test]
fn the_manual_quotes_errors_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ui-tests/fail");
    let folders = fs::read_dir(&root).expect("the folder is there");
    let mut messages = String::new();
    for folder in folders {
        let folder = folder.expect("it can be listed").path();
        for file in fs::read_dir(folder).expect("the folder is there") {
            let file = file.expect("it can be listed").path();
            if file.extension().is_some_and(|extension| extension == "stderr") {
                messages.push_str(&fs::read_to_string(file).expect("it is text"));
            }
        }
    }
    for (path, _) in PAGES {
        let page = read(path);
        let rows = rows(&page, "Errors");
        assert!(rows.len() >= 5, "{path} lists {} errors", rows.len());
        for row in rows {
            let message = row.split("``").nth(1).map(str::trim);
            let message = message.unwrap_or_else(|| panic!("{path}: no message in {row}"));
            assert!(messages.contains(message), "{path}: no test has seen `{message}`");
        }
    }
}
