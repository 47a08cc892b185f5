//! Reviews a change of the contract: what would happen to the jobs that are queued when it is deployed.

use std::fmt;

use crate::compare::{Change, Mismatch, Reading};
use crate::job::{Contract, JobContract};

/// What a new contract changes for jobs that are queued under an old one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Review {
    /// The changes that would strand queued jobs.
    pub problems: Vec<Problem>,
    /// Changes that strand nothing, and what to know about them.
    pub notes: Vec<Note>,
}

/// A change that would strand queued jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The name of the job in the lock file.
    pub job: String,
    /// The line of the lock file that no longer holds; empty for a new one.
    pub was: String,
    /// The line that replaces it; empty if there is none.
    pub is: String,
    /// What would happen to queued jobs.
    pub effect: String,
    /// What to do.
    pub remedy: String,
}

/// A change that strands nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// The name of the job.
    pub job: String,
    /// The change and its consequence.
    pub text: String,
}

impl Problem {
    /// A payload of the lock file that the present code does not read, though its shape has not changed.
    pub fn unreadable(job: &str, version: u32, payload: &serde_json::Value, error: &str) -> Self {
        Self {
            job: job.to_owned(),
            was: format!("payload {version} {payload}"),
            is: String::new(),
            effect: format!("queued jobs like this would fail as `invalid`: {error}"),
            remedy: format!(
                "read the old form too, or write an `upgrade` function for version {version}"
            ),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "job `{}`", self.job)?;
        for (sign, line) in [('-', &self.was), ('+', &self.is)] {
            if !line.is_empty() {
                writeln!(f, "  {sign} {line}")?;
            }
        }
        writeln!(f, "  {}", self.effect)?;
        write!(f, "  remedy: {}", self.remedy)
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "job `{}`: {}", self.job, self.text)
    }
}

impl Review {
    /// Compares the lock file with the contract of the present code.
    pub fn new(locked: &Contract, present: &Contract) -> Self {
        let mut review = Self::default();
        for (name, old) in &locked.jobs {
            match find(present, name) {
                Some((new_name, new)) => {
                    if new_name != name {
                        review.note(name, format!("is now `{new_name}`, which runs it as its alias"));
                    }
                    review.job(name, old, new);
                }
                None => review.problem(
                    name,
                    (format!("job {name}"), String::new()),
                    "queued jobs of this name would wait without a worker that knows them",
                    format!("write `alias = \"{name}\"` on its new function; if it is gone for good, keep the function until no job of this name is left"),
                ),
            }
        }
        for name in present.jobs.keys().filter(|name| find(locked, name).is_none()) {
            let is_renamed =
                present.jobs[name].aliases.iter().any(|alias| find(locked, alias).is_some());
            if !is_renamed {
                review.note(name, "is new".to_owned());
            }
        }
        review
    }

    fn note(&mut self, job: &str, text: String) {
        self.notes.push(Note { job: job.to_owned(), text });
    }

    fn problem(&mut self, job: &str, (was, is): (String, String), effect: &str, remedy: String) {
        let (job, effect) = (job.to_owned(), effect.to_owned());
        self.problems.push(Problem { job, was, is, effect, remedy });
    }

    fn job(&mut self, name: &str, old: &JobContract, new: &JobContract) {
        for alias in old.aliases.iter().filter(|alias| !new.aliases.contains(alias)) {
            self.problem(
                name,
                (format!("alias {alias}"), String::new()),
                "jobs that were queued under the alias would wait without a worker that knows them",
                format!("keep `alias = \"{alias}\"` until no such job is left"),
            );
        }
        if new.version < old.version {
            self.problem(
                name,
                (format!("version {}", old.version), format!("version {}", new.version)),
                "queued jobs have a newer version, and would wait for a newer worker",
                format!("write `version = {}` or higher", old.version),
            );
        }
        if new.queue != old.queue {
            self.note(name, format!(
                "moves from queue `{}` to `{}`; queued jobs stay in `{}`, which a worker must still serve",
                old.queue, new.queue, old.queue,
            ));
        }
        self.keys(name, old, new);
        let upgraded = new.version > old.version
            && new.upgrades_from.is_some_and(|oldest| oldest <= old.version);
        if upgraded {
            let version = old.version;
            self.note(
                name,
                format!("payloads of version {version} are read by its upgrade function"),
            );
        } else {
            self.arguments(name, old, new);
        }
        if new.version == old.version {
            self.rollout(name, old, new);
        }
        let mut output = Reading::new(&old.types, &new.types);
        output.shapes("output", &old.output, &new.output);
        for Mismatch { path, change } in output.mismatches {
            self.note(name, format!(
                "{path} {change}: outputs that are stored already cannot be read by `wait` and by later steps",
            ));
        }
    }

    fn keys(&mut self, name: &str, old: &JobContract, new: &JobContract) {
        for kind in ["business", "idempotency", "concurrency"] {
            let (was, is) = (old.keys.get(kind), new.keys.get(kind));
            if was != is && was.is_some() {
                let line = |template: &String| format!("key {kind} {template}");
                self.problem(
                    name,
                    (was.map(line).unwrap_or_default(), is.map(line).unwrap_or_default()),
                    "queued jobs keep the old key, so a new job with the same meaning is not recognized as a repeat of one",
                    "deploy when no such job is queued, then write the lock file with `RATCHET_LOCK=accept`".to_owned(),
                );
            }
        }
    }

    fn arguments(&mut self, name: &str, old: &JobContract, new: &JobContract) {
        let (written, read) = (old.payload(), new.payload());
        let mut reading = Reading::new(&old.types, &new.types);
        reading.fields("", &written, &read);
        let dropped = reading.dropped;
        let mut renamed_from = Vec::new();
        for Mismatch { path, change } in reading.mismatches {
            let from = dropped.iter().find(|from| rename(old, new, from).as_ref() == Some(&path));
            if let (Change::NewRequired, Some(from)) = (&change, from) {
                let remedy = format!(
                    "if `{from}` was renamed, write `#[job(alias = \"{from}\")]` on `{path}`"
                );
                self.problem(name, (line(old, from), line(new, &path)), change.effect(), remedy);
                renamed_from.push(from.clone());
                continue;
            }
            let lines = lines(old, new, &path, &change);
            self.problem(name, lines, change.effect(), remedy(old, &path, &change));
        }
        for path in dropped.iter().filter(|path| !renamed_from.contains(path)) {
            match rename(old, new, path) {
                Some(to) => self.problem(
                    name,
                    (line(old, path), line(new, &to)),
                    "the values of queued jobs would be lost without an error",
                    format!("write `#[job(alias = \"{path}\")]` on `{to}`"),
                ),
                None => self.problem(
                    name,
                    (line(old, path), String::new()),
                    "the values of queued jobs would be ignored with a warning",
                    format!(
                        "keep it until no queued job has it, or write `version = {}, upgrade({} => …)`",
                        old.version + 1,
                        old.version,
                    ),
                ),
            }
        }
        let aliases = |job: &JobContract| {
            job.arguments
                .iter()
                .flat_map(|argument| {
                    argument.aliases.iter().map(|alias| (alias.clone(), argument.name.clone()))
                })
                .collect::<Vec<_>>()
        };
        for (alias, argument) in aliases(old) {
            if read.find(&alias).is_none() {
                self.problem(
                    name,
                    (format!("arg {argument} alias {alias}"), String::new()),
                    "jobs that were queued under the former name of the argument could not be read",
                    format!("keep `#[job(alias = \"{alias}\")]` until no such job is left"),
                );
            }
        }
    }

    /// Notes what workers of the previous build could not read, while both builds run.
    fn rollout(&mut self, name: &str, old: &JobContract, new: &JobContract) {
        let (written, read) = (new.payload(), old.payload());
        let mut reading = Reading::new(&new.types, &old.types);
        reading.fields("", &written, &read);
        for Mismatch { path, .. } in reading.mismatches {
            self.note(name, format!(
                "workers of the previous build cannot read new values of `{path}`; raise `version` to {} so that they leave such jobs alone",
                old.version + 1,
            ));
        }
        for path in reading.dropped {
            self.note(name, format!(
                "workers of the previous build ignore `{path}`; raise `version` to {} if they must not run such jobs",
                old.version + 1,
            ));
        }
    }
}

/// Returns what to do about a change.
fn remedy(old: &JobContract, path: &str, change: &Change) -> String {
    let upgrade = format!("`version = {}, upgrade({} => …)`", old.version + 1, old.version);
    match change {
        Change::NewRequired if path.contains(['.', '[', ':', '{']) => {
            format!("mark the field `#[serde(default)]`, or write {upgrade}")
        }
        Change::NewRequired => format!("mark it `#[job(default)]`, or write {upgrade}"),
        Change::NowRequired => format!("keep it optional, or write {upgrade}"),
        Change::Refused => "remove `strict` or `deny_unknown_fields`, or keep the field".to_owned(),
        Change::VariantRemoved => {
            format!("keep the variant until no queued job has it, or write {upgrade}")
        }
        Change::Shape { .. } => format!("keep the type, or write {upgrade}"),
    }
}

fn find<'a>(contract: &'a Contract, name: &str) -> Option<(&'a String, &'a JobContract)> {
    contract.jobs.get_key_value(name).or_else(|| {
        contract.jobs.iter().find(|(_, job)| job.aliases.iter().any(|alias| alias == name))
    })
}

/// Returns the argument that a removed one was probably renamed to: new, and with the same shape.
fn rename(old: &JobContract, new: &JobContract, from: &str) -> Option<String> {
    let from = old.arguments.iter().find(|argument| argument.name == from)?;
    let is_new = |name: &String| !old.arguments.iter().any(|argument| argument.name == *name);
    let same = |shape: &crate::Shape| {
        let mut reading = Reading::new(&old.types, &new.types);
        reading.shapes("", &from.shape, shape);
        reading.mismatches.is_empty() && *shape != crate::Shape::Any
    };
    let mut found =
        new.arguments.iter().filter(|argument| is_new(&argument.name) && same(&argument.shape));
    found.next().map(|argument| argument.name.clone())
}

/// Returns the line of an argument, or the path of a part of it.
fn line(job: &JobContract, path: &str) -> String {
    match job.arguments.iter().find(|argument| argument.name == path) {
        Some(argument) => {
            let optional = if argument.required { "" } else { "?" };
            format!("arg {path}{optional}: {}", argument.shape)
        }
        None => path.to_owned(),
    }
}

/// Returns the smallest difference: the lines of the lock file before and after.
fn lines(old: &JobContract, new: &JobContract, path: &str, change: &Change) -> (String, String) {
    match change {
        Change::NewRequired => (String::new(), line(new, path)),
        Change::Refused | Change::VariantRemoved => (line(old, path), String::new()),
        Change::NowRequired => (format!("{path}?"), path.to_owned()),
        Change::Shape { was, is } => match path.contains(['.', '[', ':', '{']) {
            true => (format!("{path}: {was}"), format!("{path}: {is}")),
            false => (line(old, path), line(new, path)),
        },
    }
}

impl Change {
    fn effect(&self) -> &'static str {
        match self {
            Self::NewRequired | Self::NowRequired => {
                "queued jobs do not have it, and would fail as `invalid`"
            }
            Self::Refused => "queued jobs have it, and would fail as `invalid`",
            Self::VariantRemoved => "queued jobs with it would fail as `invalid`",
            Self::Shape { .. } => {
                "values of queued jobs could not be read, and would fail as `invalid`"
            }
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape { was, is } => write!(f, "changes from `{was}` to `{is}`"),
            Self::NewRequired => f.write_str("is new and required"),
            Self::NowRequired => f.write_str("is now required"),
            Self::Refused => f.write_str("is now refused"),
            Self::VariantRemoved => f.write_str("is removed"),
        }
    }
}
