//! Runs one cell: a process dies at a point, another finishes its work, and the store is audited against the diary.

use std::collections::{BTreeMap, HashSet};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use ratchet::JobId;
use ratchet_store::env::crash::CrashPoint;
use tokio::process::{Child, Command};

use crate::Problem;
use crate::address::{Kind, Opened};
use crate::audit::{Findings, held, in_transaction, leftovers};
use crate::diary::Entries;
use crate::feature::Feature;
use crate::older;
use crate::server::Server;

/// The fate of a process under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is aborted.
    Dies,
    /// It is stopped for longer than its lease, and continues while another process does its work: a zombie.
    Freezes,
    /// It is stopped, and continues after another process has done its work.
    FreezesLonger,
}

/// The point and the passing of that point at which a process dies or freezes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Death {
    pub fate: Fate,
    pub point: CrashPoint,
    pub passing: u64,
}

impl Death {
    fn order(self) -> String {
        format!("{}:{}", self.point.name(), self.passing)
    }
}

/// The result of a cell.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// The process died at the point, and all guarantees hold. `repeats` is the number of repeated effects.
    Kept { repeats: usize },
    /// The process ended without reaching the point.
    NotPassed,
    /// A guarantee is broken.
    Broken(Vec<String>),
}

/// The store and the diary of a cell.
pub struct Place {
    folder: tempfile::TempDir,
    pub address: String,
    database: Option<(Arc<Server>, String)>,
}

impl Place {
    /// Creates an empty store, or nothing if the feature creates or restores the store.
    pub async fn new(
        kind: Kind,
        server: Option<&Arc<Server>>,
        feature: Feature,
    ) -> Result<Self, Problem> {
        let nothing = matches!(feature, Feature::Create | Feature::Migration);
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

    /// Runs a process under test until it ends.
    async fn victim(&self, feature: Feature, death: Option<Death>) -> Result<Output, Problem> {
        Ok(self.spawn(feature, death)?.wait_with_output().await?)
    }

    fn spawn(&self, feature: Feature, death: Option<Death>) -> Result<Child, Problem> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["victim", "--feature", feature.name()]);
        command.args(["--address", &self.address, "--diary"]).arg(self.diary());
        command.env("RATCHET_CRASH_LOG", self.log());
        let order = death.map(Death::order).unwrap_or_default();
        match death.map(|death| death.fate) {
            Some(Fate::Dies) => command.env("RATCHET_CRASH", order),
            Some(Fate::Freezes | Fate::FreezesLonger) => command.env("RATCHET_FREEZE", order),
            None => &mut command,
        };
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        Ok(command.kill_on_drop(true).spawn()?)
    }

    /// Prepares the initial state of the feature. Returns the jobs that a dead process held.
    async fn prepare(&self, feature: Feature) -> Result<HashSet<JobId>, Problem> {
        match feature {
            Feature::Rescue => {
                let death = Death { fate: Fate::Dies, point: CrashPoint::HandlerAfter, passing: 3 };
                let output = self.victim(feature, Some(death)).await?;
                if output.status.signal() != Some(ABORTED) {
                    return Err(said("the first process", &output).into());
                }
                self.held().await
            }
            Feature::Migration => {
                older::restore(&self.address, &self.diary()).await?;
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

    /// Audits the store against the diary.
    async fn audit(&self, feature: Feature, held: HashSet<JobId>) -> Result<Findings, Problem> {
        let store = Opened::open(&self.address).await?;
        let entries = Entries::read(&self.diary());
        let mut found = Findings::gather(&*store.shared(), entries).await?;
        found.held = held;
        if feature == Feature::Purge {
            found.release_holds();
        }
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

/// Describes a process that ended unexpectedly, with its output.
fn said(who: &str, output: &Output) -> String {
    let words = String::from_utf8_lossy(&output.stderr);
    format!("{who} ended with {}: {}", output.status, words.trim())
}

/// Runs a feature without a crash. Returns the number of passings of each point.
pub async fn record(
    kind: Kind,
    server: Option<&Arc<Server>>,
    feature: Feature,
) -> Result<BTreeMap<CrashPoint, u64>, Problem> {
    let place = Place::new(kind, server, feature).await?;
    let held = place.prepare(feature).await?;
    let _ = std::fs::remove_file(place.log());
    let output = place.victim(feature, None).await?;
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

/// Runs a process that dies or freezes and another one that finishes its work, and audits the store.
pub async fn run(
    kind: Kind,
    server: Option<&Arc<Server>>,
    feature: Feature,
    death: Death,
) -> Result<Outcome, Problem> {
    loop {
        let place = Place::new(kind, server, feature).await?;
        let outcome = match death.fate {
            Fate::Dies => Some(die_and_finish(&place, feature, death).await?),
            Fate::Freezes | Fate::FreezesLonger => {
                freeze_and_finish(&place, feature, death).await?
            }
        };
        place.forget().await?;
        if let Some(outcome) = outcome {
            return Ok(outcome);
        }
    }
}

async fn die_and_finish(place: &Place, feature: Feature, death: Death) -> Result<Outcome, Problem> {
    let broken = |problem: String| Ok(Outcome::Broken(vec![problem]));
    let mut held = place.prepare(feature).await?;
    let _ = std::fs::remove_file(place.log());
    let died = place.victim(feature, Some(death)).await?;
    if died.status.success() {
        return Ok(Outcome::NotPassed);
    }
    let there = passings(&place.log()).get(&death.point).copied().unwrap_or(0) >= death.passing;
    if died.status.signal() != Some(ABORTED) || !there {
        return broken(said("the process that was to die", &died));
    }
    // Opening the store would run the migration. Other features migrate only an archive.
    let migrates = matches!(feature, Feature::Create | Feature::Migration);
    if !(migrates && death.point.name().starts_with("migration.")) {
        held.extend(place.held().await?);
    }
    let finished = place.victim(feature, None).await?;
    if !finished.status.success() {
        return broken(said("the process that was to finish", &finished));
    }
    judge(place, feature, held).await
}

/// Freezes a process, lets another one do its work, and continues the first. Its late calls must have no effect.
///
/// Returns `None` if another of its threads was in a transaction: then all other processes wait for it.
async fn freeze_and_finish(
    place: &Place,
    feature: Feature,
    death: Death,
) -> Result<Option<Outcome>, Problem> {
    let broken = |problem: String| Ok(Some(Outcome::Broken(vec![problem])));
    let mut held = place.prepare(feature).await?;
    let _ = std::fs::remove_file(place.log());
    let zombie = place.spawn(feature, Some(death))?;
    let id = zombie.id().ok_or("the process has no id")?;
    if !frozen(id).await {
        let output = zombie.wait_with_output().await?;
        return match output.status.success() {
            true => Ok(Some(Outcome::NotPassed)),
            false => broken(said("the process that was to freeze", &output)),
        };
    }
    if in_transaction(&place.address).await? {
        return Ok(None);
    }
    held.extend(place.held().await?);
    let mut finisher = place.spawn(feature, None)?;
    let began = Entries::read(&place.diary()).effects.len();
    let taken_over = || {
        let effects = Entries::read(&place.diary()).effects;
        effects.iter().skip(began).any(|effect| held.contains(&effect.job))
    };
    while finisher.try_wait()?.is_none() && !(death.fate == Fate::Freezes && taken_over()) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Command::new("kill").args(["-CONT", &id.to_string()]).status().await?;
    let finished = finisher.wait_with_output().await?;
    let output = zombie.wait_with_output().await?;
    if !finished.status.success() {
        return broken(said("the process that was to finish", &finished));
    }
    if !output.status.success() {
        return broken(said("the process that went on", &output));
    }
    judge(place, feature, held).await.map(Some)
}

/// Waits until a process is stopped. Returns `false` if it has ended instead.
async fn frozen(id: u32) -> bool {
    loop {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        // The state follows the name, which is in parentheses.
        let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim().chars().next());
        match state {
            Some('T') => return true,
            None | Some('Z' | 'X') => return false,
            _ => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    }
}

/// Audits the store against the diary.
async fn judge(place: &Place, feature: Feature, held: HashSet<JobId>) -> Result<Outcome, Problem> {
    let found = place.audit(feature, held).await?;
    let repeats = found.repeats();
    Ok(match found.problems.is_empty() {
        true => Outcome::Kept { repeats },
        false => Outcome::Broken(found.problems),
    })
}
