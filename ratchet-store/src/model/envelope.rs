//! The stored form of failures, and the terminal envelope of dead letters.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{GroupId, JobId, NodeId};

/// The kind of a failure.
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
    /// The job could not be run.
    Invalid,
    /// The signature of the row could not be verified.
    Signature,
    /// The job crashed its workers too often.
    Crash,
    /// The job was deferred too often.
    Deferral,
}

impl FailureKind {
    /// Returns the code of a failure for which the application gave none.
    pub const fn default_code(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Panic => "panic",
            Self::Timeout => "timed_out",
            Self::Invalid => "invalid",
            Self::Signature => "signature",
            Self::Crash => "crashed",
            Self::Deferral => "deferred",
        }
    }
}

/// A failure as it is stored: sanitized, with a fingerprint for grouping.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureRecord {
    /// The kind of failure.
    pub kind: FailureKind,
    /// The type of the error, without its path.
    pub error_type: String,
    /// The sanitized message.
    pub message: String,
    /// The error code of the application, or a code for the kind of failure.
    pub code: String,
    /// Equal for similar failures.
    pub fingerprint: String,
    /// Whether another attempt could have succeeded.
    pub retryable: bool,
}

/// Why a job went to the dead-letter queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TerminalReason {
    /// All attempts failed.
    RetryExhausted,
    /// The error is not retryable.
    NonRetryable,
    /// The retry policy refused another attempt.
    PolicyRefused,
    /// The job could not be run.
    Invalid,
    /// The job crashed its workers too often.
    Poisoned,
    /// The signature could not be verified.
    RejectedSignature,
    /// The run timed out, and the policy forbids retrying timeouts.
    TimedOut,
    /// The job was deferred too often.
    DeferralExhausted,
}

impl TerminalReason {
    /// All reasons.
    pub const ALL: [Self; 8] = [
        Self::RetryExhausted,
        Self::NonRetryable,
        Self::PolicyRefused,
        Self::Invalid,
        Self::Poisoned,
        Self::RejectedSignature,
        Self::TimedOut,
        Self::DeferralExhausted,
    ];

    /// Returns the name that is stored and displayed, such as `retry_exhausted`.
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

/// The terminal envelope of a failed job: everything needed to diagnose it without the job itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Envelope {
    /// The tenant of the job.
    pub tenant: Option<String>,
    /// The id of the job.
    pub job_id: JobId,
    /// Stable over all attempts of this generation.
    pub execution_key: String,
    /// Unique per run: `job:step:run`.
    pub transition_key: String,
    /// The correlation id given at submission.
    pub correlation_id: Option<String>,
    /// The name of the job.
    pub job_name: String,
    /// The queue of the job.
    pub queue: String,
    /// Why the job went to the dead-letter queue.
    pub reason: TerminalReason,
    /// The explanation given by an annotation or a retry policy.
    pub explanation: Option<String>,
    /// The last failure.
    pub failure: FailureRecord,
    /// The number of attempts made.
    pub attempts: u32,
    /// The version of the application that ran it.
    pub binary_version: String,
    /// The node of the last run.
    pub node: NodeId,
    /// The time of the commit, by the store's clock. The store sets it.
    pub at: Timestamp,
    /// The host of the node; empty if it is not known.
    #[serde(default)]
    pub host: String,
    /// The chain, batch or workflow that the job is a member of.
    #[serde(default)]
    pub group: Option<GroupId>,
    /// The name of the step of a workflow.
    #[serde(default)]
    pub step: Option<String>,
    /// How often a worker died while it ran the job.
    #[serde(default)]
    pub crashes: u32,
    /// The arguments of a poisoned job, without the secret ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<serde_json::Value>,
}

impl Envelope {
    /// Creates an envelope. The store sets its time.
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
            host: String::new(),
            group: None,
            step: None,
            crashes: 0,
            arguments: None,
        }
    }
}
