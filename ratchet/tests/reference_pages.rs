//! Pages that list what is in the code must list all of it.

use std::fmt::Write as _;

use ratchet::manage::{CHECKS, Severity};
use ratchet::model::{TerminalReason, limits};
use ratchet::runtime::Config;
use ratchet::store::model::CONDITIONS;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/guide/command_line.md");
const BEGIN: &str = "<!-- checks:begin -->\n";
const END: &str = "<!-- checks:end -->";

#[test]
fn o_11_every_check_is_documented() {
    let mut table = "| id | severity | healthy if | otherwise |\n|---|---|---|---|\n".to_owned();
    for check in CHECKS {
        let severity = if check.severity == Severity::Error { "error" } else { "warning" };
        let _ = writeln!(
            table,
            "| {} | {severity} | {} | {} |",
            check.id, check.healthy, check.meaning
        );
    }
    let page = std::fs::read_to_string(PAGE).expect("the page");
    let begin = page.find(BEGIN).expect("the beginning of the table") + BEGIN.len();
    let end = page.find(END).expect("the end of the table");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(PAGE, format!("{}{table}{}", &page[..begin], &page[end..])).expect("writes");
    } else {
        assert_eq!(&page[begin..end], table, "UPDATE_EXPECT=1 writes the table");
    }
}

/// Writes a number with separators.
fn count(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    if digits.len() > 4 { groups.join(",") } else { digits }
}

#[test]
fn s_17_the_limits_of_the_guide_are_those_of_the_code() {
    let (kib, mib) = (1024, 1024 * 1024);
    let config = Config::default();
    let rows = [
        ("names of jobs, queues, schedules", format!("{} bytes", limits::NAME)),
        ("business, idempotency, concurrency", format!("{} bytes", limits::KEY)),
        ("tags |", format!("{} of {} bytes each", limits::TAGS, limits::TAG)),
        ("arguments with tags", format!("`payload_limit` ({} KiB)", config.payload_limit / kib)),
        ("nesting of arguments", format!("{} levels", limits::DEPTH)),
        ("output |", format!("`output_limit` ({} KiB)", config.output_limit / kib)),
        ("checkpoint, hand-off", format!("{} MiB each", limits::CHECKPOINT / mib)),
        ("stored rejected items", format!("{} per run", count(limits::REJECTS))),
        ("log line, progress", format!("{} KiB, truncated", limits::LOG_LINE / kib)),
        ("log of one run", format!("{} MiB", limits::LOG / mib)),
        ("error code", format!("{} bytes", limits::CODE)),
        ("edges of a graph", count(limits::EDGES)),
        ("cron expression", format!("{} bytes", limits::CRON)),
        ("missed occurrences", count(limits::CATCH_UP as usize)),
    ];
    let guide = include_str!("../docs/guide/operations.md");
    let table = guide.split_once("| item | limit |\n|---|---|\n").expect("the table").1;
    let table = table.split("\n\n").next().unwrap_or_default();
    for (line, (item, limit)) in table.lines().zip(&rows) {
        assert!(line.starts_with(&format!("| {item}")) && line.contains(limit), "{line}: {limit}");
    }
    assert_eq!(table.lines().count(), rows.len());
}

#[test]
fn o_03_every_condition_is_documented() {
    let page = std::fs::read_to_string(PAGE).expect("the page");
    for (name, _) in CONDITIONS {
        let shown = match name {
            "args" => "args.".to_owned(),
            name if name.ends_with(['>', '<']) => name.to_owned(),
            name => format!("{name}:"),
        };
        assert!(page.contains(&format!("| `{shown}")), "{name}");
    }
}

/// Returns a page of the site.
fn site(page: &str) -> String {
    let path = format!("{}/../docs/site/{page}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the recorded API of a crate.
fn recorded_api(crate_name: &str) -> String {
    let path = format!("{}/../docs/public-api/{crate_name}.txt", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the variants of an enum, from the recorded API of its crate.
fn variants(crate_name: &str, of: &str) -> Vec<String> {
    let api = recorded_api(crate_name);
    let start = format!("pub {}::{of}::", crate_name.replace('-', "_"));
    let names = api.lines().filter_map(|line| line.strip_prefix(&start)).map(|rest| {
        rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default().to_owned()
    });
    let mut names: Vec<_> = names.filter(|name| name.starts_with(char::is_uppercase)).collect();
    names.dedup();
    assert!(!names.is_empty(), "{of} has variants");
    names
}

#[test]
fn the_runbook_has_an_entry_for_every_finding_and_reason() {
    let (findings, doctor) = (site("operations/runbook/findings.md"), site("operations/doctor.md"));
    for check in CHECKS {
        assert!(findings.contains(&format!("\n### {}\n", check.id)), "no entry for {}", check.id);
        assert!(doctor.contains(check.id), "{} is not in the list", check.id);
    }
    let reasons = site("operations/runbook/reasons.md");
    for reason in TerminalReason::ALL {
        assert!(reasons.contains(&format!("\n### {reason}\n")), "no entry for {reason}");
    }
}

#[test]
fn every_event_is_described() {
    let page = site("reference/events.md");
    for event in variants("ratchet-core", "Event") {
        assert!(page.contains(&format!("`{event}`")), "{event}");
    }
}

#[test]
fn every_variant_of_an_error_is_described() {
    let page = site("reference/errors.md");
    let mut count = 0;
    for crate_name in ["ratchet-store", "ratchet-core", "ratchet-extras"] {
        for error in error_enums(crate_name) {
            count += 1;
            for variant in variants(crate_name, &error) {
                assert!(page.contains(&format!("`{variant}`")), "{error}::{variant}");
            }
        }
    }
    assert!(count > 15, "the recorded API is read");
}

/// Returns the enums of a crate whose names end with `Error` or `ErrorKind`, with the path below the crate.
fn error_enums(crate_name: &str) -> Vec<String> {
    let start = format!("pub enum {}::", crate_name.replace('-', "_"));
    let api = recorded_api(crate_name);
    let enums = api.lines().filter_map(|line| line.split_once(&start)).map(|(_, path)| path);
    let errors = enums.filter(|path| path.ends_with("Error") || path.ends_with("ErrorKind"));
    errors.map(str::to_owned).collect()
}
