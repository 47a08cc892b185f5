//! The rules of the catalog: the identity of an entry, and whether arguments fit it.

use std::time::Duration;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::model::limits::brief;
use crate::model::{AuditHash, CatalogEntry};

/// How long an entry is kept after a worker has recorded it last.
pub const KEPT: Duration = Duration::from_hours(400 * 24);

/// Returns the digest of an entry. Two entries with the same content have the same digest.
pub fn digest(entry: &CatalogEntry) -> String {
    let text = serde_json::to_vec(entry).unwrap_or_default();
    let mut digest = AuditHash(Sha256::digest(text).into()).to_string();
    digest.truncate(32);
    digest
}

/// Checks the arguments of a job that is submitted without its code: they must be an object that contains every required
/// argument, and no others than those of the job. Their types are not checked.
///
/// # Errors
///
/// Returns what is wrong, and what to do.
pub fn check_arguments(entry: &CatalogEntry, arguments: &Value) -> Result<(), String> {
    let Value::Object(fields) = arguments else {
        return Err("its arguments must be a JSON object with one field per argument".to_owned());
    };
    let takes = |field: &str| {
        entry.args.iter().any(|arg| arg.name == field || arg.aliases.iter().any(|old| old == field))
    };
    let names: Vec<_> = entry.args.iter().map(|arg| format!("`{}`", arg.name)).collect();
    if let Some(field) = fields.keys().find(|field| !takes(field)) {
        let known = match names.as_slice() {
            [] => "it has no arguments".to_owned(),
            names => format!("its arguments are {}", names.join(", ")),
        };
        return Err(format!("it has no argument `{}`; {known}", brief(field)));
    }
    let is_given = |name: &String| fields.contains_key(name);
    let missing = entry
        .args
        .iter()
        .find(|arg| arg.required && !is_given(&arg.name) && !arg.aliases.iter().any(is_given));
    match missing {
        Some(arg) => Err(format!("argument `{}` of type `{}` is missing", arg.name, arg.ty)),
        None => Ok(()),
    }
}

/// Returns the value of an argument that is given as text: a string if its type is a string, otherwise JSON. A text that
/// is not JSON is a string.
///
/// ```
/// use ratchet_store::rules::catalog::argument;
///
/// assert_eq!(argument(Some("String"), "4111"), "4111");
/// assert_eq!(argument(Some("u64"), "4111"), 4111);
/// assert_eq!(argument(Some("Option<String>"), "null"), serde_json::Value::Null);
/// ```
pub fn argument(ty: Option<&str>, text: &str) -> Value {
    let ty: String = ty.unwrap_or_default().split_whitespace().collect();
    let is_text = |ty: &str| {
        let name = ty.trim_start_matches('&').trim_start_matches("'static").trim_end_matches('>');
        let name = name.rsplit(['<', ',']).next().unwrap_or_default();
        matches!(name.rsplit("::").next(), Some("String" | "str"))
    };
    let inner = ty.strip_prefix("Option<").and_then(|ty| ty.strip_suffix('>'));
    let holds_text = |ty: &str| is_text(ty) && !ty.starts_with("Vec<") && !ty.contains("Map<");
    match inner {
        Some(_) if text == "null" => Value::Null,
        Some(inner) if holds_text(inner) => text.into(),
        None if holds_text(&ty) => text.into(),
        _ => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::{CatalogArg, JobSpec};

    #[test]
    fn k_01_the_type_of_an_argument_decides_what_a_text_is() {
        for (ty, text, value) in [
            ("String", "4111", json!("4111")),
            ("& str", "true", json!("true")),
            ("Cow < 'static , str >", "1", json!("1")),
            ("Option < String >", "1", json!("1")),
            ("Option<String>", "null", json!(null)),
            ("std::string::String", "[1]", json!("[1]")),
            ("Vec<String>", r#"["a"]"#, json!(["a"])),
            ("HashMap<String, String>", r#"{"a":"b"}"#, json!({ "a": "b" })),
            ("u64", "4111", json!(4111)),
            ("Email", "ada@example.com", json!("ada@example.com")),
        ] {
            assert_eq!(argument(Some(ty), text), value, "{ty}");
        }
        assert_eq!(argument(None, "7"), json!(7));
    }

    #[test]
    fn k_01_names_and_presence_of_arguments_are_checked() {
        let mut entry = CatalogEntry::new(JobSpec::new("mail", Vec::new()));
        let mut to = CatalogArg::new("to", "String");
        to.aliases = vec!["recipient".to_owned()];
        let mut copy = CatalogArg::new("copy", "Option<String>");
        copy.required = false;
        entry.args = vec![to, copy];
        for fine in [json!({ "to": "a" }), json!({ "recipient": "a", "copy": "b" })] {
            assert_eq!(check_arguments(&entry, &fine), Ok(()));
        }
        for (wrong, problem) in [
            (json!([1]), "must be a JSON object"),
            (json!({ "copy": "b" }), "argument `to` of type `String` is missing"),
            (json!({ "to": "a", "cc": "b" }), "no argument `cc`; its arguments are `to`, `copy`"),
        ] {
            let refused = check_arguments(&entry, &wrong).expect_err("is refused");
            assert!(refused.contains(problem), "{refused}");
        }
        entry.args.clear();
        let refused = check_arguments(&entry, &json!({ "to": 1 })).expect_err("is refused");
        assert!(refused.contains("it has no arguments"), "{refused}");
    }

    #[test]
    fn k_01_the_digest_identifies_the_content() {
        let entry = CatalogEntry::new(JobSpec::new("mail", b"ignored".to_vec()));
        assert_eq!(digest(&entry), digest(&CatalogEntry::new(JobSpec::new("mail", Vec::new()))));
        let mut other = entry.clone();
        other.args.push(CatalogArg::new("to", "String"));
        assert_ne!(digest(&entry), digest(&other));
    }
}
