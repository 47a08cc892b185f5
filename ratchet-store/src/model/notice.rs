//! Messages that are stored with a settlement and published to sinks at least once.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Envelope, JobId, JobOutcome};

/// A message to record with a settlement, so that it is published only after the commit.
///
/// Not `#[non_exhaustive]`: the compiler must find every store that does not handle a new variant.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice {
    /// An alert that a job went to the dead-letter queue. Suppressed if there was an equal one within the window.
    Alert {
        /// How long further alerts for the same job name and fingerprint are suppressed.
        window: Duration,
        /// The envelope from which the alert is built.
        envelope: Box<Envelope>,
    },
    /// The envelope of a dead letter, for the dead-letter sink.
    DeadLetter(Box<Envelope>),
    /// The outcome of a job, for the outcome sink. The outcomes of one job are published in commit order.
    Outcome(Box<JobOutcome>),
}

/// An alert: one per job name, fingerprint and window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alert {
    /// The first job that caused the alert.
    pub job_id: JobId,
    /// The name of the job.
    pub job_name: String,
    /// The fingerprint shared by the failures.
    pub fingerprint: String,
    /// The sanitized message of the first failure.
    pub message: String,
    /// When the alert was recorded.
    pub at: Timestamp,
    /// The number of equal alerts suppressed since.
    pub suppressed: u64,
}

/// The content of a delivery.
///
/// Not `#[non_exhaustive]`: the compiler must find every store that does not handle a new variant.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryBody {
    /// For the alert sink.
    Alert(Alert),
    /// For the dead-letter sink.
    DeadLetter(Box<Envelope>),
    /// For the outcome sink.
    Outcome(Box<JobOutcome>),
}

impl DeliveryBody {
    /// Returns when the message was stored.
    pub fn stored_at(&self) -> Timestamp {
        match self {
            Self::Alert(alert) => alert.at,
            Self::DeadLetter(envelope) => envelope.at,
            Self::Outcome(outcome) => outcome.at,
        }
    }
}

/// The sink that a delivery is for.
///
/// Not `#[non_exhaustive]`: the compiler must find every store that does not handle a new variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// The alert sink.
    Alerts,
    /// The dead-letter sink.
    DeadLetters,
    /// The outcome sink.
    Outcomes,
}

impl Channel {
    /// All channels, in the order of their codes.
    pub const ALL: [Self; 3] = [Self::Alerts, Self::DeadLetters, Self::Outcomes];

    /// Returns the name of the channel in metrics: `dead_letters`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Alerts => "alerts",
            Self::DeadLetters => "dead_letters",
            Self::Outcomes => "outcomes",
        }
    }
}

/// The messages of a channel that wait to be published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Backlog {
    /// The sink that they are for.
    pub channel: Channel,
    /// Their number, at most the limit of the query.
    pub waiting: u64,
    /// When the oldest one was stored. `None` if its row cannot be read.
    pub oldest: Option<Timestamp>,
}

impl Backlog {
    /// Creates a backlog.
    pub fn new(channel: Channel, waiting: u64, oldest: Option<Timestamp>) -> Self {
        Self { channel, waiting, oldest }
    }
}

/// The number of a delivery; increases in commit order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DeliveryId(pub i64);

/// A message that waits to be published.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Delivery {
    /// The number to acknowledge it with.
    pub id: DeliveryId,
    /// The content to publish.
    pub body: DeliveryBody,
}
