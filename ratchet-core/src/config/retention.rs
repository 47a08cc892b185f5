//! What becomes of jobs after their retention, and when maintenance deletes and archives them.

use std::time::Duration;

use jiff::Timestamp;
use ratchet_store::model::JobState;
use ratchet_store::rules::recurring::{Cron, CronError};

use super::Config;

/// What becomes of the jobs of a terminal state after their retention.
///
/// ```
/// # mod ratchet { pub use ratchet_core as runtime; pub use ratchet_core::Ratchet; }
/// use std::time::Duration;
/// use ratchet::Ratchet;
/// use ratchet::runtime::ArchiveFor;
/// # use ratchet_memory::MemoryStore;
///
/// let builder = Ratchet::builder(MemoryStore::new())
///     .keep_failed(Duration::from_hours(24 * 30))
///     .archive_failed(ArchiveFor::Time(Duration::from_hours(24 * 365)));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArchiveFor {
    /// They are deleted.
    #[default]
    Off,
    /// They are archived, and kept until an operator removes them.
    Forever,
    /// They are archived, and deleted after this time in the archive.
    Time(Duration),
}

/// How long the jobs of a terminal state are kept, and what becomes of them after that.
///
/// ```
/// # mod ratchet { pub use ratchet_core::{JobState, self as runtime}; }
/// use ratchet::JobState;
/// use ratchet::runtime::{ArchiveFor, Config};
///
/// let mut config = Config::default();
/// config.archive_failed = ArchiveFor::Forever;
/// for retention in config.retentions() {
///     println!("{} for {:?}, then {}", retention.state, retention.keep, retention.archive);
/// }
/// let archived = config.retentions().into_iter().find(|kept| kept.archive != ArchiveFor::Off);
/// assert_eq!(archived.map(|kept| kept.state), Some(JobState::Failed));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retention {
    /// The terminal state.
    pub state: JobState,
    /// How long the jobs are kept; `None` means forever.
    pub keep: Option<Duration>,
    /// What becomes of them after that.
    pub archive: ArchiveFor,
}

impl Config {
    /// Returns the retention of each terminal state.
    pub fn retentions(&self) -> [Retention; 3] {
        let of = |state, keep, archive| Retention { state, keep, archive };
        [
            of(JobState::Succeeded, self.keep_succeeded, self.archive_succeeded),
            of(JobState::Canceled, self.keep_canceled, self.archive_canceled),
            of(JobState::Failed, self.keep_failed, self.archive_failed),
        ]
    }
}

/// When maintenance deletes and archives old jobs: for a time after each occurrence of a cron expression.
///
/// ```
/// # mod ratchet { pub use ratchet_core::{Ratchet, self as runtime}; pub use ratchet_memory::MemoryStore; }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use ratchet::runtime::PurgeWindow;
/// use ratchet::{MemoryStore, Ratchet};
/// use std::time::Duration;
///
/// let sundays = PurgeWindow::new("0 3 * * SUN", Duration::from_hours(2), "Europe/Vienna")?;
/// let ratchet = Ratchet::builder(MemoryStore::new()).purge_window(sundays).build().await?;
/// # drop(ratchet);
/// # assert!(PurgeWindow::new("0 3 * * SUN", Duration::from_hours(2), "Vienna").is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PurgeWindow {
    /// The cron expression. Each of its occurrences opens the window.
    pub opens: String,
    /// How long the window stays open.
    pub duration: Duration,
    /// The time zone of the expression.
    pub zone: String,
}

impl PurgeWindow {
    /// The shortest window. Maintenance looks once a minute.
    const SHORTEST: Duration = Duration::from_mins(2);

    /// Creates a window. Returns an error if the expression or the zone cannot be read.
    ///
    /// ```
    /// # mod ratchet { pub use ratchet_core as runtime; }
    /// use std::time::Duration;
    /// use ratchet::runtime::PurgeWindow;
    ///
    /// let nights = PurgeWindow::new("0 2 * * *", Duration::from_hours(4), "Europe/Vienna")?;
    /// assert!(nights.is_open("2026-11-18T02:30:00Z".parse()?));
    /// assert!(!nights.is_open("2026-11-18T12:00:00Z".parse()?));
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(
        opens: impl Into<String>,
        duration: Duration,
        zone: impl Into<String>,
    ) -> Result<Self, CronError> {
        let window = Self { opens: opens.into(), duration, zone: zone.into() };
        Cron::new(&window.opens, &window.zone)?;
        Ok(window)
    }

    /// Returns `true` if the window is open at an instant.
    pub fn is_open(&self, now: Timestamp) -> bool {
        let Ok(cron) = Cron::new(&self.opens, &self.zone) else { return false };
        let from = now.checked_sub(self.duration).unwrap_or(Timestamp::MIN);
        cron.after(from).is_some_and(|opened| opened <= now)
    }

    /// Returns when the window opens next after an instant. `None` if it never does.
    ///
    /// ```
    /// # mod ratchet { pub use ratchet_core as runtime; }
    /// use std::time::Duration;
    /// use ratchet::runtime::PurgeWindow;
    ///
    /// let nights = PurgeWindow::new("0 2 * * *", Duration::from_hours(4), "UTC")?;
    /// let next = nights.next_opening("2026-11-18T12:00:00Z".parse()?);
    /// assert_eq!(next, Some("2026-11-19T02:00:00Z".parse()?));
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn next_opening(&self, after: Timestamp) -> Option<Timestamp> {
        Cron::new(&self.opens, &self.zone).ok()?.after(after)
    }

    /// Returns `true` if a whole window has passed between two instants.
    pub(crate) fn has_passed(&self, since: Timestamp, now: Timestamp) -> bool {
        let closed = self.next_opening(since).map(|opened| opened.checked_add(self.duration));
        closed.is_some_and(|closed| closed.is_ok_and(|closed| closed <= now))
    }

    pub(super) fn problem(&self) -> Option<String> {
        if self.duration < Self::SHORTEST {
            return Some("`purge_window` must be at least 2 minutes long".to_owned());
        }
        let error = Cron::new(&self.opens, &self.zone).err()?;
        Some(format!("`purge_window`: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("an instant")
    }

    #[test]
    fn a_01_a_window_is_open_for_its_time_after_each_occurrence() {
        let nights = PurgeWindow::new("0 2 * * *", Duration::from_hours(4), "UTC").expect("reads");
        for (instant, open) in [
            ("2026-11-18T01:59:59Z", false),
            ("2026-11-18T02:00:00Z", true),
            ("2026-11-18T05:59:59Z", true),
            ("2026-11-18T06:00:00Z", false),
        ] {
            assert_eq!(nights.is_open(at(instant)), open, "{instant}");
        }
    }

    #[test]
    fn a_01_a_whole_window_has_passed_when_it_has_closed() {
        let nights = PurgeWindow::new("0 2 * * *", Duration::from_hours(4), "UTC").expect("reads");
        for (since, now, passed) in [
            ("2026-11-18T01:00:00Z", "2026-11-18T05:59:59Z", false),
            ("2026-11-18T01:00:00Z", "2026-11-18T06:00:00Z", true),
            ("2026-11-18T03:00:00Z", "2026-11-18T12:00:00Z", false),
            ("2026-11-18T03:00:00Z", "2026-11-19T06:00:00Z", true),
        ] {
            assert_eq!(nights.has_passed(at(since), at(now)), passed, "{since} {now}");
        }
    }

    #[test]
    fn a_01_a_window_that_cannot_work_is_refused() {
        assert!(PurgeWindow::new("at night", Duration::from_hours(1), "UTC").is_err());
        assert!(PurgeWindow::new("0 2 * * *", Duration::from_hours(1), "Mars/Base").is_err());
        let short = PurgeWindow::new("0 2 * * *", Duration::from_secs(1), "UTC").expect("reads");
        assert!(short.problem().is_some_and(|problem| problem.contains("`purge_window`")));
    }
}
