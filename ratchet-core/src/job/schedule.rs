//! What `cron` and `tz` on `#[job]` declare.

/// A recurring schedule as declared on a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CronDef {
    /// The cron expression.
    pub expression: &'static str,
    /// The IANA zone it is read in; `UTC` if none was given.
    pub zone: &'static str,
}

impl CronDef {
    /// A schedule in UTC.
    pub const fn new(expression: &'static str) -> Self {
        Self { expression, zone: "UTC" }
    }

    /// Reads the expression in another zone.
    pub const fn zone(mut self, zone: &'static str) -> Self {
        self.zone = zone;
        self
    }
}
