//! Classifies errors, panics and refusals as a [`Failure`], the input of the retry decision.

mod classify;
mod directive;
mod fingerprint;
mod handler_error;
mod known_secrets;
mod panics;
mod permanent;
mod sanitize;
#[cfg(test)]
mod tests;
mod text;

pub(crate) use classify::{Classified, Classifier, record};
pub use classify::{Failure, Retryability};
pub use directive::{Directive, fatal, invalid, reject, retry_after, snooze};
pub use fingerprint::fingerprint;
pub use handler_error::{HandlerError, JobError, Layer};
pub(crate) use known_secrets::{KnownSecrets, MASK};
pub(crate) use panics::{
    PanicReport, Panics, catch_panic, drop_catching_panics, install_hook, masking_panics,
};
pub use permanent::{
    AsDynError, ClassifiedError, ErrorClass, Permanent, PermanentError, TransparentError, permanent,
};
pub use sanitize::{DefaultSanitizer, ErrorSanitizer, RawError};
pub(crate) use text::{clip, debug, display, plain, shorten};
