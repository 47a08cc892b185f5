//! The checks for known problems.

use maud::html;
use ratchet_core::Severity;

use super::{commands, problems};
use crate::request::{Answer, Request};
use crate::views::{Page, Table, card, chip};

pub(crate) async fn page(request: Request) -> Answer {
    request.sees_everything("the checks of the doctor")?;
    let findings = request.ratchet().diagnose().await?;
    let mut table = Table::new("Checks", &["check", "result", "expected", "otherwise"]);
    for check in request.ratchet().checks().await? {
        let found = findings.iter().filter(|finding| finding.id == check.id).count();
        let result = match (found, check.severity) {
            (0, _) => chip("ok", "✓", "passes"),
            (_, Severity::Error) => chip("bad", "!", "problem"),
            (_, Severity::Warning) => chip("wait", "?", "look at it"),
        };
        table.row([
            html! { code { (check.id) } },
            result,
            html! { (check.healthy) },
            html! { (check.meaning) },
        ]);
    }
    let content = html! {
        @if findings.is_empty() {
            p.notice.done { "Every check passes." }
        } @else {
            (card("findings", "Problems", "", problems::list(&request, &findings)))
        }
        (card("checks", "Checks", "", table.html()))
        (commands(&request, &["doctor".to_owned()]))
    };
    Page::new("doctor", "Doctor", content).answer(&request).await
}
