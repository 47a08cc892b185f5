//! `ratchet jobs …`

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use ratchet_core::{
    AnyJob, BulkVerb, Filter, HandOffAdmission, JobId, JobRecord, PageRequest, Revealed, WaitError,
};
use ratchet_store::model::{AttemptRecord, LogLine};
use ratchet_store::rules::catalog;

use super::{Session, edit, operations, read};
use crate::args::{Fence, Jobs, Listing, Which};
use crate::exit::{ExitStatus, Failure};
use crate::output::text::{count, duration, printable, printable_lines};
use crate::output::{Column, Format, Output, column, number};

pub(super) async fn run(session: &Session, command: Jobs) -> Result<(), Failure> {
    match command {
        Jobs::List(listing) => {
            let filter = read::filter(&listing.filter, session.out.now)?;
            list(session, &filter, &listing).await
        }
        Jobs::Show { job } => show(session, job).await,
        Jobs::Explain { job } => explain(session, job).await,
        Jobs::Runs { job } => runs(session, job).await,
        Jobs::Log { job, follow } => log(session, job, follow).await,
        Jobs::Retry { which } => several(session, "retry", BulkVerb::Retry, which).await,
        Jobs::Cancel { which } => several(session, "cancel", BulkVerb::Cancel, which).await,
        Jobs::Pause { which } => several(session, "pause", BulkVerb::Pause, which).await,
        Jobs::Resume { which } => several(session, "resume", BulkVerb::Resume, which).await,
        Jobs::Reschedule { job, due, fence } => {
            let when = read::due(&due)?;
            if session.proceed(&format!("reschedule job {job} to {due}"), false)? {
                fenced(session, &fence).reschedule(job, when).await?;
                eprintln!("rescheduled {job}");
            }
            Ok(())
        }
        Jobs::Move { job, place, fence } => {
            let placement = read::placement(&place)?
                .ok_or_else(|| Failure::usage("`move` needs `--queue`, `--priority`, or both"))?;
            if session.proceed(&format!("move job {job} to {placement}"), false)? {
                match fenced(session, &fence).move_to(job, placement.clone()).await? {
                    true => eprintln!("moved {job} to {placement}"),
                    false => eprintln!("{job} is there already"),
                }
            }
            Ok(())
        }
        Jobs::Edit { job, args, object, fence } => {
            edit::edit(session, job, &args, object.as_deref(), &fence).await
        }
        Jobs::Reveal { job, fence } => {
            if session.proceed(&format!("reveal the secrets of job {job}"), false)? {
                reveal(session, &fenced(session, &fence).reveal(job).await?)?;
            }
            Ok(())
        }
        Jobs::Enqueue { name, args, object, queue, delay, key, wait } => {
            let options = Enqueue { queue, delay, key, wait };
            let types = types(session, &name).await?;
            let arguments = arguments(&args, object.as_deref(), &types)?;
            enqueue(session, &name, &arguments, options).await
        }
        Jobs::Wait { job, timeout } => {
            let limit = timeout.as_deref().map(read::duration).transpose()?;
            wait(session, job, limit).await
        }
        Jobs::Export { filter } => export(session, &read::filter(&filter, session.out.now)?).await,
        Jobs::Count { filter, cap } => {
            let filter = read::filter(&filter, session.out.now)?;
            let found = session.ratchet.jobs().count(&filter, cap).await?;
            let more = if found.exact { "" } else { " or more" };
            session.out.object(&found, &format!("{}{more}", count(found.count)))
        }
    }
}

/// Changes the jobs that are named, or starts a bulk operation on those that match a filter.
async fn several(
    session: &Session,
    name: &str,
    verb: BulkVerb,
    which: Which,
) -> Result<(), Failure> {
    match &which.filter {
        Some(filter) => {
            let filter = Filter::parse(filter, session.out.now)?;
            operations::start(session, verb, &filter, &which.bulk, None).await
        }
        None if which.bulk.pace.is_some() || which.bulk.canary.is_some() => {
            Err(Failure::usage("`--pace` and `--canary` need `--filter`"))
        }
        None => each(session, name, &which.jobs, &which.fence).await,
    }
}

/// Prints what is stored with a job, with its secrets.
fn reveal(session: &Session, revealed: &Revealed) -> Result<(), Failure> {
    let mut text = format!("arguments: {}", printable_lines(revealed.arguments.get()));
    if let Some(output) = &revealed.output {
        let _ = write!(text, "\noutput: {}", printable_lines(output.get()));
    }
    if let Some(checkpoint) = &revealed.checkpoint {
        let _ = write!(text, "\ncheckpoint: {}", printable_lines(&checkpoint.to_string()));
    }
    session.out.object(revealed, &text)
}

/// The columns of a list of jobs.
pub(super) fn columns() -> Vec<Column<JobRecord>> {
    vec![
        column("id", |job, _| job.id.to_string()),
        column("job", |job, _| job.spec.name.clone()),
        column("queue", |job, _| job.spec.queue.clone()),
        column("state", |job, _| job.state.name().to_lowercase()),
        number("attempts", |job, _| job.attempts.to_string()),
        column("due", |job, out| out.time(job.due)),
        column("queued", |job, out| out.time(job.queued_at)),
        column("error", |job, out| {
            let error =
                job.error.as_ref().map(|error| format!("{}: {}", error.error_type, error.message));
            out.short(&error.unwrap_or_default(), 60)
        }),
    ]
}

/// Prints a page of the jobs that match.
pub(super) async fn list(
    session: &Session,
    filter: &Filter,
    listing: &Listing,
) -> Result<(), Failure> {
    let request = PageRequest { before: listing.after, limit: listing.limit };
    let mut page = session.ratchet.jobs().list(filter, request).await?;
    page.jobs = session.ratchet.jobs().for_display(page.jobs).await?;
    session.out.list(&page.jobs, &columns(), "no job matches")?;
    match (page.next, page.examined) {
        (Some(next), Some(examined)) if page.is_limited(request) => {
            eprintln!("searched {examined} jobs; search further with --after {next}");
        }
        (Some(next), Some(_)) => eprintln!("more jobs may match; continue with --after {next}"),
        (Some(next), None) => eprintln!("more jobs match; continue with --after {next}"),
        (None, _) => {}
    }
    Ok(())
}

pub(super) async fn get(session: &Session, id: JobId) -> Result<JobRecord, Failure> {
    let jobs = session.ratchet.jobs();
    let job = jobs.get(id).await?;
    let mut shown = jobs.for_display(job.into_iter().collect()).await?;
    shown
        .pop()
        .ok_or_else(|| Failure::not_found(format!("there is no job {id}; it may have been purged")))
}

async fn show(session: &Session, id: JobId) -> Result<(), Failure> {
    let job = get(session, id).await?;
    let arguments = session.ratchet.jobs().arguments(&job);
    let links = session.ratchet.jobs().succession(id).await?;
    let admission = session.ratchet.jobs().admission(id).await?;
    let mut value = serde_json::to_value(&job)?;
    if let Some(fields) = value.as_object_mut() {
        fields.insert("arguments".to_owned(), arguments.clone());
        fields.insert("successor_of".to_owned(), serde_json::to_value(links.successor_of)?);
        fields.insert("successor".to_owned(), serde_json::to_value(links.successor)?);
        fields.insert("admission".to_owned(), serde_json::to_value(&admission)?);
    }
    let out = &session.out;
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{} {} is {}",
        out.bold(&printable(&job.spec.name)),
        job.id,
        job.state.name().to_lowercase()
    );
    let mut field = |name: &str, value: String| {
        if !value.is_empty() {
            let _ = writeln!(
                text,
                "  {name:<13}{}",
                printable_lines(&value).replace('\n', "\n               ")
            );
        }
    };
    let text_of = |value: &Option<String>| value.clone().unwrap_or_default();
    field("queue", format!("{}, priority {:?}", job.spec.queue, job.spec.priority).to_lowercase());
    field("queued", format!("{} ({})", out.time(job.queued_at), job.queued_at));
    field("due", format!("{} ({})", out.time(job.due), job.due));
    field(
        "started",
        job.started_at.map(|at| format!("{} ({at})", out.time(at))).unwrap_or_default(),
    );
    field(
        "finished",
        job.finished_at.map(|at| format!("{} ({at})", out.time(at))).unwrap_or_default(),
    );
    field(
        "archived",
        job.archived_at.map(|at| format!("{} ({at})", out.time(at))).unwrap_or_default(),
    );
    field("waited", job.queue_wait.map(duration).unwrap_or_default());
    field("took", job.duration.map(duration).unwrap_or_default());
    let retries = job.spec.options.max_retries;
    field("attempts", format!("{} of {}, run {}", job.attempts, u64::from(retries) + 1, job.run));
    field("version", job.version.to_string());
    field("crashes", if job.crashes > 0 { job.crashes.to_string() } else { String::new() });
    field("tenant", text_of(&job.spec.tenant));
    field("correlation", text_of(&job.spec.correlation_id));
    if let Some(HandOffAdmission { pipeline, key, from, .. }) = &admission {
        field("hand-off", format!("{key} of pipeline {pipeline}, from job {from}"));
    }
    field("business key", text_of(&job.spec.business_key));
    field("tags", job.spec.tags.join(", "));
    field("arguments", arguments.to_string());
    field("output", text_of(&job.output));
    field(
        "progress",
        job.progress
            .as_ref()
            .map(|at| format!("{:.0} % {}", at.percent, at.message))
            .unwrap_or_default(),
    );
    field(
        "error",
        job.error
            .as_ref()
            .map(|error| format!("{}: {}", error.error_type, error.message))
            .unwrap_or_default(),
    );
    if let Some(envelope) = &job.envelope {
        field(
            "reason",
            envelope.explanation.as_ref().map_or_else(
                || envelope.reason.to_string(),
                |explanation| format!("{}: {explanation}", envelope.reason),
            ),
        );
        field("fingerprint", envelope.failure.fingerprint.clone());
    }
    let linked = |id: Option<JobId>| id.map(|id| id.to_string()).unwrap_or_default();
    field("in place of", linked(links.successor_of));
    field("successor", linked(links.successor));
    field("warnings", job.warnings.join("\n"));
    out.object(&value, &text)
}

async fn explain(session: &Session, id: JobId) -> Result<(), Failure> {
    let job = get(session, id).await?;
    let explanation = session.ratchet.jobs().explain(id).await?;
    let Some(explanation) = explanation else {
        return Err(Failure::not_found(format!("there is no job {id}; it may have been purged")));
    };
    let text = printable(&explanation.to_string()).replace("; ", "\n  ");
    let head = format!("{} {id}", session.out.bold(&printable(&job.spec.name)));
    session.out.object(&explanation, &format!("{head}\n  {text}"))
}

async fn runs(session: &Session, id: JobId) -> Result<(), Failure> {
    get(session, id).await?;
    let runs: Vec<AttemptRecord> = session.ratchet.jobs().attempts(id).await?;
    let columns = [
        number("run", |run: &AttemptRecord, _: &_| run.run.to_string()),
        number("attempt", |run, _| run.attempt.to_string()),
        column("outcome", |run, _| format!("{:?}", run.outcome).to_lowercase()),
        column("started", |run, out| out.time(run.started_at)),
        number("waited", |run, _| duration(run.queue_wait)),
        number("took", |run, _| duration(run.duration)),
        column("node", |run, _| run.node.to_string()),
        column("error", |run, out| {
            let error =
                run.error.as_ref().map(|error| format!("{}: {}", error.error_type, error.message));
            out.short(&error.or_else(|| run.note.clone()).unwrap_or_default(), 60)
        }),
    ];
    session.out.list(&runs, &columns, "the job has not run yet")
}

/// Prints the log lines. With `follow`, prints new ones until the job has ended.
async fn log(session: &Session, id: JobId, follow: bool) -> Result<(), Failure> {
    let mut shown = 0;
    loop {
        // Read the state first: lines that are written before the job ends are then printed.
        let ended = get(session, id).await?.state.is_terminal();
        let lines = session.ratchet.jobs().logs(id).await?;
        // The store keeps the newest lines, so a long log can lose some that were printed.
        let new = lines.get(shown.min(lines.len())..).unwrap_or_default();
        print_log(session, new)?;
        shown = lines.len();
        if !follow || ended {
            if shown == 0 && !follow {
                eprintln!("the job has written no log lines");
            }
            return Ok(());
        }
        tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(500)) => {}
            _ = tokio::signal::ctrl_c() => return Ok(()),
        }
    }
}

fn print_log(session: &Session, lines: &[LogLine]) -> Result<(), Failure> {
    match session.out.format {
        Format::Table => {
            for line in lines {
                let level = format!("{:?}", line.level).to_lowercase();
                let line = format!(
                    "run {} +{:<7} {level:<5} {}",
                    line.run,
                    duration(line.after),
                    printable_lines(&line.message)
                );
                session.out.print(&format!("{line}\n"))?;
            }
            Ok(())
        }
        _ => Output::lines(lines),
    }
}

/// Applies a verb to each job. Continues after a refusal, and fails with that of the last refused job.
async fn each(session: &Session, verb: &str, ids: &[JobId], fence: &Fence) -> Result<(), Failure> {
    if fence.if_version.is_some() && ids.len() != 1 {
        return Err(Failure::usage("`--if-version` applies to one job"));
    }
    let target = match ids {
        [id] => format!("{verb} job {id}"),
        ids => format!("{verb} {} jobs", ids.len()),
    };
    if !session.proceed(&target, false)? {
        return Ok(());
    }
    let jobs = fenced(session, fence);
    let mut refused = None;
    for &id in ids {
        let result = match verb {
            "retry" => jobs.retry(id).await,
            "pause" => jobs.pause(id).await,
            "resume" => jobs.resume(id).await,
            _ => match jobs.cancel(id).await {
                Ok(true) => Ok(()),
                Ok(false) => {
                    let message = format!("cannot cancel job {id}: it has already ended");
                    refused = Some(report(ids, Failure::new(ExitStatus::Conflict, message)));
                    continue;
                }
                Err(error) => Err(error),
            },
        };
        match result {
            Ok(()) => eprintln!("{verb} {id}: done"),
            Err(error) => refused = Some(report(ids, error.into())),
        }
    }
    refused.map_or(Ok(()), Err)
}

pub(super) fn fenced(session: &Session, fence: &Fence) -> ratchet_core::Jobs {
    let jobs = session.ratchet.jobs();
    match fence.if_version {
        Some(version) => jobs.if_version(version),
        None => jobs,
    }
}

/// Prints the refusal of one of several jobs. That of a single job is printed at the end.
fn report(ids: &[JobId], failure: Failure) -> Failure {
    if ids.len() == 1 {
        return failure;
    }
    eprintln!("error: {failure}");
    Failure::new(failure.status, "some of the jobs were refused")
}

struct Enqueue {
    queue: Option<String>,
    delay: Option<String>,
    key: Option<String>,
    wait: bool,
}

/// Returns the types of the arguments of a job, by name. A program has its own jobs. Those of other programs are in the
/// catalog.
pub(super) async fn types(
    session: &Session,
    name: &str,
) -> Result<BTreeMap<String, String>, Failure> {
    let definitions = session.ratchet.definitions();
    if let Some(job) = definitions.iter().find(|job| job.names().any(|known| known == name)) {
        let own = job.args.iter().map(|arg| (arg.name.to_owned(), arg.ty.to_owned()));
        return Ok(own.collect());
    }
    let job = session.ratchet.catalog().get(name).await?;
    let args = job.map(|job| job.record.entry.args).unwrap_or_default();
    Ok(args.into_iter().map(|arg| (arg.name, arg.ty)).collect())
}

/// Reads the arguments of a job: `name=value` each, or one JSON object.
pub(super) fn arguments(
    args: &[String],
    object: Option<&str>,
    types: &BTreeMap<String, String>,
) -> Result<serde_json::Value, Failure> {
    if let Some(object) = object {
        let value: serde_json::Value = serde_json::from_str(object)
            .map_err(|error| Failure::usage(format!("`--object` is not JSON: {error}")))?;
        if value.is_object() {
            return Ok(value);
        }
        return Err(Failure::usage("`--object` must be a JSON object with one field per argument"));
    }
    let mut fields = serde_json::Map::new();
    for arg in args {
        let Some((name, value)) = arg.split_once('=') else {
            return Err(Failure::usage(format!(
                "`--arg {arg}` must have the form `--arg name=value`"
            )));
        };
        let value = catalog::argument(types.get(name).map(String::as_str), value);
        if fields.insert(name.to_owned(), value).is_some() {
            return Err(Failure::usage(format!("argument `{name}` is given twice")));
        }
    }
    Ok(fields.into())
}

async fn enqueue(
    session: &Session,
    name: &str,
    arguments: &serde_json::Value,
    options: Enqueue,
) -> Result<(), Failure> {
    if !session.proceed(&format!("enqueue {name}"), false)? {
        return Ok(());
    }
    let mut job = session.ratchet.enqueue_from_catalog(name, arguments).await?;
    if let Some(queue) = options.queue {
        job = job.queue(queue);
    }
    if let Some(delay) = options.delay {
        job = job.delay(read::duration(&delay)?);
    }
    if let Some(key) = options.key {
        job = job.idempotency_key(key);
    }
    let handle = job.await?;
    for warning in handle.warnings() {
        eprintln!("warning: {warning}");
    }
    if options.wait {
        return wait(session, handle.id(), None).await;
    }
    let id = handle.id();
    session.out.object(&serde_json::json!({ "id": id }), &id.to_string())
}

/// Waits until the job has ended and prints its output.
async fn wait(session: &Session, id: JobId, limit: Option<Duration>) -> Result<(), Failure> {
    let handle = session.ratchet.handle::<AnyJob>(id);
    let output = match limit {
        Some(limit) => handle.wait_for(limit).await,
        None => handle.wait().await,
    };
    match output {
        Ok(_) => {
            // The value that was waited for has secrets.
            let job = get(session, id).await?;
            let output = job.output.as_deref().unwrap_or("null");
            let output: serde_json::Value = serde_json::from_str(output)?;
            session.out.object(&output, &printable_lines(&output.to_string()))
        }
        Err(WaitError::Gone(_)) => {
            Err(Failure::not_found(format!("there is no job {id}; it may have been purged")))
        }
        Err(error) => Err(error.into()),
    }
}

/// Prints every job that matches, page by page.
pub(super) async fn export(session: &Session, filter: &Filter) -> Result<(), Failure> {
    let csv = session.out.format == Format::Csv;
    if session.out.format == Format::Json {
        return Err(Failure::usage(
            "an export has one document per line; use `--ndjson` or `--csv`",
        ));
    }
    if csv {
        Output::csv_header(&columns())?;
    }
    let mut before = None;
    loop {
        let mut page =
            session.ratchet.jobs().list(filter, PageRequest { before, limit: 1000 }).await?;
        page.jobs = session.ratchet.jobs().for_display(page.jobs).await?;
        if csv {
            session.out.csv_rows(&page.jobs, &columns())?;
        } else {
            Output::lines(&page.jobs)?;
        }
        before = page.next;
        if before.is_none() {
            return Ok(());
        }
    }
}
