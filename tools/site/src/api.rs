//! The pages of rustdoc for the items of the public API. The kinds of the items come from `docs/public-api`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;

/// The attributes. They are items of the macro crate, which has no list.
const ATTRIBUTES: [&str; 6] = ["job", "jobs", "classify", "condition", "do_not_retry", "circuit_breaker"];

#[derive(Debug, Clone, Default)]
pub struct Api {
    /// Kind of an item by the last segment of its path: `struct`, `enum` and so on.
    items: BTreeMap<String, &'static str>,
    /// Kind of a member by the last two segments: `method` or `variant`.
    members: BTreeMap<String, &'static str>,
}

impl Api {
    pub fn read(folder: &Path) -> Result<Self> {
        let mut api = Self::default();
        for entry in std::fs::read_dir(folder)? {
            for line in std::fs::read_to_string(entry?.path())?.lines() {
                api.add(line);
            }
        }
        Ok(api)
    }

    fn add(&mut self, line: &str) {
        let Some((_, declaration)) = line.split_once("pub ").filter(|(before, _)| !before.contains("impl")) else {
            return;
        };
        let declaration = ["const fn ", "async fn ", "const async fn "]
            .iter()
            .find_map(|start| declaration.strip_prefix(start).map(|rest| format!("fn {rest}")))
            .unwrap_or_else(|| declaration.to_owned());
        let (kind, path) = declaration.split_once(' ').unwrap_or(("", &declaration));
        let (kind, path) = if kind.contains("::") { ("", declaration.as_str()) } else { (kind, path) };
        let path = without_generics(path.trim_end_matches('!'));
        let segments: Vec<&str> = path.split("::").collect();
        let [.., owner, name] = segments.as_slice() else { return };
        let is_member = owner.starts_with(|c: char| c.is_ascii_uppercase());
        let known: &'static str = match kind {
            "struct" => "struct",
            "enum" => "enum",
            "trait" => "trait",
            "type" => "type",
            "mod" => "mod",
            "macro" => "macro",
            "const" if is_member => "associatedconstant",
            "const" => "constant",
            "fn" if is_member => "method",
            "fn" => "fn",
            "" if is_member => "variant",
            _ => return,
        };
        if is_member {
            self.members.entry(format!("{owner}::{name}")).or_insert(known);
        } else {
            self.items.entry((*name).to_owned()).or_insert(known);
        }
    }

    /// Returns the page of an item that is given as rustdoc accepts it, such as `crate::Filter::parse`, relative to the
    /// folder of the API documentation.
    pub fn page(&self, path: &str) -> Option<String> {
        let (kind, path) = path.split_once('@').map_or((None, path), |(kind, path)| (Some(kind), path));
        let path = path.trim_end_matches("()").trim_end_matches('!');
        let path = path.strip_prefix("crate::").unwrap_or(path);
        let mut segments: Vec<&str> = path.split("::").collect();
        let last = segments.pop()?;
        if kind == Some("macro") && ATTRIBUTES.contains(&last) || path == "job" {
            return Some(format!("ratchet/attr.{last}.html"));
        }
        if let Some(owner) = segments.last().copied().filter(|owner| self.items.contains_key(*owner))
            && let Some(kind) = self.members.get(&format!("{owner}::{last}"))
        {
            segments.pop();
            return Some(format!("ratchet/{}{}#{kind}.{last}", folder(&segments), self.file(owner)?));
        }
        Some(format!("ratchet/{}{}", folder(&segments), self.file(last)?))
    }

    fn file(&self, name: &str) -> Option<String> {
        if ATTRIBUTES.contains(&name) {
            return Some(format!("attr.{name}.html"));
        }
        match *self.items.get(name)? {
            "mod" => Some(format!("{name}/index.html")),
            kind => Some(format!("{kind}.{name}.html")),
        }
    }
}

fn folder(segments: &[&str]) -> String {
    segments.iter().map(|segment| format!("{segment}/")).collect()
}

/// Returns the path of a declaration: up to its arguments, type or value, and without generic parameters.
fn without_generics(text: &str) -> String {
    let mut path = String::new();
    let mut depth = 0_u32;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            '(' | ' ' | '=' => break,
            ':' if rest.peek() == Some(&':') => {
                rest.next();
                path += "::";
            }
            ':' => break,
            c => path.push(c),
        }
    }
    path
}
