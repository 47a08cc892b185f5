//! [`perform`]: carries out an order.

use ratchet_core::{
    BreakerSettings, Due, FailureGroup, Filter, JobId, NodeId, OperationId, Placement, Priority,
    QueueLimits, Ratchet, Rate, Redrive, Revealed,
};
use ratchet_store::model::RejectFilter;

use super::{Order, Target, archive, bulk, edit, erasure, reveal};
use crate::link::Fields;
use crate::problem::Problem;
use crate::request::{Request, read_id};
use crate::text::{brief, read_duration};

/// What an order has done.
#[derive(Debug, Default)]
pub(crate) struct Done {
    /// The path of the page that shows the result, with its query.
    pub(crate) path: &'static str,
    pub(crate) query: Vec<(&'static str, String)>,
    /// The job that was created.
    pub(crate) job: Option<JobId>,
    /// The number of jobs that were retried or deleted, and of those that were skipped.
    pub(crate) jobs: Option<(u64, u64)>,
    /// Whether the same order would change more jobs.
    pub(crate) more: bool,
    /// The bulk operation that was started or changed.
    pub(crate) operation: Option<OperationId>,
    /// The secrets that are shown. They must only be part of this answer.
    pub(crate) revealed: Option<Box<Revealed>>,
}

/// Carries out an order. The scope of the request restricts what it can reach.
pub(crate) async fn perform(request: &Request, order: &Order) -> Result<Done, Problem> {
    // Every change is recorded in the audit trail, in the same commit.
    let ratchet = request.ratchet().acting_as(order.actor());
    let done = match order.action.target {
        Target::Job => job(request, &ratchet, order).await,
        Target::Queue => queue(request, &ratchet, order).await,
        Target::Breaker => breaker(request, &ratchet, order).await,
        Target::Schedule => schedule(request, &ratchet, order).await,
        Target::Flow => flow(request, &ratchet, order).await,
        Target::Failures => redrive(request, &ratchet, order).await,
        Target::Row => row(request, &ratchet, order).await,
        Target::Rejects => forget(request, &ratchet, order).await,
        Target::New => enqueue(request, &ratchet, order).await,
        Target::Group => group(request, &ratchet, order).await,
        Target::Node => node(request, &ratchet, order).await,
        Target::Operation => bulk::control(request, &ratchet, order).await,
        Target::Bulk => bulk::start(request, &ratchet, order).await,
        Target::Archive => archive::purge(request, &ratchet, order).await,
        Target::Erasure => erasure::start(request, &ratchet, order).await,
        Target::Ledger => erasure::purge_keys(request, &ratchet, order).await,
    };
    let Order { action, actor, via, reason, fields } = order;
    let target = brief(fields.get(action.target.field()), 200);
    let verb = action.verb;
    match &done {
        Ok(_) => tracing::info!(verb, target, actor, via, reason, "an operator changed something"),
        Err(problem) => {
            let why = &problem.detail;
            tracing::info!(verb, target, actor, via, why, "a change by an operator was refused");
        }
    }
    done
}

/// Returns the job of an order. If the order names the version that the operator saw, the job must still have it.
pub(super) async fn target_job(
    request: &Request,
    order: &Order,
) -> Result<ratchet_core::JobRecord, Problem> {
    let id = read_id(order.fields.get("job"), "job")?;
    let job = request.job(id).await?;
    let seen = order.fields.get("version");
    if !seen.is_empty() && seen.parse() != Ok(job.version) {
        let detail = format!(
            "job {id} has changed since you looked at it: it is {} now, and nothing was done",
            job.state.name().to_lowercase()
        );
        let mut problem = Problem::new("moved", detail);
        problem.state = Some(job.state.name());
        problem.version = Some(job.version);
        return Err(problem);
    }
    Ok(job)
}

async fn job(request: &Request, ratchet: &Ratchet, order: &Order) -> Result<Done, Problem> {
    let job = target_job(request, order).await?;
    let id = job.id;
    let mut jobs = ratchet.jobs();
    // The store checks the version again, in the commit of the change.
    if let Ok(version) = order.fields.get("version").parse() {
        jobs = jobs.if_version(version);
    }
    match order.action.verb {
        "jobs.edit" => return edit::perform(request, &jobs, &job, order).await,
        "jobs.reveal" => return reveal::perform(request, &jobs, id).await,
        "jobs.retry" => jobs.retry(id).await?,
        "jobs.pause" => jobs.pause(id).await?,
        "jobs.resume" => jobs.resume(id).await?,
        "jobs.move" => {
            let placement = placement(&order.fields)?;
            if let Some(queue) = &placement.queue {
                request.scoped_queue(queue)?;
            }
            jobs.move_to(id, placement).await.map(drop)?;
        }
        "jobs.reschedule" => jobs.reschedule(id, due(order.fields.get("due"))?).await?,
        _ => {
            if !jobs.cancel(id).await? {
                let detail = format!("cannot cancel job {id}: it has already ended");
                return Err(Problem::new("conflict", detail));
            }
        }
    }
    Ok(Done { path: "jobs", job: Some(id), ..Done::default() })
}

/// Reads where jobs are moved.
pub(super) fn placement(fields: &Fields) -> Result<Placement, Problem> {
    let mut placement = Placement::default();
    let (queue, priority) = (fields.get("to_queue"), fields.get("priority"));
    if queue.is_empty() && priority.is_empty() {
        let detail = "a move needs a queue (`to_queue`), a `priority`, or both";
        return Err(Problem::new("refused", detail));
    }
    if !queue.is_empty() {
        placement = placement.queue(queue);
    }
    if !priority.is_empty() {
        let found = Priority::from_name(priority).ok_or_else(|| {
            let text = brief(priority, 40);
            let names = Priority::ALL.map(Priority::name).join(", ");
            Problem::new("refused", format!("`{text}` is not a priority; they are {names}"))
        })?;
        placement = placement.priority(found);
    }
    Ok(placement)
}

/// Reads a due time: an instant, a delay or `now`.
pub(super) fn due(text: &str) -> Result<Due, Problem> {
    if text == "now" {
        return Ok(Due::Now);
    }
    if let Ok(instant) = text.parse() {
        return Ok(Due::At(instant));
    }
    read_duration(text).map(Due::In).map_err(|_| {
        Problem::new(
            "refused",
            format!(
                "`{}` is not a due time; write an instant such as 2026-11-18T08:00:00Z, a delay such as 30m, or `now`",
                brief(text, 60)
            ),
        )
    })
}

async fn queue(request: &Request, ratchet: &Ratchet, order: &Order) -> Result<Done, Problem> {
    let queue = request.scoped_queue(order.fields.get("queue"))?;
    let queues = ratchet.queues();
    match order.action.verb {
        "queues.pause" => queues.pause(queue).await?,
        "queues.resume" => queues.resume(queue).await?,
        "queues.reset" => queues.reset(queue).await?,
        _ => queues.limit(queue, limits(order)?).await?,
    };
    let query = vec![("name", queue.to_owned())];
    Ok(Done { path: "queue", query, ..Done::default() })
}

/// Reads the limits of an order.
pub(super) fn limits(order: &Order) -> Result<QueueLimits, Problem> {
    let mut limits = QueueLimits::default();
    let concurrency = order.fields.get("concurrency");
    if !concurrency.is_empty() {
        let number = concurrency.parse().map_err(|_| {
            Problem::new("refused", format!("`{}` is not a number of jobs", brief(concurrency, 40)))
        })?;
        limits.concurrency = Some(number);
    }
    let rate = order.fields.get("rate");
    if !rate.is_empty() {
        limits.rate = Some(read_rate(rate)?);
    }
    let each = order.fields.get("rate_per_key");
    if !each.is_empty() {
        limits.rate_per_key = Some(read_rate(each)?);
    }
    limits.fair = match order.fields.get("fair") {
        "" | "no" => false,
        "yes" => true,
        other => {
            let problem = format!("`{}` is neither `yes` nor `no`", brief(other, 40));
            return Err(Problem::new("refused", problem));
        }
    };
    Ok(limits)
}

fn read_rate(text: &str) -> Result<Rate, Problem> {
    let wrong = || {
        let text = brief(text, 40);
        Problem::new("refused", format!("`{text}` is not a rate; write 50/s, 1000/m or 5/10s"))
    };
    let (jobs, per) = text.split_once('/').ok_or_else(wrong)?;
    let jobs = jobs.trim().parse().map_err(|_| wrong())?;
    let per = per.trim();
    let per = if per.starts_with(|c: char| c.is_ascii_digit()) {
        per.to_owned()
    } else {
        format!("1{per}")
    };
    Ok(Rate { jobs, per: read_duration(&per).map_err(|_| wrong())? })
}

async fn breaker(request: &Request, ratchet: &Ratchet, order: &Order) -> Result<Done, Problem> {
    request.sees_everything("breakers")?;
    let service = order.fields.get("service");
    let breakers = ratchet.breakers();
    match order.action.verb {
        "breakers.open" => {
            let length = order.fields.get("for");
            let length = match length {
                "" => None,
                text => {
                    Some(read_duration(text).map_err(|problem| Problem::new("refused", problem))?)
                }
            };
            breakers.open(service, length).await?;
        }
        "breakers.close" => breakers.close(service).await?,
        "breakers.set" => {
            let present = breakers.get(service).await?;
            let present = present.map(|record| record.breaker.settings).unwrap_or_default();
            breakers.set(service, breaker_settings(order, present)?).await?;
        }
        _ => breakers.reset(service).await?,
    }
    Ok(Done { path: "breakers", ..Done::default() })
}

/// Reads the settings of a breaker. Those that are not given remain.
pub(super) fn breaker_settings(
    order: &Order,
    mut settings: BreakerSettings,
) -> Result<BreakerSettings, Problem> {
    fn number<T: std::str::FromStr>(order: &Order, name: &str, to: &mut T) -> Result<(), Problem> {
        let text = order.fields.get(name);
        if !text.is_empty() {
            *to = text.parse().map_err(|_| {
                Problem::new("refused", format!("`{}` is not a number", brief(text, 40)))
            })?;
        }
        Ok(())
    }
    number(order, "failure_rate", &mut settings.failure_rate)?;
    number(order, "window", &mut settings.window)?;
    number(order, "min_calls", &mut settings.min_calls)?;
    number(order, "probes", &mut settings.probes)?;
    let open_for = order.fields.get("open_for");
    if !open_for.is_empty() {
        settings.open_for = read_duration(open_for).map_err(|why| Problem::new("refused", why))?;
    }
    Ok(settings)
}

/// Returns the group of an order, if it is within the scope of the request.
pub(super) async fn target_group(
    request: &Request,
    order: &Order,
) -> Result<FailureGroup, Problem> {
    let text = order.fields.get("group");
    let missing = || {
        Problem::not_found(format!(
            "`{}` is not the name and the fingerprint of a group of failed jobs",
            brief(text, 120)
        ))
    };
    let (name, fingerprint) = text.rsplit_once(' ').ok_or_else(missing)?;
    let filter = Filter::any().name(name).fingerprint(fingerprint);
    let found = request.failures(&filter, 1000).await?;
    found.groups.into_iter().next().ok_or_else(missing)
}

async fn group(request: &Request, ratchet: &Ratchet, order: &Order) -> Result<Done, Problem> {
    let group = target_group(request, order).await?;
    let (name, fingerprint) = (group.job_name.as_str(), group.fingerprint.as_str());
    let failures = ratchet.failures();
    match order.action.verb {
        "failures.acknowledge" => failures.acknowledge(name, fingerprint).await?,
        "failures.resolve" => failures.resolve(name, fingerprint).await?,
        "failures.ignore" => {
            let until = match order.fields.get("for") {
                "" => None,
                text => {
                    let length = read_duration(text).map_err(|why| Problem::new("refused", why))?;
                    Some(request.now + length)
                }
            };
            failures.ignore(name, fingerprint, until).await?;
        }
        _ => {
            failures.reopen(name, fingerprint).await?;
        }
    }
    let query = vec![("name", group.job_name), ("fingerprint", group.fingerprint)];
    Ok(Done { path: "failures/group", query, ..Done::default() })
}

async fn node(request: &Request, ratchet: &Ratchet, order: &Order) -> Result<Done, Problem> {
    request.sees_everything("nodes")?;
    let id: NodeId = read_id(order.fields.get("node"), "node")?;
    let nodes = ratchet.nodes();
    match order.action.verb {
        "nodes.quiet" => nodes.quiet(id).await?,
        "nodes.resume" => nodes.resume(id).await?,
        _ => nodes.stop(id).await?,
    };
    Ok(Done { path: "nodes", ..Done::default() })
}

async fn forget(request: &Request, ratchet: &Ratchet, order: &Order) -> Result<Done, Problem> {
    const PAGE: u32 = 1000;
    request.sees_everything("rejected items")?;
    let id: JobId = read_id(order.fields.get("job"), "job")?;
    let filter = RejectFilter::any().job(id);
    let mut found = false;
    loop {
        let page = ratchet.rejects().list(&filter, None, PAGE).await?;
        if page.is_empty() {
            break;
        }
        found = true;
        ratchet.rejects().forget(&page).await?;
    }
    if !found {
        return Err(Problem::not_found(format!("job {id} has no rejected items")));
    }
    Ok(Done { path: "rejects", ..Done::default() })
}

async fn schedule(request: &Request, ratchet: &Ratchet, order: &Order) -> Result<Done, Problem> {
    let name = order.fields.get("schedule");
    request.schedule(name).await?;
    let schedules = ratchet.schedules();
    let query = vec![("name", name.to_owned())];
    let mut done = Done { path: "schedule", query, ..Done::default() };
    match order.action.verb {
        "schedules.pause" => schedules.pause(name).await?,
        "schedules.resume" => schedules.resume(name).await?,
        "schedules.edit" => {
            let view = request.schedule(name).await?;
            let given = |field, present: &str| match order.fields.get(field) {
                "" => present.to_owned(),
                text => text.to_owned(),
            };
            let cron = given("cron", &view.schedule.expression);
            let zone = given("zone", &view.schedule.zone);
            schedules.reschedule(name, &cron, &zone).await?;
        }
        "schedules.run" => {
            let Some(job) = schedules.run_now(name).await? else {
                let detail = format!(
                    "schedule `{}` did not run: another live job holds its key",
                    brief(name, 80)
                );
                return Err(Problem::new("conflict", detail));
            };
            done = Done { path: "jobs", job: Some(job), ..Done::default() };
        }
        _ => {
            schedules.remove(name).await?;
            done = Done { path: "schedules", ..Done::default() };
        }
    }
    Ok(done)
}

async fn flow(request: &Request, ratchet: &Ratchet, order: &Order) -> Result<Done, Problem> {
    let id = read_id(order.fields.get("flow"), "chain, batch or workflow")?;
    request.group(id).await?;
    if !ratchet.group(id).cancel().await? {
        return Err(Problem::new("conflict", format!("cannot cancel {id}: it has already ended")));
    }
    Ok(Done { path: "flows", query: vec![("", id.to_string())], ..Done::default() })
}

async fn redrive(request: &Request, ratchet: &Ratchet, order: &Order) -> Result<Done, Problem> {
    let filter = Filter::parse(order.fields.get("filter"), request.now)?;
    let mut left = limit(order)?;
    let pace = match order.fields.get("pace") {
        "" => std::time::Duration::from_millis(100),
        text => read_duration(text).map_err(|problem| Problem::new("refused", problem))?,
    };
    let (mut retried, mut skipped) = (0, 0);
    request.may_search(&filter).await?;
    for filter in request.access.scope().narrow(&filter) {
        let redrive = Redrive::new(filter).limit(left).pace(pace);
        let result = ratchet.jobs().redrive(redrive).await?;
        let moved = u32::try_from(result.retried.len()).unwrap_or(u32::MAX);
        left = left.saturating_sub(moved);
        retried += u64::from(moved);
        skipped += result.key_taken.len() as u64;
    }
    Ok(Done { path: "failures", jobs: Some((retried, skipped)), ..Done::default() })
}

/// Reads how many jobs a redrive retries at most.
pub(super) fn limit(order: &Order) -> Result<u32, Problem> {
    /// A page answers within seconds, so it retries a limited number of jobs.
    const MOST: u32 = 10_000;
    let text = order.fields.get("limit");
    if text.is_empty() {
        return Ok(1000);
    }
    let number = text.parse().ok().filter(|number| (1..=MOST).contains(number));
    number.ok_or_else(|| {
        let text = brief(text, 40);
        Problem::new("refused", format!("`{text}` is not a number from 1 to {MOST}"))
    })
}

async fn row(request: &Request, ratchet: &Ratchet, order: &Order) -> Result<Done, Problem> {
    request.sees_everything("unreadable rows")?;
    let id: JobId = read_id(order.fields.get("job"), "job")?;
    let changed = match order.action.verb {
        "unreadable.drop" => ratchet.jobs().drop_unreadable(id).await?,
        _ => ratchet.jobs().repair_unreadable(id).await?,
    };
    if !changed {
        let detail =
            format!("the row of job {id} was not changed: it still cannot be read, or it is gone");
        return Err(Problem::new("conflict", detail));
    }
    Ok(Done { path: "unreadable", ..Done::default() })
}

async fn enqueue(request: &Request, ratchet: &Ratchet, order: &Order) -> Result<Done, Problem> {
    let fields = &order.fields;
    let name = fields.get("name");
    let text = match fields.get("arguments") {
        "" => typed_arguments(request, order),
        text => text.to_owned(),
    };
    let arguments: Box<serde_json::value::RawValue> = serde_json::from_str(&text)
        .map_err(|error| Problem::new("refused", format!("the arguments are not JSON: {error}")))?;
    let mut job = ratchet.enqueue_from_catalog(name, &arguments).await?;
    let queue = fields.get("in_queue");
    if !queue.is_empty() {
        job = job.queue(queue);
    }
    if !request.access.scope().is_everything() {
        return Err(Problem::new(
            "denied",
            "your access is limited to some jobs, and enqueueing is not",
        ));
    }
    let delay = fields.get("delay");
    if !delay.is_empty() {
        job = job.delay(read_duration(delay).map_err(|why| Problem::new("refused", why))?);
    }
    let key = fields.get("key");
    if !key.is_empty() {
        job = job.idempotency_key(key);
    }
    let handle = job.await?;
    Ok(Done { path: "jobs", job: Some(handle.id()), ..Done::default() })
}

/// Returns the arguments of a form with one field per argument. A value is JSON, or a string if the argument is one or
/// if it is not JSON. A field that is empty is left out.
fn typed_arguments(request: &Request, order: &Order) -> String {
    let name = order.fields.get("name");
    let definitions = request.ratchet().definitions();
    let job = definitions.iter().find(|job| job.names().any(|known| known == name));
    let mut fields = Vec::new();
    for arg in job.map(|job| job.args).unwrap_or_default() {
        let value = order.fields.get(&format!("arg.{}", arg.name));
        let is_text = matches!(arg.ty, "String" | "& str" | "&str" | "Cow < str >");
        let is_json = || serde_json::from_str::<&serde_json::value::RawValue>(value).is_ok();
        if value.is_empty() && (!is_text || arg.has_default) {
            continue;
        }
        let value = if is_text || !is_json() {
            serde_json::Value::from(value).to_string()
        } else {
            value.to_owned()
        };
        fields.push(format!("{}:{value}", serde_json::Value::from(arg.name)));
    }
    format!("{{{}}}", fields.join(","))
}
