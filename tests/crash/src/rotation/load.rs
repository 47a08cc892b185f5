//! Rotations while jobs are submitted and run, and while processes are killed.

use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use ratchet::model::{Filter, JobState, PageRequest};
use ratchet::security::Keyring;
use ratchet::{JobRecord, Ratchet};

use super::crew::{self, Progress};
use super::keys::{self, Keys};
use super::{Scene, until};
use crate::Problem;

/// The places of processes that are killed and started again.
const PLACES: [&str; 5] = ["worker-1", "worker-2", "worker-3", "submitter-1", "submitter-2"];

/// The time between two kills.
const PAUSE: Duration = Duration::from_millis(300);

/// Rotates the keys several times. Returns a row of the table.
pub(super) async fn play(scene: &Scene, rounds: u32) -> Result<String, Problem> {
    let keys = Keys::create(scene.folder.path())?;
    let mut crew = Crew::start(scene, &keys)?;
    let mut killed_runs = 0;
    for round in 1..=rounds {
        keys.prepare(round + 1)?;
        crew.know().await?;
        keys.activate(round + 1)?;
        crew.know().await?;
        // Jobs under the new keys, beside those under the old ones.
        crew.live(Duration::from_secs(2)).await?;
        killed_runs += crew.reencrypt(round).await?;
        keys.retire(round)?;
        crew.know().await?;
        crew.live(Duration::from_secs(1)).await?;
    }
    let ratchet = crew.finish().await?;
    let submitted = std::fs::read_to_string(scene.folder.path().join("submitted"))?;
    let submitted: BTreeSet<_> = submitted.lines().map(str::to_owned).collect();
    let jobs = all(&ratchet).await?;
    let present: BTreeSet<_> = jobs.iter().map(|job| job.id.to_string()).collect();
    let lost = submitted.difference(&present).count();
    let failed: Vec<_> = jobs.iter().filter(|job| job.state != JobState::Succeeded).collect();
    let crashes: u32 = jobs.iter().map(|job| job.crashes).sum();
    let [workers, submitters] = crew.kills;
    let row = format!(
        "| {} | {rounds} | {} | {workers} | {submitters} | {killed_runs} | {crashes} | {} | {lost} |",
        scene.kind.title(),
        jobs.len(),
        failed.len(),
    );
    if let Some(job) = failed.first() {
        return Err(format!("job {} is {}: {:?}", job.id, job.state, job.envelope).into());
    }
    if lost > 0 {
        return Err(format!("{lost} jobs that were accepted are missing").into());
    }
    Ok(row)
}

/// Returns all jobs.
async fn all(ratchet: &Ratchet) -> Result<Vec<JobRecord>, Problem> {
    let (mut jobs, mut before) = (Vec::new(), None);
    loop {
        let page = PageRequest { before, limit: 1000 };
        let page = ratchet.jobs().list(&Filter::any(), page).await?;
        jobs.extend(page.jobs);
        before = page.next;
        if before.is_none() {
            return Ok(jobs);
        }
    }
}

/// The processes, which are killed and started again.
struct Crew<'a> {
    scene: &'a Scene,
    keys: &'a Keys,
    children: Vec<Child>,
    last_kill: Instant,
    /// How many workers and submitters were killed.
    kills: [u32; 2],
}

impl<'a> Crew<'a> {
    fn start(scene: &'a Scene, keys: &'a Keys) -> Result<Self, Problem> {
        let children = Vec::new();
        let mut crew = Self { scene, keys, children, last_kill: Instant::now(), kills: [0; 2] };
        for place in PLACES {
            let child = crew.spawn(place)?;
            crew.children.push(child);
        }
        Ok(crew)
    }

    fn spawn(&self, place: &str) -> Result<Child, Problem> {
        let verb = if place.starts_with("worker") { "rotation-work" } else { "rotation-submit" };
        self.keys.forget(place);
        process(self.scene, verb, place, &[])
    }

    /// Kills a process with SIGKILL from time to time, and starts another one in its place.
    fn kill_one(&mut self) -> Result<(), Problem> {
        if self.last_kill.elapsed() < PAUSE {
            return Ok(());
        }
        self.last_kill = Instant::now();
        let which = fastrand::usize(..PLACES.len());
        let child = &mut self.children[which];
        if let Some(status) = child.try_wait()? {
            return Err(format!("{} has ended by itself: {status}", PLACES[which]).into());
        }
        child.kill()?;
        child.wait()?;
        self.kills[usize::from(PLACES[which].starts_with("submitter"))] += 1;
        self.children[which] = self.spawn(PLACES[which])?;
        Ok(())
    }

    /// Kills processes for a while.
    async fn live(&mut self, time: Duration) -> Result<(), Problem> {
        let began = Instant::now();
        while began.elapsed() < time {
            self.kill_one()?;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// Waits until every process has the present keys, as an operator does between two steps of a rotation.
    async fn know(&mut self) -> Result<(), Problem> {
        let keys = self.keys;
        until("every process has read the keys", async || {
            self.kill_one()?;
            for place in PLACES {
                if !keys.are_known_in(place)? {
                    return Ok(false);
                }
            }
            Ok(true)
        })
        .await
    }

    /// Protects everything again until no value is under the keys of a generation. Kills the process several times. Returns
    /// how often.
    async fn reencrypt(&mut self, generation: u32) -> Result<u32, Problem> {
        let report = self.scene.folder.path().join("reencrypt");
        let path = report.display().to_string();
        let mut killed = 0;
        loop {
            let _ = std::fs::remove_file(&report);
            let mut child =
                process(self.scene, "rotation-reencrypt", "reencrypt", &["--report", &path])?;
            // The first runs are killed after a few pages.
            let (pages, mut progress) = (u64::from(killed + 1) * 200, Progress::default());
            until("stored content is protected again", async || {
                self.kill_one()?;
                progress = Progress::read(&report);
                let is_killed = killed < 3 && progress.read >= pages && !progress.is_done;
                if is_killed {
                    child.kill()?;
                    killed += 1;
                }
                Ok(is_killed || child.try_wait()?.is_some())
            })
            .await?;
            child.wait()?;
            if progress.refused > 0 {
                return Err(format!("{} values were refused", progress.refused).into());
            }
            let old = keys::ids(generation)?;
            let ratchet = self.runtime().await?;
            let usage = ratchet.key_usage(u64::MAX).await?;
            if usage.complete && !old.iter().any(|id| usage.keys.contains_key(id)) {
                return Ok(killed);
            }
        }
    }

    async fn runtime(&self) -> Result<Ratchet, Problem> {
        let keyring = Keyring::from_file(self.scene.folder.path().join("keys.json"))?;
        crew::runtime(&self.scene.address, keyring).await
    }

    /// Stops the submitters and waits until all jobs have ended.
    async fn finish(&mut self) -> Result<Ratchet, Problem> {
        for child in self.children.drain(3..) {
            stop(child)?;
        }
        let ratchet = self.runtime().await?;
        until("all jobs end", async || {
            let counts = ratchet.jobs().counts().await?;
            Ok(counts.state(JobState::Pending) + counts.state(JobState::Running) == 0)
        })
        .await?;
        for child in self.children.drain(..) {
            stop(child)?;
        }
        Ok(ratchet)
    }
}

impl Drop for Crew<'_> {
    fn drop(&mut self) {
        for child in self.children.drain(..) {
            let _ = stop(child);
        }
    }
}

fn stop(mut child: Child) -> Result<(), Problem> {
    child.kill()?;
    child.wait()?;
    Ok(())
}

/// Starts a process of the test.
pub(super) fn process(
    scene: &Scene,
    verb: &str,
    place: &str,
    more: &[&str],
) -> Result<Child, Problem> {
    let mut command = Command::new(std::env::current_exe()?);
    let folder = scene.folder.path().display().to_string();
    command.args([verb, "--address", &scene.address, "--folder", &folder, "--place", place]);
    Ok(command.args(more).stdin(Stdio::null()).spawn()?)
}
