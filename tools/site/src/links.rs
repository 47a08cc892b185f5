//! Resolves the links of a page. A link in a file of the repository leads to the page that shows its target, to the
//! documentation of the API, or to the repository.

use std::ops::Range;
use std::path::{Path, PathBuf};

use pulldown_cmark::{BrokenLink, CowStr, Event, LinkType, Options, Parser, Tag};

use crate::include::{Part, Site, normal};

const REPOSITORY: &str = "https://github.com/ratchet-rs/ratchet/blob/main";

pub fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

/// Returns the targets of all links in a text.
pub fn targets(text: &str) -> Vec<String> {
    let links = Parser::new_ext(text, options()).filter_map(|event| match event {
        Event::Start(Tag::Link { dest_url, .. }) => Some(dest_url.into_string()),
        _ => None,
    });
    links.filter(|target| !target.is_empty()).collect()
}

/// Returns the text of a part with its links resolved for a page.
pub fn resolve(site: &mut Site, page: &Path, part: &Part) -> String {
    let api = site.api.clone();
    // rustdoc resolves `[`Item`]` without a target.
    let shortcut = |link: BrokenLink<'_>| {
        let item = link.reference.trim_matches('`');
        api.page(item).map(|_| (CowStr::from(format!("crate::{item}")), CowStr::from("")))
    };
    let mut changes: Vec<(Range<usize>, String)> = Vec::new();
    for (event, range) in
        Parser::new_with_broken_link_callback(&part.text, options(), Some(shortcut)).into_offset_iter()
    {
        let (kind, target) = match event {
            Event::Start(Tag::Link { link_type, dest_url, .. } | Tag::Image { link_type, dest_url, .. }) => {
                (link_type, dest_url.into_string())
            }
            _ => continue,
        };
        if matches!(kind, LinkType::Autolink | LinkType::Email) {
            continue;
        }
        let Some(new) = resolved(site, page, part, &target, range.start) else { continue };
        let written = &part.text[range.clone()];
        if matches!(kind, LinkType::Inline) {
            if let Some(at) = written.rfind(&target) {
                let start = range.start + at;
                changes.push((start..start + target.len(), new));
            }
        } else {
            let label = written.split("][").next().unwrap_or(written).trim_start_matches('[').trim_end_matches(']');
            changes.push((range.clone(), format!("[{label}]({new})")));
        }
    }
    let mut text = part.text.clone();
    changes.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
    for (range, new) in changes {
        text.replace_range(range, &new);
    }
    text
}

/// Returns the target of a link for a page, or nothing if it stays as it is.
fn resolved(site: &mut Site, page: &Path, part: &Part, target: &str, at: usize) -> Option<String> {
    if target.starts_with('#') || target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = target.split_once('#').map_or((target, String::new()), |(path, anchor)| {
        (path, format!("#{anchor}"))
    });
    if path.contains("::") || path.contains('@') {
        if let Some(guide) = guide(site, path) {
            return Some(relative(page, &guide) + &anchor);
        }
        if let Some(item) = site.api.page(path) {
            return Some(relative(page, Path::new("api")) + "/" + &item);
        }
    }
    let file = normal(&part.file.parent().unwrap_or(Path::new("")).join(path));
    if let Some(shown) = site.page_of(&file) {
        return Some(relative(page, shown) + &anchor);
    }
    let absolute = site.repository.join(&file);
    let is_image = file.extension().is_some_and(|end| end == "png" || end == "svg");
    if is_image && absolute.is_file() {
        if let Ok(inside) = file.strip_prefix("docs/site") {
            return Some(relative(page, inside));
        }
        site.add_image(&file);
        return Some(relative(page, &Path::new("images").join(&file)));
    }
    if absolute.exists() {
        return Some(format!("{REPOSITORY}/{}{anchor}", file.display()));
    }
    let line = part.line + part.text[..at].matches('\n').count() + 1;
    site.problem(format!("{}:{line}: the link leads nowhere: {target}", part.file.display()));
    None
}

/// Returns the page of the site for a page of the guide in the crate's documentation.
fn guide(site: &Site, path: &str) -> Option<PathBuf> {
    let path = path.strip_prefix("crate::").unwrap_or(path);
    if path == "contract" {
        return site.page_of(Path::new("ratchet/docs/contract.md")).map(Path::to_owned);
    }
    let name = path.strip_prefix("guide::")?;
    let files = ["guide", "attributes"].map(|folder| PathBuf::from(format!("ratchet/docs/{folder}/{name}.md")));
    files.iter().find_map(|file| site.page_of(file)).map(Path::to_owned)
}

/// Returns the path from one page to another.
fn relative(from: &Path, to: &Path) -> String {
    let up = from.components().count().saturating_sub(1);
    format!("{}{}", "../".repeat(up), to.display())
}
