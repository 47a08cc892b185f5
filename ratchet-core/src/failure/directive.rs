//! Directives: errors with which a handler controls what happens to its job.

use std::error::Error;
use std::fmt;
use std::time::Duration;

/// An instruction about the current job. A handler returns it as an error; it is found anywhere in a source chain.
///
/// Because it is an error, it passes through `?` into [`JobError`](super::JobError), `anyhow`, `eyre` or a box.
///
/// ```
/// # mod ratchet { pub use ratchet_core as failure; }
/// use ratchet::failure::{Directive, retry_after, snooze};
/// use std::time::Duration;
///
/// // The error of a handler whose service answers with a status.
/// fn directive(status: u16) -> Option<Directive> {
///     match status {
///         429 => Some(retry_after("too many requests", Duration::from_secs(60))),
///         503 => Some(snooze(Duration::from_secs(300))),
///         _ => None,
///     }
/// }
/// assert!(matches!(directive(503), Some(Directive::Snooze { .. })));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Directive {
    /// Run again later, without using an attempt.
    Snooze {
        /// The delay before the next run.
        delay: Duration,
    },
    /// The work cannot be accepted at this time. The job returns to the queue without using an attempt.
    Reject {
        /// The reason, for the history.
        why: String,
    },
    /// The job fails permanently.
    Fatal {
        /// The cause.
        error: Box<dyn Error + Send + Sync>,
    },
    /// The job is invalid and fails permanently.
    Invalid {
        /// The cause.
        error: Box<dyn Error + Send + Sync>,
    },
    /// A failed attempt with a given delay before the next one.
    RetryAfter {
        /// The cause.
        error: Box<dyn Error + Send + Sync>,
        /// The delay before the next attempt.
        delay: Duration,
    },
}

/// Runs the job again after `delay`, without using an attempt.
///
/// ```
/// # use std::time::Duration;
/// # use ratchet_core::{JobError, snooze};
/// # fn is_open() -> bool { false }
/// fn check() -> Result<(), JobError> {
///     if !is_open() {
///         return Err(snooze(Duration::from_secs(3600)).into());
///     }
///     Ok(())
/// }
/// # assert!(check().is_err());
/// ```
pub fn snooze(delay: Duration) -> Directive {
    Directive::Snooze { delay }
}

/// Returns the job to the queue without using an attempt, because it cannot be accepted at this time.
///
/// ```
/// # mod ratchet { pub use ratchet_core::{JobError, self as failure}; }
/// use ratchet::JobError;
/// use ratchet::failure::reject;
///
/// fn check(free_bytes: u64) -> Result<(), JobError> {
///     if free_bytes < 1_000_000 {
///         return Err(reject("the disk of this worker is full").into());
///     }
///     Ok(())
/// }
/// # assert!(check(0).is_err() && check(u64::MAX).is_ok());
/// ```
pub fn reject(why: impl Into<String>) -> Directive {
    Directive::Reject { why: why.into() }
}

/// Fails the job permanently: it goes to the dead-letter queue.
///
/// ```
/// # use ratchet_core::{JobError, fatal};
/// fn deleted(order: u64) -> Result<(), JobError> {
///     Err(fatal(format!("order {order} was deleted")).into())
/// }
/// # assert!(deleted(7).is_err());
/// ```
pub fn fatal(error: impl Into<Box<dyn Error + Send + Sync>>) -> Directive {
    Directive::Fatal { error: error.into() }
}

/// Fails the job permanently as invalid: it goes to the dead-letter queue.
///
/// ```
/// # mod ratchet { pub use ratchet_core::{JobError, self as failure}; }
/// use ratchet::JobError;
/// use ratchet::failure::invalid;
///
/// fn recipient(to: &str) -> Result<&str, JobError> {
///     if !to.contains('@') {
///         return Err(invalid(format!("`{to}` is not an email address")).into());
///     }
///     Ok(to)
/// }
/// # assert!(recipient("ada").is_err() && recipient("ada@example.com").is_ok());
/// ```
pub fn invalid(error: impl Into<Box<dyn Error + Send + Sync>>) -> Directive {
    Directive::Invalid { error: error.into() }
}

/// Fails the attempt, with `delay` before the next one.
///
/// ```
/// # use std::time::Duration;
/// # use ratchet_core::{JobError, retry_after};
/// fn answer(status: u16) -> Result<(), JobError> {
///     match status {
///         429 => Err(retry_after("too many requests", Duration::from_secs(60)).into()),
///         _ => Ok(()),
///     }
/// }
/// # assert!(answer(429).is_err());
/// ```
pub fn retry_after(error: impl Into<Box<dyn Error + Send + Sync>>, delay: Duration) -> Directive {
    Directive::RetryAfter { error: error.into(), delay }
}

impl fmt::Display for Directive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Snooze { delay } => write!(f, "snoozed for {delay:?}"),
            Self::Reject { why } => write!(f, "rejected: {why}"),
            Self::Fatal { error } | Self::Invalid { error } | Self::RetryAfter { error, .. } => {
                fmt::Display::fmt(error, f)
            }
        }
    }
}

impl Error for Directive {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Snooze { .. } | Self::Reject { .. } => None,
            // The wrapped error is a separate element of the chain, so that `#[do_not_retry]` on it is found.
            Self::Fatal { error } | Self::Invalid { error } | Self::RetryAfter { error, .. } => {
                Some(&**error)
            }
        }
    }
}
