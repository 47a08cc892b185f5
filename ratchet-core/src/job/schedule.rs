//! The schedule declared with `cron` and its options on `#[job]`.

use std::time::Duration;

use super::checked;
use ratchet_store::model::Overlap;

/// A recurring schedule as it is declared on a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CronDef {
    /// The cron expression.
    pub expression: &'static str,
    /// The IANA time zone in which the expression is evaluated; `UTC` by default.
    pub zone: &'static str,
    /// What happens if an occurrence falls due while the job of an earlier one has not ended.
    pub overlap: Overlap,
    /// An alert is recorded if no job of the schedule has succeeded for this long.
    pub alert_after: Option<Duration>,
}

impl CronDef {
    /// Creates a schedule in UTC.
    pub const fn new(expression: &'static str) -> Self {
        Self { expression, zone: "UTC", overlap: Overlap::Allow, alert_after: None }
    }

    /// Sets the time zone.
    pub const fn zone(mut self, zone: &'static str) -> Self {
        self.zone = zone;
        self
    }

    /// Sets what happens if an occurrence falls due while the job of an earlier one has not ended.
    pub const fn overlap(mut self, overlap: Overlap) -> Self {
        self.overlap = overlap;
        self
    }

    /// Records an alert if no job of the schedule has succeeded for this long.
    ///
    /// # Panics
    ///
    /// Panics if the duration is zero: at compile time, because definitions are constants.
    pub const fn alert_after(mut self, within: Duration) -> Self {
        self.alert_after = Some(checked::alert_after(within));
        self
    }
}
