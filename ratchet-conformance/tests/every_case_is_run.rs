//! Checks that every case is run. This is needed because the suite macros list the cases by hand.

use std::collections::BTreeSet;
use std::path::Path;

/// Returns all words that look like the name of a case: `l_06_…`.
fn cases(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| is_case(word)).collect()
}

fn is_case(word: &str) -> bool {
    let mut parts = word.splitn(3, '_');
    let (letter, number) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    letter.len() == 1
        && letter.chars().all(|c| c.is_ascii_lowercase())
        && number.len() == 2
        && number.chars().all(|c| c.is_ascii_digit())
        && parts.next().is_some()
}

#[test]
fn suite_lists_every_case() {
    lists_every_case(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
}

#[test]
fn composition_suite_lists_every_case() {
    lists_every_case(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/composition"));
}

fn lists_every_case(source: &Path) {
    let suite = std::fs::read_to_string(source.join("suite.rs")).expect("the suite");
    let mut count = 0;
    for entry in std::fs::read_dir(source.join("cases")).expect("the cases") {
        let path = entry.expect("an entry").path();
        let theme = path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_owned();
        let text = std::fs::read_to_string(&path).expect("a theme");
        let listed = suite.split(&format!("            {theme} {{\n")).nth(1).unwrap_or_default();
        let listed = listed.split('}').next().unwrap_or_default();
        assert_eq!(cases(listed), cases(&text), "in {theme}");
        count += cases(listed).len();
    }
    assert_eq!(count, cases(&suite).len(), "two cases share a name");
}
