//! [`Deadline`]: a time limit that begins with the submit of a job.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Due;

/// A time limit of a job. A duration counts from the submit, by the store's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deadline {
    /// This long after the submit.
    In(Duration),
    /// At this instant.
    At(Timestamp),
}

impl Deadline {
    /// Returns the instant, truncated to microseconds, for a job that was submitted at `queued_at`.
    pub fn at(self, queued_at: Timestamp) -> Timestamp {
        match self {
            Self::In(duration) => Due::In(duration).at(queued_at),
            Self::At(instant) => Due::At(instant).at(queued_at),
        }
    }

    /// Returns `true` if the limit has passed as soon as the job is submitted.
    pub const fn is_zero(self) -> bool {
        matches!(self, Self::In(Duration::ZERO))
    }
}
