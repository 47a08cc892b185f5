//! Limits on all text and data supplied by users, and the checks shared by submissions, children, callbacks, schedules,
//! graphs and commands.
//!
//! Lengths are in bytes of UTF-8. Every store can store and read back any text that [`check`] accepts.
//!
//! ```
//! # mod ratchet { pub use ratchet_store::model; }
//! use ratchet::model::limits::{self, Field, Problem};
//!
//! assert!(limits::check(Field::Tenant, "acme").is_ok());
//! let refused = limits::check(Field::ConcurrencyKey, &"k".repeat(2800)).unwrap_err();
//! assert_eq!(refused.problem, Problem::TooLong { length: 2800, limit: limits::KEY });
//! assert_eq!(refused.to_string(), "the concurrency key has 2800 bytes, the limit is 1000");
//! ```

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use super::{ConcurrencyKey, JobSpec};

/// The maximum length of the name of a job, queue, service, schedule, chain, batch, workflow, step or pipeline.
pub const NAME: usize = 200;

/// The maximum length of a business, idempotency, concurrency or hand-off key, a tenant or a correlation id. Every
/// store can index a key of this length together with its tenant.
pub const KEY: usize = 1000;

/// The maximum length of a tag.
pub const TAG: usize = 500;

/// The maximum number of tags of a job.
pub const TAGS: usize = 100;

/// The maximum length of a cron expression.
pub const CRON: usize = 1000;

/// The maximum length of a time zone name.
pub const ZONE: usize = 100;

/// The maximum number of missed occurrences that a schedule can catch up on.
pub const CATCH_UP: u32 = 10_000;

/// The maximum nesting depth of arguments, checkpoints, hand-offs and outputs. `serde_json` reads 128 levels, and
/// stored values are wrapped in a few more levels.
pub const DEPTH: usize = 100;

/// The maximum number of edges of a chain, batch or workflow, including nested groups.
pub const EDGES: usize = 100_000;

/// The maximum length of an error code after sanitizing. Longer codes are truncated.
pub const CODE: usize = 200;

/// The maximum length of a stored error message after sanitizing. Longer messages are truncated.
pub const MESSAGE: usize = 16 * 1024;

/// The maximum length of a log line or progress message. Longer texts are truncated.
pub const LOG_LINE: usize = 16 * 1024;

/// The maximum number of bytes that one run can log. Further lines are dropped, with a warning on the job.
pub const LOG: usize = 1024 * 1024;

/// The maximum size of a checkpoint, hand-off or rejected item, as JSON.
pub const CHECKPOINT: usize = 1024 * 1024;

/// The maximum number of rejected items kept per run. Further items are only counted, with a warning on the job.
pub const REJECTS: usize = 100_000;

/// The maximum number of jobs sent to the store in one round trip, regardless of the configuration.
pub const BATCH: usize = 10_000;

/// A kind of text that users supply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Field {
    /// The name of a job.
    JobName,
    /// The name of a queue.
    Queue,
    /// The name of a schedule.
    Schedule,
    /// The name of a service with a circuit breaker.
    Service,
    /// The name of a chain, batch or workflow.
    Group,
    /// The name of a step in a workflow.
    Step,
    /// The name of a pipeline that takes hand-offs.
    Pipeline,
    /// A business key.
    BusinessKey,
    /// An idempotency key.
    IdempotencyKey,
    /// A concurrency key.
    ConcurrencyKey,
    /// The key of a hand-off.
    HandOffKey,
    /// A tenant.
    Tenant,
    /// A correlation id.
    CorrelationId,
    /// A tag.
    Tag,
}

impl Field {
    /// All fields.
    pub const ALL: [Self; 14] = [
        Self::JobName,
        Self::Queue,
        Self::Schedule,
        Self::Service,
        Self::Group,
        Self::Step,
        Self::Pipeline,
        Self::BusinessKey,
        Self::IdempotencyKey,
        Self::ConcurrencyKey,
        Self::HandOffKey,
        Self::Tenant,
        Self::CorrelationId,
        Self::Tag,
    ];

    /// Returns the name used in error messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::JobName => "job name",
            Self::Queue => "queue name",
            Self::Schedule => "schedule name",
            Self::Service => "service name",
            Self::Group => "group name",
            Self::Step => "step name",
            Self::Pipeline => "pipeline name",
            Self::BusinessKey => "business key",
            Self::IdempotencyKey => "idempotency key",
            Self::ConcurrencyKey => "concurrency key",
            Self::HandOffKey => "hand-off key",
            Self::Tenant => "tenant",
            Self::CorrelationId => "correlation id",
            Self::Tag => "tag",
        }
    }

    /// Returns the maximum length in bytes.
    pub const fn limit(self) -> usize {
        match self {
            Self::JobName
            | Self::Queue
            | Self::Schedule
            | Self::Service
            | Self::Group
            | Self::Step
            | Self::Pipeline => NAME,
            Self::BusinessKey
            | Self::IdempotencyKey
            | Self::ConcurrencyKey
            | Self::HandOffKey
            | Self::Tenant
            | Self::CorrelationId => KEY,
            Self::Tag => TAG,
        }
    }

    /// Returns `true` if the field can contain only ASCII letters, digits and `_ - . / :`. Other fields can contain any
    /// text without NUL.
    pub const fn is_identifier(self) -> bool {
        matches!(self, Self::JobName | Self::Queue | Self::Schedule)
    }
}

/// The error returned when a text or number exceeds its limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the {} {problem}", field.name())]
#[non_exhaustive]
pub struct LimitError {
    /// The offending field.
    pub field: Field,
    /// Why it was refused.
    pub problem: Problem,
}

/// Why a field was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The text is empty.
    #[error("is empty")]
    Empty,
    /// The text has too many bytes.
    #[error("has {length} bytes, the limit is {limit}")]
    TooLong {
        /// The actual length.
        length: usize,
        /// The maximum length.
        limit: usize,
    },
    /// The text contains a NUL character, which PostgreSQL cannot store.
    #[error("contains a NUL character")]
    Nul,
    /// The text contains a character that is not allowed in identifiers.
    #[error("contains {0:?}; it holds letters, digits and `_ - . / :` only")]
    Character(char),
    /// There are too many values.
    #[error("is one of {count}, the limit is {limit}")]
    TooMany {
        /// The actual number.
        count: usize,
        /// The maximum number.
        limit: usize,
    },
}

/// Returns an error if the text is empty, too long, or contains a character that its field cannot contain.
pub fn check(field: Field, text: &str) -> Result<(), LimitError> {
    let refuse = |problem| Err(LimitError { field, problem });
    let (length, limit) = (text.len(), field.limit());
    if length == 0 {
        return refuse(Problem::Empty);
    }
    if length > limit {
        return refuse(Problem::TooLong { length, limit });
    }
    if text.contains('\0') {
        return refuse(Problem::Nul);
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':');
    match text.chars().find(|c| !fits(*c)).filter(|_| field.is_identifier()) {
        Some(other) => refuse(Problem::Character(other)),
        None => Ok(()),
    }
}

/// Returns an error if a name, key, tag or id of the job exceeds its limit. Callbacks are not checked.
pub fn check_spec(spec: &JobSpec) -> Result<(), LimitError> {
    check(Field::JobName, &spec.name)?;
    check(Field::Queue, &spec.queue)?;
    let concurrency = spec.concurrency.as_ref().map(|ConcurrencyKey { key, .. }| key);
    for (field, text) in [
        (Field::Service, spec.service.as_ref()),
        (Field::BusinessKey, spec.business_key.as_ref()),
        (Field::IdempotencyKey, spec.idempotency_key.as_ref()),
        (Field::ConcurrencyKey, concurrency),
        (Field::Tenant, spec.tenant.as_ref()),
        (Field::CorrelationId, spec.correlation_id.as_ref()),
    ] {
        text.map_or(Ok(()), |text| check(field, text))?;
    }
    let count = spec.tags.len();
    if count > TAGS {
        let problem = Problem::TooMany { count, limit: TAGS };
        return Err(LimitError { field: Field::Tag, problem });
    }
    spec.tags.iter().try_for_each(|tag| check(Field::Tag, tag))
}

/// Shortens a text for an error or a log line, and escapes its control characters. A text longer than [`NAME`] is
/// truncated and its length is appended.
pub fn brief(text: &str) -> String {
    let kept = if text.len() <= NAME { text } else { &text[..text.floor_char_boundary(NAME / 2)] };
    let mut brief = String::with_capacity(kept.len());
    for c in kept.chars() {
        if c.is_control() {
            brief.extend(c.escape_debug());
        } else {
            brief.push(c);
        }
    }
    if kept.len() < text.len() {
        let _ = write!(brief, "… ({} bytes)", text.len());
    }
    brief
}
