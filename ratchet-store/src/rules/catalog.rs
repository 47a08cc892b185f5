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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::{CatalogArg, JobSpec};

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
