//! `ratchet schedules …`

use jiff::Timestamp;
use ratchet_core::ScheduleView;
use serde::Serialize;

use super::Session;
use crate::args::Schedules;
use crate::exit::Failure;
use crate::output::column;
use crate::output::text::printable;

pub(super) async fn run(session: &Session, command: Schedules) -> Result<(), Failure> {
    let schedules = session.ratchet.schedules();
    match command {
        Schedules::List => {
            let list = schedules.list().await?;
            let columns = [
                column("schedule", |view: &ScheduleView, _: &_| view.schedule.name.clone()),
                column("cron", |view, _| view.schedule.expression.clone()),
                column("zone", |view, _| view.schedule.zone.clone()),
                column("job", |view, _| view.schedule.spec.name.clone()),
                column("state", |view, _| state(view).to_owned()),
                column("last", |view, out| out.time_or_none(view.schedule.last)),
                column("next", |view, out| out.time_or_none(view.schedule.next)),
            ];
            session.out.list(&list, &columns, "there is no schedule")
        }
        Schedules::Next { schedule, count } => next(session, &schedule, count).await,
        Schedules::Pause { schedule } => {
            if session.proceed(&format!("pause schedule {schedule}"), false)? {
                schedules.pause(&schedule).await?;
                eprintln!("schedule {} is paused", printable(&schedule));
            }
            Ok(())
        }
        Schedules::Resume { schedule } => {
            if session.proceed(&format!("resume schedule {schedule}"), false)? {
                schedules.resume(&schedule).await?;
                eprintln!("schedule {} is resumed", printable(&schedule));
            }
            Ok(())
        }
        Schedules::Edit { schedule, cron, zone } => {
            let Some(view) = schedules.get(&schedule).await? else {
                let schedule = printable(&schedule);
                return Err(Failure::not_found(format!("there is no schedule `{schedule}`")));
            };
            if cron.is_none() && zone.is_none() {
                return Err(Failure::usage("give `--cron` or `--zone`"));
            }
            let cron = cron.unwrap_or(view.schedule.expression);
            let zone = zone.unwrap_or(view.schedule.zone);
            let change = format!("change schedule {schedule} to `{cron}` in {zone}");
            if session.proceed(&change, false)? {
                schedules.reschedule(&schedule, &cron, &zone).await?;
                eprintln!("schedule {} fires at `{cron}` in {zone}", printable(&schedule));
            }
            Ok(())
        }
        Schedules::Run { schedule } => {
            if !session.proceed(&format!("submit the job of schedule {schedule} now"), false)? {
                return Ok(());
            }
            match schedules.run_now(&schedule).await? {
                Some(id) => session.out.object(&serde_json::json!({ "id": id }), &id.to_string()),
                None => Err(Failure::refused("the job of the schedule was submitted already")),
            }
        }
        Schedules::Remove { schedule } => {
            if !session.proceed(&format!("remove schedule {schedule}"), true)? {
                return Ok(());
            }
            if !schedules.remove(&schedule).await? {
                let schedule = printable(&schedule);
                return Err(Failure::not_found(format!("there is no schedule `{schedule}`")));
            }
            eprintln!("schedule {} is removed", printable(&schedule));
            Ok(())
        }
    }
}

fn state(view: &ScheduleView) -> &'static str {
    if view.schedule.paused {
        "paused"
    } else if view.schedule.is_stopped() {
        "stopped"
    } else {
        "active"
    }
}

/// A future occurrence of a schedule.
#[derive(Debug, Serialize)]
struct Occurrence {
    utc: Timestamp,
    local: String,
}

async fn next(session: &Session, name: &str, count: usize) -> Result<(), Failure> {
    let view = session.ratchet.schedules().get(name).await?;
    let Some(view) = view else {
        let name = printable(name);
        return Err(Failure::not_found(format!("there is no schedule `{name}`")));
    };
    let occurrences = session.ratchet.schedules().preview(&view.schedule, count)?;
    let list: Vec<_> = occurrences
        .into_iter()
        .map(|at| Occurrence { utc: at.timestamp(), local: at.to_string() })
        .collect();
    let columns = [
        column("local", |at: &Occurrence, _: &_| at.local.clone()),
        column("utc", |at, _| at.utc.to_string()),
        column("from now", |at, out| out.time(at.utc)),
    ];
    session.out.list(&list, &columns, "the schedule does not fire again")
}
