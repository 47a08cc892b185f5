//! The page of a chain, batch or workflow.

use std::collections::BTreeMap;

use maud::{Markup, html};
use ratchet_core::{Filter, GroupFilter, JobState};
use ratchet_store::model::{GroupRecord, Member, Vertex};

use super::{action_buttons, commands, jobs};
use crate::act::{self, Target};
use crate::charts::bar::bar;
use crate::charts::graph;
use crate::problem::Problem;
use crate::read::Cursor;
use crate::request::{Answer, Request};
use crate::text::{brief, count};
use crate::views::{Page, Table, card, chip, definition, empty, group_chip, id, job_link, time};

/// How many members of a large group are counted.
const COUNTED: u32 = 10_000;

pub(crate) async fn page(request: Request) -> Answer {
    let group = request.group(request.id("chain, batch or workflow")?).await?;
    let handle = request.ratchet().group(group.id);
    let drawing = if group.counts.total <= graph::SMALL {
        let view = handle.view().await?;
        html! { @if let Some(view) = view { (graph::drawing(&request.root, &view, None)) } }
    } else {
        aggregated(&request, &group, &handle.members(None, COUNTED).await?).await?
    };
    let failed = Filter::any().group(group.id).state(JobState::Failed);
    let failures = request.job_page(&failed, Cursor::First, 10).await?;
    let members =
        request.root.with("jobs", &[("filter", &Filter::any().group(group.id).to_string())]);
    let id = group.id;
    let content = html! {
        (card("graph", "Steps", html! { a href=(members) { "as a list" } }, drawing))
        @if !failures.jobs.is_empty() {
            (card("failed", "Failed steps", "retry one to let the flow continue", jobs::short_table(&request, &failures.jobs).html()))
        }
        (details(&request, &group))
        (commands(&request, &[format!("flows show {id}"), format!("flows draw {id} --as svg")]))
    };
    let possible = act::of_target(Target::Flow).filter(|_| !group.state.is_ended());
    let target = id.to_string();
    let mut page = Page::new("flows", brief(&group.name, 120), content);
    page.parent = Some((request.root.to("flows"), "Flows"));
    page.beside = html! { span #flow-state data-live="" { (group_chip(group.state)) } };
    page.actions = html! { div #actions data-live="" { (action_buttons(&request, possible, &[("flow", &target)])) } };
    page.answer(&request).await
}

fn details(request: &Request, group: &GroupRecord) -> Markup {
    let (counts, now) = (group.counts, request.now);
    let number = |value: u64| (value > 0).then(|| html! { (count(value)) });
    card("details", "Details", "", definition([
        ("id", Some(id(&group.id.to_string()))),
        ("kind", Some(html! { (group.kind.to_string()) })),
        ("ended", Some(html! { (count(counts.ended())) " of " (count(counts.total))
            (bar(counts.ended(), counts.total, if counts.failed > 0 { "bad" } else { "" }, &format!("{:.0} % ended", counts.percent()))) })),
        ("succeeded", number(counts.succeeded)),
        ("failed", number(counts.failed)),
        ("canceled", number(counts.canceled)),
        ("not taken", number(counts.skipped)),
        ("open", (!group.sealed).then(|| html! { "more members may be added" })),
        ("submitted", Some(time(group.queued_at, now))),
        ("finished", group.finished_at.map(|at| time(at, now))),
        ("part of", group.owner.map(|owner| html! { a href=(request.root.to(&format!("flows/{owner}"))) { (id(&owner.to_string())) } })),
        ("began with", group.root_cause.and_then(Vertex::job).map(|job| job_link(&request.root, job))),
        ("tenant", group.tenant.as_ref().map(|tenant| html! { (brief(tenant, 80)) })),
        ("correlation", group.correlation_id.as_ref().map(|it| html! { (brief(it, 80)) })),
    ]))
}

/// Returns the members of a large group, counted by step and state.
async fn aggregated(
    request: &Request,
    group: &GroupRecord,
    members: &[Member],
) -> Result<Markup, Problem> {
    type States = BTreeMap<&'static str, (u64, Markup)>;
    let mut steps: BTreeMap<String, States> = BTreeMap::new();
    for member in members {
        let name = member.name.clone().unwrap_or_else(|| member.job_name.clone());
        let (class, shape, state) = graph::member_state(member);
        let word = match state.as_str() {
            "waits" => "waits",
            "not taken" => "not taken",
            _ => member.state.name(),
        };
        let states = steps.entry(name).or_default();
        states.entry(word).or_insert_with(|| (0, chip(class, shape, &state))).0 += 1;
    }
    let inner = request.groups(&GroupFilter::any().inside(group.id), None, 100).await?;
    let mut table = Table::new("Steps by state", &["step", "states"]);
    for (step, states) in &steps {
        table.row([
            html! { (brief(step, 80)) },
            html! { @for (jobs, chip) in states.values() { (chip) " " (count(*jobs)) " " } },
        ]);
    }
    let partly = members.len() as u64 >= u64::from(COUNTED);
    Ok(html! {
        p { "The flow has " (count(group.counts.total)) " members, so they are counted by step and state."
            @if partly { " The first " (count(COUNTED.into())) " are counted." } }
        (table.or(empty("The flow has no jobs of its own.", "Its members are other flows.")))
        @if !inner.is_empty() { ul { @for group in &inner {
            li { a href=(request.root.to(&format!("flows/{}", group.id))) { (brief(&group.name, 80)) } " " (group_chip(group.state)) }
        } } }
    })
}
