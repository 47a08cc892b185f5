//! `ratchet operations …`, and the start of bulk operations by other commands.

use std::fmt::Write as _;
use std::time::Duration;

use jiff::Timestamp;
use ratchet_core::{
    Bulk, BulkPreview, BulkVerb, Canary, Filter, OperationId, OperationRecord, OperationState,
};

use super::{Session, read};
use crate::args::{self, BulkAction, BulkJobs, Operations};
use crate::exit::Failure;
use crate::output::text::{count, counted};
use crate::output::{column, number};

/// How often `watch` looks at the operation.
const LOOK_EVERY: Duration = Duration::from_millis(500);

pub(super) async fn run(session: &Session, command: Operations) -> Result<(), Failure> {
    let operations = session.ratchet.operations();
    match command {
        Operations::List { limit } => list(session, &operations.list(limit).await?),
        Operations::Show { operation } => show(session, &get(session, operation).await?),
        Operations::Watch { operation } => watch(session, operation).await,
        Operations::Preview(jobs) => {
            let filter = read::filter(&jobs.filter, session.out.now)?;
            let preview = operations.preview(verb(&jobs)?, &filter).await?;
            session.out.object(&preview, &described(&preview))
        }
        Operations::Start { jobs, bulk, cutoff, digest } => {
            let filter = read::filter(&jobs.filter, session.out.now)?;
            let seen = cutoff.zip(digest);
            start(session, verb(&jobs)?, &filter, &bulk, seen).await
        }
        Operations::Pause { operation } => {
            if session.proceed(&format!("pause operation {operation}"), false)? {
                show(session, &operations.pause(operation).await?)?;
            }
            Ok(())
        }
        Operations::Resume { operation } => {
            if session.proceed(&format!("resume operation {operation}"), false)? {
                show(session, &operations.resume(operation).await?)?;
            }
            Ok(())
        }
        Operations::Abort { operation } => {
            if session.proceed(&format!("abort operation {operation}"), false)? {
                show(session, &operations.abort(operation).await?)?;
            }
            Ok(())
        }
    }
}

fn verb(jobs: &BulkJobs) -> Result<BulkVerb, Failure> {
    let place = read::placement(&jobs.place)?;
    if jobs.action != BulkAction::Move && place.is_some() {
        return Err(Failure::usage("only `move` has `--queue` and `--priority`"));
    }
    match (jobs.action, &jobs.due) {
        (BulkAction::Reschedule, Some(due)) => Ok(BulkVerb::Reschedule(read::due(due)?)),
        (BulkAction::Reschedule, None) => Err(Failure::usage("`reschedule` needs `--due`")),
        (_, Some(_)) => Err(Failure::usage("only `reschedule` has `--due`")),
        (BulkAction::Move, None) => {
            let place = place
                .ok_or_else(|| Failure::usage("`move` needs `--queue`, `--priority`, or both"))?;
            Ok(BulkVerb::Move(place))
        }
        (BulkAction::Retry, None) => Ok(BulkVerb::Retry),
        (BulkAction::Cancel, None) => Ok(BulkVerb::Cancel),
        (BulkAction::Pause, None) => Ok(BulkVerb::Pause),
        (BulkAction::Resume, None) => Ok(BulkVerb::Resume),
    }
}

/// Reads a number of jobs per second.
pub(super) fn pace(text: &str) -> Result<u32, Failure> {
    let wrong = || Failure::usage(format!("`{text}` is not a pace; write 100/s or 30/m"));
    let rate = read::rate(text).map_err(|_| wrong())?;
    let per_second = f64::from(rate.jobs) / rate.per.as_secs_f64();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // from 1 to 1,000,000
    let per_second = per_second.ceil().clamp(1.0, 1_000_000.0) as u32;
    if rate.jobs == 0 { Err(wrong()) } else { Ok(per_second) }
}

/// Previews a bulk operation and starts it. With `seen`, the operation must be the one that was previewed then.
pub(super) async fn start(
    session: &Session,
    verb: BulkVerb,
    filter: &Filter,
    options: &args::Bulk,
    seen: Option<(String, String)>,
) -> Result<(), Failure> {
    let operations = session.ratchet.operations();
    let preview = match seen {
        None => operations.preview(verb.clone(), filter).await?,
        Some((cutoff, digest)) => {
            let cutoff: Timestamp = cutoff.parse().map_err(|_| {
                Failure::usage("`--cutoff` must be an instant that `preview` printed")
            })?;
            let mut preview = operations.preview_at(verb.clone(), filter, cutoff).await?;
            preview.digest = digest;
            preview
        }
    };
    let pace = options.pace.as_deref().map(pace).transpose()?;
    eprintln!("{}", described(&preview));
    let change = format!("{verb} {} that match `{}`", some(&preview), preview.filter);
    if !session.proceed(&change, verb == BulkVerb::Cancel)? {
        return Ok(());
    }
    let mut bulk = Bulk::of(preview);
    if let Some(pace) = pace {
        bulk = bulk.pace(pace);
    }
    if let Some(jobs) = options.canary {
        let canary = Canary::new(jobs);
        bulk = bulk.canary(match options.max_failed {
            Some(percent) => canary.max_failed_percent(percent),
            None => canary,
        });
    }
    let started = operations.start(bulk).await?;
    let id = started.id;
    session.out.object(
        &started,
        &format!("operation {id} started\nwatch it: ratchet operations watch {id}"),
    )
}

fn some(preview: &BulkPreview) -> String {
    let more = if preview.exact { "" } else { "+" };
    let noun = if preview.count == 1 && preview.exact { "job" } else { "jobs" };
    format!("{}{more} {noun}", count(preview.count))
}

fn described(preview: &BulkPreview) -> String {
    let mut text = format!("{} would be changed: {}", some(preview), preview.filter);
    for (queue, jobs) in preview.by_queue.iter().take(10) {
        let _ = write!(text, "\n  {} in queue {queue}", counted(*jobs, "job"));
    }
    let _ = write!(text, "\ncut-off {}\ndigest  {}", preview.cutoff, preview.digest);
    text
}

async fn get(session: &Session, id: OperationId) -> Result<OperationRecord, Failure> {
    let found = session.ratchet.operations().get(id).await?;
    found.ok_or_else(|| Failure::not_found(format!("there is no operation {id}")))
}

fn list(session: &Session, operations: &[OperationRecord]) -> Result<(), Failure> {
    let columns = [
        column("id", |one: &OperationRecord, _: &_| one.id.to_string()),
        column("started", |one, out| out.time(one.started_at)),
        column("what", |one, _| one.verb.to_string()),
        column("jobs", |one, out| out.short(&one.filter.to_string(), 60)),
        column("state", |one, _| one.state.to_string()),
        number("changed", |one, _| count(one.changed)),
        number("of", |one, _| expected(one)),
        number("refused", |one, _| count(one.refused)),
        column("by", |one, out| one.actor.as_ref().map_or_else(|| out.none(), ToString::to_string)),
    ];
    session.out.list(operations, &columns, "no operation was started")
}

fn expected(one: &OperationRecord) -> String {
    format!("{}{}", count(one.expected), if one.exact { "" } else { "+" })
}

fn show(session: &Session, one: &OperationRecord) -> Result<(), Failure> {
    let out = &session.out;
    let mut text = format!("operation {} is {}", one.id, one.state);
    let mut field = |name: &str, value: String| {
        let _ = write!(text, "\n  {name:<9}{value}");
    };
    field("what", one.verb.to_string());
    field("jobs", one.filter.to_string());
    field("changed", format!("{} of {}", count(one.changed), expected(one)));
    field("refused", count(one.refused));
    if let Some(canary) = one.canary {
        let bound = canary.max_failed_percent;
        let bound =
            bound.map_or_else(String::new, |percent| format!(", at most {percent} % may fail"));
        field("canary", format!("{}{bound}", counted(canary.jobs.into(), "job")));
        field("failed", count(one.failed));
    }
    if let Some(erasure) = &one.erasure {
        field("phase", erasure.phase.to_string());
        field("canceled", count(erasure.canceled));
        field("in use", count(erasure.left));
        let it = &erasure.erased;
        field("archived", count(it.archived));
        field("flows", count(it.groups));
        field("keys", count(it.keys));
        field("handoffs", count(it.hand_offs));
        field("messages", count(it.deliveries));
        field("alerts", count(it.alerts));
    }
    if let Some(pace) = one.pace {
        field("pace", format!("{pace}/s"));
    }
    field("cut-off", one.cutoff.to_string());
    field("started", format!("{} ({})", out.time(one.started_at), one.started_at));
    if let Some(actor) = &one.actor {
        field("by", actor.to_string());
        if let Some(reason) = &actor.reason {
            field("reason", reason.clone());
        }
    }
    if one.state == OperationState::CanaryWaiting {
        field("next", format!("ratchet operations resume {}", one.id));
    }
    out.object(one, &crate::output::text::printable_lines(&text))
}

/// Prints the progress until the operation ends, or waits for an operator.
async fn watch(session: &Session, id: OperationId) -> Result<(), Failure> {
    let mut printed = None;
    loop {
        let one = get(session, id).await?;
        let progress = (one.state, one.changed, one.refused);
        if printed.replace(progress) != Some(progress) {
            eprintln!(
                "{}  {} of {} changed, {} refused",
                one.state,
                count(one.changed),
                expected(&one),
                count(one.refused)
            );
        }
        let judged = one.canary.is_some_and(|canary| canary.max_failed_percent.is_some());
        let continues = one.state == OperationState::Running
            || (one.state == OperationState::CanaryWaiting && judged);
        if !continues {
            return show(session, &one);
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

#[cfg(test)]
mod tests {
    use super::pace;

    #[test]
    fn paces_are_read() {
        for (text, jobs) in [("100/s", 100), ("30/m", 1), ("600/m", 10), ("5/10s", 1)] {
            assert_eq!(pace(text).expect(text), jobs);
        }
        for text in ["100", "0/s", "x/s"] {
            assert!(pace(text).is_err(), "{text}");
        }
    }
}
