//! [`HttpError`]: why an allowed request has not succeeded.

use std::error::Error;
use std::io;
use std::time::Duration;

use ratchet_core::{JobError, fatal, retry_after};

/// Why a request that was allowed has not succeeded.
///
/// Messages contain neither paths, queries, bodies nor the values of headers, because these can be confidential.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// The name of the host could not be resolved.
    #[error("`{host}` could not be resolved")]
    Resolve {
        /// The host.
        host: String,
        /// The error of the resolver.
        source: io::Error,
    },
    /// No connection could be made.
    #[error("no connection to `{host}`")]
    Connect {
        /// The host.
        host: String,
        /// The error of the last address that was tried.
        source: io::Error,
    },
    /// The connection failed before the response was complete.
    #[error("the connection to `{host}` failed before the response was complete")]
    Transport {
        /// The host.
        host: String,
        /// The error of the connection.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The response took longer than the policy allows.
    #[error("`{host}` took longer than {limit:?}, the `timeout` of the policy")]
    TimedOut {
        /// The host of the first request.
        host: String,
        /// The limit of the policy.
        limit: Duration,
    },
    /// The run was canceled, timed out, or must end because its worker stops.
    #[error("the request to `{host}` was given up because its run was stopped")]
    Stopped {
        /// The host of the first request.
        host: String,
    },
    /// The status is not a success.
    #[error("`{host}` answered with status {status}")]
    Status {
        /// The host.
        host: String,
        /// The status.
        status: u16,
    },
    /// The response is a redirect that is not followed.
    #[error("`{host}` answered with status {status}, a redirect that is not followed: {why}")]
    Redirect {
        /// The host.
        host: String,
        /// The status.
        status: u16,
        /// Why the redirect is not followed.
        why: &'static str,
    },
    /// The head of the response is not valid HTTP, is larger than 128 KiB, or has more than 100 headers.
    #[error("the head of the response of `{host}` is not valid or too large")]
    BadHead {
        /// The host.
        host: String,
        /// The error of the parser.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The body of the response, before or after it was decompressed, is larger than the policy allows.
    #[error("the response of `{host}` has more than {limit} bytes, the `max_body` of the policy")]
    BodyTooLarge {
        /// The host.
        host: String,
        /// The limit of the policy.
        limit: usize,
    },
    /// The response has an encoding that was not requested.
    #[error("`{host}` answered with the content encoding `{encoding}`, which was not requested")]
    Encoding {
        /// The host.
        host: String,
        /// The encoding.
        encoding: String,
    },
}

impl HttpError {
    /// Returns the error of the job. A failure that the next attempt would repeat is permanent.
    pub(super) fn into_job_error(self) -> JobError {
        match self {
            Self::BodyTooLarge { .. } | Self::Encoding { .. } | Self::Redirect { .. } => {
                fatal(self).into()
            }
            _ => self.into(),
        }
    }

    /// Returns the error of a job that is tried again, after this delay if there is one.
    pub(super) fn retried_after(self, delay: Option<Duration>) -> JobError {
        match delay {
            Some(delay) => retry_after(self, delay).into(),
            None => self.into(),
        }
    }
}
