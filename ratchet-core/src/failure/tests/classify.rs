//! Tests of the classification of failures.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::failure::{
    Classified, Classifier, DefaultSanitizer, ErrorSanitizer, Failure, HandlerError, JobError,
    PanicReport, RawError, Retryability, catch_panic, fatal, invalid, reject, retry_after, snooze,
};
use ratchet_store::model::FailureKind;

fn classifier() -> Classifier {
    Classifier::new(Arc::new(DefaultSanitizer::default()))
}

fn classify(error: impl Into<JobError>) -> Classified {
    classifier().error(error.into().into_handler_error())
}

fn failure(error: impl Into<JobError>) -> Failure {
    match classify(error) {
        Classified::Failure(failure) => *failure,
        other => panic!("not a failure: {other:?}"),
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the gateway is down")]
struct Gateway {
    #[source]
    cause: Inner,
}

#[derive(Debug, thiserror::Error)]
#[error("connection to pay://user:pw@bank refused")]
struct Inner;

#[test]
fn z_01_the_whole_source_chain_is_told_and_cleaned() {
    let failure = failure(Gateway { cause: Inner });
    assert_eq!(
        failure.record.message,
        "the gateway is down: connection to pay://[REDACTED]@bank refused"
    );
    assert_eq!(failure.record.error_type, "Gateway");
    assert!(failure.find::<Inner>().is_some());
}

#[test]
fn e_07_directives_are_found_anywhere_in_the_chain() {
    let boxed: Box<dyn Error + Send + Sync> = Box::new(snooze(Duration::from_secs(5)));
    assert!(
        matches!(classifier().error(HandlerError::boxed(boxed)), Classified::Snooze(delay) if delay == Duration::from_secs(5))
    );
    assert!(matches!(classify(reject("no room")), Classified::Reject(why) if why == "no room"));
    assert_eq!(failure(fatal("bad key")).retryability, Retryability::Fatal);
    assert_eq!(failure(invalid(Inner)).record.kind, FailureKind::Invalid);
    let later = failure(retry_after(Inner, Duration::from_mins(1)));
    assert_eq!(
        (later.retry_after, later.retryability),
        (Some(Duration::from_mins(1)), Retryability::Transient)
    );
}

#[test]
fn d_01_an_error_keeps_the_code_it_was_given() {
    assert_eq!(
        failure(JobError::msg("declined").with_code("card_declined")).record.code,
        "card_declined"
    );
    assert_eq!(failure(Inner).record.code, "error");
}

#[test]
fn x_02_a_panic_is_recorded_with_message_and_place() {
    crate::failure::install_hook();
    let report = catch_panic(|| panic!("password=hunter2")).expect_err("panics");
    let failure = classifier().panic(report);
    assert_eq!(failure.record.kind, FailureKind::Panic);
    assert!(failure.record.message.contains("classify.rs:"), "{}", failure.record.message);
    assert!(failure.record.message.ends_with("password=[REDACTED]"), "{}", failure.record.message);
}

#[test]
fn x_01_hostile_panics_and_errors_are_survived() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }
    let report = catch_panic(|| std::panic::panic_any(Bomb)).expect_err("panics");
    assert_eq!(
        report,
        PanicReport { message: "the panic carried no message".to_owned(), ..report.clone() }
    );

    struct Rude;
    impl fmt::Debug for Rude {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            panic!("debug")
        }
    }
    impl fmt::Display for Rude {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            panic!("display")
        }
    }
    impl Error for Rude {}
    let boxed: Box<dyn Error + Send + Sync> = Box::new(Rude);
    let Classified::Failure(failure) = classifier().error(HandlerError::boxed(boxed)) else {
        panic!("a failure")
    };
    assert_eq!(failure.record.message, "[its Display panicked]");
}

#[test]
fn x_01_ten_megabytes_of_message_are_cut() {
    let failure = failure(JobError::msg("x".repeat(10 * 1024 * 1024)));
    assert!(failure.record.message.len() <= 2000);
}

#[test]
fn z_01_a_sanitizer_can_be_replaced_and_may_fail() {
    #[derive(Debug)]
    struct TypesOnly;
    impl ErrorSanitizer for TypesOnly {
        fn sanitize(&self, error: &RawError<'_>) -> String {
            assert!(!error.message.contains("panic"), "on purpose");
            error.error_type.to_owned()
        }
    }
    let classifier = Classifier::new(Arc::new(TypesOnly));
    let Classified::Failure(plain) = classifier.error(HandlerError::typed(Inner)) else {
        panic!("a failure")
    };
    assert_eq!(plain.record.message, "Inner");
    let Classified::Failure(rude) = classifier.error(JobError::msg("panic").into_handler_error())
    else {
        panic!("a failure")
    };
    assert_eq!(rude.record.message, "[the sanitizer panicked on this message]");
}

#[test]
fn d_03_failures_that_differ_in_numbers_share_a_fingerprint() {
    let print = |text: &str| failure(JobError::msg(text)).record.fingerprint;
    assert_eq!(print("order 17 of user 9f3a is late"), print("order 1800 of user 77be is late"));
    assert_ne!(print("order 17 is late"), print("order 17 is lost"));
}

/// An error that misbehaves in one way.
#[derive(Debug)]
enum Bad {
    Source,
    Drop,
    Endless,
    Unwraps,
}

impl fmt::Display for Bad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source | Self::Drop => f.write_str("bad"),
            Self::Endless => loop {
                f.write_str("on and on ")?;
            },
            Self::Unwraps => loop {
                f.write_str("on and on ").expect("goes on");
            },
        }
    }
}

impl Error for Bad {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        assert!(!matches!(self, Self::Source), "no source");
        None
    }
}

impl Drop for Bad {
    fn drop(&mut self) {
        assert!(!matches!(self, Self::Drop), "no drop");
    }
}

#[test]
fn x_09_an_error_whose_source_panics_is_told() {
    assert_eq!(failure(Bad::Source).record.message, "bad: [its source panicked: no source]");
    assert_eq!(failure(Bad::Source).chain().count(), 1);
}

#[test]
fn x_09_an_error_whose_destructor_panics_can_be_dropped() {
    drop(JobError::from(Bad::Drop));
    let failure = failure(Bad::Drop);
    let copy = failure.clone();
    drop(failure);
    assert_eq!(copy.record.message, "bad");
    drop(copy);
}

#[test]
fn x_09_a_display_that_never_ends_is_cut_off_and_kept() {
    for error in [Bad::Endless, Bad::Unwraps] {
        let message = failure(error).record.message;
        assert!(message.starts_with("on and on on") && message.len() <= 2000, "{message}");
    }
    assert!(crate::failure::display(&Bad::Endless).starts_with("on and on"));
    assert!(crate::failure::debug(&"x".repeat(1000)).len() <= 256);
}

#[test]
fn s_17_whatever_a_sanitizer_returns_is_bounded_and_clean() {
    #[derive(Debug)]
    struct Generous;
    impl ErrorSanitizer for Generous {
        fn sanitize(&self, error: &RawError<'_>) -> String {
            assert!(error.message.len() <= 64 * 1024, "what it is given is bounded too");
            format!("\0\u{1b}[1;31mred\u{9b}0m\r\n\t{}", "x".repeat(1_000_000))
        }
    }
    let classifier = Classifier::new(Arc::new(Generous));
    let long = || "y".repeat(1_000_000);
    let error = JobError::msg(long()).with_code(long()).into_handler_error();
    let Classified::Failure(failure) = classifier.error(error) else { panic!("a failure") };
    let record = failure.record;
    assert!(record.message.starts_with("red\n\txxx"), "{:?}", &record.message[..20]);
    assert_eq!(record.message.len(), ratchet_store::model::limits::MESSAGE);
    assert_eq!(record.code.len(), ratchet_store::model::limits::CODE);
    let Classified::Reject(why) =
        classifier.error(JobError::from(reject(long())).into_handler_error())
    else {
        panic!("a reject")
    };
    assert_eq!(why.len(), ratchet_store::model::limits::MESSAGE);
}
