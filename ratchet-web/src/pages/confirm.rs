//! The page that confirms an action: what would happen, the reason, and the same on the command line.

use maud::{Markup, html};
use ratchet_core::{Filter, JobDef};

use crate::act::{self, Action, Done, Field, Order, Preview, Target};
use crate::link::Fields;
use crate::problem::Problem;
use crate::request::{Answer, Request, read_id, see_other};
use crate::text::brief;
use crate::views::{Page, card, command_line, prose};

/// Returns the action of the address.
fn wanted(request: &Request) -> Result<&'static Action, Problem> {
    let verb = request.path.rsplit('/').next().unwrap_or_default();
    act::action(verb).ok_or_else(|| Problem::not_found("there is no such action"))
}

pub(crate) async fn page(request: Request) -> Answer {
    let action = wanted(&request)?;
    let order = Order::new(&request, action, "page", with_selection(request.query.clone())?);
    let preview = act::preview(&request, &order).await?;
    let root = &request.root;
    let query: Vec<_> =
        preview.back.1.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let back = root.with(&preview.back.0, &query);
    let content = html! {
        section.card aria-labelledby="what" { header { h2 #what { "What will happen" } } div.body {
            @for sentence in &preview.sentences { p { (prose(sentence, request.now)) } }
            @if let Some(refused) = &preview.refused { p.error role="alert" { (refused) } }
        } }
        @if preview.refused.is_none() { (form(&request, &order, &preview, &back)) }
        @else { p { a.btn href=(back) { "Back" } } }
        (card("cli", "The same on the command line", "", command_line(&preview.command)))
    };
    let mut page = Page::new(section(action.target), action.title, content);
    page.live = false;
    page.answer(&request).await
}

/// Replaces the jobs that were selected in a list by a filter. An empty filter would select all jobs, so at least one must
/// be selected.
fn with_selection(mut fields: Fields) -> Result<Fields, Problem> {
    if fields.get("selected").is_empty() {
        return Ok(fields);
    }
    let mut filter = Filter::any();
    for job in fields.all("job") {
        filter = filter.id(read_id(job, "job")?);
    }
    if filter.ids.is_empty() {
        return Err(Problem::new("refused", "no job is selected; select at least one in the list"));
    }
    fields.set("filter", filter.to_string());
    Ok(fields)
}

fn section(target: Target) -> &'static str {
    match target {
        Target::Job => "jobs",
        Target::Queue => "queues",
        Target::Breaker => "breakers",
        Target::Schedule => "schedules",
        Target::Flow => "flows",
        Target::Failures | Target::Group => "failures",
        Target::Row => "unreadable",
        Target::Rejects => "rejects",
        Target::New => "enqueue",
        Target::Node => "nodes",
        Target::Operation | Target::Bulk | Target::Erasure => "operations",
        Target::Archive | Target::Ledger => "archive",
    }
}

fn form(request: &Request, order: &Order, preview: &Preview, back: &str) -> Markup {
    let action = order.action;
    let target = action.target.field();
    let definition = (action.target == Target::New).then(|| definition(request, order)).flatten();
    html! {
        form.card.act method="post" action=(request.root.to(&format!("act/{}", action.verb))) { div.body {
            input type="hidden" name=(target) value=(order.fields.get(target));
            @if let Some(version) = preview.version { input type="hidden" name="version" value=(version); }
            @if let Some(definition) = &definition { (typed(definition)) }
            @for field in action.fields { @if definition.is_none() || field.name != "arguments" { (input(field, order, preview)) } }
            label for="reason" { "Reason" small { "Why you do this. It is logged with your name." } }
            input #reason name="reason" type="text" maxlength="500" autocomplete="off";
            p.buttons {
                button class=(if action.ends { "btn danger" } else { "btn pri" }) type="submit" { (action.label) }
                // Arguments may be secret, so that they are not sent as a part of an address.
                @if !action.fields.is_empty() && !action.fields.iter().any(|field| field.name == "arguments") {
                    button.btn type="submit" formmethod="get" { "Preview" }
                }
                a.btn href=(back) { "Back" }
            }
        } }
    }
}

fn definition(request: &Request, order: &Order) -> Option<JobDef> {
    let name = order.fields.get("name");
    request.ratchet().definitions().into_iter().find(|job| job.names().any(|known| known == name))
}

/// Returns a field for each argument of a job.
fn typed(job: &JobDef) -> Markup {
    html! {
        @if !job.docs.is_empty() { p { (brief(job.docs, 400)) } }
        @for arg in job.args {
            @let id = format!("arg-{}", arg.name);
            label for=(id) { (arg.name) small {
                code { (arg.ty) }
                @if arg.has_default { " has a default" }
                @if !arg.docs.is_empty() { " · " (brief(arg.docs, 120)) }
            } }
            input id=(id) name=(format!("arg.{}", arg.name)) type=(if arg.secret { "password" } else { "text" }) autocomplete="off" spellcheck="false";
        }
    }
}

fn input(field: &Field, order: &Order, preview: &Preview) -> Markup {
    let id = format!("field-{}", field.name);
    let known = preview.hidden.iter().find(|(name, _)| *name == field.name);
    let value = known.map_or_else(|| order.fields.get(field.name), |(_, value)| value.as_str());
    if matches!(field.name, "cutoff" | "digest") {
        return html! { input type="hidden" name=(field.name) value=(value); };
    }
    html! {
        label for=(id) { (field.label) small { (field.hint) } }
        @if field.name == "arguments" {
            textarea id=(id) name=(field.name) rows="6" spellcheck="false" { (value) }
        } @else {
            input id=(id) name=(field.name) type="text" value=(value) autocomplete="off" required[field.required];
        }
    }
}

/// Carries out the order of the form, then leads to the page that shows the result.
pub(crate) async fn act(request: Request) -> Answer {
    let action = wanted(&request)?;
    let fields = Fields::read(&request.body);
    let done = act::perform(&request, &Order::new(&request, action, "page", fields)).await?;
    if let Some(revealed) = &done.revealed {
        return super::revealed::page(&request, action, revealed).await;
    }
    Ok(see_other(&link(&request, action, &done)))
}

fn link(request: &Request, action: &Action, done: &Done) -> String {
    let path = match (done.job, done.path) {
        _ if done.operation.is_some() => {
            done.operation.map(|id| format!("operations/{id}")).unwrap_or_default()
        }
        (Some(job), path) => format!("{path}/{job}"),
        (None, "flows") => {
            let id = done.query.first().map(|(_, id)| id.as_str()).unwrap_or_default();
            format!("flows/{id}")
        }
        (None, path) => path.to_owned(),
    };
    let numbers = done.jobs.map(|(jobs, skipped)| (jobs.to_string(), skipped.to_string()));
    let mut query: Vec<(&str, &str)> = done
        .query
        .iter()
        .filter(|(name, _)| !name.is_empty())
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    query.push(("done", action.verb));
    if done.more {
        query.push(("more", "1"));
    }
    if let Some((jobs, skipped)) = &numbers {
        query.extend([("jobs", jobs.as_str()), ("skipped", skipped.as_str())]);
    }
    request.root.with(&path, &query)
}
