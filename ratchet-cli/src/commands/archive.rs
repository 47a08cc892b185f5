//! `ratchet archive …`

use std::fmt::Write as _;
use std::time::Duration;

use ratchet_core::{ArchiveFor, ArchiveOverview, ArchivedJobs, ArchivedState, Filter, JobState};

use super::{Session, jobs, read};
use crate::args::Archive;
use crate::exit::Failure;
use crate::output::text::{bytes, count, counted, duration, printable, relative};
use crate::output::{Column, Format, column, number};

pub(super) async fn run(session: &Session, command: Archive) -> Result<(), Failure> {
    match command {
        Archive::Status => status(session).await,
        Archive::List(listing) => {
            jobs::list(session, &archived(session, &listing.filter)?, &listing).await
        }
        Archive::Export { filter } => jobs::export(session, &archived(session, &filter)?).await,
        Archive::Purge { state, older_than } => {
            purge(session, state.into(), read::duration(&older_than)?).await
        }
    }
}

/// Reads a filter that selects only archived jobs.
fn archived(session: &Session, words: &[String]) -> Result<Filter, Failure> {
    Ok(read::filter(words, session.out.now)?.archived(ArchivedJobs::Only))
}

async fn status(session: &Session) -> Result<(), Failure> {
    let overview = session.ratchet.archive().overview().await?;
    let out = &session.out;
    match out.format {
        Format::Table => {}
        Format::Csv => return out.list(&overview.states, &columns(), ""),
        _ => return out.object(&overview, ""),
    }
    out.print(&format!("{}\n", head(&overview)))?;
    out.list(&overview.states, &columns(), "")
}

fn columns() -> Vec<Column<ArchivedState>> {
    vec![
        column("state", |it, _| it.state.name().to_lowercase()),
        number("jobs", |it, _| count(it.jobs)),
        column("oldest", |it, out| out.time_or_none(it.oldest)),
        column("newest", |it, out| out.time_or_none(it.newest)),
        column("kept for", |it, out| match it.archive {
            ArchiveFor::Off => out.none(),
            archive => archive.to_string(),
        }),
    ]
}

fn head(overview: &ArchiveOverview) -> String {
    let mut text = format!("jobs      {}\n", count(overview.jobs));
    if let Some(place) = &overview.place {
        let size = overview.bytes.map(|size| format!("   {}", bytes(size))).unwrap_or_default();
        let _ = writeln!(text, "place     {}{size}", printable(place));
    }
    if let Some(window) = &overview.window {
        let next = window.next.map(|at| format!(", opens {}", relative(at, overview.now)));
        let _ = writeln!(
            text,
            "window    {}{}   {} for {}, {}",
            if window.open { "open" } else { "closed" },
            next.unwrap_or_default(),
            window.opens,
            duration(window.duration),
            window.zone,
        );
    }
    text
}

async fn purge(session: &Session, state: JobState, age: Duration) -> Result<(), Failure> {
    let archive = session.ratchet.archive();
    let overview = archive.overview().await?;
    let present = overview.states.iter().find(|it| it.state == state);
    let jobs = present.map_or(0, |it| it.jobs);
    let name = state.name().to_lowercase();
    let change = format!(
        "delete {name} jobs that were archived at least {} ago (of {} in the archive)",
        duration(age),
        counted(jobs, &format!("{name} job"))
    );
    if !session.proceed(&change, true)? {
        return Ok(());
    }
    let deleted = archive.purge(state, age).await?;
    let text = format!("{} deleted from the archive", counted(deleted, &format!("{name} job")));
    session.out.object(&serde_json::json!({ "deleted": deleted }), &text)
}
