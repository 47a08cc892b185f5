//! A large store that is protected again by a process that is killed several times.

use std::time::{Duration, Instant};

use ratchet::Ratchet;
use ratchet::security::Keyring;

use super::crew::{self, Progress, Sealed, text};
use super::keys::{self, Keys};
use super::load::process;
use super::{Scene, until};
use crate::Problem;

/// How many rows are submitted at once, and protected again at once.
const PAGE: u64 = 1000;

/// The shares of the rows after which the process is killed.
const KILLS: [f64; 3] = [0.2, 0.5, 0.8];

/// Protects the rows again. Returns a row of the table.
pub(super) async fn play(scene: &Scene, rows: u64) -> Result<String, Problem> {
    let folder = scene.folder.path();
    let keys = Keys::create(folder)?;
    let keyring = || Keyring::from_file(folder.join("keys.json"));
    let ratchet = crew::runtime(&scene.address, keyring()?).await?;
    fill(&ratchet, rows).await?;
    keys.prepare(2)?;
    keys.activate(2)?;
    let report = folder.join("reencrypt");
    let path = report.display().to_string();
    let page = PAGE.to_string();
    let (mut killed, mut written, mut taken) = (0, 0, Duration::ZERO);
    loop {
        let _ = std::fs::remove_file(&report);
        let began = Instant::now();
        let options = ["--report", &path, "--page", &page, "--pause", "0"];
        let mut child = process(scene, "rotation-reencrypt", "reencrypt", &options)?;
        let mut progress = Progress::default();
        until("the rows are protected again", async || {
            progress = Progress::read(&report);
            let share = progress.read as f64 / rows as f64;
            let is_killed = KILLS.get(killed).is_some_and(|kill| share >= *kill);
            if is_killed {
                child.kill()?;
                killed += 1;
            }
            Ok(is_killed || child.try_wait()?.is_some())
        })
        .await?;
        child.wait()?;
        taken += began.elapsed();
        // The process may have recorded a page between the look and the kill.
        progress = Progress::read(&report);
        written += progress.rewritten;
        if progress.refused > 0 {
            return Err(format!("{} values were refused", progress.refused).into());
        }
        if progress.is_done {
            break;
        }
    }
    let usage = crew::runtime(&scene.address, keyring()?).await?.key_usage(u64::MAX).await?;
    let old: u64 = keys::ids(1)?.iter().filter_map(|id| usage.keys.get(id)).sum();
    let twice = written.saturating_sub(rows);
    let rate = rows as f64 / taken.as_secs_f64();
    let row = format!(
        "| {} | {rows} | {} | {killed} | {written} | {twice} | {rate:.0} | {old} |",
        scene.kind.title(),
        killed + 1,
    );
    // A killed process may have committed a page that it has not recorded.
    let missing = rows.saturating_sub(written);
    if !usage.complete || old > 0 || twice > 0 || missing > PAGE * killed as u64 {
        return Err(format!("{old} values are under old keys, {missing} are missing").into());
    }
    Ok(row)
}

async fn fill(ratchet: &Ratchet, rows: u64) -> Result<(), Problem> {
    let mut next = 0;
    while next < rows {
        let end = rows.min(next + PAGE);
        let jobs = (next..end).map(|number| Sealed { number, token: text(number).into() });
        ratchet.enqueue_many(jobs).await?;
        next = end;
    }
    Ok(())
}
