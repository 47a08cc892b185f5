//! Compile-time checks of options. The builders call them. Generated code also calls them for a constant given instead
//! of a literal, so that the compiler error points at that constant.
//!
//! Each function panics if its rule is broken: at compile time, because definitions are constants.
#![allow(clippy::missing_panics_doc)] // said above

use std::time::Duration;

/// Checks that a name is not empty, is not too long, and contains only characters that stores and URLs accept.
pub const fn name(name: &'static str) -> &'static str {
    let bytes = name.as_bytes();
    assert!(!bytes.is_empty(), "the name of a job or queue must not be empty");
    assert!(bytes.len() <= 200, "the name of a job or queue must have at most 200 characters");
    let mut i = 0;
    while i < bytes.len() {
        let ok = bytes[i].is_ascii_alphanumeric()
            || matches!(bytes[i], b'_' | b'-' | b'.' | b'/' | b':');
        assert!(ok, "the name of a job or queue must contain only letters, digits and `_ - . / :`");
        i += 1;
    }
    name
}

/// Checks the version of a job.
pub const fn version(version: u32) -> u32 {
    assert!(version >= 1, "`version` must be at least 1");
    version
}

/// Checks the number of retries.
pub const fn max_retries(retries: u32) -> u32 {
    assert!(retries <= 1000, "`max_retries` must be at most 1000");
    retries
}

/// Checks the maximum duration of a run.
pub const fn timeout(timeout: Duration) -> Duration {
    assert!(!timeout.is_zero(), "`timeout` must be longer than zero");
    timeout
}

/// Checks the duration after which a warning is emitted.
pub const fn soft_timeout(timeout: Duration) -> Duration {
    assert!(!timeout.is_zero(), "`soft_timeout` must be longer than zero");
    timeout
}

/// Checks how long after its submit a job expires.
pub const fn expires_in(duration: Duration) -> Duration {
    assert!(!duration.is_zero(), "`expires_in` must be longer than zero");
    duration
}

/// Checks how long after its submit a job may be retried.
pub const fn retry_within(duration: Duration) -> Duration {
    assert!(!duration.is_zero(), "`retry_within` must be longer than zero");
    duration
}

/// Checks how long a schedule may be without a success.
pub const fn alert_after(within: Duration) -> Duration {
    assert!(!within.is_zero(), "`alert_after` must be longer than zero");
    within
}

/// Checks how long an idempotency key is kept.
pub const fn idempotency_within(lifetime: Duration) -> Duration {
    assert!(!lifetime.is_zero(), "`idempotency_within` must be longer than zero");
    lifetime
}

/// Checks that the warning comes before the timeout.
pub const fn soft_timeout_before(soft: Duration, timeout: Duration) -> Duration {
    assert!(soft.as_nanos() < timeout.as_nanos(), "`soft_timeout` must be shorter than `timeout`");
    soft_timeout(soft)
}

/// Checks the number of jobs with one concurrency key that can run at once.
pub const fn concurrency_limit(limit: u32) -> u32 {
    assert!(limit >= 1, "`concurrency_limit` must be at least 1");
    limit
}

/// Checks the backlog limit of an accepted pipeline.
pub const fn backlog_limit(limit: u32) -> u32 {
    assert!(limit >= 1, "`backlog_limit` must be at least 1");
    limit
}

/// Checks the factor of an exponential backoff.
pub const fn factor(factor: f64) -> f64 {
    ratchet_store::model::valid_factor(factor)
}

/// Checks the failure rate of a breaker, in percent.
pub const fn failure_rate(percent: u8) -> u8 {
    assert!(
        percent >= 1 && percent <= 100,
        "`failure_rate` must be a percentage between 1 and 100"
    );
    percent
}

/// Checks the number of calls that a breaker evaluates.
pub const fn window(calls: u32) -> u32 {
    assert!(calls >= 1 && calls <= 10_000, "`window` must be between 1 and 10000 calls");
    calls
}

/// Checks the minimum number of calls of a breaker.
pub const fn min_calls(calls: u32) -> u32 {
    assert!(calls >= 1, "`min_calls` must be at least 1");
    calls
}

/// Checks that the window of a breaker holds the minimum number of calls.
pub const fn min_calls_within(calls: u32, window: u32) -> u32 {
    assert!(calls <= window, "`min_calls` must not be greater than `window`");
    min_calls(calls)
}

/// Checks how long a breaker stays open.
pub const fn open_for(duration: Duration) -> Duration {
    assert!(!duration.is_zero(), "`open_for` must be longer than zero");
    duration
}

/// Checks the number of probes that close a breaker.
pub const fn probes(probes: u32) -> u32 {
    assert!(probes >= 1, "`probes` must be at least 1");
    probes
}
