//! Classifies errors, panics and refusals as a [`Failure`], the input of the retry decision.

mod handler_error;
mod classify;
mod directive;
mod fingerprint;
mod panics;
mod permanent;
mod sanitize;
#[cfg(test)]
mod tests;
mod text;

pub use handler_error::{HandlerError, JobError};
pub(crate) use classify::{Classified, Classifier, record};
pub use classify::{Failure, Retryability};
pub use directive::{Directive, fatal, invalid, reject, retry_after, snooze};
pub use fingerprint::fingerprint;
pub(crate) use panics::{PanicReport, Panics, drop_catching_panics, catch_panic, install_hook};
pub use permanent::{PermanentError, permanent, permanent_reason};
pub use sanitize::{DefaultSanitizer, ErrorSanitizer, RawError};
pub(crate) use text::{clip, debug, display, plain};
