//! The rules of options, as constant functions: the builders apply them, and so does generated code to a constant in
//! the place of a literal, so that the compiler points at that constant.

use std::time::Duration;

/// Refuses a name that a store or a URL could not carry.
pub const fn name(name: &'static str) -> &'static str {
    let bytes = name.as_bytes();
    assert!(!bytes.is_empty(), "a job's or queue's name is not empty");
    assert!(bytes.len() <= 200, "a job's or queue's name has at most 200 characters");
    let mut i = 0;
    while i < bytes.len() {
        let ok = bytes[i].is_ascii_alphanumeric()
            || matches!(bytes[i], b'_' | b'-' | b'.' | b'/' | b':');
        assert!(ok, "a job's or queue's name holds letters, digits and `_ - . / :` only");
        i += 1;
    }
    name
}

/// The version of a job.
pub const fn version(version: u32) -> u32 {
    assert!(version >= 1, "`version` starts at 1");
    version
}

/// How often a failed run is tried again.
pub const fn max_retries(retries: u32) -> u32 {
    assert!(retries <= 1000, "`max_retries` is at most 1000");
    retries
}

/// The longest a run may take.
pub const fn timeout(timeout: Duration) -> Duration {
    assert!(!timeout.is_zero(), "`timeout` is longer than zero");
    timeout
}

/// When to warn that a run takes long.
pub const fn soft_timeout(timeout: Duration) -> Duration {
    assert!(!timeout.is_zero(), "`soft_timeout` is longer than zero");
    timeout
}

/// How many jobs of one key run at once.
pub const fn concurrency_limit(limit: u32) -> u32 {
    assert!(limit >= 1, "`concurrency_limit` is at least 1");
    limit
}

/// The factor of an exponential backoff.
pub const fn factor(factor: f64) -> f64 {
    assert!(factor >= 1.0 && factor <= 1000.0, "the factor of a backoff is between 1 and 1000");
    factor
}

/// The share of failed calls that opens a breaker.
pub const fn failure_rate(percent: u8) -> u8 {
    assert!(percent >= 1 && percent <= 100, "`failure_rate` is a percentage between 1 and 100");
    percent
}

/// How many outcomes a breaker looks at.
pub const fn window(calls: u32) -> u32 {
    assert!(calls >= 1 && calls <= 10_000, "`window` is between 1 and 10000 calls");
    calls
}

/// How many outcomes a breaker needs before it judges.
pub const fn min_calls(calls: u32) -> u32 {
    assert!(calls >= 1, "`min_calls` is at least 1");
    calls
}

/// How long a breaker stays open.
pub const fn open_for(duration: Duration) -> Duration {
    assert!(!duration.is_zero(), "`open_for` is longer than zero");
    duration
}

/// How many probes close a breaker.
pub const fn probes(probes: u32) -> u32 {
    assert!(probes >= 1, "`probes` is at least 1");
    probes
}
