//! Tests of the default sanitizer with hostile inputs.

use proptest::prelude::*;

use crate::failure::DefaultSanitizer;

fn clean(text: &str) -> String {
    DefaultSanitizer::default().clean(text)
}

#[test]
fn z_01_secrets_in_every_form() {
    let rows = [
        // URLs
        (
            "jdbc:mysql://admin:s3cret@db.internal:3306/prod",
            "jdbc:mysql://[REDACTED]@db.internal:3306/prod",
        ),
        ("postgres://u@h/db", "postgres://[REDACTED]@h/db"),
        ("redis://:pw@cache:6379", "redis://[REDACTED]@cache:6379"),
        ("http://a:b@c?next=https://d:e@f/g", "http://[REDACTED]@c?next=https://[REDACTED]@f/g"),
        ("postgres://user:pa/ss@host/db", "postgres://[REDACTED]@host/db"),
        ("postgres://user:p@ss@host/db", "postgres://[REDACTED]@host/db"),
        ("see http://host:8080/users/@me for more", "see http://host:8080/users/@me for more"),
        ("nothing at https://example.com/path?q=1", "nothing at https://example.com/path?q=1"),
        ("\"amqp://guest:guest@mq\" refused", "\"amqp://[REDACTED]@mq\" refused"),
        // e-mail
        ("no user ada.lovelace+x@example.co.uk here", "no user [EMAIL] here"),
        ("<bob@example.com>", "<[EMAIL]>"),
        ("müller@exämple.de", "[EMAIL]"),
        ("a@b, c@d", "[EMAIL], [EMAIL]"),
        ("meet @ noon", "meet @ noon"),
        // bearer tokens
        ("Authorization: Bearer abc.def-ghi", "Authorization: Bearer [REDACTED]"),
        ("got bearer   xyz123, sorry", "got bearer   [REDACTED], sorry"),
        ("Basic dXNlcjpwdw==", "Basic [REDACTED]"),
        (
            "token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefghij was refused",
            "token [REDACTED] was refused",
        ),
        ("key sk_live_4eC39HqLyjWDarjtT1zdp7dc is revoked", "key [REDACTED] is revoked"),
        // pairs
        ("password=hunter2 failed", "password=[REDACTED] failed"),
        ("PGPASSWORD=hunter2", "PGPASSWORD=[REDACTED]"),
        (
            "{\"password\": \"hun ter2\", \"user\": \"ada\"}",
            "{\"password\": \"[REDACTED]\", \"user\": \"ada\"}",
        ),
        ("password='it\\'s secret' user=x", "password='[REDACTED]' user=x"),
        ("GET /x?api_key=abc&limit=5", "GET /x?api_key=[REDACTED]&limit=5"),
        ("X-Api-Key: abc123", "X-Api-Key: [REDACTED]"),
        ("AWS_SECRET_ACCESS_KEY => abc/def+ghi", "AWS_SECRET_ACCESS_KEY => [REDACTED]"),
        ("client_secret = \"x\"", "client_secret = \"[REDACTED]\""),
        ("config { token: abc, retries: 3 }", "config { token: [REDACTED], retries: 3 }"),
        ("the password was wrong", "the password was wrong"),
        // Doubtful values are redacted: a webhook URL is a secret, and so may be a word that looks like a scheme.
        ("webhook_secret=https://hooks.example.com/T0/B0/x", "webhook_secret=[REDACTED]"),
        ("secret://x is no scheme", "secret:[REDACTED] is no scheme"),
        // no secrets
        ("", ""),
        ("connection refused (os error 111)", "connection refused (os error 111)"),
        ("ratio 3:4 at 10:30, see a=b", "ratio 3:4 at 10:30, see a=b"),
    ];
    for (raw, expected) in rows {
        assert_eq!(clean(raw), expected, "of {raw:?}");
    }
}

#[test]
fn z_01_the_length_is_capped_at_a_character() {
    let short = DefaultSanitizer { max_len: 10 };
    assert_eq!(short.clean("ääääääää"), "äää…");
    assert_eq!(short.clean("1234567890"), "1234567890");
    assert_eq!(short.clean("12345678901"), "1234567…");
    for max_len in 0..40 {
        let out = DefaultSanitizer { max_len }.clean("päßwörd 🦀🦀🦀🦀🦀🦀🦀 text");
        assert!(out.len() <= max_len.max('…'.len_utf8()), "{max_len}: {out}");
    }
}

#[test]
fn z_01_a_nul_never_reaches_a_store() {
    assert_eq!(clean("a\0b"), "ab");
}

/// The work grows linearly with the input. Measured in output bytes instead of seconds.
#[test]
fn z_01_hostile_inputs_end() {
    let long = DefaultSanitizer { max_len: usize::MAX / 4 };
    for unit in [
        "@",
        "://",
        "://a:b",
        "a@",
        "password=",
        "password",
        "\"",
        "bearer ",
        "eyJ.",
        "😀@",
        "://a:b/@",
        "secret:",
    ] {
        let hostile = unit.repeat(1_000_000 / unit.len());
        assert!(long.clean(&hostile).len() <= hostile.len() * 11 + 64, "{unit}");
    }
}

proptest! {
    #[test]
    fn z_01_any_text_is_survived(text in "\\PC{0,400}", max_len in 0_usize..200) {
        let out = DefaultSanitizer { max_len }.clean(&text);
        prop_assert!(out.len() <= max_len.max('…'.len_utf8()));
    }

    #[test]
    fn z_01_a_password_in_a_url_never_survives(
        scheme in "postgres|https?|redis|amqp|mysql|s3|ldap", user in "[a-z]{1,8}", password in "[A-Za-z0-9!$%^*()_+=~-]{6,20}", host in "[a-z]{3,10}"
    ) {
        let out = clean(&format!("cannot reach {scheme}://{user}:{password}@{host}/db today"));
        prop_assert!(!out.contains(&password), "{}", out);
        let expected = format!("cannot reach {scheme}://[REDACTED]@{host}/db today");
        prop_assert_eq!(out, expected);
    }

    #[test]
    fn z_01_a_named_secret_never_survives(value in "[A-Za-z0-9/+_.-]{8,40}", sign in "=|: |:| = ") {
        let out = clean(&format!("db_password{sign}{value} rest"));
        prop_assert!(!out.contains(&value), "{}", out);
        prop_assert!(out.ends_with(" rest"), "{}", out);
    }
}
