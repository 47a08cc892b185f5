//! Bulk operations: how they are previewed, started and controlled.

use ratchet_core::{Bulk, BulkPreview, BulkVerb, Canary, Filter, OperationId, Ratchet};

use super::perform::{due, placement};
use super::{Done, Order, Preview};
use crate::link::Fields;
use crate::problem::Problem;
use crate::request::{Request, read_id};
use crate::text::{brief, count, counted, shell};

/// Reads what a bulk operation does.
pub(crate) fn verb(action: &str, fields: &Fields) -> Result<BulkVerb, Problem> {
    Ok(match action {
        "retry" => BulkVerb::Retry,
        "cancel" => BulkVerb::Cancel,
        "pause" => BulkVerb::Pause,
        "resume" => BulkVerb::Resume,
        "reschedule" => BulkVerb::Reschedule(due(fields.get("due"))?),
        "move" => BulkVerb::Move(placement(fields)?),
        other => {
            return Err(Problem::new(
                "refused",
                format!(
                    "`{}` is not an action; write retry, cancel, pause, resume, reschedule or move",
                    brief(other, 40)
                ),
            ));
        }
    })
}

pub(super) fn number(order: &Order, field: &str) -> Result<Option<u32>, Problem> {
    let text = order.fields.get(field);
    if text.is_empty() {
        return Ok(None);
    }
    let number = text.trim_end_matches("/s").parse().ok().filter(|number| *number > 0);
    number.map(Some).ok_or_else(|| {
        let text = brief(text, 40);
        Problem::new("refused", format!("`{text}` is not a number of at least 1"))
    })
}

/// Returns how an operation begins with a few jobs, if it does.
fn canary(order: &Order) -> Result<Option<Canary>, Problem> {
    let Some(jobs) = number(order, "canary")? else { return Ok(None) };
    let canary = Canary::new(jobs);
    let text = order.fields.get("max_failed").trim_end_matches('%');
    if text.is_empty() {
        return Ok(Some(canary));
    }
    match text.trim().parse() {
        Ok(percent @ 0..=100) => Ok(Some(canary.max_failed_percent(percent))),
        _ => {
            let text = brief(text, 40);
            Err(Problem::new("refused", format!("`{text}` is not a percentage from 0 to 100")))
        }
    }
}

pub(super) async fn preview(request: &Request, order: &Order) -> Result<Preview, Problem> {
    request.sees_everything("bulk operations")?;
    let text = order.fields.get("filter");
    let action = match order.fields.get("action") {
        "" => "retry",
        action => action,
    };
    let verb = verb(action, &order.fields)?;
    let filter = Filter::parse(text, request.now)?;
    request.may_search(&filter).await?;
    let found = request.ratchet().operations().preview(verb.clone(), &filter).await?;
    let more = if found.exact { "" } else { "+" };
    let mut sentences = vec![
        format!("{}{more} jobs match `{}`.", count(found.count), brief(&found.filter.to_string(), 200)),
        "A worker that leads maintenance visits each of them once, in pages. Jobs that are submitted or that end from now on are not changed.".to_owned(),
    ];
    let (pace, canary) = (number(order, "pace")?, canary(order)?);
    let mut command = format!("{action} {}", shell(text));
    if let BulkVerb::Reschedule(_) = verb {
        command = format!("{command} --due {}", shell(order.fields.get("due")));
    }
    if let BulkVerb::Move(placement) = &verb {
        sentences.push(format!("They are moved to {}.", brief(&placement.to_string(), 120)));
        for (option, value) in [
            ("--queue", order.fields.get("to_queue")),
            ("--priority", order.fields.get("priority")),
        ] {
            if !value.is_empty() {
                command = format!("{command} {option} {}", shell(value));
            }
        }
    }
    if let Some(pace) = pace {
        sentences.push(format!("At most {} are changed per second.", counted(pace.into(), "job")));
        command = format!("{command} --pace {pace}/s");
    }
    if let Some(canary) = canary {
        let then = match canary.max_failed_percent {
            Some(percent) => format!("It continues if at most {percent} % of them fail again."),
            None => "Then it waits until you resume it.".to_owned(),
        };
        sentences.push(format!("{} first. {then}", counted(canary.jobs.into(), "job")));
        command = format!("{command} --canary {}", canary.jobs);
        if let Some(percent) = canary.max_failed_percent {
            command = format!("{command} --max-failed {percent}");
        }
    }
    if !found.by_queue.is_empty() {
        let queues: Vec<_> = found.by_queue.iter().take(8).collect();
        let queues: Vec<_> = queues
            .iter()
            .map(|(queue, jobs)| format!("{} ({})", brief(queue, 40), count(**jobs)))
            .collect();
        sentences.push(format!("Queues: {}.", queues.join(", ")));
    }
    let refused = (found.count == 0).then(|| "No job matches.".to_owned());
    let hidden = vec![
        ("action", action.to_owned()),
        ("cutoff", found.cutoff.to_string()),
        ("digest", found.digest),
    ];
    let back = ("operations".to_owned(), Vec::new());
    Ok(Preview { sentences, refused, command, hidden, back, ..Preview::default() })
}

/// Returns the preview that a start presents. Its digest is that of the preview, so that another verb, filter or cut-off
/// is refused.
async fn presented(request: &Request, order: &Order) -> Result<BulkPreview, Problem> {
    let verb = verb(order.fields.get("action"), &order.fields)?;
    let filter = Filter::parse(order.fields.get("filter"), request.now)?;
    request.may_search(&filter).await?;
    let cutoff = order.fields.get("cutoff").parse().map_err(|_| {
        Problem::new("refused", "`cutoff` must be the cut-off of a preview, which is an instant")
    })?;
    let mut preview = request.ratchet().operations().preview_at(verb, &filter, cutoff).await?;
    order.fields.get("digest").clone_into(&mut preview.digest);
    Ok(preview)
}

pub(super) async fn start(
    request: &Request,
    ratchet: &Ratchet,
    order: &Order,
) -> Result<Done, Problem> {
    request.sees_everything("bulk operations")?;
    let mut bulk = Bulk::of(presented(request, order).await?);
    if let Some(pace) = number(order, "pace")? {
        bulk = bulk.pace(pace);
    }
    if let Some(canary) = canary(order)? {
        bulk = bulk.canary(canary);
    }
    let started = ratchet.operations().start(bulk).await?;
    Ok(Done { path: "operations", operation: Some(started.id), ..Done::default() })
}

pub(super) async fn preview_control(request: &Request, order: &Order) -> Result<Preview, Problem> {
    let operation = request.operation(order.fields.get("operation")).await?;
    let words = match order.action.verb {
        "operations.pause" => "No more jobs are changed until it is resumed.",
        "operations.resume" => "The remaining jobs are changed.",
        _ => {
            "No more jobs are changed. Those that were changed remain changed, and it cannot be resumed."
        }
    };
    let sentences = vec![
        format!(
            "The operation to {} jobs that match `{}` is {}. It has changed {} of {}{}.",
            operation.verb,
            brief(&operation.filter.to_string(), 200),
            operation.state.name().replace('_', " "),
            count(operation.changed),
            count(operation.expected),
            if operation.exact { "" } else { "+" },
        ),
        words.to_owned(),
    ];
    let refused = operation.state.is_ended().then(|| "It has already ended.".to_owned());
    let back = (format!("operations/{}", operation.id), Vec::new());
    let command = operation.id.to_string();
    Ok(Preview { sentences, refused, command, back, ..Preview::default() })
}

pub(super) async fn control(
    request: &Request,
    ratchet: &Ratchet,
    order: &Order,
) -> Result<Done, Problem> {
    request.sees_everything("bulk operations")?;
    let id: OperationId = read_id(order.fields.get("operation"), "operation")?;
    let operations = ratchet.operations();
    match order.action.verb {
        "operations.pause" => operations.pause(id).await?,
        "operations.resume" => operations.resume(id).await?,
        _ => operations.abort(id).await?,
    };
    Ok(Done { path: "operations", operation: Some(id), ..Done::default() })
}
