//! Checks the text of the pages: code fences have a language, sentences are short, and words are spelled as in the list.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use crate::include::{Part, Site};
use crate::links::options;

/// The longest sentence, in words.
const LONGEST: usize = 30;

/// The list of words, one per line. A new word must be added here, where a reviewer sees it.
const WORDS: &str = "docs/words.txt";

/// Lists the pages whose Rust code is compiled.
const COMPILED: &str = "examples/src/site.rs";

pub fn check(site: &Site, update_words: bool) -> Result<Vec<String>> {
    let list = site.repository.join(WORDS);
    let known = std::fs::read_to_string(&list).unwrap_or_default();
    let known: BTreeSet<String> = known.lines().map(str::to_owned).collect();
    let mut used = BTreeSet::new();
    let mut problems = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let compiled = std::fs::read_to_string(site.repository.join(COMPILED))?;
    for part in site.pages().values().flatten() {
        if !seen.insert((&part.file, part.line)) || is_a_record(&part.file) {
            continue;
        }
        let is_ours = part.file.starts_with("docs/site");
        // The programs are compiled as examples.
        let is_example = part.file.starts_with("docs/site/examples");
        if is_ours && !is_example && part.text.contains("```rust") && !compiled.contains(&part.file.display().to_string()) {
            problems.insert(format!("{}: Rust code that {COMPILED} does not compile", part.file.display()));
        }
        for (at, finding) in read(part, &mut used, &known) {
            let line = part.line + part.text[..at].matches('\n').count() + 1;
            problems.insert(format!("{}:{line}: {finding}", part.file.display()));
        }
    }
    if update_words {
        let words: Vec<String> = used.into_iter().collect();
        std::fs::write(&list, words.join("\n") + "\n")?;
        problems.retain(|problem| !problem.contains("unknown word"));
    }
    Ok(problems.into_iter().collect())
}

/// The list of changes names what was renamed, and keeps the words of its time.
fn is_a_record(file: &Path) -> bool {
    file == Path::new("CHANGELOG.md")
}

fn read(part: &Part, used: &mut BTreeSet<String>, known: &BTreeSet<String>) -> Vec<(usize, String)> {
    let mut findings = Vec::new();
    let mut sentence = (0, String::new());
    let mut in_code = false;
    let mut in_table = false;
    let mut in_image = false;
    for (event, range) in Parser::new_ext(&part.text, options()).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(kind)) => {
                in_code = true;
                if matches!(&kind, CodeBlockKind::Fenced(language) if language.is_empty()) {
                    findings.push((range.start, "a code fence without a language".to_owned()));
                }
            }
            Event::End(TagEnd::CodeBlock) => in_code = false,
            Event::Start(Tag::Table(_)) => in_table = true,
            Event::End(TagEnd::Table) => in_table = false,
            Event::Start(Tag::Image { .. }) => in_image = true,
            Event::End(TagEnd::Image) => in_image = false,
            Event::Text(text) if in_image => spell(&text, range.start, used, known, &mut findings),
            Event::Text(text) if !in_code => {
                if sentence.1.is_empty() {
                    sentence.0 = range.start;
                }
                sentence.1 += &text;
                spell(&text, range.start, used, known, &mut findings);
            }
            Event::Code(_) => sentence.1 += "code",
            Event::SoftBreak | Event::HardBreak => sentence.1.push(' '),
            Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::TableCell | TagEnd::Heading(_)) => {
                if !in_table {
                    measure(&sentence.1, sentence.0, &mut findings);
                }
                sentence = (range.end, String::new());
            }
            _ => {}
        }
    }
    findings
}

fn measure(text: &str, at: usize, findings: &mut Vec<(usize, String)>) {
    for sentence in text.split_inclusive(['.', '!', '?', ':', ';']) {
        // Ids of rules and numbers are not words.
        let words = sentence.split_whitespace().filter(|word| word.contains(char::is_lowercase)).count();
        if words > LONGEST {
            let start: String = sentence.split_whitespace().take(6).collect::<Vec<_>>().join(" ");
            findings.push((at, format!("a sentence of {words} words: {start}…")));
        }
    }
}

fn spell(
    text: &str,
    at: usize,
    used: &mut BTreeSet<String>,
    known: &BTreeSet<String>,
    findings: &mut Vec<(usize, String)>,
) {
    for word in text.split(|c: char| !c.is_alphabetic() && c != '\'' && c != '’') {
        let word = word.trim_matches(['\'', '’']);
        let word = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
        // Names of items, identifiers and abbreviations are not words.
        if word.len() < 3 || word.chars().skip(1).any(char::is_uppercase) || !word.is_ascii() {
            continue;
        }
        let word = word.to_lowercase();
        if !known.contains(&word) {
            findings.push((at, format!("unknown word `{word}`: correct it, or add it to {WORDS}")));
        }
        used.insert(word);
    }
}
