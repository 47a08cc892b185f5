//! The checks of the doctor and the conditions of a filter are those of the guide.

use std::fmt::Write as _;

use ratchet::manage::{CHECKS, Severity};
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

#[test]
fn o_03_every_condition_is_documented() {
    let page = std::fs::read_to_string(PAGE).expect("the page");
    for (name, _) in CONDITIONS {
        let shown = if name.ends_with(['>', '<']) { name.to_owned() } else { format!("{name}:") };
        assert!(page.contains(&format!("| `{shown}")), "{name}");
    }
}
