//! Classification: what a failure was, found by walking its source chain.

use std::error::Error;
use std::fmt::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;

use super::sanitize::{ErrorSanitizer, Unsanitised};
use super::{Caught, Directive, PanicReport, fingerprint, guarded, permanent_reason};
use crate::job::shorten;
use crate::model::{FailureKind, FailureRecord};

/// A failed attempt, ready to be decided about.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Failure {
    /// What will be stored of it.
    pub record: FailureRecord,
    /// Whether trying again is pointless, and who says so.
    pub permanence: Permanence,
    /// The delay the handler asked for.
    pub retry_after: Option<Duration>,
    pub(crate) caught: Option<Arc<Caught>>,
}

/// Whether trying again is pointless.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Permanence {
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
        Self { record, permanence: Permanence::Transient, retry_after: None, caught: None }
    }

    /// The outermost error the handler returned, if it returned one.
    pub fn error(&self) -> Option<&(dyn Error + 'static)> {
        self.caught.as_deref().map(Caught::error)
    }

    /// The first error of type `E` in the source chain.
    pub fn find<E: Error + 'static>(&self) -> Option<&E> {
        self.chain().find_map(|link| link.downcast_ref())
    }

    /// The source chain of the error the handler returned, outermost first.
    pub fn chain(&self) -> impl Iterator<Item = &(dyn Error + 'static)> {
        self.caught.as_deref().into_iter().flat_map(Caught::chain)
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
}

impl Classifier {
    pub(crate) fn new(sanitizer: Arc<dyn ErrorSanitizer>) -> Self {
        Self { sanitizer }
    }

    /// What is kept of an error that fails nothing.
    pub(crate) fn record(&self, caught: Caught) -> FailureRecord {
        match self.error(caught) {
            Classified::Failure(failure) => failure.record,
            Classified::Snooze(delay) => {
                record(FailureKind::Error, "Snooze".to_owned(), format!("{delay:?}"), None)
            }
            Classified::Reject(why) => record(FailureKind::Error, "Reject".to_owned(), why, None),
        }
    }

    /// An error the handler returned.
    pub(crate) fn error(&self, caught: Caught) -> Classified {
        let directive = caught.chain().find_map(|link| link.downcast_ref::<Directive>());
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
        let permanence = match permanent_reason(caught.chain()) {
            Some(reason) => Permanence::Annotated(reason.to_owned()),
            None if fatal => Permanence::Fatal,
            None => Permanence::Transient,
        };
        let error_type = error_type(&caught);
        let message = message(&caught);
        let sanitised = self.sanitise(&Unsanitised {
            error_type: &error_type,
            message: &message,
            error: Some(caught.error()),
        });
        let code = caught.code().map(ToOwned::to_owned);
        let mut failure = Failure::new(record(kind, error_type, sanitised, code));
        failure.record.retryable =
            kind == FailureKind::Error && permanence == Permanence::Transient;
        failure.permanence = permanence;
        failure.retry_after = retry_after;
        failure.caught = Some(Arc::new(caught));
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
        self.sanitise(&Unsanitised { error_type, message, error: None })
    }

    /// The sanitiser is the user's: if it fails nothing of the message is kept, and the worker goes on.
    fn sanitise(&self, error: &Unsanitised<'_>) -> String {
        guarded(|| self.sanitizer.sanitise(error))
            .unwrap_or_else(|_| "[the sanitiser panicked on this message]".to_owned())
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
fn error_type(caught: &Caught) -> String {
    if let Some(name) = caught.type_name() {
        return shorten(name);
    }
    let mut debug = Bounded::new(128);
    // A type whose `Debug` panics is not worth more than this.
    if guarded(|| write!(debug, "{:?}", caught.error())).is_err() {
        return "Error".to_owned();
    }
    let name: String =
        debug.text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    if name.is_empty() || name.starts_with(char::is_numeric) { "Error".to_owned() } else { name }
}

/// The messages of the whole chain, outermost first, without repeating what a message already includes.
fn message(caught: &Caught) -> String {
    /// More than anybody reads; what is stored is cut further by the sanitiser.
    const LONGEST: usize = 64 * 1024;
    let mut text = Bounded::new(LONGEST);
    let mut last = String::new();
    for (depth, link) in caught.chain().enumerate() {
        let mut part = Bounded::new(LONGEST);
        if guarded(|| write!(part, "{link}")).is_err() {
            part.text = "[its Display panicked]".to_owned();
        }
        let part = part.text;
        // Many errors print their source themselves, and a directive prints what it wraps.
        if depth == 0 || !last.contains(part.as_str()) {
            let _ = if depth == 0 { write!(text, "{part}") } else { write!(text, ": {part}") };
        }
        last = part;
    }
    text.text
}

/// Collects text up to a limit, so that a ten-megabyte message costs no more than a page.
struct Bounded {
    text: String,
    room: usize,
}

impl Bounded {
    fn new(room: usize) -> Self {
        Self { text: String::new(), room }
    }
}

impl fmt::Write for Bounded {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let fits = part.floor_char_boundary(self.room);
        self.text.push_str(&part[..fits]);
        self.room -= fits;
        // Running out of room is not an error of the value; formatting just goes on into the void.
        if fits < part.len() {
            self.room = 0;
        }
        Ok(())
    }
}
