//! Builds the documentation site from the pages of the repository, and checks it.
//!
//! ```text
//! ratchet-site REPOSITORY OUTPUT            builds the site
//! ratchet-site REPOSITORY OUTPUT --words    also writes the list of known words
//! ```
//!
//! The tool fails if a link leads nowhere, a code fence has no language, a sentence is too long, or a word is unknown.

mod api;
mod include;
mod links;
mod prose;
mod rendered;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use mdbook_driver::MDBook;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(repository), Some(output)) = (arguments.next(), arguments.next()) else {
        bail!("usage: ratchet-site REPOSITORY OUTPUT [--words]");
    };
    let update_words = arguments.next().is_some_and(|argument| argument == "--words");
    let repository = PathBuf::from(repository).canonicalize().context("the repository")?;
    std::fs::create_dir_all(&output).context("the output folder")?;
    let output = PathBuf::from(output).canonicalize().context("the output folder")?;

    let site = include::Site::read(&repository)?;
    let mut problems = site.problems();
    problems.extend(prose::check(&site, update_words)?);

    let mut book = MDBook::load(repository.join("docs"))?;
    book.config.build.build_dir.clone_from(&output);
    book.with_preprocessor(site.clone());
    book.build()?;
    for image in site.images() {
        copy(&repository.join(image), &output.join("images").join(image))?;
    }
    problems.extend(rendered::check(&output)?);

    if problems.is_empty() {
        println!("site: {} pages in {}", site.pages().len(), output.display());
        return Ok(());
    }
    for problem in &problems {
        eprintln!("{problem}");
    }
    bail!("{} problems", problems.len());
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::copy(from, to).with_context(|| format!("copying {}", from.display()))?;
    Ok(())
}
