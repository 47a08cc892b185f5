//! The headers of a request.

use std::collections::BTreeMap;

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};

use super::HttpRefusal;

/// Headers that describe the connection or the framing of a message. Jobs must not set them.
const RESERVED: &[&str] = &[
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
];

/// Headers that are sent to another origin after a redirect. All others can be confidential.
const HARMLESS: &[&str] = &["accept", "accept-language", "content-type"];

/// The maximum number of headers of a job.
const MAX_COUNT: usize = 64;
/// The maximum length of the headers of a job.
const MAX_BYTES: usize = 16 * 1024;

/// Checks the headers of a job. `owned` returns whether the policy sets a header.
pub(super) fn checked(
    headers: &BTreeMap<String, String>,
    owned: impl Fn(&HeaderName) -> bool,
) -> Result<HeaderMap, HttpRefusal> {
    let bytes: usize = headers.iter().map(|(name, value)| name.len() + value.len()).sum();
    if headers.len() > MAX_COUNT || bytes > MAX_BYTES {
        return Err(HttpRefusal::TooLarge { part: "headers", limit: MAX_BYTES });
    }
    let mut checked = HeaderMap::new();
    for (name, value) in headers {
        let Some((name, value)) = parse(name, value) else {
            return Err(HttpRefusal::BadHeader { name: printable(name) });
        };
        // Two spellings of one name would be sent as two headers.
        if is_reserved(&name) || owned(&name) || checked.contains_key(&name) {
            return Err(HttpRefusal::HeaderNotAllowed { name: name.as_str().to_owned() });
        }
        checked.insert(name, value);
    }
    Ok(checked)
}

/// Parses a header. The value is marked as sensitive, so that `Debug` does not show it.
pub(super) fn parse(name: &str, value: &str) -> Option<(HeaderName, HeaderValue)> {
    let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    Some((name, value))
}

pub(super) fn is_reserved(name: &HeaderName) -> bool {
    RESERVED.contains(&name.as_str())
}

/// Removes the headers that must not be sent to another origin.
pub(super) fn keep_harmless(headers: &mut HeaderMap) {
    let confidential: Vec<_> =
        headers.keys().filter(|name| !HARMLESS.contains(&name.as_str())).cloned().collect();
    for name in confidential {
        headers.remove(name);
    }
}

/// A name for a message: short, and without line breaks.
fn printable(name: &str) -> String {
    name.chars().take(40).map(|c| if c.is_ascii_graphic() { c } else { '?' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, value: &str) -> Result<HeaderMap, HttpRefusal> {
        let headers = BTreeMap::from([(name.to_owned(), value.to_owned())]);
        checked(&headers, |name| name == "authorization")
    }

    #[test]
    fn line_breaks_and_other_control_characters_are_refused() {
        for (name, value) in [
            ("x", "a\r\nevil: 1"),
            ("x", "a\nevil: 1"),
            ("x", "a\r"),
            ("x", "a\0"),
            ("x", "a\u{7f}"),
            ("x\r\nevil", "1"),
            ("x:", "1"),
            ("x y", "1"),
            ("", "1"),
            ("ä", "1"),
        ] {
            let refused = matches!(check(name, value), Err(HttpRefusal::BadHeader { .. }));
            assert!(refused, "{name:?}: {value:?}");
        }
        assert!(check("x-trace", "a b\tc").is_ok());
    }

    #[test]
    fn headers_of_the_connection_and_of_the_policy_are_refused() {
        for name in ["Host", "content-length", "Transfer-Encoding", "connection", "Authorization"] {
            let refused = matches!(check(name, "1"), Err(HttpRefusal::HeaderNotAllowed { .. }));
            assert!(refused, "{name}");
        }
        let twice = BTreeMap::from(["X-A", "x-a"].map(|name| (name.to_owned(), "1".to_owned())));
        assert!(matches!(checked(&twice, |_| false), Err(HttpRefusal::HeaderNotAllowed { .. })));
    }

    #[test]
    fn large_headers_are_refused_and_values_are_not_shown() {
        let refused =
            matches!(check("x", &"a".repeat(MAX_BYTES)), Err(HttpRefusal::TooLarge { .. }));
        assert!(refused);
        let many = (0..=MAX_COUNT).map(|i| (format!("x{i}"), String::new())).collect();
        assert!(matches!(checked(&many, |_| false), Err(HttpRefusal::TooLarge { .. })));
        let headers = check("x-api-key", "hunter2").expect("valid");
        assert!(!format!("{headers:?}").contains("hunter2"), "{headers:?}");
    }
}
