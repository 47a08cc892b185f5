//! The values that the tracer offers to types that do not take every value.

/// Strings, each with the format that it shows. The first that a type accepts decides.
pub(super) const TEXTS: &[(&str, Option<&str>)] = &[
    ("", None),
    ("a", None),
    ("00000000-0000-4000-8000-000000000000", Some("uuid")),
    ("2000-01-01T00:00:00Z", Some("date-time")),
    ("2000-01-01", Some("date")),
    ("12:00:00", Some("time")),
    ("2000-01-01T00:00:00", Some("local-date-time")),
    ("2000-01-01T00:00:00+00:00[UTC]", Some("zoned-date-time")),
    ("PT1S", Some("duration")),
    ("1", Some("number")),
    ("127.0.0.1", Some("ip")),
    ("::1", Some("ipv6")),
    ("127.0.0.1:80", Some("socket-address")),
    ("[::1]:80", Some("socket-address")),
    ("127.0.0.0/8", Some("network")),
    ("https://example.com/", Some("uri")),
    ("a@example.com", Some("email")),
    ("1.0.0", Some("version")),
    ("Europe/Berlin", Some("time-zone")),
    ("text/plain", Some("media-type")),
    ("true", Some("boolean")),
    ("AA==", Some("base64")),
    ("#000000", Some("color")),
    ("00", Some("hex")),
    ("00000000000000000000000000", Some("ulid")),
    ("EUR", Some("currency")),
    ("en", Some("language")),
    ("+4915112345678", Some("phone")),
];

/// Whole numbers. One comes first: a `NonZeroU32` refuses zero.
pub(super) const INTEGERS: &[i8] = &[1, 0, 2, 10, 100];
