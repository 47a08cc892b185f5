//! Help: shortcuts, filters and shapes.

use maud::html;
use ratchet_core::JobState;
use ratchet_store::model::CONDITIONS;

use crate::request::{Answer, Request};
use crate::views::{Page, card, chip, look};

/// The shortcuts of the script.
const KEYS: [(&str, &str); 12] = [
    ("/", "to the filter"),
    ("?", "this page"),
    ("g o", "overview"),
    ("g j", "jobs"),
    ("g f", "failures"),
    ("g w", "flows"),
    ("g q", "queues"),
    ("g b", "breakers"),
    ("g s", "schedules"),
    ("g n", "nodes"),
    ("g d", "doctor"),
    ("Escape", "leaves a field"),
];

pub(crate) async fn page(request: Request) -> Answer {
    let content = html! {
        (card("keys", "Keyboard", "", html! { dl.kv { @for (key, what) in KEYS {
            dt { @for part in key.split(' ') { kbd { (part) } " " } } dd { (what) }
        } } }))
        (card("conditions", "Filters", "the same on the command line and in the API", html! {
            p { "A job must match every condition. A value with spaces is quoted. Times are instants, dates or durations before now." }
            ul.examples { @for (_, example) in CONDITIONS {
                li { a href=(request.root.with("jobs", &[("filter", example)])) { code { (example) } } }
            } }
        }))
        (card("shapes", "States", "", html! { ul.shapes { @for state in JobState::ALL {
            @let (class, shape) = look(state);
            li { (chip(class, shape, &state.name().to_lowercase())) }
        } } }))
        (card("api", "API", "", html! { p {
            "Everything here is also at " a href=(request.root.to("api/v1")) { code { "api/v1" } } "."
        } }))
    };
    let mut page = Page::new("help", "Help", content);
    page.live = false;
    page.answer(&request).await
}
