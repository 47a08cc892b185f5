//! Small parts of pages: times, ids, cards, buttons, empty states.

use jiff::Timestamp;
use maud::{Markup, Render, html};
use ratchet_core::JobId;

use super::Table;
use crate::link::Root;
use crate::text::{brief, exact, printable, relative};

/// Returns untrusted text on one line, shortened, with the whole text on hover.
pub(crate) fn text(value: &str, most: usize) -> Markup {
    let shown = brief(value, most);
    let title = (shown.ends_with('…')).then(|| printable(&brief(value, 2000)));
    html! { bdi title=[title] { (shown) } }
}

/// Returns a sentence of the library as HTML: code in backticks, and instants relative to now. The sentence is
/// capitalized and ends with a period.
pub(crate) fn prose(sentence: &str, now: Timestamp) -> Markup {
    let mut letters = sentence.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    let sentence = format!("{first}{}", brief(letters.as_str(), 1000));
    let period = if sentence.ends_with(['.', '…']) { "" } else { "." };
    html! {
        @for (at, part) in sentence.split('`').enumerate() {
            @if at % 2 == 1 { code { (part) } } @else { (with_times(part, now)) }
        }
        (period)
    }
}

fn with_times(text: &str, now: Timestamp) -> Markup {
    html! {
        @for (at, word) in text.split(' ').enumerate() {
            @if at > 0 { " " }
            @let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
            @match bare.parse::<Timestamp>() {
                Ok(instant) => {
                    @let (before, after) = word.split_once(bare).unwrap_or_default();
                    (before) time datetime=(instant.to_string()) title=(relative(instant, now)) { (exact(instant)) } (after)
                },
                Err(_) => (word),
            }
        }
    }
}

/// Returns a time relative to now, with the exact one on hover.
pub(crate) fn time(at: Timestamp, now: Timestamp) -> Markup {
    html! { time datetime=(at.to_string()) title=(exact(at)) { (relative(at, now)) } }
}

/// Returns a time, or a dash.
pub(crate) fn time_or(at: Option<Timestamp>, now: Timestamp) -> Markup {
    at.map_or_else(Table::none, |at| time(at, now))
}

/// Returns a shortened id that can be copied whole. The beginning of an id is its time, so the end is shown too.
pub(crate) fn id(id: &str) -> Markup {
    let short = match (id.get(..8), id.get(id.len().saturating_sub(4)..)) {
        (Some(start), Some(end)) if id.len() > 14 => format!("{start}…{end}"),
        _ => id.to_owned(),
    };
    html! { code.id data-copy=(id) title=(id) { (short) } }
}

/// Returns a link to a job by its id.
pub(crate) fn job_link(root: &Root, job: JobId) -> Markup {
    let text = job.to_string();
    html! { a href=(root.to(&format!("jobs/{job}"))) { (id(&text)) } }
}

/// Returns a card with a heading.
pub(crate) fn card(id: &str, title: &str, hint: impl Render, body: impl Render) -> Markup {
    html! {
        section.card id=(id) data-live="" aria-labelledby=(format!("{id}-title")) {
            header { h2 id=(format!("{id}-title")) { (title) } span.hint { (hint) } }
            div.body { (body) }
        }
    }
}

/// Returns a remark.
pub(crate) fn hint(text: &str) -> Markup {
    html! { p.hint { (text) } }
}

/// Returns what a list shows that is empty: what that means, and what to do next.
pub(crate) fn empty(title: &str, next: impl Render) -> Markup {
    html! { div.empty { p.lead { (title) } p { (next) } } }
}

/// Returns a list of names and values. Empty values are left out.
pub(crate) fn definition(rows: impl IntoIterator<Item = (&'static str, Option<Markup>)>) -> Markup {
    html! {
        dl.kv { @for (name, value) in rows { @if let Some(value) = value {
            dt { (name) } dd { (value) }
        } } }
    }
}

/// Returns a link that looks like a button.
pub(crate) fn button(link: &str, label: &str, class: &str) -> Markup {
    html! { a class=(format!("btn {class}")) href=(link) { (label) } }
}

/// Returns a line for the shell that can be copied.
pub(crate) fn command_line(line: &str) -> Markup {
    html! { code.cli data-copy=(line) { (printable(line)) } }
}

/// Returns a form with one field that filters a list.
pub(crate) fn search(action: &str, label: &str, value: &str, error: Option<&str>) -> Markup {
    html! {
        form.filter action=(action) method="get" role="search" {
            label.hidden for="filter" { (label) }
            input #filter name="filter" type="search" value=(value) placeholder="state:failed queue:mail queued>2h"
                autocomplete="off" autocapitalize="off" spellcheck="false" aria-describedby=[error.map(|_| "filter-error")]
                aria-invalid=[error.map(|_| "true")];
            kbd aria-hidden="true" { "/" }
            button.btn type="submit" { "Filter" }
        }
        @if let Some(error) = error { p #filter-error .error role="alert" { (printable(error)) } }
    }
}
