//! Canonical JSON: the same value has the same text, whatever wrote it.
//!
//! Objects are sorted by key, there is no white space, and numbers are plain decimals. The function `ratchet.canonical`
//! of the PostgreSQL store returns the same text.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// Numbers with more digits than this before or after the point keep an exponent, so that a short payload cannot have a
/// long canonical text. No Rust number is that long.
const MAX_DIGITS: i64 = 400;

/// Returns the canonical text of JSON, without the given keys of its outermost object. Fails if it is not valid JSON.
pub fn canonical(json: &[u8], without: &[String]) -> Result<String, serde_json::Error> {
    let value: &RawValue = serde_json::from_slice(json)?;
    let mut text = String::with_capacity(json.len());
    write(value, without, &mut text)?;
    Ok(text)
}

fn write(value: &RawValue, without: &[String], out: &mut String) -> Result<(), serde_json::Error> {
    let text = value.get();
    match text.as_bytes().first() {
        Some(b'{') => {
            let fields: BTreeMap<String, &RawValue> = serde_json::from_str(text)?;
            let fields = fields.into_iter().filter(|(key, _)| !without.contains(key));
            out.push('{');
            for (at, (key, value)) in fields.enumerate() {
                if at > 0 {
                    out.push(',');
                }
                out.push_str(&serde_json::to_string(&key)?);
                out.push(':');
                write(value, &[], out)?;
            }
            out.push('}');
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(text)?;
            out.push('[');
            for (at, item) in items.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(item, &[], out)?;
            }
            out.push(']');
        }
        // Escapes may differ.
        Some(b'"') => out.push_str(&serde_json::to_string(&serde_json::from_str::<String>(text)?)?),
        Some(b'-' | b'0'..=b'9') => out.push_str(&number(text)),
        _ => out.push_str(text),
    }
    Ok(())
}

/// Returns a JSON number as a plain decimal without an exponent, superfluous zeros or a minus sign before zero.
fn number(text: &str) -> String {
    let (sign, rest) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_start_matches('0');
    if significant.is_empty() {
        return "0".to_owned();
    }
    let leading = digits.len() - significant.len();
    let significant = significant.trim_end_matches('0');
    // An exponent that does not fit is as far beyond the limit as any.
    let huge = if exponent.starts_with('-') { -i64::from(u32::MAX) } else { i64::from(u32::MAX) };
    let exponent: i64 = exponent.parse().unwrap_or(huge);
    let length = |text: &str| i64::try_from(text.len()).unwrap_or(i64::MAX);
    // The value is 0.significant times ten to the power of `point`.
    let point = exponent
        .saturating_add(length(whole))
        .saturating_sub(i64::try_from(leading).unwrap_or(i64::MAX));
    let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or(0));
    let plain = match point {
        _ if point.saturating_abs() > MAX_DIGITS => format!("0.{significant}e{point}"),
        ..=0 => format!("0.{}{significant}", zeros(-point)),
        _ if point >= length(significant) => {
            format!("{significant}{}", zeros(point - length(significant)))
        }
        _ => {
            let (whole, fraction) = significant.split_at(usize::try_from(point).unwrap_or(0));
            format!("{whole}.{fraction}")
        }
    };
    format!("{sign}{plain}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(json: &str) -> String {
        canonical(json.as_bytes(), &[]).expect("is JSON")
    }

    #[test]
    fn k_03_numbers_are_compared_by_value() {
        for (text, plain) in [
            ("0", "0"),
            ("-0", "0"),
            ("-0.0e5", "0"),
            ("1.50", "1.5"),
            ("100", "100"),
            ("1e2", "100"),
            ("1.25E+1", "12.5"),
            ("-12e-3", "-0.012"),
            ("0.1", "0.1"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("1e-400", &format!("0.{}1", "0".repeat(399))),
            ("1e400", "0.1e401"),
            ("25e99999999999999999999", "0.25e4294967297"),
            ("1e-99999999999999999999", "0.1e-4294967294"),
        ] {
            assert_eq!(of(text), plain, "{text}");
        }
    }

    #[test]
    fn k_03_order_white_space_and_escapes_do_not_matter() {
        let a =
            r#" { "b" : [ 1.0 , "\u0041\/\u00e4\n\u001F" ] , "a" : { "y" : null , "x" : true } } "#;
        assert_eq!(of(a), "{\"a\":{\"x\":true,\"y\":null},\"b\":[1,\"A/ä\\n\\u001f\"]}");
        assert_eq!(of(&of(a)), of(a));
    }

    #[test]
    fn s_15_given_keys_are_left_out_of_the_outermost_object() {
        let text = canonical(br#"{"a":1,"b":{"a":2}}"#, &["a".to_owned()]);
        assert_eq!(text.expect("is JSON"), r#"{"b":{"a":2}}"#);
    }

    proptest! {
        #[test]
        fn k_03_floats_and_integers_keep_their_value(float in any::<f64>(), integer in any::<i128>()) {
            if float.is_finite() {
                let text = of(&serde_json::to_string(&float).expect("is finite"));
                let parsed: f64 = text.parse().expect("is a number");
                // There is no minus zero.
                prop_assert!(parsed.to_bits() == float.to_bits() || (parsed == 0.0 && float == 0.0));
                prop_assert!(!text.contains(['e', 'E']));
            }
            prop_assert_eq!(of(&integer.to_string()), integer.to_string());
        }
    }
}
