//! Classifies failures by inspecting their source chains.

use std::error::Error;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use super::handler_error::source;
use super::sanitize::{ErrorSanitizer, RawError};
use super::text::{bounded, clip, plain, shorten};
use super::{
    DefaultSanitizer, Directive, ErrorClass, HandlerError, KnownSecrets, PanicReport, Panics,
    catch_panic, fingerprint,
};
use ratchet_store::model::{FailureKind, FailureRecord, limits};

/// A failed attempt, as input to the retry decision.
///
/// ```
/// # mod ratchet { pub use ratchet_core as hooks; }
/// use ratchet::hooks::{FailedJob, Failure, RetryPolicy};
/// use std::io;
///
/// #[derive(Debug)]
/// struct NotWithoutPermission;
///
/// impl RetryPolicy for NotWithoutPermission {
///     fn should_retry(&self, _: &FailedJob<'_>, failure: &Failure) -> bool {
///         let kind = failure.find::<io::Error>().map(io::Error::kind);
///         kind != Some(io::ErrorKind::PermissionDenied) && failure.record.code != "E_LOCKED"
///     }
/// }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Failure {
    /// The part of the failure that is stored.
    pub record: FailureRecord,
    /// Whether a retry is pointless, and why.
    pub retryability: Retryability,
    /// The delay requested by the handler.
    pub retry_after: Option<Duration>,
    pub(crate) error: Option<Arc<HandlerError>>,
}

/// Whether a retry is pointless.
///
/// ```
/// # mod ratchet { pub use ratchet_core::{self as failure, self as hooks}; }
/// use ratchet::failure::Retryability;
/// use ratchet::hooks::Failure;
///
/// fn explain(failure: &Failure) -> String {
///     match &failure.retryability {
///         Retryability::Transient => "another attempt may succeed".to_owned(),
///         Retryability::Annotated(reason) => format!("no other attempt: {reason}"),
///         Retryability::Fatal => "the handler gave up".to_owned(),
///     }
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Retryability {
    /// A retry may succeed.
    Transient,
    /// An error of the chain is marked with `#[do_not_retry]`, for this reason.
    Annotated(String),
    /// The handler returned [`fatal`](super::fatal).
    Fatal,
}

impl Failure {
    /// Creates a failure without an error value.
    pub fn new(record: FailureRecord) -> Self {
        Self { record, retryability: Retryability::Transient, retry_after: None, error: None }
    }

    /// Returns the outermost error that the handler returned, if any.
    pub fn error(&self) -> Option<&(dyn Error + 'static)> {
        self.error.as_deref().map(HandlerError::error)
    }

    /// Returns the outermost error of type `E` that the handler's error is or wraps; see [`HandlerError::find_all`].
    pub fn find<E: Error + Send + Sync + 'static>(&self) -> Option<&E> {
        self.error.as_deref()?.find()
    }

    pub(crate) fn handler_error(&self) -> Option<&HandlerError> {
        self.error.as_deref()
    }

    /// Returns the source chain of the error that the handler returned, outermost first.
    pub fn chain(&self) -> impl Iterator<Item = &(dyn Error + 'static)> {
        self.error.as_deref().into_iter().flat_map(HandlerError::chain)
    }
}

/// The classification of a handler's error: a failure, or a deferral.
#[derive(Debug, Clone)]
pub(crate) enum Classified {
    Failure(Box<Failure>),
    Snooze(Duration),
    Reject(String),
}

/// Converts errors and panics to failures.
#[derive(Debug, Clone)]
pub(crate) struct Classifier {
    sanitizer: Arc<dyn ErrorSanitizer>,
    panics: Arc<Panics>,
    /// The secrets of the run that the texts come from.
    secrets: KnownSecrets,
}

/// The maximum length before sanitizing; stored messages are truncated further.
const LONGEST: usize = 64 * 1024;

impl Classifier {
    pub(crate) fn new(sanitizer: Arc<dyn ErrorSanitizer>) -> Self {
        Self { sanitizer, panics: Arc::default(), secrets: KnownSecrets::default() }
    }

    /// Counts panics of the sanitizer in `panics`.
    pub(crate) fn counting(mut self, panics: &Arc<Panics>) -> Self {
        self.panics = Arc::clone(panics);
        self
    }

    /// Returns a classifier for the texts of one run, which also replaces the secrets of the run.
    pub(crate) fn knowing(&self, secrets: KnownSecrets) -> Self {
        Self { secrets, ..self.clone() }
    }

    /// Returns the record of an error that does not fail a run.
    pub(crate) fn record(&self, error: HandlerError) -> FailureRecord {
        match self.error(error) {
            Classified::Failure(failure) => failure.record,
            Classified::Snooze(delay) => {
                record(FailureKind::Error, "Snooze".to_owned(), format!("{delay:?}"), None)
            }
            Classified::Reject(why) => record(FailureKind::Error, "Reject".to_owned(), why, None),
        }
    }

    /// Classifies an error that the handler returned.
    pub(crate) fn error(&self, error: HandlerError) -> Classified {
        let directive = error.find::<Directive>();
        match directive {
            Some(Directive::Snooze { delay }) => return Classified::Snooze(*delay),
            Some(Directive::Reject { why }) => return Classified::Reject(self.text("Reject", why)),
            _ => {}
        }
        // A directive was made for this failure; `#[classify]` speaks of all failures of a kind.
        let class = if directive.is_none() { error.class() } else { None };
        match class {
            Some(ErrorClass::Snooze(delay)) => return Classified::Snooze(delay),
            Some(ErrorClass::Reject) => {
                return Classified::Reject(self.text("Reject", &message(&error)));
            }
            _ => {}
        }
        let invalid = matches!(directive, Some(Directive::Invalid { .. }))
            || class == Some(ErrorClass::Invalid);
        let kind = if invalid { FailureKind::Invalid } else { FailureKind::Error };
        let fatal = matches!(directive, Some(Directive::Fatal { .. }));
        let retry_after = match directive {
            Some(Directive::RetryAfter { delay, .. }) => Some(*delay),
            _ => match class {
                Some(ErrorClass::RetryAfter(delay)) => Some(delay),
                _ => None,
            },
        };
        let retryability = match error.permanent_reason() {
            Some(reason) => Retryability::Annotated(reason.to_owned()),
            None if fatal => Retryability::Fatal,
            None => Retryability::Transient,
        };
        let error_type = self.secrets.hide_in(error_type(&error));
        let message = self.hidden(&message(&error));
        let sanitized = self.sanitize(&RawError {
            error_type: &error_type,
            message: &message,
            error: Some(error.error()),
        });
        let code = error.code().map(|code| clip(self.text(&error_type, code), limits::CODE));
        let mut failure = Failure::new(record(kind, error_type, sanitized, code));
        failure.record.retryable =
            kind == FailureKind::Error && retryability == Retryability::Transient;
        failure.retryability = retryability;
        failure.retry_after = retry_after;
        failure.error = Some(Arc::new(error));
        Classified::Failure(Box::new(failure))
    }

    /// Creates the failure of a panic.
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

    /// Creates the failure of a run that exceeded its timeout.
    pub(crate) fn timeout(limit: Duration) -> Failure {
        let message = format!("the run took longer than its timeout of {limit:?}");
        Failure::new(record(FailureKind::Timeout, "TimedOut".to_owned(), message, None))
    }

    /// Creates the failure of a job that can never run.
    pub(crate) fn invalid(&self, error_type: &str, why: &str) -> Failure {
        let mut record =
            record(FailureKind::Invalid, error_type.to_owned(), self.text(error_type, why), None);
        record.retryable = false;
        Failure::new(record)
    }

    /// Creates the failure of a job whose signature was refused.
    pub(crate) fn rejected_signature(&self, why: &str) -> Failure {
        let error_type = "RejectedSignature";
        let message = self.text(error_type, why);
        Failure::new(record(FailureKind::Signature, error_type.to_owned(), message, None))
    }

    /// Returns a panic with a sanitized message, for the log of the process.
    pub(crate) fn sanitized(&self, panic: PanicReport) -> PanicReport {
        let message = self.text("Panic", &panic.message);
        PanicReport { message, ..panic }
    }

    /// Sanitizes a text of an error or a refusal.
    pub(crate) fn text(&self, error_type: &str, message: &str) -> String {
        let message = self.hidden(message);
        self.sanitize(&RawError { error_type, message: &message, error: None })
    }

    /// Sanitizes a text that a handler has written: a log line, a progress message or a warning.
    pub(crate) fn line(&self, text: &str) -> String {
        let text = self.hidden(text);
        self.guarded(usize::MAX, || self.sanitizer.sanitize_text(&text))
    }

    /// Replaces the secrets of the run, and truncates the text.
    fn hidden(&self, text: &str) -> String {
        // Replaced first, so that the cut does not leave a part of a secret. The text may have been cut before.
        let hidden = self.secrets.hide(text);
        let cut = &hidden[..hidden.floor_char_boundary(LONGEST)];
        let is_cut = cut.len() < hidden.len() || text.len() + 4 > LONGEST;
        if is_cut { self.secrets.hide_cut(cut).to_owned() } else { hidden.into_owned() }
    }

    fn sanitize(&self, error: &RawError<'_>) -> String {
        self.guarded(limits::MESSAGE, || self.sanitizer.sanitize(error))
    }

    /// Calls the user's sanitizer. If it panics, the message is discarded. In any case, secrets of the run and control
    /// characters are removed from the result and its length is limited.
    fn guarded(&self, limit: usize, sanitize: impl FnOnce() -> String) -> String {
        match catch_panic(sanitize) {
            // The sanitizer may have taken the text from the error itself.
            Ok(message) => clip(plain(&self.secrets.hide(&message)).into_owned(), limit),
            Err(PanicReport { message, location }) => {
                let message = DefaultSanitizer::default().clean(&self.hidden(&message));
                self.panics.note("sanitizer", &PanicReport { message, location });
                "[the sanitizer panicked on this message]".to_owned()
            }
        }
    }
}

/// Creates the stored form of a failure.
pub(crate) fn record(
    kind: FailureKind,
    error_type: String,
    message: String,
    code: Option<String>,
) -> FailureRecord {
    let code = code.unwrap_or_else(|| kind.default_code().to_owned());
    let fingerprint = fingerprint(&error_type, &message);
    let retryable = !matches!(kind, FailureKind::Invalid | FailureKind::Signature);
    FailureRecord { kind, error_type, message, code, fingerprint, retryable }
}

/// Returns the name of the error's type. If the type was erased, uses the first word of its `Debug` output, which is
/// usually the name.
fn error_type(error: &HandlerError) -> String {
    if let Some(name) = error.type_name() {
        return clip(shorten(name), limits::NAME);
    }
    // If `Debug` panics, the name falls back to `Error`.
    let debug = bounded(128, |out| write!(out, "{:?}", error.error())).unwrap_or_default();
    let name: String = debug.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    if name.is_empty() || name.starts_with(char::is_numeric) { "Error".to_owned() } else { name }
}

/// Joins the messages of the whole chain, outermost first. Skips a message that the previous one already contains.
fn message(error: &HandlerError) -> String {
    let mut text = String::new();
    let mut last = String::new();
    let mut next = Some(error.error());
    for depth in 0..HandlerError::MAX_CHAIN {
        let Some(link) = next else { break };
        let part = bounded(LONGEST, |out| write!(out, "{link}"))
            .unwrap_or_else(|_| "[its Display panicked]".to_owned());
        // Many errors include the message of their source, and so do directives.
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
