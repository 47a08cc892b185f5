//! The pages of the site. A page is a file below `docs/site`; a line `{{#include PATH}}` in it stands for another file of
//! the repository, whose links are relative to its own folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result};
use mdbook_preprocessor::book::Book;
use mdbook_preprocessor::{Preprocessor, PreprocessorContext};

use crate::api::Api;
use crate::links;

/// A part of a page, with the file that it was written in.
#[derive(Debug, Clone)]
pub struct Part {
    /// The file, relative to the repository.
    pub file: PathBuf,
    /// The line of the file that the text starts at, less one.
    pub line: usize,
    pub text: String,
}

/// All pages, and what their links may lead to.
#[derive(Debug, Clone)]
pub struct Site {
    pub repository: PathBuf,
    pub api: Api,
    /// The parts of each page, by its path below `docs/site`.
    pages: BTreeMap<PathBuf, Vec<Part>>,
    /// The page that shows a file of the repository.
    shown: BTreeMap<PathBuf, PathBuf>,
    /// The text of each page with its links resolved.
    resolved: BTreeMap<PathBuf, String>,
    images: BTreeSet<PathBuf>,
    problems: Vec<String>,
}

impl Site {
    /// Reads the pages named in `docs/site/SUMMARY.md`.
    pub fn read(repository: &Path) -> Result<Self> {
        let source = repository.join("docs/site");
        let summary = std::fs::read_to_string(source.join("SUMMARY.md")).context("docs/site/SUMMARY.md")?;
        let mut site = Self {
            repository: repository.to_owned(),
            api: Api::read(&repository.join("docs/public-api"))?,
            pages: BTreeMap::new(),
            shown: BTreeMap::new(),
            resolved: BTreeMap::new(),
            images: BTreeSet::new(),
            problems: Vec::new(),
        };
        for path in links::targets(&summary) {
            let page = PathBuf::from(&path);
            let file = Path::new("docs/site").join(&page);
            let text = std::fs::read_to_string(repository.join(&file)).with_context(|| path.clone())?;
            let parts = site.parts(&file, &text)?;
            for part in &parts {
                site.shown.entry(part.file.clone()).or_insert_with(|| page.clone());
            }
            site.pages.insert(page, parts);
        }
        site.unlisted(&source, Path::new(""))?;
        for (page, parts) in site.pages.clone() {
            let mut text = String::new();
            for part in &parts {
                text += &links::resolve(&mut site, &page, part);
            }
            site.resolved.insert(page, text);
        }
        Ok(site)
    }

    fn parts(&self, file: &Path, text: &str) -> Result<Vec<Part>> {
        let mut parts = vec![Part { file: file.to_owned(), line: 0, text: String::new() }];
        for (number, line) in text.split_inclusive('\n').enumerate() {
            let path = line.trim().strip_prefix("{{#include ").and_then(|rest| rest.strip_suffix("}}"));
            if let Some(path) = path {
                let included = normal(&file.parent().unwrap_or(Path::new("")).join(path));
                let text = std::fs::read_to_string(self.repository.join(&included))
                    .with_context(|| format!("{}: {path}", file.display()))?;
                // A program or its output is part of the code fence around it.
                if included.extension().is_none_or(|end| end != "md") {
                    if let Some(part) = parts.last_mut() {
                        part.text += &text;
                    }
                    continue;
                }
                parts.push(Part { file: included, line: 0, text });
                parts.push(Part { file: file.to_owned(), line: number + 1, text: String::new() });
            } else if let Some(part) = parts.last_mut() {
                part.text += line;
            }
        }
        parts.retain(|part| !part.text.trim().is_empty());
        Ok(parts)
    }

    /// Reports pages that the summary does not list. Snippets are parts of several pages.
    fn unlisted(&mut self, source: &Path, below: &Path) -> Result<()> {
        for entry in std::fs::read_dir(source.join(below))? {
            let entry = entry?;
            let path = below.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                self.unlisted(source, &path)?;
            } else if path.extension().is_some_and(|end| end == "md")
                && path != Path::new("SUMMARY.md")
                && !path.starts_with("snippets")
                && !self.pages.contains_key(&path)
            {
                self.problems.push(format!("docs/site/{}: not in SUMMARY.md", path.display()));
            }
        }
        Ok(())
    }

    pub fn pages(&self) -> &BTreeMap<PathBuf, Vec<Part>> {
        &self.pages
    }

    /// Returns the page that shows a file of the repository.
    pub fn page_of(&self, file: &Path) -> Option<&Path> {
        self.shown.get(file).map(PathBuf::as_path)
    }

    pub fn add_image(&mut self, file: &Path) {
        self.images.insert(file.to_owned());
    }

    pub fn images(&self) -> &BTreeSet<PathBuf> {
        &self.images
    }

    pub fn problem(&mut self, problem: String) {
        self.problems.push(problem);
    }

    pub fn problems(&self) -> Vec<String> {
        self.problems.clone()
    }
}

impl Preprocessor for Site {
    fn name(&self) -> &str {
        "ratchet-site"
    }

    fn run(&self, _: &PreprocessorContext, mut book: Book) -> Result<Book> {
        book.for_each_chapter_mut(|chapter| {
            if let Some(text) = chapter.path.as_ref().and_then(|path| self.resolved.get(path)) {
                chapter.content.clone_from(text);
            }
        });
        Ok(book)
    }
}

/// Removes `.` and `..` from a path.
pub fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}
