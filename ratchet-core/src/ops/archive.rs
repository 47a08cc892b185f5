//! [`ArchiveOverview`]: what the archive contains, and when jobs leave it.

use std::time::Duration;

use jiff::Timestamp;
use ratchet_store::StoreError;
use ratchet_store::model::JobState;
use serde::{Serialize, Serializer};

use super::doctor::{Findings, seconds};
use crate::client::{Archive, Ratchet};
use crate::config::{ArchiveFor, PurgeWindow, Retention};

/// What the archive contains, and when jobs leave it; see [`Archive::overview`].
///
/// ```
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), ratchet_core::StoreError> {
/// let archive = ratchet.archive().overview().await?;
/// println!("{} jobs in {}", archive.jobs, archive.place.as_deref().unwrap_or("memory"));
/// if let Some(bytes) = archive.bytes {
///     println!("{} MB", bytes / 1_000_000);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ArchiveOverview {
    /// The time of the store's clock.
    pub now: Timestamp,
    /// The number of archived jobs.
    pub jobs: u64,
    /// The terminal states.
    pub states: Vec<ArchivedState>,
    /// The size of the archive in bytes, if the store knows it.
    pub bytes: Option<u64>,
    /// Where the archive is: a file or a schema. `None` for a store in memory, and before anything was archived.
    pub place: Option<String>,
    /// When maintenance deletes and archives jobs, as this process is configured; `None` means always.
    pub window: Option<WindowOverview>,
}

/// The archived jobs of one state; see [`ArchiveOverview`].
///
/// ```
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), ratchet_core::StoreError> {
/// for archived in ratchet.archive().overview().await?.states {
///     println!("{}: {} jobs, kept {}", archived.state, archived.jobs, archived.archive);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ArchivedState {
    /// The state.
    pub state: JobState,
    /// The number of archived jobs.
    pub jobs: u64,
    /// When the first of them was archived.
    pub oldest: Option<Timestamp>,
    /// When the last of them was archived.
    pub newest: Option<Timestamp>,
    /// How long jobs of this state stay in the archive, as this process is configured. It is serialized as the setting is
    /// written: `off`, `forever`, or a duration.
    #[serde(serialize_with = "as_setting")]
    pub archive: ArchiveFor,
}

/// When maintenance deletes and archives jobs; see [`PurgeWindow`].
///
/// ```
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), ratchet_core::StoreError> {
/// match ratchet.archive().overview().await?.window {
///     None => println!("old jobs are deleted at any time"),
///     Some(window) if window.open => println!("old jobs are being deleted"),
///     Some(window) => println!("old jobs are deleted from {:?} on", window.next),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WindowOverview {
    /// The cron expression and its time zone.
    pub opens: String,
    /// The time zone of the expression.
    pub zone: String,
    /// How long the window stays open.
    pub duration: Duration,
    /// Whether the window is open.
    pub open: bool,
    /// When the window opens next; `None` if it never does.
    pub next: Option<Timestamp>,
}

fn as_setting<S: Serializer>(archive: &ArchiveFor, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(archive)
}

impl WindowOverview {
    fn of(window: &PurgeWindow, now: Timestamp) -> Self {
        Self {
            opens: window.opens.clone(),
            zone: window.zone.clone(),
            duration: window.duration,
            open: window.is_open(now),
            next: window.next_opening(now),
        }
    }
}

impl Archive {
    /// Returns what the archive contains by state, and when jobs leave it, as this process is configured.
    ///
    /// The answer consists of several reads and is not a snapshot of one moment.
    ///
    /// ```
    /// # use ratchet_core::{JobState, Ratchet};
    /// # use ratchet_memory::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
    /// let archive = ratchet.archive().overview().await?;
    /// assert!(archive.states.iter().all(|archived| archived.state.is_terminal()));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn overview(&self) -> Result<ArchiveOverview, StoreError> {
        let config = &self.core.config;
        let status = self.core.store.archive_status().await?;
        let now = self.core.store.now().await?;
        let of = |Retention { state, archive, .. }: Retention| ArchivedState {
            state,
            jobs: status.counts.state(state),
            oldest: status.oldest.get(&state).copied(),
            newest: status.newest.get(&state).copied(),
            archive,
        };
        Ok(ArchiveOverview {
            now,
            jobs: status.jobs(),
            states: config.retentions().map(of).into(),
            bytes: status.bytes,
            place: status.place,
            window: config.purge_window.as_ref().map(|window| WindowOverview::of(window, now)),
        })
    }
}

/// How much later than its time a job may leave the archive before it is reported.
const LATE: Duration = Duration::from_hours(1);

impl Ratchet {
    /// Finds archived jobs that are older than the retention that this process is configured for.
    pub(super) async fn archived_too_long(
        &self,
        findings: &mut Findings,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let config = &self.core.config;
        let limited = |it: &Retention| matches!(it.archive, ArchiveFor::Time(_));
        // The size and the counts of an archive take time to read.
        if !config.retentions().iter().any(limited) {
            return Ok(());
        }
        for archived in self.archive().overview().await?.states {
            let (ArchiveFor::Time(age), Some(oldest)) = (archived.archive, archived.oldest) else {
                continue;
            };
            if !is_late(oldest, age, config.purge_window.as_ref(), now) {
                continue;
            }
            let state = archived.state.name().to_lowercase();
            findings.add(
                "ARC-01",
                format!(
                    "{state} jobs were archived {} ago, and they stay in the archive for {}",
                    seconds(now.duration_since(oldest)),
                    archived.archive
                ),
                format!(
                    "start a worker with these settings, or: ratchet archive purge {state} --older-than {}",
                    option(age)
                ),
            );
        }
        Ok(())
    }
}

/// Returns `true` if maintenance had the time to delete a job that was archived at an instant.
fn is_late(at: Timestamp, age: Duration, window: Option<&PurgeWindow>, now: Timestamp) -> bool {
    let Ok(due) = at.checked_add(age) else { return false };
    let Ok(late) = due.checked_add(LATE) else { return false };
    late < now && window.is_none_or(|window| window.has_passed(due, now))
}

/// Returns a duration as an option of the command line.
fn option(age: Duration) -> String {
    const DAY: u64 = 24 * 3600;
    match age.as_secs() {
        days if days % DAY == 0 => format!("{}d", days / DAY),
        seconds => format!("{seconds}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_01_a_job_stays_too_long_if_it_outlives_a_whole_window() {
        let at = |text: &str| text.parse::<Timestamp>().expect("an instant");
        let archived = at("2026-11-17T12:00:00Z");
        let day = Duration::from_hours(24);
        let nights = PurgeWindow::new("0 2 * * *", Duration::from_hours(4), "UTC").expect("reads");
        for (now, always, at_night) in [
            ("2026-11-18T12:30:00Z", false, false),
            ("2026-11-18T13:30:00Z", true, false),
            ("2026-11-19T03:00:00Z", true, false),
            ("2026-11-19T06:00:00Z", true, true),
        ] {
            assert_eq!(is_late(archived, day, None, at(now)), always, "{now}");
            assert_eq!(is_late(archived, day, Some(&nights), at(now)), at_night, "{now}");
        }
    }
}
