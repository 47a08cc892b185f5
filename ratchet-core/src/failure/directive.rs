//! What a handler can ask for in so many words.

use std::error::Error;
use std::fmt;
use std::time::Duration;

/// A handler's wish about its own job, returned as an error and found anywhere in a source chain.
///
/// Being an error it passes through `?` into [`JobError`](super::JobError), `anyhow`, `eyre` or a box.
#[derive(Debug)]
#[non_exhaustive]
pub enum Directive {
    /// Run again after a while; no attempt is used.
    Snooze {
        /// How long to wait.
        delay: Duration,
    },
    /// The work cannot be taken now; back to the queue, no attempt used.
    Reject {
        /// Why.
        why: String,
    },
    /// Give up at once.
    Fatal {
        /// What happened.
        error: Box<dyn Error + Send + Sync>,
    },
    /// The job can never be understood; give up at once.
    Invalid {
        /// What is wrong with it.
        error: Box<dyn Error + Send + Sync>,
    },
    /// A failed attempt, but the next one comes after this delay.
    RetryAfter {
        /// What happened.
        error: Box<dyn Error + Send + Sync>,
        /// How long to wait.
        delay: Duration,
    },
}

/// Run this job again after `delay`; no attempt is used.
pub fn snooze(delay: Duration) -> Directive {
    Directive::Snooze { delay }
}

/// This worker cannot take the job now: back to the queue, no attempt used.
pub fn reject(why: impl Into<String>) -> Directive {
    Directive::Reject { why: why.into() }
}

/// Give up at once: the job goes to the dead-letter queue.
pub fn fatal(error: impl Into<Box<dyn Error + Send + Sync>>) -> Directive {
    Directive::Fatal { error: error.into() }
}

/// The job can never be understood: it goes to the dead-letter queue as invalid.
pub fn invalid(error: impl Into<Box<dyn Error + Send + Sync>>) -> Directive {
    Directive::Invalid { error: error.into() }
}

/// A failed attempt like any other, but the next one comes after `delay`.
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
            // The wrapped error is a link of its own, so that `#[do_not_retry]` on it is found.
            Self::Fatal { error } | Self::Invalid { error } | Self::RetryAfter { error, .. } => {
                Some(&**error)
            }
        }
    }
}
