//! The names of jobs and types in generated code: short where they are unique.

use std::collections::{BTreeMap, BTreeSet};

use crate::job::{Contract, JobContract};
use crate::shape::{Shape, TypeDef};

/// The names in one generated file.
#[derive(Debug)]
pub(super) struct Names {
    jobs: BTreeMap<String, String>,
    /// The types, by job and name in the lock file.
    types: BTreeMap<(String, String), String>,
}

impl Names {
    pub(super) fn new(contract: &Contract) -> Self {
        let mut short: BTreeMap<String, usize> = BTreeMap::new();
        for name in contract.jobs.keys() {
            *short.entry(pascal(last(name))).or_default() += 1;
        }
        let unique = |name: &String| short[&pascal(last(name))] == 1;
        let jobs: BTreeMap<_, _> = contract
            .jobs
            .keys()
            .map(|name| (name.clone(), pascal(if unique(name) { last(name) } else { name })))
            .collect();
        let mut taken: BTreeSet<String> = BTreeSet::new();
        for job in jobs.values() {
            taken.extend([job.clone(), format!("{job}Args"), format!("{job}Output")]);
        }
        let mut types = BTreeMap::new();
        for (name, job) in &contract.jobs {
            for type_name in job.types.keys() {
                let shared = contract.jobs.values().all(|other| same(job, other, type_name));
                let plain = pascal(type_name);
                let unique = if shared && !taken.contains(&plain) {
                    plain
                } else {
                    format!("{}{plain}", jobs[name])
                };
                types.insert((name.clone(), type_name.clone()), unique);
            }
        }
        Self { jobs, types }
    }

    /// Returns the name of a job in `PascalCase`.
    pub(super) fn job(&self, job: &str) -> &str {
        self.jobs.get(job).map_or("Job", String::as_str)
    }

    /// Returns the name of a type of a job.
    pub(super) fn of_type(&self, job: &str, name: &str) -> &str {
        let key = (job.to_owned(), name.to_owned());
        self.types.get(&key).map_or("Unknown", String::as_str)
    }

    /// Returns every type once, with a job that has it, ordered by name.
    pub(super) fn types<'a>(
        &'a self,
        contract: &'a Contract,
    ) -> BTreeMap<&'a str, (&'a str, &'a TypeDef)> {
        let mut all = BTreeMap::new();
        for ((job, name), generated) in &self.types {
            if let Some(def) = contract.jobs.get(job).and_then(|job| job.types.get(name)) {
                all.entry(generated.as_str()).or_insert((job.as_str(), def));
            }
        }
        all
    }
}

/// Returns whether both jobs mean the same by a name of a type, or one does not have it.
fn same(job: &JobContract, other: &JobContract, name: &str) -> bool {
    let shape = Shape::Named(name.to_owned());
    !other.types.contains_key(name) || job.used(&shape) == other.used(&shape)
}

/// Returns the part of a job's name after the last dot.
pub(super) fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// Returns the words of a name.
fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

pub(super) fn pascal(name: &str) -> String {
    let mut text = String::new();
    for word in words(name) {
        let mut chars = word.chars();
        text.extend(chars.next().map(|c| c.to_ascii_uppercase()));
        text.extend(chars);
    }
    if text.starts_with(|c: char| c.is_ascii_alphabetic()) { text } else { format!("Job{text}") }
}

pub(super) fn camel(name: &str) -> String {
    let pascal = pascal(name);
    let mut chars = pascal.chars();
    let first = chars.next().map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(chars).collect()
}

pub(super) fn snake(name: &str) -> String {
    let mut text = words(name).collect::<Vec<_>>().join("_").to_ascii_lowercase();
    if !text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        text.insert_str(0, "job_");
    }
    text
}

/// Returns whether the text is an identifier in the generated languages.
pub(super) fn is_identifier(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
