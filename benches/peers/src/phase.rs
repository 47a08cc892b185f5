//! Runs one phase of one system: starts its adapter as a process and reads the result.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;
use tokio::process::{Child, Command};

use crate::systems::System;

/// The handler concurrency, the same for all systems.
pub const CONCURRENCY: &str = "500";

/// Calls the adapter of a system in a scenario.
#[derive(Debug, Clone)]
pub struct Caller<'a> {
    pub system: &'a System,
    pub url: String,
    /// Additional environment variables of the adapter.
    pub with: Vec<(&'static str, String)>,
    /// The time limit of a phase, in seconds.
    pub timeout: u64,
}

impl<'a> Caller<'a> {
    pub fn new(system: &'a System, url: String, timeout: u64) -> Self {
        Self { system, url, with: Vec::new(), timeout }
    }

    pub fn with(&self, key: &'static str, value: impl ToString) -> Self {
        let mut caller = self.clone();
        caller.with.push((key, value.to_string()));
        caller
    }

    /// Starts a phase with the given number of jobs.
    pub fn start(&self, phase: &str, jobs: usize) -> Child {
        Command::new(program(self.system))
            .arg(phase)
            .env("DATABASE_URL", &self.url)
            .env("N", jobs.to_string())
            .env("TOTAL", jobs.to_string())
            .env("CONC", CONCURRENCY)
            .env("BATCH", self.system.batch)
            .envs(self.with.iter().map(|(key, value)| (*key, value.as_str())))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap_or_else(|error| panic!("{} does not start: {error}", self.system.name))
    }

    /// Runs a phase to its end. `None` if it failed or took too long.
    pub async fn run(&self, phase: &str, jobs: usize) -> Option<Value> {
        finish(self.start(phase, jobs), self.timeout).await
    }

    /// Submits jobs in the fastest way that the system supports.
    pub async fn fill(&self, jobs: usize) -> Option<Value> {
        self.run(if self.system.bulk { "bulk" } else { "enqueue" }, jobs).await
    }
}

/// Returns the result of a phase; `None` if it failed or did not end in time.
pub async fn finish(child: Child, seconds: u64) -> Option<Value> {
    let limit = std::time::Duration::from_secs(seconds);
    let output = tokio::time::timeout(limit, child.wait_with_output()).await.ok()?.ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().rfind(|line| line.starts_with('{'))?;
    serde_json::from_str(line).ok()
}

/// Returns the path of a system's adapter.
fn program(system: &System) -> PathBuf {
    let ours = std::env::current_exe().expect("this program");
    let folder = ours.parent().expect("a folder");
    match system.adapter {
        None => folder.join(system.program),
        Some(_) => adapters_target().join("release").join(system.program),
    }
}

/// Builds the adapters into one folder. Each has its own lock file.
pub fn build(systems: &[System]) {
    for system in systems {
        let Some(adapter) = system.adapter else { continue };
        let manifest = root().join("adapters").join(adapter).join("Cargo.toml");
        eprintln!("building the adapter of {}", system.name);
        let status = std::process::Command::new("cargo")
            .args(["build", "--release", "--quiet", "--manifest-path"])
            .arg(manifest)
            .arg("--target-dir")
            .arg(adapters_target())
            .status()
            .expect("cargo runs");
        assert!(status.success(), "the adapter of {} does not build", system.name);
    }
}

/// Returns the SQL files that a user of this system must apply.
pub fn migrations(system: &System) -> Vec<String> {
    let (Some(folder), Some(adapter)) = (system.migrations, system.adapter) else {
        return Vec::new();
    };
    let manifest = root().join("adapters").join(adapter).join("Cargo.toml");
    let metadata = std::process::Command::new("cargo")
        .args(["metadata", "--format-version", "1", "--manifest-path"])
        .arg(manifest)
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&metadata.stdout).expect("metadata");
    let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
    let package = packages.iter().find(|package| package["name"] == adapter).expect("its crate");
    let home =
        Path::new(package["manifest_path"].as_str().unwrap_or_default()).with_file_name(folder);
    let mut files = Vec::new();
    collect(&home, &mut files);
    files.sort();
    files.iter().map(|file| std::fs::read_to_string(file).expect("a migration")).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        if path.is_dir() {
            collect(&path, files);
        } else if name.ends_with("up.sql") || (name.ends_with(".sql") && !name.contains("down")) {
            files.push(path);
        }
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn adapters_target() -> PathBuf {
    root().join("target").join("adapters")
}
