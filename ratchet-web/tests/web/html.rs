//! Reads the HTML that this crate writes: every attribute is quoted.

use std::collections::BTreeSet;

/// A start tag: its name and attributes.
#[derive(Debug)]
pub(crate) struct Tag {
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
}

impl Tag {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Returns every start tag of a document.
pub(crate) fn tags(html: &str) -> Vec<Tag> {
    let mut tags = Vec::new();
    for part in html.split('<').skip(1) {
        let name: String = part.chars().take_while(char::is_ascii_alphanumeric).collect();
        if name.is_empty() {
            continue;
        }
        let mut rest = &part[name.len()..];
        let mut attributes = Vec::new();
        while let Some(letter) = rest.trim_start().chars().next() {
            rest = rest.trim_start();
            if letter == '>' {
                break;
            }
            let end = rest.find(['=', ' ', '>']).unwrap_or(rest.len());
            let attribute = rest[..end].to_owned();
            rest = &rest[end..];
            let mut value = String::new();
            if let Some(quoted) = rest.strip_prefix("=\"") {
                let end = quoted.find('"').expect("a closing quotation mark");
                value = unescaped(&quoted[..end]);
                rest = &quoted[end + 1..];
            }
            attributes.push((attribute, value));
        }
        tags.push(Tag { name, attributes });
    }
    tags
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

/// Checks what every page must keep: no inline style or script, a label for every control, headings in order, and ids
/// that are used once.
pub(crate) fn check(path: &str, html: &str) {
    let tags = tags(html);
    let mut ids = BTreeSet::new();
    let mut labels = BTreeSet::new();
    let mut level = 0;
    for tag in &tags {
        for (name, value) in &tag.attributes {
            assert_ne!(name, "style", "{path}: an inline style in {tag:?}");
            assert!(!name.starts_with("on"), "{path}: an inline script in {tag:?}");
            if matches!(name.as_str(), "href" | "src" | "action") {
                let relative =
                    value.starts_with("./") || value.starts_with("../") || value.starts_with('#');
                assert!(relative, "{path}: `{value}` is not relative");
            }
            if name == "id" {
                assert!(ids.insert(value.clone()), "{path}: the id `{value}` is used twice");
            }
            if name == "for" {
                labels.insert(value.clone());
            }
        }
        if tag.name == "script" {
            assert!(tag.get("src").is_some(), "{path}: an inline script");
        }
        assert_ne!(tag.name, "style", "{path}: an inline style sheet");
        if let Some(depth) = tag.name.strip_prefix('h').and_then(|depth| depth.parse::<u32>().ok())
        {
            assert!(depth <= level + 1, "{path}: h{depth} after h{level}");
            level = depth;
        }
    }
    let headings = tags.iter().filter(|tag| tag.name == "h1").count();
    assert_eq!(headings, 1, "{path}: has {headings} main headings");
    for tag in &tags {
        let is_control = matches!(tag.name.as_str(), "input" | "textarea" | "select");
        if is_control && tag.get("type") != Some("hidden") {
            let id = tag.get("id").unwrap_or_default();
            assert!(labels.contains(id), "{path}: no label for {tag:?}");
        }
    }
    assert!(html.contains("<script src="), "{path}: has no script");
    assert!(html.contains("lang=\"en\""), "{path}: has no language");
}
