//! What a status means, and how long to wait after it.

use std::time::{Duration, SystemTime};

use hyper::HeaderMap;
use hyper::header::{DATE, HeaderName, RETRY_AFTER};
use ratchet_core::{Clock as _, SystemClock};

/// What a status means for the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatusMeaning {
    Success,
    Retry,
    Fatal,
}

/// Returns what a status means for which the policy has no rule.
pub(super) fn meaning(status: u16) -> StatusMeaning {
    match status {
        200..=299 => StatusMeaning::Success,
        408 | 425 | 429 | 500..=599 => StatusMeaning::Retry,
        _ => StatusMeaning::Fatal,
    }
}

/// Returns the delay that the header `Retry-After` requests, in seconds or as a date.
///
/// A date is compared with the `Date` of the response, so that a wrong clock on either side does not matter.
pub(super) fn retry_delay(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: HeaderName| headers.get(name)?.to_str().ok();
    let value = text(RETRY_AFTER)?.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than fit are a longer time than any limit.
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    let until = httpdate::parse_http_date(value).ok()?;
    let sent = text(DATE).and_then(|date| httpdate::parse_http_date(date.trim()).ok());
    let now = sent.unwrap_or_else(|| SystemTime::from(SystemClock::default().now()));
    Some(until.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_classified() {
        for (status, expected) in [
            (200, StatusMeaning::Success),
            (204, StatusMeaning::Success),
            (301, StatusMeaning::Fatal),
            (304, StatusMeaning::Fatal),
            (400, StatusMeaning::Fatal),
            (404, StatusMeaning::Fatal),
            (408, StatusMeaning::Retry),
            (425, StatusMeaning::Retry),
            (429, StatusMeaning::Retry),
            (500, StatusMeaning::Retry),
            (503, StatusMeaning::Retry),
            (600, StatusMeaning::Fatal),
        ] {
            assert_eq!(meaning(status), expected, "{status}");
        }
    }

    fn delay(retry_after: &'static str, date: Option<&'static str>) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, retry_after.parse().expect("a value"));
        if let Some(date) = date {
            headers.insert(DATE, date.parse().expect("a value"));
        }
        retry_delay(&headers)
    }

    #[test]
    fn retry_after_is_read_in_both_forms() {
        let sent = Some("Sun, 06 Nov 1994 08:49:37 GMT");
        let minute = Some(Duration::from_mins(1));
        assert_eq!(delay("60", None), minute);
        assert_eq!(delay(" 60 ", None), minute);
        assert_eq!(delay("Sun, 06 Nov 1994 08:50:37 GMT", sent), minute);
        assert_eq!(delay("Sunday, 06-Nov-94 08:50:37 GMT", sent), minute);
        assert_eq!(delay("Sun, 06 Nov 1994 08:49:00 GMT", sent), Some(Duration::ZERO), "past");
        assert_eq!(delay("Sun, 06 Nov 1994 08:49:00 GMT", None), Some(Duration::ZERO), "past");
        let endless = Some(Duration::from_secs(u64::MAX));
        assert_eq!(delay("99999999999999999999999999", None), endless);
        for nonsense in ["", "-1", "soon", "1.5", "0x10"] {
            assert_eq!(delay(nonsense, sent), None, "{nonsense}");
        }
    }
}
