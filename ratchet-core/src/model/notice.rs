//! What is published outside, from the store, at least once.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Envelope, JobId, JobOutcome};

/// Something to record with a settlement, so that it is published after the commit and not before.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Notice {
    /// A job went to the dead-letter queue: alert somebody, unless the same was said within the window.
    Alert {
        /// How long the same job name and fingerprint stay quiet.
        window: Duration,
        /// The envelope's facts are copied into the alert.
        envelope: Box<Envelope>,
    },
    /// The envelope of a dead job, for the outside.
    DeadLetter(Box<Envelope>),
    /// The end of a job, whichever it was, for the outside. What is told of one job is told in the order of its commits.
    Outcome(Box<JobOutcome>),
}

/// An alert: one per job name and fingerprint and window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alert {
    /// The first job it speaks of.
    pub job_id: JobId,
    /// The name of the job.
    pub job_name: String,
    /// What failures have in common.
    pub fingerprint: String,
    /// The sanitised message of the first.
    pub message: String,
    /// When it was recorded.
    pub at: Timestamp,
    /// How many more of the same were suppressed since.
    pub suppressed: u64,
}

/// What a delivery carries.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum DeliveryBody {
    /// For the alert sink.
    Alert(Alert),
    /// For the dead-letter sink.
    DeadLetter(Box<Envelope>),
    /// For the outcome sink.
    Outcome(Box<JobOutcome>),
}

/// Who a delivery is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Channel {
    /// The alert sink.
    Alerts,
    /// The dead-letter sink.
    DeadLetters,
    /// The outcome sink.
    Outcomes,
}

/// The number of a delivery; grows in commit order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DeliveryId(pub i64);

/// Something that waits to be published.
#[derive(Debug, Clone, PartialEq)]
pub struct Delivery {
    /// Its number.
    pub id: DeliveryId,
    /// What it is.
    pub body: DeliveryBody,
}
