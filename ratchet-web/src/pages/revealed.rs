//! The page that shows the secrets of a job. It has no address of its own, so that it cannot be opened again without
//! another entry in the audit trail.

use maud::{Markup, html};
use ratchet_core::Revealed;

use crate::act::Action;
use crate::arguments::Arguments;
use crate::request::{Answer, Request};
use crate::text::printable;
use crate::views::{Page, card};

pub(crate) async fn page(request: &Request, action: &Action, revealed: &Revealed) -> Answer {
    let shown = |id: &str, title: &str, json: Option<&str>| -> Markup {
        let Some(json) = json else { return html! {} };
        card(id, title, "as stored, with secrets", html! { pre { code { (printable(json)) } } })
    };
    let arguments = Arguments::stored(revealed.arguments.get()).to_json();
    let checkpoint = revealed.checkpoint.as_ref().map(ToString::to_string);
    let content = html! {
        section.card { div.body { p { (action.done) " Leave this page when you have read them." } } }
        (shown("arguments", "Arguments", Some(&arguments)))
        (shown("output", "Output", revealed.output.as_ref().map(|json| json.get())))
        (shown("checkpoint", "Checkpoint", checkpoint.as_deref()))
        p { a.btn href=(request.root.to(&format!("jobs/{}", revealed.job))) { "Back to the job" } }
    };
    let mut page = Page::new("jobs", action.title, content);
    page.live = false;
    page.answer(request).await
}
