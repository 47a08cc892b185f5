//! An error marked `#[do_not_retry]` must be found anywhere in a source chain.
#![cfg(all(feature = "anyhow", feature = "eyre"))]

use std::error::Error;

use ratchet::failure::HandlerError;
use ratchet::{JobError, do_not_retry};

#[do_not_retry]
#[derive(Debug, thiserror::Error)]
enum PaymentError {
    #[error("timed out")]
    Timeout,
    #[error("declined")]
    #[do_not_retry(reason = "the issuer said no")]
    Declined,
    #[error("unknown card {number}")]
    #[do_not_retry]
    Unknown { number: u32 },
}

#[derive(Debug, thiserror::Error)]
#[do_not_retry(reason = "the card is expired")]
#[error("expired")]
struct Expired;

#[do_not_retry(all, reason = "closed")]
#[derive(Debug, thiserror::Error)]
enum Closed {
    #[error("shop")]
    Shop,
    #[error("bank")]
    #[do_not_retry(reason = "the bank is gone")]
    Bank,
}

#[derive(Debug, thiserror::Error)]
#[error("step failed")]
struct Step<E: Error + 'static>(#[source] E);

fn reason(caught: &HandlerError) -> Option<&'static str> {
    caught.permanent_reason()
}

fn typed(error: impl Error + Send + Sync + 'static) -> Option<&'static str> {
    reason(&HandlerError::typed(error))
}

#[test]
fn e_06_on_a_struct_an_enum_and_variants() {
    // spec: E-06
    assert_eq!(typed(Expired), Some("the card is expired"));
    assert_eq!(typed(PaymentError::Declined), Some("the issuer said no"));
    assert_eq!(typed(PaymentError::Timeout), None);
    assert_eq!(
        typed(PaymentError::Unknown { number: 5 }),
        Some("`PaymentError::Unknown` is marked `#[do_not_retry]`")
    );
    assert_eq!(typed(Closed::Shop), Some("closed"));
    assert_eq!(typed(Closed::Bank), Some("the bank is gone"));
}

#[test]
fn e_02_three_deep() {
    // spec: E-02
    assert_eq!(typed(Step(Step(Step(PaymentError::Declined)))), Some("the issuer said no"));
    assert_eq!(typed(Step(Step(Step(PaymentError::Timeout)))), None);
}

#[test]
fn e_02_through_anyhow_with_context() {
    // spec: E-02
    let failed = |error: PaymentError| -> anyhow::Error {
        anyhow::Error::new(Step(error)).context("paying").context("closing the order")
    };
    assert_eq!(
        reason(&HandlerError::anyhow(failed(PaymentError::Declined))),
        Some("the issuer said no")
    );
    assert_eq!(reason(&HandlerError::anyhow(failed(PaymentError::Timeout))), None);
}

#[test]
fn e_02_through_eyre_with_context() {
    // spec: E-02
    let failed = |error: PaymentError| -> eyre::Report {
        eyre::Report::new(Step(error)).wrap_err("paying").wrap_err("closing the order")
    };
    assert_eq!(
        reason(&HandlerError::eyre(failed(PaymentError::Declined))),
        Some("the issuer said no")
    );
    assert_eq!(reason(&HandlerError::eyre(failed(PaymentError::Timeout))), None);
}

#[test]
fn e_02_through_a_box() {
    // spec: E-02
    let boxed = |error: PaymentError| -> Box<dyn Error + Send + Sync> { Box::new(Step(error)) };
    assert_eq!(
        reason(&HandlerError::boxed(boxed(PaymentError::Declined))),
        Some("the issuer said no")
    );
    assert_eq!(reason(&HandlerError::boxed(boxed(PaymentError::Timeout))), None);
}

#[test]
fn e_02_through_our_own_error() {
    // spec: E-02
    use ratchet::definition::IntoFailure;
    use ratchet::failure::fatal;
    let caught = IntoFailure::into_handler_error(JobError::from(Step(PaymentError::Declined)));
    assert_eq!(reason(&caught), Some("the issuer said no"));
    let caught = IntoFailure::into_handler_error(JobError::from(fatal(PaymentError::Declined)));
    assert_eq!(reason(&caught), Some("the issuer said no"));
}
