//! The documented limit of everything a user supplies, and the one check that submits, children, callbacks, schedules, graphs
//! and operator verbs share.
//!
//! Lengths are in bytes of UTF-8. What [`check`] accepts can be stored and read back by every store.
//!
//! ```
//! use ratchet_core::model::limits::{self, Field, Problem};
//!
//! assert!(limits::check(Field::Tenant, "acme").is_ok());
//! let refused = limits::check(Field::ConcurrencyKey, &"k".repeat(2800)).unwrap_err();
//! assert_eq!(refused.problem, Problem::TooLong { length: 2800, limit: limits::KEY });
//! assert_eq!(refused.to_string(), "the concurrency key has 2800 bytes, the limit is 1000");
//! ```

#[cfg(test)]
mod tests;

use super::{ConcurrencyKey, JobSpec};

/// The longest name of a job, queue, service, schedule, chain, batch, workflow, step or pipeline.
pub const NAME: usize = 200;

/// The longest business, idempotency, concurrency or hand-off key, tenant or correlation id: what every store can index, also
/// a key together with its tenant.
pub const KEY: usize = 1000;

/// The longest tag.
pub const TAG: usize = 500;

/// How many tags a job may have.
pub const TAGS: usize = 100;

/// The longest cron expression.
pub const CRON: usize = 1000;

/// The longest name of a time zone.
pub const ZONE: usize = 100;

/// How many missed occurrences of a schedule can be caught up with.
pub const CATCH_UP: u32 = 10_000;

/// How deep arguments, checkpoints, hand-offs and outputs may be nested. `serde_json` reads 128 levels; what is stored is
/// wrapped in a few levels more.
pub const DEPTH: usize = 100;

/// How many edges a chain, batch or workflow may have, with everything nested in it.
pub const EDGES: usize = 100_000;

/// The longest code of an error, after it was sanitized; what is longer is cut.
pub const CODE: usize = 200;

/// The longest message that is stored, whatever the sanitizer returns; what is longer is cut.
pub const MESSAGE: usize = 16 * 1024;

/// The longest log line or progress message; what is longer is cut.
pub const LOG_LINE: usize = 16 * 1024;

/// How many bytes one run may log; what comes after that is dropped, with a warning on the job.
pub const LOG: usize = 1024 * 1024;

/// The largest checkpoint, hand-off or rejected item, as JSON.
pub const CHECKPOINT: usize = 1024 * 1024;

/// How many rejected items of one run are kept; those beyond are counted, with a warning on the job.
pub const REJECTS: usize = 100_000;

/// How many jobs go to the store in one round trip at most, whatever the settings say.
pub const BATCH: usize = 10_000;

/// A text that a user supplies.
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
    /// Every field.
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

    /// What errors call it.
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

    /// How many bytes it may have.
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

    /// Whether it holds only letters, digits and `_ - . / :`. Other fields hold any text without NUL.
    pub const fn is_identifier(self) -> bool {
        matches!(self, Self::JobName | Self::Queue | Self::Schedule)
    }
}

/// A text or number that is beyond its limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the {} {problem}", field.name())]
#[non_exhaustive]
pub struct LimitError {
    /// The field.
    pub field: Field,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// It has no characters.
    #[error("is empty")]
    Empty,
    /// It has too many bytes.
    #[error("has {length} bytes, the limit is {limit}")]
    TooLong {
        /// How many it has.
        length: usize,
        /// How many it may have.
        limit: usize,
    },
    /// It contains a NUL character, which PostgreSQL cannot store.
    #[error("contains a NUL character")]
    Nul,
    /// It contains a character that its kind of name cannot have.
    #[error("contains {0:?}; it holds letters, digits and `_ - . / :` only")]
    Character(char),
    /// There are too many of it.
    #[error("is one of {count}, the limit is {limit}")]
    TooMany {
        /// How many there are.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
}

/// Refuses a text that is empty, too long, or contains what its field cannot hold.
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

/// Refuses a job one of whose names, keys, tags or ids is beyond its limit. Callbacks are not looked at.
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

/// A text for an error or a log line: what is longer than a name is cut, and its length is told instead.
pub fn brief(text: &str) -> String {
    if text.len() <= NAME {
        return text.to_owned();
    }
    format!("{}… ({} bytes)", &text[..text.floor_char_boundary(NAME / 2)], text.len())
}
