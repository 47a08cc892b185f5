//! Tests of the limits.

use super::*;

/// Returns the problem of a text in a field, or `None` if the text is accepted.
fn problem(field: Field, text: &str) -> Option<Problem> {
    let refused = check(field, text).err()?;
    assert_eq!(refused.field, field);
    assert!(refused.to_string().contains(field.name()), "{refused}");
    assert!(refused.to_string().len() < 200, "an error does not repeat what was refused");
    Some(refused.problem)
}

#[test]
fn s_17_every_text_has_a_limit_and_a_typed_error() {
    for field in Field::ALL {
        let limit = field.limit();
        assert_eq!(problem(field, ""), Some(Problem::Empty), "{field:?}");
        assert_eq!(problem(field, "a"), None, "{field:?}");
        assert_eq!(problem(field, &"a".repeat(limit)), None, "{field:?}");
        for length in [limit + 1, 1_000_000] {
            let expected = Some(Problem::TooLong { length, limit });
            assert_eq!(problem(field, &"a".repeat(length)), expected, "{field:?}");
        }
        assert_eq!(problem(field, "a\0b"), Some(Problem::Nul), "{field:?}");
        for text in ["a\nb", "a\u{1b}[31mb", "a\u{7f}b", "a b", "ä", "'; --"] {
            let expected = if field.is_identifier() {
                Some(Problem::Character(text.chars().find(|c| *c != 'a').expect("another")))
            } else {
                None
            };
            assert_eq!(problem(field, text), expected, "{field:?} {text:?}");
        }
    }
}

#[test]
fn s_17_a_key_fits_into_an_index_together_with_its_tenant() {
    // An index row of PostgreSQL has at most 2704 bytes.
    const { assert!(2 * KEY + 100 < 2704) }
}

#[test]
fn s_17_every_text_of_a_job_is_checked() {
    type Change = fn(&mut JobSpec, String);
    let changes: [(Field, Change); 9] = [
        (Field::JobName, |spec, text| spec.name = text),
        (Field::Queue, |spec, text| spec.queue = text),
        (Field::Service, |spec, text| spec.service = Some(text)),
        (Field::BusinessKey, |spec, text| spec.business_key = Some(text)),
        (Field::IdempotencyKey, |spec, text| spec.idempotency_key = Some(text)),
        (Field::ConcurrencyKey, |spec, key| {
            spec.concurrency = Some(ConcurrencyKey { key, limit: 1 });
        }),
        (Field::Tenant, |spec, text| spec.tenant = Some(text)),
        (Field::CorrelationId, |spec, text| spec.correlation_id = Some(text)),
        (Field::Tag, |spec, text| spec.tags.push(text)),
    ];
    for (field, change) in changes {
        let checked = |text: String| {
            let mut spec = JobSpec::new("job", b"{}".to_vec());
            change(&mut spec, text);
            check_spec(&spec)
        };
        assert!(checked("a".repeat(field.limit())).is_ok(), "{field:?}");
        for text in [String::new(), "a".repeat(field.limit() + 1), "a\0".to_owned()] {
            assert_eq!(checked(text).expect_err("refused").field, field);
        }
    }
    let mut spec = JobSpec::new("job", b"{}".to_vec());
    spec.tags = vec!["tag".to_owned(); TAGS];
    assert!(check_spec(&spec).is_ok());
    spec.tags.push("one more".to_owned());
    let problem = Problem::TooMany { count: TAGS + 1, limit: TAGS };
    assert_eq!(check_spec(&spec), Err(LimitError { field: Field::Tag, problem }));
}

#[test]
fn s_17_an_error_does_not_repeat_a_long_text() {
    assert_eq!(brief("short"), "short");
    let long = brief(&"ä".repeat(500_000));
    assert!(long.len() < 150 && long.ends_with("… (1000000 bytes)"), "{long}");
}

#[test]
fn s_17_an_error_escapes_control_characters() {
    assert_eq!(brief("a\0b\u{1b}[31m\n"), "a\\0b\\u{1b}[31m\\n");
    assert_eq!(brief("naïve 'quoted'"), "naïve 'quoted'");
}
