//! Classification: what a failure was, found by walking its source chain.

use std::error::Error;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use super::handler_error::source;
use super::sanitize::{ErrorSanitizer, RawError};
use super::text::{bounded, clip, plain};
use super::{HandlerError, Directive, PanicReport, Panics, fingerprint, catch_panic, permanent_reason};
use crate::job::shorten;
use crate::model::{FailureKind, FailureRecord, limits};

/// A failed attempt, ready to be decided about.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Failure {
    /// What will be stored of it.
    pub record: FailureRecord,
    /// Whether trying again is pointless, and who says so.
    pub retryability: Retryability,
    /// The delay the handler asked for.
    pub retry_after: Option<Duration>,
    pub(crate) error: Option<Arc<HandlerError>>,
}

/// Whether trying again is pointless.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Retryability {
    /// It may help.
    Transient,
    /// `#[do_not_retry]` stands on an error of the chain, for this reason.
    Annotated(String),
    /// The handler called it fatal.
    Fatal,
}

impl Failure {
    /// A failure without an error value behind it.
    pub fn new(record: FailureRecord) -> Self {
        Self { record, retryability: Retryability::Transient, retry_after: None, error: None }
    }

    /// The outermost error the handler returned, if it returned one.
    pub fn error(&self) -> Option<&(dyn Error + 'static)> {
        self.error.as_deref().map(HandlerError::error)
    }

    /// The first error of type `E` in the source chain.
    pub fn find<E: Error + 'static>(&self) -> Option<&E> {
        self.chain().find_map(|link| link.downcast_ref())
    }

    /// The source chain of the error the handler returned, outermost first.
    pub fn chain(&self) -> impl Iterator<Item = &(dyn Error + 'static)> {
        self.error.as_deref().into_iter().flat_map(HandlerError::chain)
    }
}

/// What a handler's error turned out to be: a failure, or a wish that is none.
#[derive(Debug, Clone)]
pub(crate) enum Classified {
    Failure(Box<Failure>),
    Snooze(Duration),
    Reject(String),
}

/// Turns what went wrong into data.
#[derive(Debug, Clone)]
pub(crate) struct Classifier {
    sanitizer: Arc<dyn ErrorSanitizer>,
    panics: Arc<Panics>,
}

/// More than anybody reads: what is stored is cut further by the sanitizer.
const LONGEST: usize = 64 * 1024;

impl Classifier {
    pub(crate) fn new(sanitizer: Arc<dyn ErrorSanitizer>) -> Self {
        Self { sanitizer, panics: Arc::default() }
    }

    /// Counts panics of the sanitizer there.
    pub(crate) fn counting(mut self, panics: &Arc<Panics>) -> Self {
        self.panics = Arc::clone(panics);
        self
    }

    /// What is kept of an error that fails nothing.
    pub(crate) fn record(&self, error: HandlerError) -> FailureRecord {
        match self.error(error) {
            Classified::Failure(failure) => failure.record,
            Classified::Snooze(delay) => {
                record(FailureKind::Error, "Snooze".to_owned(), format!("{delay:?}"), None)
            }
            Classified::Reject(why) => record(FailureKind::Error, "Reject".to_owned(), why, None),
        }
    }

    /// An error the handler returned.
    pub(crate) fn error(&self, error: HandlerError) -> Classified {
        let directive = error.chain().find_map(|link| link.downcast_ref::<Directive>());
        match directive {
            Some(Directive::Snooze { delay }) => return Classified::Snooze(*delay),
            Some(Directive::Reject { why }) => return Classified::Reject(self.text("Reject", why)),
            _ => {}
        }
        let kind = if matches!(directive, Some(Directive::Invalid { .. })) {
            FailureKind::Invalid
        } else {
            FailureKind::Error
        };
        let fatal = matches!(directive, Some(Directive::Fatal { .. }));
        let retry_after = match directive {
            Some(Directive::RetryAfter { delay, .. }) => Some(*delay),
            _ => None,
        };
        let retryability = match permanent_reason(error.chain()) {
            Some(reason) => Retryability::Annotated(reason.to_owned()),
            None if fatal => Retryability::Fatal,
            None => Retryability::Transient,
        };
        let error_type = error_type(&error);
        let message = message(&error);
        let sanitized = self.sanitize(&RawError {
            error_type: &error_type,
            message: &message,
            error: Some(error.error()),
        });
        let code = error.code().map(|code| {
            clip(self.text(&error_type, &code[..code.floor_char_boundary(LONGEST)]), limits::CODE)
        });
        let mut failure = Failure::new(record(kind, error_type, sanitized, code));
        failure.record.retryable =
            kind == FailureKind::Error && retryability == Retryability::Transient;
        failure.retryability = retryability;
        failure.retry_after = retry_after;
        failure.error = Some(Arc::new(error));
        Classified::Failure(Box::new(failure))
    }

    /// A panic.
    pub(crate) fn panic(&self, report: PanicReport) -> Failure {
        let PanicReport { message, location } = report;
        let message = match location {
            Some(place) => format!("panicked at {place}: {message}"),
            None => format!("panicked: {message}"),
        };
        Failure::new(record(
            FailureKind::Panic,
            "Panic".to_owned(),
            self.text("Panic", &message),
            None,
        ))
    }

    /// A run that took too long.
    pub(crate) fn timeout(limit: Duration) -> Failure {
        let message = format!("the run took longer than its timeout of {limit:?}");
        Failure::new(record(FailureKind::Timeout, "TimedOut".to_owned(), message, None))
    }

    /// A job that can never run.
    pub(crate) fn invalid(&self, error_type: &str, why: &str) -> Failure {
        let mut record =
            record(FailureKind::Invalid, error_type.to_owned(), self.text(error_type, why), None);
        record.retryable = false;
        Failure::new(record)
    }

    /// Any text that will be stored.
    fn text(&self, error_type: &str, message: &str) -> String {
        let message = &message[..message.floor_char_boundary(LONGEST)];
        self.sanitize(&RawError { error_type, message, error: None })
    }

    /// The sanitizer is the user's: if it fails nothing of the message is kept, and the worker goes on. Whatever it returns,
    /// control characters are removed and the length is bounded.
    fn sanitize(&self, error: &RawError<'_>) -> String {
        match catch_panic(|| self.sanitizer.sanitize(error)) {
            Ok(message) => clip(plain(&message).into_owned(), limits::MESSAGE),
            Err(panic) => {
                self.panics.note("sanitizer", &panic);
                "[the sanitizer panicked on this message]".to_owned()
            }
        }
    }
}

/// A failure that the engine itself found.
pub(crate) fn record(
    kind: FailureKind,
    error_type: String,
    message: String,
    code: Option<String>,
) -> FailureRecord {
    let code = code.unwrap_or_else(|| {
        match kind {
            FailureKind::Error => "error",
            FailureKind::Panic => "panic",
            FailureKind::Timeout => "timed_out",
            FailureKind::Invalid => "invalid",
            FailureKind::Signature => "signature",
            FailureKind::Crash => "crashed",
            FailureKind::Deferral => "deferred",
        }
        .to_owned()
    });
    let fingerprint = fingerprint(&error_type, &message);
    let retryable = !matches!(kind, FailureKind::Invalid | FailureKind::Signature);
    FailureRecord { kind, error_type, message, code, fingerprint, retryable }
}

/// The name of the error's type. Where it was erased, `Debug` usually starts with it.
fn error_type(error: &HandlerError) -> String {
    if let Some(name) = error.type_name() {
        return clip(shorten(name), limits::NAME);
    }
    // A type whose `Debug` panics is not worth more than this.
    let debug = bounded(128, |out| write!(out, "{:?}", error.error())).unwrap_or_default();
    let name: String = debug.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    if name.is_empty() || name.starts_with(char::is_numeric) { "Error".to_owned() } else { name }
}

/// The messages of the whole chain, outermost first, without repeating what a message already includes.
fn message(error: &HandlerError) -> String {
    let mut text = String::new();
    let mut last = String::new();
    let mut next = Some(error.error());
    for depth in 0..HandlerError::MAX_CHAIN {
        let Some(link) = next else { break };
        let part = bounded(LONGEST, |out| write!(out, "{link}"))
            .unwrap_or_else(|_| "[its Display panicked]".to_owned());
        // Many errors print their source themselves, and a directive prints what it wraps.
        if depth == 0 || !last.contains(part.as_str()) {
            text.push_str(if depth == 0 { "" } else { ": " });
            text.push_str(&part);
        }
        if text.len() >= LONGEST {
            break;
        }
        last = part;
        next = source(link).unwrap_or_else(|panic| {
            text.push_str(": [its source panicked: ");
            text.push_str(&panic.message);
            text.push(']');
            None
        });
    }
    text.truncate(text.floor_char_boundary(LONGEST));
    text
}
