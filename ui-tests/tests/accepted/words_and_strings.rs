//! An option that takes a word also takes it in quotes, and a constant of its type.
use ratchet::definition::{Jitter, PanicPolicy};
use ratchet::{Priority, job};

const URGENT: Priority = Priority::Critical;
const ON_PANIC: PanicPolicy = PanicPolicy::Dlq;
const SPREAD: Jitter = Jitter::Equal;

#[job(priority = "high", panic = "dlq", backoff = fixed("1s", jitter = "full"))]
async fn in_quotes() {}

#[job(priority = high, panic = dlq, backoff = fixed("1s", jitter = full))]
async fn as_words() {}

#[job(priority = URGENT, panic = ON_PANIC, backoff = fixed("1s", jitter = SPREAD))]
async fn as_constants() {}

#[test]
fn runs() {
    use ratchet::Job;
    assert_eq!(InQuotes::DEF.priority, AsWords::DEF.priority);
    assert_eq!(InQuotes::DEF.panic, AsWords::DEF.panic);
    assert_eq!(AsConstants::DEF.priority, Priority::Critical);
}
