//! The rules about `version`, `oldest` and `upgrade`.

use super::model::JobModel;
use crate::diag::Errors;
use crate::values::{Value, Within};

/// Reports upgrade functions that are missing, given twice, or for a version that needs none.
pub(super) fn check(job: &JobModel, errors: &mut Errors) {
    let options = &job.options;
    let upgrades = &options.upgrade.0;
    let key = |name: &str| options.keys.iter().find(|key| *key == name);
    if let Some(key) = key("oldest").filter(|_| !options.written("upgrade")) {
        errors.push(key, "`oldest` shortens the list of `upgrade`, which is missing");
    }
    let (Some(key), false) = (key("upgrade"), upgrades.is_empty()) else { return };
    let Some(version) = &options.version else {
        if !options.written("version") {
            errors.push(key, "`upgrade` needs the `version` that it upgrades to, `version = 2`");
        }
        return;
    };
    let (Some(current), Some(oldest)) = (number(version), oldest(job)) else {
        let constant =
            if number(version).is_none() { Some(version) } else { options.oldest.as_ref() };
        if let Some(constant) = constant {
            errors.push(constant, "must be a literal: the list of `upgrade` is checked against it");
        }
        return;
    };
    if let Some(option) = options.oldest.as_ref().filter(|_| oldest >= current) {
        errors.push(
            option,
            format_args!("`oldest` must be lower than `version`, which is {current}"),
        );
        return;
    }
    for (index, upgrade) in upgrades.iter().enumerate() {
        let version = upgrade.version;
        if upgrades[..index].iter().any(|earlier| earlier.version == version) {
            errors.push(&upgrade.lit, format_args!("version {version} is upgraded twice"));
        } else if version >= current {
            errors.push(
                &upgrade.lit,
                format_args!("version {version} needs no upgrade: the job has version {current}"),
            );
        } else if version < oldest {
            errors.push(
                &upgrade.lit,
                format_args!("version {version} is older than `oldest`, which is {oldest}"),
            );
        }
    }
    let missing: Vec<_> = (oldest..current)
        .take(1000)
        .filter(|version| !upgrades.iter().any(|upgrade| upgrade.version == *version))
        .collect();
    let Some(first) = missing.first() else { return };
    // The list can be shortened only at its beginning.
    let shorter = if *first == oldest && first + 1 < current {
        format!(", or write `oldest = {}` if no job of it is left", first + 1)
    } else {
        String::new()
    };
    errors.push(
        key,
        format_args!("version {first} has no upgrade function; add `{first} => …`{shorter}"),
    );
}

/// Returns the oldest version that is upgraded.
pub(super) fn oldest(job: &JobModel) -> Option<u32> {
    match &job.options.oldest {
        Some(oldest) => number(oldest),
        None => Some(1),
    }
}

fn number(value: &Value<Within<1, { u32::MAX }>>) -> Option<u32> {
    value.literal().map(|Within(number)| *number)
}
