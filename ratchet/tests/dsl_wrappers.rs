//! What a handler's error says about its retry is found in every wrapper that the standard library, `thiserror`,
//! `anyhow` and `eyre` offer: the mark `#[do_not_retry]`, directives, and the error lists of a circuit breaker.
#![cfg(all(feature = "anyhow", feature = "eyre"))]

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use eyre::WrapErr as _;
use ratchet::definition::ErrorMatcher;
use ratchet::failure::{Directive, HandlerError, fatal, snooze};
use ratchet::{JobError, do_not_retry};

#[do_not_retry]
#[derive(Debug, thiserror::Error)]
enum PayError {
    #[error("declined")]
    #[do_not_retry(reason = "the issuer said no")]
    Declined,
    #[error("timed out")]
    #[allow(dead_code)]
    TimedOut,
}

/// Marked only because of its transparent variants.
#[do_not_retry]
#[derive(Debug, thiserror::Error)]
enum Marked {
    #[error(transparent)]
    Pay(#[from] PayError),
    #[error(transparent)]
    Directive { inner: Directive },
    #[error(transparent)]
    #[allow(dead_code)]
    Other(Box<dyn Error + Send + Sync>),
}

impl From<Directive> for Marked {
    fn from(inner: Directive) -> Self {
        Self::Directive { inner }
    }
}

/// Not marked: what its transparent variants hold cannot be seen. The manual says so.
#[derive(Debug, thiserror::Error)]
enum Unmarked {
    #[error(transparent)]
    Pay(#[from] PayError),
    #[error(transparent)]
    Directive(#[from] Directive),
}

#[derive(Debug, thiserror::Error)]
#[error("step failed")]
struct Step<E: Error + 'static>(#[source] E);

#[derive(Debug)]
struct Shared(Arc<dyn Error + Send + Sync>);

impl fmt::Display for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("shared")
    }
}

impl Error for Shared {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the cause")]
struct Cause;

/// Every way to wrap an error, and whether what is inside can be found.
fn wrapped<E>(make: impl Fn() -> E) -> Vec<(&'static str, bool, HandlerError)>
where
    E: Error + Send + Sync + 'static,
    Marked: From<E>,
    Unmarked: From<E>,
{
    let typed =
        |name, error: Box<dyn Error + Send + Sync>| (name, true, HandlerError::boxed(error));
    vec![
        ("nothing", true, HandlerError::typed(make())),
        typed("#[source] E", Box::new(Step(make()))),
        typed("two sources", Box::new(Step(Step(make())))),
        typed("#[source] Box<E>", Box::new(Step(Box::new(make())))),
        typed("#[source] Arc<E>", Box::new(Step(Arc::new(make())))),
        typed("Arc<dyn Error>", Box::new(Shared(Arc::new(make())))),
        typed("io::Error::other(E)", Box::new(io::Error::other(make()))),
        typed("io::Error as a source", Box::new(Step(io::Error::other(Step(make()))))),
        typed("#[error(transparent)] of a marked enum", Box::new(Marked::from(make()))),
        typed("a marked enum as a source", Box::new(Step(Marked::from(make())))),
        typed(
            "io::Error in a marked enum",
            Box::new(Marked::Other(Box::new(io::Error::other(make())))),
        ),
        ("anyhow::Error", true, HandlerError::anyhow(anyhow::Error::new(make()))),
        (
            "anyhow .context(text)",
            true,
            HandlerError::anyhow(anyhow::Error::new(make()).context("text")),
        ),
        (
            "anyhow .context(E)",
            true,
            HandlerError::anyhow(anyhow::Error::new(Cause).context(make())),
        ),
        ("anyhow .context(E) below another", true, {
            HandlerError::anyhow(anyhow::Error::new(Cause).context(make()).context("text"))
        }),
        ("eyre::Report", true, HandlerError::eyre(eyre::Report::new(make()))),
        (
            "eyre .wrap_err(text)",
            true,
            HandlerError::eyre(eyre::Report::new(make()).wrap_err("text")),
        ),
        ("eyre .wrap_err(E)", true, {
            let result: Result<(), _> = Err(Cause).wrap_err(make());
            HandlerError::eyre(result.expect_err("is one"))
        }),
        ("#[error(transparent)] of an enum that is not marked", false, {
            HandlerError::typed(Unmarked::from(make()))
        }),
    ]
}

#[test]
fn e_13_the_mark_is_found_in_every_wrapper() {
    for (wrapper, visible, error) in wrapped(|| PayError::Declined) {
        let expected = visible.then_some("the issuer said no");
        assert_eq!(error.permanent_reason(), expected, "{wrapper}");
    }
}

#[test]
fn e_13_the_mark_of_a_variant_is_not_that_of_another() {
    for (wrapper, _, error) in wrapped(|| PayError::TimedOut) {
        assert_eq!(error.permanent_reason(), None, "{wrapper}");
    }
}

#[test]
fn e_13_directives_are_found_in_every_wrapper() {
    for (wrapper, visible, error) in wrapped(|| snooze(Duration::from_mins(1))) {
        let found = error.find::<Directive>();
        assert_eq!(matches!(found, Some(Directive::Snooze { .. })), visible, "{wrapper}");
    }
    for (wrapper, visible, error) in wrapped(|| fatal("gone")) {
        let found = error.find::<Directive>();
        assert_eq!(matches!(found, Some(Directive::Fatal { .. })), visible, "{wrapper}");
    }
}

#[test]
fn e_13_lists_of_a_breaker_find_every_wrapper() {
    let ignored = ErrorMatcher::of::<PayError>("PayError");
    for (wrapper, visible, error) in wrapped(|| PayError::Declined) {
        assert_eq!((ignored.matches)(&error), visible, "{wrapper}");
    }
}

#[test]
fn e_13_job_error_is_no_obstacle() {
    let error: JobError = Step(io::Error::other(PayError::Declined)).into();
    let chain = HandlerError::from(error);
    assert_eq!(chain.permanent_reason(), Some("the issuer said no"));
}
