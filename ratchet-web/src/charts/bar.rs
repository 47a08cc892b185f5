//! A bar that shows a part of a whole.

use maud::{Markup, html};

/// Returns a bar that is filled by `part` of `whole`.
pub(crate) fn bar(part: u64, whole: u64, class: &str, label: &str) -> Markup {
    let part = part.min(whole);
    let width = (part * 100).checked_div(whole).unwrap_or(0);
    html! {
        svg.bar viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label=(label) {
            rect.bar-back width="100" height="6" rx="3" {}
            rect class=(format!("bar-fill {class}")) width=(width) height="6" rx="3" {}
        }
    }
}
