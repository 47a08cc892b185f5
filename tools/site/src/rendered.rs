//! Checks the links of the rendered site: every page and every anchor must exist.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::include::normal;

/// Returns the links that lead nowhere. Links into the documentation of the API are checked if it is there.
pub fn check(output: &Path) -> Result<Vec<String>> {
    let mut pages = BTreeMap::new();
    read(output, Path::new(""), &mut pages)?;
    let has_api = output.join("api/ratchet/index.html").is_file();
    let anchors: BTreeMap<&PathBuf, BTreeSet<&str>> =
        pages.iter().map(|(path, html)| (path, values(html, " id=\"").collect())).collect();
    let mut problems = BTreeSet::new();
    for (page, html) in pages.iter().filter(|(page, _)| !page.starts_with("api") && page.as_path() != Path::new("404.html")) {
        for target in values(html, " href=\"").chain(values(html, " src=\"")) {
            if target.contains("://") || target.starts_with("mailto:") || target.starts_with("data:") || target.is_empty() {
                continue;
            }
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let file = match path {
                "" => page.clone(),
                path => normal(&page.parent().unwrap_or(Path::new("")).join(path)),
            };
            if file.starts_with("api") && !has_api {
                continue;
            }
            let found = match anchors.get(&file) {
                _ if anchor.is_empty() => output.join(&file).exists(),
                Some(anchors) => anchors.contains(anchor),
                None => false,
            };
            if !found {
                problems.insert(format!("{}: the link leads nowhere: {target}", page.display()));
            }
        }
    }
    Ok(problems.into_iter().collect())
}

fn read(output: &Path, below: &Path, pages: &mut BTreeMap<PathBuf, String>) -> Result<()> {
    for entry in std::fs::read_dir(output.join(below))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            read(output, &path, pages)?;
        } else if path.extension().is_some_and(|end| end == "html")
            && path != Path::new("print.html")
            && path != Path::new("toc.html")
        {
            pages.insert(path, std::fs::read_to_string(entry.path())?);
        }
    }
    Ok(())
}

/// Returns the values of an attribute.
fn values<'a>(html: &'a str, attribute: &'a str) -> impl Iterator<Item = &'a str> {
    html.split(attribute).skip(1).filter_map(|rest| rest.split('"').next())
}
