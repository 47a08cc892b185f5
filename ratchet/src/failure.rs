//! Failures: how a handler directs its retries, and how errors are classified and sanitized.

pub use ratchet_core::{
    DefaultSanitizer, Directive, ErrorSanitizer, HandlerError, Layer, PermanentError, RawError,
    Retryability, fatal, fingerprint, invalid, reject, retry_after, snooze,
};
