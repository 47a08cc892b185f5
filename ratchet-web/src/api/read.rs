//! The queries of the API.

use axum::http::{HeaderValue, StatusCode, header};
use jiff::Timestamp;
use ratchet_core::{AuditError, Filter, GroupFilter, GroupId, JobId, JobState};
use ratchet_store::model::RejectFilter;
use serde::Serialize;
use serde_json::json as value;

use super::{export, job as document, json};
use crate::charts::graph;
use crate::history;
use crate::pages::{self, jobs::cursor};
use crate::problem::Problem;
use crate::request::{Answer, Request, read_id, response};
use crate::text::brief;

fn of(value: &impl Serialize) -> Answer {
    let text = serde_json::to_string(value);
    let text =
        text.map_err(|error| Problem::new("store", format!("the answer is not JSON: {error}")))?;
    Ok(json(text))
}

/// Reads the number of rows.
fn limit(request: &Request) -> Result<u32, Problem> {
    let text = request.query.get("limit");
    if text.is_empty() {
        return Ok(100);
    }
    let number = text.parse().ok().filter(|number| (1..=1000).contains(number));
    number.ok_or_else(|| {
        Problem::bad(format!("`limit` must be from 1 to 1000, not `{}`", brief(text, 40)))
    })
}

pub(crate) async fn overview(request: Request) -> Answer {
    of(&request.overview().await?)
}

pub(crate) async fn jobs(request: Request) -> Answer {
    let filter = request.filter()?;
    matching(request, filter).await
}

pub(crate) async fn archived_jobs(request: Request) -> Answer {
    let filter = request.archived_filter()?;
    matching(request, filter).await
}

/// Lists the jobs that match a filter, or exports them.
async fn matching(request: Request, filter: Filter) -> Answer {
    let accept = request.header("accept");
    let exported = !request.query.get("format").is_empty()
        || accept.contains("text/csv")
        || accept.contains("application/x-ndjson");
    if exported {
        return Ok(export::matching(request, filter));
    }
    page(&request, &filter).await
}

async fn page(request: &Request, filter: &Filter) -> Answer {
    let page = request.job_page(filter, cursor(request)?, limit(request)?).await?;
    let jobs: Vec<_> = page.jobs.iter().map(|job| document::document(request, job)).collect();
    let id = |id: Option<JobId>| id.map_or("null".to_owned(), |id| format!("\"{id}\""));
    Ok(json(format!(
        "{{\"jobs\":[{}],\"next\":{},\"previous\":{},\"examined\":{}}}",
        jobs.join(","),
        id(page.next),
        id(page.previous),
        page.examined.map_or("null".to_owned(), |examined| examined.to_string())
    )))
}

pub(crate) async fn count(request: Request) -> Answer {
    const MOST: u64 = 100_000;
    let mut left = match request.query.get("cap") {
        "" => 10_000,
        text => {
            let number = text.parse().ok().filter(|number| (1..=MOST).contains(number));
            number.ok_or_else(|| {
                Problem::bad(format!("`cap` must be from 1 to {MOST}, not `{}`", brief(text, 40)))
            })?
        }
    };
    let filter = request.filter()?;
    request.may_search(&filter).await?;
    let (mut jobs, mut exact) = (0, true);
    // A job matches at most one of these filters.
    for filter in request.access.scope().narrow(&filter) {
        let found = request.ratchet().jobs().count(&filter, left).await?;
        jobs += found.count;
        left -= found.count;
        exact &= found.exact;
    }
    of(&value!({ "count": jobs, "exact": exact }))
}

pub(crate) async fn job(request: Request) -> Answer {
    let job = request.job(request.id("job")?).await?;
    let links = request.ratchet().jobs().succession(job.id).await?;
    let admission = request.ratchet().jobs().admission(job.id).await?;
    let mut response = json(document::linked(&request, &job, links, admission.as_ref()));
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{}\"", job.version)) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    Ok(response)
}

pub(crate) async fn runs(request: Request) -> Answer {
    let job = request.job(request.id("job")?).await?;
    of(&value!({ "runs": request.ratchet().jobs().attempts(job.id).await? }))
}

pub(crate) async fn log(request: Request) -> Answer {
    let job = request.job(request.id("job")?).await?;
    if !request.access.sees_arguments() {
        return Err(Problem::new("denied", "your access does not include log lines"));
    }
    of(&value!({ "lines": request.ratchet().jobs().logs(job.id).await? }))
}

pub(crate) async fn explain(request: Request) -> Answer {
    let job = request.job(request.id("job")?).await?;
    let explanation = request.ratchet().jobs().explain(job.id).await?;
    let text = explanation.as_ref().map(ToString::to_string);
    of(&value!({ "state": job.state, "explanation": explanation, "text": text }))
}

pub(crate) async fn failures(request: Request) -> Answer {
    /// How many failed jobs are read.
    const READ: u32 = 5_000;
    let found = request.failures(&request.filter()?, READ).await?;
    let most = limit(&request)? as usize;
    let groups: Vec<_> = found.groups.iter().take(most).collect();
    of(&value!({ "groups": groups, "jobs": found.jobs, "complete": found.complete }))
}

pub(crate) async fn failure_group(request: Request) -> Answer {
    let mut filter = request.filter()?;
    filter.states = vec![JobState::Failed];
    page(&request, &filter).await
}

pub(crate) async fn queues(request: Request) -> Answer {
    of(&value!({ "queues": request.overview().await?.queues }))
}

pub(crate) async fn queue(request: Request) -> Answer {
    let name = request.scoped_queue(request.wanted("name")?)?;
    let overview = request.overview().await?;
    let found = overview.queues.iter().find(|queue| queue.queue == name);
    let missing = || Problem::not_found(format!("there is no queue `{}`", brief(name, 80)));
    of(found.ok_or_else(missing)?)
}

pub(crate) async fn breakers(request: Request) -> Answer {
    request.sees_everything("breakers")?;
    of(&value!({ "breakers": request.ratchet().breakers().list().await? }))
}

pub(crate) async fn breaker(request: Request) -> Answer {
    request.sees_everything("breakers")?;
    let service = request.wanted("service")?;
    let found = request.ratchet().breakers().get(service).await?;
    let missing = || Problem::not_found(format!("there is no breaker `{}`", brief(service, 80)));
    of(&found.ok_or_else(missing)?)
}

/// Returns a schedule without the arguments of its job, which may be secret.
fn schedule(view: &ratchet_core::ScheduleView) -> serde_json::Value {
    let mut value = value!(view);
    if let Some(spec) = value.pointer_mut("/schedule/spec").and_then(|spec| spec.as_object_mut()) {
        strip(spec);
    }
    value
}

fn strip(spec: &mut serde_json::Map<String, serde_json::Value>) {
    spec.remove("payload");
    for value in spec.values_mut().filter_map(|value| value.as_object_mut()) {
        strip(value);
    }
}

pub(crate) async fn schedules(request: Request) -> Answer {
    let schedules: Vec<_> = request.schedules().await?.iter().map(schedule).collect();
    of(&value!({ "schedules": schedules }))
}

pub(crate) async fn next(request: Request) -> Answer {
    let view = request.schedule(request.wanted("name")?).await?;
    let count = match request.query.get("count") {
        "" => 10,
        text => text.parse().ok().filter(|count| (1..=100).contains(count)).ok_or_else(|| {
            Problem::bad(format!("`count` must be from 1 to 100, not `{}`", brief(text, 40)))
        })?,
    };
    let times = request.ratchet().schedules().preview(&view.schedule, count)?;
    let times: Vec<_> =
        times.iter().map(|at| value!({ "utc": at.timestamp(), "local": at.to_string() })).collect();
    of(&value!({ "times": times }))
}

pub(crate) async fn flows(request: Request) -> Answer {
    let mut filter = GroupFilter::any();
    let name = request.query.get("name");
    filter.name = (!name.is_empty()).then(|| name.to_owned());
    let after: Option<GroupId> = match request.query.get("after") {
        "" => None,
        text => Some(read_id(text, "chain, batch or workflow")?),
    };
    let most = limit(&request)?;
    let groups = request.groups(&filter, after, most).await?;
    let next = groups.last().filter(|_| groups.len() == most as usize).map(|group| group.id);
    of(&value!({ "flows": groups, "next": next }))
}

pub(crate) async fn flow(request: Request) -> Answer {
    let group = request.group(request.id("chain, batch or workflow")?).await?;
    let handle = request.ratchet().group(group.id);
    if group.counts.total > graph::SMALL {
        let members = handle.members(None, 1000).await?;
        return of(&value!({ "group": group, "members": members, "complete": false }));
    }
    let view = handle.view().await?;
    let mut value = value!(view);
    if let Some(fields) = value.as_object_mut() {
        fields.insert("complete".to_owned(), true.into());
    }
    of(&value)
}

pub(crate) async fn drawing(request: Request) -> Answer {
    let group = request.group(request.id("chain, batch or workflow")?).await?;
    let handle = request.ratchet().group(group.id);
    let (content_type, text) = match request.query.get("as") {
        "dot" => ("text/vnd.graphviz; charset=utf-8", handle.to_dot().await?),
        "svg" => ("image/svg+xml", handle.to_svg().await?),
        "" | "text" => ("text/plain; charset=utf-8", handle.to_text().await?),
        other => {
            let other = brief(other, 40);
            return Err(Problem::bad(format!("`as` must be dot, svg or text, not `{other}`")));
        }
    };
    Ok(response(StatusCode::OK, content_type, text))
}

pub(crate) async fn nodes(request: Request) -> Answer {
    request.sees_everything("nodes")?;
    of(&value!({ "nodes": request.ratchet().nodes().list().await? }))
}

pub(crate) async fn alerts(request: Request) -> Answer {
    of(&value!({ "alerts": request.alerts(limit(&request)?).await? }))
}

pub(crate) async fn stats(request: Request) -> Answer {
    let wanted = history::Wanted::of(&request)?;
    of(&history::read(&request, &wanted).await?)
}

pub(crate) async fn audit(request: Request) -> Answer {
    request.sees_everything("the audit trail")?;
    let (filter, before) = (pages::audit::filter(&request), pages::audit::before(&request));
    let entries = request.ratchet().audit().list(&filter, before, limit(&request)?).await?;
    let next = entries.last().map(|entry| entry.number).filter(|number| *number > 1);
    of(&value!({ "entries": entries, "next": next }))
}

pub(crate) async fn verify_audit(request: Request) -> Answer {
    request.sees_everything("the audit trail")?;
    match request.ratchet().audit().verify().await {
        Ok(report) => of(&report),
        Err(AuditError::Store(error)) => Err(error.into()),
        Err(error) => Err(Problem::new("conflict", error.to_string())),
    }
}

/// Returns the conditions of a query about rejected items, with the time it covers.
fn reject_filter(request: &Request) -> Result<RejectFilter, Problem> {
    request.sees_everything("rejected items")?;
    let mut filter = pages::rejects::filter(request);
    if let Some(last) = history::span(request)? {
        filter.since = Some(request.now.saturating_sub(last).unwrap_or(Timestamp::MIN));
    }
    Ok(filter)
}

pub(crate) async fn rejects(request: Request) -> Answer {
    let filter = reject_filter(&request)?;
    of(&value!({ "groups": request.ratchet().rejects().groups(&filter).await? }))
}

pub(crate) async fn reject_trends(request: Request) -> Answer {
    let mut filter = reject_filter(&request)?;
    filter.since = None;
    let last = history::span(&request)?.unwrap_or(history::DEFAULT_SPAN);
    let trends = request.ratchet().rejects().trends(&filter, last).await?;
    let mut answer = value!(trends);
    answer["interval"] = value!(trends.interval.as_secs());
    of(&answer)
}

pub(crate) async fn reject_sample(request: Request) -> Answer {
    let filter = reject_filter(&request)?;
    let limit = limit(&request)?;
    let mut items = request.ratchet().rejects().list(&filter, None, limit).await?;
    if !request.access.sees_arguments() {
        items.iter_mut().for_each(|reject| reject.item.payload = None);
    }
    of(&value!({ "items": items }))
}

pub(crate) async fn pipeline(request: Request) -> Answer {
    request.sees_everything("pipelines")?;
    let pipeline = request.ratchet().pipeline(request.wanted("name")?);
    let mut answer = value!(pipeline.stats().await?);
    answer["acceptor"] = value!(pipeline.acceptor().await?);
    of(&answer)
}

pub(crate) async fn pipelines(request: Request) -> Answer {
    request.sees_everything("pipelines")?;
    of(&value!({ "pipelines": request.ratchet().pipelines().await? }))
}

pub(crate) async fn unreadable(request: Request) -> Answer {
    request.sees_everything("unreadable rows")?;
    of(&value!({ "jobs": request.ratchet().store().unreadable(limit(&request)?).await? }))
}

pub(crate) async fn archive(request: Request) -> Answer {
    request.sees_everything("the numbers of the archive")?;
    of(&request.ratchet().archive().overview().await?)
}

pub(crate) async fn doctor(request: Request) -> Answer {
    request.sees_everything("the checks of the doctor")?;
    let (findings, checks) =
        (request.ratchet().diagnose().await?, request.ratchet().checks().await?);
    of(&value!({ "findings": findings, "checks": checks }))
}

pub(crate) async fn operations(request: Request) -> Answer {
    request.sees_everything("bulk operations")?;
    let operations = request.ratchet().operations().list(limit(&request)?).await?;
    of(&value!({ "operations": operations }))
}

pub(crate) async fn preview_operation(request: Request) -> Answer {
    request.sees_everything("bulk operations")?;
    let action = match request.query.get("action") {
        "" => "retry",
        action => action,
    };
    let verb = crate::act::bulk_verb(action, &request.query)?;
    let filter = request.filter()?;
    request.may_search(&filter).await?;
    of(&request.ratchet().operations().preview(verb, &filter).await?)
}

pub(crate) async fn preview_erasure(request: Request) -> Answer {
    request.sees_everything("erasures")?;
    let subject = crate::act::erasure_subject(&request, &request.query)?;
    of(&request.ratchet().erasures().preview(&subject).await?)
}

pub(crate) async fn operation(request: Request) -> Answer {
    of(&request.operation_of_address().await?)
}

pub(crate) async fn progress(request: Request) -> Answer {
    let operation = request.operation_of_address().await?;
    of(&value!({
        "state": operation.state,
        "expected": operation.expected,
        "exact": operation.exact,
        "matched": operation.matched,
        "changed": operation.changed,
        "refused": operation.refused,
    }))
}

pub(crate) async fn catalog(request: Request) -> Answer {
    request.sees_everything("the catalog")?;
    of(&value!({ "jobs": request.ratchet().catalog().list().await? }))
}

pub(crate) async fn catalog_job(request: Request) -> Answer {
    of(&pages::catalog::wanted(&request).await?)
}
