//! One cell: a process dies at a point, another finishes its work, and the store is held against the diary.

use std::collections::{BTreeMap, HashSet};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::Arc;

use ratchet::JobId;
use ratchet_core::crash::CrashPoint;
use tokio::process::Command;

use crate::Problem;
use crate::address::{Kind, Opened};
use crate::audit::{Findings, held, leftovers};
use crate::diary::Entries;
use crate::feature::{Feature, Phase};
use crate::older;
use crate::server::Server;

/// Where and when a process dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Death {
    pub point: CrashPoint,
    pub passing: u64,
}

impl Death {
    fn order(self) -> String {
        format!("{}:{}", self.point.name(), self.passing)
    }
}

/// What a cell came to.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// The process died there, and all is as promised; so many effects happened again.
    Kept { repeats: usize },
    /// The process ended without having come by.
    NotPassed,
    /// The promise is broken.
    Broken(Vec<String>),
}

/// A store of its own for a cell, and the diary beside it.
pub struct Place {
    folder: tempfile::TempDir,
    pub address: String,
    database: Option<(Arc<Server>, String)>,
}

impl Place {
    /// An empty store; for a feature that makes the store, nothing.
    pub async fn new(
        kind: Kind,
        server: Option<&Arc<Server>>,
        feature: Feature,
    ) -> Result<Self, Problem> {
        let nothing = feature == Feature::Create;
        let folder = tempfile::tempdir()?;
        match (kind, server) {
            (Kind::Pg, Some(server)) => {
                let name = format!("cell_{:016x}", fastrand::u64(..));
                let address = server.fresh(&name, nothing).await?;
                Ok(Self { folder, address, database: Some((Arc::clone(server), name)) })
            }
            _ => {
                let address = folder.path().join("jobs.db").display().to_string();
                if !nothing {
                    Opened::open(&address).await?.close().await;
                }
                Ok(Self { folder, address, database: None })
            }
        }
    }

    pub fn diary(&self) -> PathBuf {
        self.folder.path().join("diary")
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("passings")
    }

    pub async fn forget(self) -> Result<(), Problem> {
        match self.database {
            Some((server, name)) => server.forget(&name).await,
            None => Ok(()),
        }
    }

    /// Runs a process under test to its end.
    async fn victim(
        &self,
        feature: Feature,
        phase: Phase,
        death: Option<Death>,
    ) -> Result<Output, Problem> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["victim", "--feature", feature.name(), "--phase", phase.name()]);
        command.args(["--address", &self.address, "--diary"]).arg(self.diary());
        command.env("RATCHET_CRASH_LOG", self.log()).env_remove("RATCHET_CRASH");
        if let Some(death) = death {
            command.env("RATCHET_CRASH", death.order());
        }
        let output = command.stdin(Stdio::null()).kill_on_drop(true).output();
        Ok(output.await?)
    }

    /// Leaves behind what the feature begins with. Answers with the jobs that a dead process held.
    async fn prepare(&self, feature: Feature) -> Result<HashSet<JobId>, Problem> {
        match feature {
            Feature::Rescue => {
                let death = Death { point: CrashPoint::HandlerAfter, passing: 3 };
                let output = self.victim(feature, Phase::Prepare, Some(death)).await?;
                if output.status.signal() != Some(ABORTED) {
                    return Err(said("the first process", &output).into());
                }
                self.held().await
            }
            Feature::Migration => {
                let output = self.victim(feature, Phase::Prepare, None).await?;
                if !output.status.success() {
                    return Err(said("the first process", &output).into());
                }
                older::make_older(&self.address).await?;
                Ok(HashSet::new())
            }
            _ => Ok(HashSet::new()),
        }
    }

    async fn held(&self) -> Result<HashSet<JobId>, Problem> {
        let store = Opened::open(&self.address).await?;
        let held = held(&*store.shared()).await?;
        store.close().await;
        Ok(held)
    }

    /// Holds the store against the diary.
    async fn audit(&self, feature: Feature, held: HashSet<JobId>) -> Result<Findings, Problem> {
        let store = Opened::open(&self.address).await?;
        let entries = Entries::read(&self.diary());
        let mut found = Findings::gather(&*store.shared(), entries).await?;
        found.held = held;
        found.nothing_lost();
        found.one_end_each();
        found.effects_fit();
        found.counts_fit(&*store.shared()).await?;
        found.promised(feature, &store, &self.address).await?;
        found.problems.extend(leftovers(&self.address).await?);
        store.close().await;
        Ok(found)
    }
}

const ABORTED: i32 = 6;

/// What a process said before it ended as it should not have.
fn said(who: &str, output: &Output) -> String {
    let words = String::from_utf8_lossy(&output.stderr);
    format!("{who} ended with {}: {}", output.status, words.trim())
}

/// Runs a feature without dying anywhere. Answers how often it came by each point.
pub async fn record(
    kind: Kind,
    server: Option<&Arc<Server>>,
    feature: Feature,
) -> Result<BTreeMap<CrashPoint, u64>, Problem> {
    let place = Place::new(kind, server, feature).await?;
    let held = place.prepare(feature).await?;
    let _ = std::fs::remove_file(place.log());
    let output = place.victim(feature, Phase::Run, None).await?;
    if !output.status.success() {
        return Err(said("the undisturbed process", &output).into());
    }
    let passings = passings(&place.log());
    let found = place.audit(feature, held).await?;
    place.forget().await?;
    if found.problems.is_empty() {
        Ok(passings)
    } else {
        let problems = found.problems.join("\n");
        Err(format!("{} without a crash on {}: {problems}", feature.name(), kind.title()).into())
    }
}

fn passings(log: &Path) -> BTreeMap<CrashPoint, u64> {
    let mut passings = BTreeMap::new();
    for line in std::fs::read_to_string(log).unwrap_or_default().lines() {
        let name = line.split(' ').next().unwrap_or_default();
        if let Some(point) = CrashPoint::ALL.iter().find(|point| point.name() == name) {
            *passings.entry(*point).or_default() += 1;
        }
    }
    passings
}

/// Has a process die, another one finish, and looks.
pub async fn run(
    kind: Kind,
    server: Option<&Arc<Server>>,
    feature: Feature,
    death: Death,
) -> Result<Outcome, Problem> {
    let place = Place::new(kind, server, feature).await?;
    let outcome = die_and_finish(&place, feature, death).await?;
    place.forget().await?;
    Ok(outcome)
}

async fn die_and_finish(
    place: &Place,
    feature: Feature,
    death: Death,
) -> Result<Outcome, Problem> {
    let broken = |problem: String| Ok(Outcome::Broken(vec![problem]));
    let mut held = place.prepare(feature).await?;
    let _ = std::fs::remove_file(place.log());
    let died = place.victim(feature, Phase::Run, Some(death)).await?;
    if died.status.success() {
        return Ok(Outcome::NotPassed);
    }
    let there = passings(&place.log()).get(&death.point).copied().unwrap_or(0) >= death.passing;
    if died.status.signal() != Some(ABORTED) || !there {
        return broken(said("the process that was to die", &died));
    }
    // To look would be to migrate.
    if !death.point.name().starts_with("migration.") {
        held.extend(place.held().await?);
    }
    let finished = place.victim(feature, Phase::Finish, None).await?;
    if !finished.status.success() {
        return broken(said("the process that was to finish", &finished));
    }
    let found = place.audit(feature, held).await?;
    let repeats = found.repeats();
    Ok(match found.problems.is_empty() {
        true => Outcome::Kept { repeats },
        false => Outcome::Broken(found.problems),
    })
}
