//! The test that `ratchet::lock_test!()` adds: compares the registered jobs with the lock file.

use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};

use ratchet_contract::{Contract, LockError, Note, Problem, Review};

use super::describe::{Described, decode, describe};
use crate::job::{JobInvocationResolver, Registration, Registry, RegistryError};

/// What to do with a lock file that differs from the code, the value of `RATCHET_LOCK`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockMode {
    /// Refuses changes that would strand queued jobs. The default.
    #[default]
    Compatible,
    /// `check`: refuses every difference, for continuous integration.
    Check,
    /// `update`: writes the file, unless a change would strand queued jobs.
    Update,
    /// `accept`: writes the file whatever changed.
    Accept,
}

impl LockMode {
    /// Reads the value of `RATCHET_LOCK`.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "" => Some(Self::Compatible),
            "check" => Some(Self::Check),
            "update" => Some(Self::Update),
            "accept" => Some(Self::Accept),
            _ => None,
        }
    }
}

/// The result of a comparison that found nothing to refuse.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct LockReport {
    /// Whether the file was written.
    pub written: bool,
    /// Whether the file differs from the code.
    pub outdated: bool,
    /// Changes that strand nothing.
    pub notes: Vec<Note>,
    /// What could not be traced.
    pub warnings: Vec<String>,
}

/// The reason why the lock test fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockFailure {
    /// There is no lock file.
    #[error("there is no {}; write it with `RATCHET_LOCK=update cargo test`, and commit it", .0.display())]
    Missing(PathBuf),
    /// The file cannot be read or written.
    #[error("cannot access {}", .path.display())]
    Io {
        /// The lock file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file is not a lock file.
    #[error("cannot read {}: {error}", .path.display())]
    Unreadable {
        /// The lock file.
        path: PathBuf,
        /// The line and its problem.
        error: LockError,
    },
    /// The program has no jobs.
    #[error(
        "no job is linked into this test; name the crates that define jobs: `ratchet::lock_test!(my_app)`"
    )]
    NoJobs,
    /// Several jobs have one name.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// Changes would strand queued jobs.
    #[error("{}", Stranded(.0))]
    Stranded(Vec<Problem>),
    /// The file differs from the code, and `RATCHET_LOCK=check` is set.
    #[error("{} is out of date; run `RATCHET_LOCK=update cargo test`, and commit it", .0.display())]
    Outdated(PathBuf),
    /// `RATCHET_LOCK` has another value.
    #[error("`RATCHET_LOCK={0}` is unknown; it must be `check`, `update` or `accept`")]
    UnknownMode(String),
}

struct Stranded<'a>(&'a [Problem]);

impl fmt::Display for Stranded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, s) = (self.0.len(), if self.0.len() == 1 { "" } else { "s" });
        writeln!(f, "{count} change{s} of the code would strand queued jobs:\n")?;
        for problem in self.0 {
            writeln!(f, "{problem}\n")?;
        }
        write!(
            f,
            "`RATCHET_LOCK=accept cargo test` accepts this, if no such job is queued anywhere"
        )
    }
}

/// Compares jobs with the lock file at `path`, and writes the file if the mode says so.
pub fn check_lock(
    path: &Path,
    jobs: &[Registration],
    mode: LockMode,
) -> Result<LockReport, LockFailure> {
    if jobs.is_empty() {
        return Err(LockFailure::NoJobs);
    }
    let Described { contract, warnings } = describe(jobs.iter().copied());
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => match mode {
            LockMode::Update | LockMode::Accept => {
                write(path, &contract)?;
                return Ok(LockReport { written: true, warnings, ..LockReport::default() });
            }
            _ => return Err(LockFailure::Missing(path.to_owned())),
        },
        Err(source) => return Err(LockFailure::Io { path: path.to_owned(), source }),
    };
    let locked: Contract = match text.parse() {
        Ok(locked) => locked,
        Err(_) if mode == LockMode::Accept => Contract::default(),
        Err(error) => return Err(LockFailure::Unreadable { path: path.to_owned(), error }),
    };
    let mut review = Review::new(&locked, &contract);
    review.problems.extend(unreadable_payloads(&locked, jobs, &review));
    if !review.problems.is_empty() && mode != LockMode::Accept {
        return Err(LockFailure::Stranded(review.problems));
    }
    let merged = with_older_payloads(contract, &locked, jobs);
    let outdated = merged.to_string() != text;
    let written = outdated && matches!(mode, LockMode::Update | LockMode::Accept);
    if written {
        write(path, &merged)?;
    } else if outdated && mode == LockMode::Check {
        return Err(LockFailure::Outdated(path.to_owned()));
    }
    Ok(LockReport { written, outdated: outdated && !written, notes: review.notes, warnings })
}

fn write(path: &Path, contract: &Contract) -> Result<(), LockFailure> {
    std::fs::write(path, contract.to_string())
        .map_err(|source| LockFailure::Io { path: path.to_owned(), source })
}

fn find<'a>(jobs: &'a [Registration], name: &str) -> Option<&'a Registration> {
    let named = jobs.iter().find(|job| job.def.name == name);
    named.or_else(|| jobs.iter().find(|job| job.def.aliases.contains(&name)))
}

/// Decodes the examples of the lock file with the present code.
fn unreadable_payloads(locked: &Contract, jobs: &[Registration], review: &Review) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (name, old) in &locked.jobs {
        // The comparison of the shapes says it better.
        if review.problems.iter().any(|problem| problem.job == *name) {
            continue;
        }
        let Some(job) = find(jobs, name) else { continue };
        for (version, payload) in old.payloads.range(..=job.def.version) {
            if let Err(error) = decode(job, *version, payload) {
                problems.push(Problem::unreadable(name, *version, payload, &error.to_string()));
            }
        }
    }
    problems
}

/// Keeps the examples of the lock file: they are what is queued.
fn with_older_payloads(
    mut contract: Contract,
    locked: &Contract,
    jobs: &[Registration],
) -> Contract {
    for (name, old) in &locked.jobs {
        let Some(job) = find(jobs, name) else { continue };
        let Some(new) = contract.jobs.get_mut(job.def.name) else { continue };
        for (version, payload) in old.payloads.range(..=job.def.version) {
            if decode(job, *version, payload).is_ok() {
                new.payloads.insert(*version, payload.clone());
            }
        }
    }
    contract
}

/// Runs the comparison for `ratchet::lock_test!()`.
///
/// # Panics
///
/// Panics if a change would strand queued jobs: it is the body of a test.
#[allow(clippy::print_stdout)] // the output of a test
pub fn lock_test(folder: &str) {
    let mode = std::env::var("RATCHET_LOCK").unwrap_or_default();
    match run(&Path::new(folder).join("ratchet.lock"), &mode) {
        Ok(text) => print!("{text}"),
        Err(failure) => panic!("{failure}"),
    }
}

fn run(path: &Path, mode: &str) -> Result<String, LockFailure> {
    let mode = LockMode::parse(mode).ok_or_else(|| LockFailure::UnknownMode(mode.to_owned()))?;
    let report = check_lock(path, &Registry::collect()?.all(), mode)?;
    let mut text = String::new();
    for line in
        report.warnings.iter().chain(&report.notes.iter().map(Note::to_string).collect::<Vec<_>>())
    {
        let _ = writeln!(text, "{line}");
    }
    if report.outdated {
        let path = path.display();
        let _ = writeln!(
            text,
            "{path} is out of date, and no queued job is stranded; update it with `RATCHET_LOCK=update cargo test`"
        );
    }
    Ok(text)
}
