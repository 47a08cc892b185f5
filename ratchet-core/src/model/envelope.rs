//! What is kept of a failure.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{JobId, NodeId};

/// What kind of failure it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FailureKind {
    /// The handler returned an error.
    Error,
    /// The handler panicked.
    Panic,
    /// The run took longer than its timeout.
    Timeout,
    /// The job could never have run.
    Invalid,
    /// The signature of the row did not verify.
    Signature,
    /// The worker died with the job, too often.
    Crash,
    /// The job was put off too often.
    Deferral,
}

/// A failure as it is stored: sanitised, with a fingerprint to group it by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureRecord {
    /// What kind.
    pub kind: FailureKind,
    /// The type of the error, without its path.
    pub error_type: String,
    /// The sanitised message.
    pub message: String,
    /// The application's code for it, or the kind's.
    pub code: String,
    /// Equal for failures that look alike.
    pub fingerprint: String,
    /// Whether another attempt could have helped.
    pub retryable: bool,
}

/// Why a job ended in the dead-letter queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TerminalReason {
    /// All attempts failed.
    RetryExhausted,
    /// The error says that retrying is pointless.
    NonRetryable,
    /// The retry policy said no.
    PolicyRefused,
    /// It could never have run.
    Invalid,
    /// It killed its worker too often.
    Poisoned,
    /// Its signature did not verify.
    RejectedSignature,
    /// It took too long, and the policy forbids retrying that.
    TimedOut,
    /// It was put off too often.
    DeferralExhausted,
}

impl TerminalReason {
    /// The name stored and shown: `retry_exhausted`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RetryExhausted => "retry_exhausted",
            Self::NonRetryable => "non_retryable",
            Self::PolicyRefused => "policy_refused",
            Self::Invalid => "invalid",
            Self::Poisoned => "poisoned",
            Self::RejectedSignature => "rejected_signature",
            Self::TimedOut => "timed_out",
            Self::DeferralExhausted => "deferral_exhausted",
        }
    }
}

impl std::fmt::Display for TerminalReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// The terminal envelope of a failed job: everything needed to judge it without the job itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Envelope {
    /// Whose job it was.
    pub tenant: Option<String>,
    /// The job.
    pub job_id: JobId,
    /// Stable over all attempts of this life.
    pub execution_key: String,
    /// Unique per run: `job:step:run`.
    pub transition_key: String,
    /// What it was tied to.
    pub correlation_id: Option<String>,
    /// Its name.
    pub job_name: String,
    /// Its queue.
    pub queue: String,
    /// Why it ended here.
    pub reason: TerminalReason,
    /// What an annotation or policy said about it.
    pub explanation: Option<String>,
    /// The last failure.
    pub failure: FailureRecord,
    /// How many attempts were made.
    pub attempts: u32,
    /// The version of the program that ran it.
    pub binary_version: String,
    /// The node of the last run.
    pub node: NodeId,
    /// When, by the store's clock: the store sets it in the commit.
    pub at: Timestamp,
}

impl Envelope {
    /// An envelope that the store will stamp with its own time.
    pub fn new(
        job_id: JobId,
        job_name: impl Into<String>,
        reason: TerminalReason,
        failure: FailureRecord,
        node: NodeId,
    ) -> Self {
        Self {
            tenant: None,
            job_id,
            execution_key: String::new(),
            transition_key: String::new(),
            correlation_id: None,
            job_name: job_name.into(),
            queue: String::new(),
            reason,
            explanation: None,
            failure,
            attempts: 0,
            binary_version: String::new(),
            node,
            at: Timestamp::UNIX_EPOCH,
        }
    }
}
