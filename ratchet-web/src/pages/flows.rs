//! Chains, batches and workflows.

use maud::html;
use ratchet_core::{GroupFilter, GroupId};
use ratchet_store::model::{GroupKind, GroupState};

use super::commands;
use crate::charts::bar::bar;
use crate::request::{Answer, Request, read_id};
use crate::text::count;
use crate::views::{Page, Table, card, empty, group_chip, id, text, time};

/// The number of groups of a page.
const SIZE: u32 = 50;

pub(crate) async fn page(request: Request) -> Answer {
    let mut filter = GroupFilter::any();
    let (kind, state) = (request.query.get("kind"), request.query.get("state"));
    filter.kind = [GroupKind::Chain, GroupKind::Batch, GroupKind::Workflow]
        .into_iter()
        .find(|known| known.to_string() == kind);
    let states = [
        GroupState::Waiting,
        GroupState::Running,
        GroupState::Succeeded,
        GroupState::Failed,
        GroupState::Canceled,
    ];
    filter.states =
        states.into_iter().filter(|known| known.name().eq_ignore_ascii_case(state)).collect();
    let before: Option<GroupId> = match request.query.get("after") {
        "" => None,
        text => Some(read_id(text, "chain, batch or workflow")?),
    };
    let groups = request.groups(&filter, before, SIZE).await?;
    let mut table =
        Table::new("Flows", &["flow", "kind", "state", "#ended", "#failed", "submitted", "id"]);
    for group in &groups {
        let counts = group.counts;
        let class = if counts.failed > 0 { "bad" } else { "" };
        table.row([
            html! { a href=(request.root.to(&format!("flows/{}", group.id))) { (text(&group.name, 60)) } },
            html! { (group.kind.to_string()) },
            group_chip(group.state),
            html! { (count(counts.ended())) " of " (count(counts.total)) (bar(counts.ended(), counts.total, class, &format!("{:.0} % ended", counts.percent()))) },
            html! { (count(counts.failed)) },
            time(group.queued_at, request.now),
            id(&group.id.to_string()),
        ]);
    }
    let next =
        groups.last().filter(|_| groups.len() == SIZE as usize).map(|group| group.id.to_string());
    let tab = |label: &str, wanted: &str| {
        html! {
            a href=(request.root.with("flows", &[("kind", kind), ("state", wanted)])) aria-current=[(state == wanted).then_some("page")] { (label) }
        }
    };
    let content = html! {
        nav.tabs aria-label="States" {
            (tab("all", ""))
            @for state in states { (tab(&state.name().to_lowercase(), &state.name().to_lowercase())) }
        }
        (card("flows", "Chains, batches and workflows", "newest first", table.or(empty(
            "There is no flow.",
            html! { "Submit one with " code { "ratchet.chain(…)" } ", " code { "ratchet.batch(…)" } " or " code { "ratchet.workflow(…)" } "." },
        ))))
        @if let Some(next) = next {
            nav.pager aria-label="Pages" {
                a.btn rel="next" href=(request.root.with("flows", &[("kind", kind), ("state", state), ("after", &next)])) { "Next →" }
            }
        }
        (commands(&request, &["flows list".to_owned()]))
    };
    Page::new("flows", "Flows", content).answer(&request).await
}
