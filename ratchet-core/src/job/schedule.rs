//! The schedule declared with `cron` and `tz` on `#[job]`.

/// A recurring schedule as it is declared on a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CronDef {
    /// The cron expression.
    pub expression: &'static str,
    /// The IANA time zone in which the expression is evaluated; `UTC` by default.
    pub zone: &'static str,
}

impl CronDef {
    /// Creates a schedule in UTC.
    pub const fn new(expression: &'static str) -> Self {
        Self { expression, zone: "UTC" }
    }

    /// Sets the time zone.
    pub const fn zone(mut self, zone: &'static str) -> Self {
        self.zone = zone;
        self
    }
}
