//! Tests of the statements as texts.

use super::*;

// A client that vanishes must not hold its locks forever.
#[test]
fn x_08_neither_a_statement_nor_a_pause_in_a_transaction_is_endless() {
    for (set, text) in
        [("SET", session(Duration::from_secs(7))), ("SET LOCAL", begin(Duration::from_secs(7)))]
    {
        for limit in ["statement_timeout = 7000", "idle_in_transaction_session_timeout = 7000"] {
            assert!(text.as_str().contains(&format!("{set} {limit}")), "{}", text.as_str());
        }
    }
}

#[test]
fn hostile_schema_stays_a_name() {
    assert_eq!(quote("a\"; DROP"), "\"a\"\"; DROP\"");
}

#[test]
fn a_list_has_two_directions() {
    let sql = Sql::new("ratchet", true);
    for source in [Source::All, Source::States(Vec::new())] {
        let newest = sql.listing(&source, Place::Live, false);
        let oldest = sql.listing(&source, Place::Live, true);
        for (newest, oldest) in newest.into_iter().zip(oldest) {
            check_directions(newest.text.as_str(), oldest.text.as_str());
        }
    }
}

fn check_directions(newest: &str, oldest: &str) {
    for (there, opposite) in DIRECTION {
        assert!(!oldest.contains(there), "{there}");
        assert!(!newest.contains(there) || oldest.contains(opposite), "{opposite}");
    }
    for there in [" < $2)", " DESC"] {
        assert!(newest.contains(there), "{there}");
    }
}

#[test]
fn every_statement_says_what_its_rows_are() {
    for (name, text) in Sql::new("ratchet", true).all() {
        assert!(text.starts_with("-- "), "{name} has no first line");
        assert!(!text.trim_end().ends_with(';'), "{name} ends in a semicolon");
    }
}

#[test]
fn a_01_the_schema_of_the_archive_has_a_valid_name_of_its_own() {
    assert_eq!(archive_schema("ratchet"), "ratchet_archive");
    let long = ["a", "b"].map(|end| format!("{}{end}", "x".repeat(62)));
    let [one, other] = long.map(|schema| archive_schema(&schema));
    assert!(one.len() <= LONGEST_NAME && one.ends_with("_archive"), "{one}");
    assert_ne!(one, other);
}
