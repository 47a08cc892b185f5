//! What becomes of jobs after their retention, and when maintenance deletes and archives them.

use std::time::Duration;

use jiff::Timestamp;
use ratchet_store::rules::recurring::{Cron, CronError};

/// What becomes of the jobs of a terminal state after their retention.
///
/// ```
/// use std::time::Duration;
/// use ratchet_core::{ArchiveFor, Ratchet};
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

/// When maintenance deletes and archives old jobs: for a time after each occurrence of a cron expression.
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
    /// use std::time::Duration;
    /// use ratchet_core::PurgeWindow;
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
    fn a_01_a_window_that_cannot_work_is_refused() {
        assert!(PurgeWindow::new("at night", Duration::from_hours(1), "UTC").is_err());
        assert!(PurgeWindow::new("0 2 * * *", Duration::from_hours(1), "Mars/Base").is_err());
        let short = PurgeWindow::new("0 2 * * *", Duration::from_secs(1), "UTC").expect("reads");
        assert!(short.problem().is_some_and(|problem| problem.contains("`purge_window`")));
    }
}
