//! Schedules of recurring jobs.

use jiff::Zoned;
use maud::{Markup, html};
use ratchet_core::{Missed, Overlap, ScheduleView};

use super::{action_buttons, commands};
use crate::act::{self, Target};
use crate::request::{Answer, Request};
use crate::text::{brief, duration, exact, shell};
use crate::views::{Page, Table, card, chip, definition, empty, text, time, time_or};

/// How many times are shown.
const SHOWN: usize = 10;

pub(crate) async fn page(request: Request) -> Answer {
    let schedules = request.schedules().await?;
    let mut table =
        Table::new("Schedules", &["schedule", "state", "when", "zone", "next", "last", "job"]);
    for view in &schedules {
        let schedule = &view.schedule;
        table.row([
            html! { a href=(request.root.with("schedule", &[("name", &schedule.name)])) { (text(&schedule.name, 60)) } },
            state(view),
            html! { code { (text(&schedule.expression, 40)) } },
            text(&schedule.zone, 40),
            time_or(schedule.next.filter(|_| !schedule.is_stopped()), request.now),
            time_or(schedule.last, request.now),
            text(&schedule.spec.name, 60),
        ]);
    }
    let content = html! {
        (card("schedules", "Schedules", "", table.or(empty(
            "There is no schedule.",
            html! { "Declare one with " code { "#[job(cron = \"0 3 * * *\")]" } ". It appears when a worker has started." },
        ))))
        (commands(&request, &["schedules list".to_owned()]))
    };
    Page::new("schedules", "Schedules", content).answer(&request).await
}

fn state(view: &ScheduleView) -> Markup {
    if view.schedule.paused {
        chip("held", "❚❚", "paused")
    } else if view.schedule.is_stopped() {
        chip("mute", "⊘", "withdrawn")
    } else if !view.known {
        chip("bad", "!", "no worker knows its job")
    } else {
        chip("ok", "✓", "active")
    }
}

pub(crate) async fn one(request: Request) -> Answer {
    let name = request.wanted("name")?;
    let view = request.schedule(name).await?;
    let schedule = &view.schedule;
    let times = request.ratchet().schedules().preview(schedule, SHOWN);
    let tag = ratchet_core::Filter::any().tag(format!("schedule:{name}")).to_string();
    let upcoming = match &times {
        Ok(times) => upcoming(&request, times),
        Err(error) => html! { p.error { (error.to_string()) } },
    };
    let content = html! {
        @if !view.known && !schedule.is_stopped() {
            p.notice { "No live worker knows the job " code { (brief(&schedule.spec.name, 80)) } ", so that the schedule does not fire." }
        }
        (card("next", "Next times", format!("in {} and in UTC", brief(&schedule.zone, 40)), upcoming))
        (card("settings", "Settings", "", definition([
            ("expression", Some(html! { code { (brief(&schedule.expression, 120)) } })),
            ("zone", Some(html! { (brief(&schedule.zone, 60)) })),
            ("job", Some(html! { (brief(&schedule.spec.name, 120)) " in queue "
                a href=(request.root.with("queue", &[("name", &schedule.spec.queue)])) { (brief(&schedule.spec.queue, 60)) } })),
            ("last", Some(time_or(schedule.last, request.now))),
            ("jobs", Some(html! { a href=(request.root.with("jobs", &[("filter", &tag)])) { "that it has submitted" } })),
            ("missed times", Some(html! { (missed(schedule.missed)) })),
            ("overlap", Some(html! { (overlap(schedule.overlap)) })),
            ("alert", schedule.watch.as_ref().map(|watch| html! { "if no job succeeds for " (duration(watch.within)) })),
            ("declared by", schedule.declared.as_ref().map(|it| html! { (brief(&it.program, 60)) })),
        ])))
        (commands(&request, &[format!("schedules next {}", shell(name))]))
    };
    let paused = schedule.paused;
    let possible = act::of_target(Target::Schedule).filter(|action| match action.verb {
        "schedules.pause" => !paused,
        "schedules.resume" => paused,
        _ => true,
    });
    let mut page = Page::new("schedules", brief(name, 120), content);
    page.parent = Some((request.root.to("schedules"), "Schedules"));
    page.beside = html! { span #schedule-state data-live="" { (state(&view)) } };
    page.actions = html! { div #actions data-live="" { (action_buttons(&request, possible, &[("schedule", name)])) } };
    page.answer(&request).await
}

fn upcoming(request: &Request, times: &[Zoned]) -> Markup {
    let mut table = Table::new("Next times", &["in its zone", "UTC", "from now", "note"]);
    for (at, time_of) in times.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| times.get(before));
        table.row([
            html! { (time_of.strftime("%a %Y-%m-%d %H:%M:%S %Z").to_string()) },
            html! { (exact(time_of.timestamp())) },
            time(time_of.timestamp(), request.now),
            note(before, time_of).map_or_else(Table::none, |note| html! { (note) }),
        ]);
    }
    html! {
        (table.or(empty("It does not fire again.", "Its expression has no time in the future.")))
    }
}

/// Returns a remark if the clocks of the zone change between two times.
fn note(before: Option<&Zoned>, at: &Zoned) -> Option<String> {
    let before = before?;
    let change = at.offset().seconds() - before.offset().seconds();
    if change == 0 {
        return None;
    }
    let length = duration(std::time::Duration::from_secs(change.unsigned_abs().into()));
    let way = if change > 0 { "forward" } else { "back" };
    Some(format!("clocks go {way} by {length} before this time"))
}

fn missed(missed: Missed) -> String {
    match missed {
        Missed::Skip => "are skipped".to_owned(),
        Missed::FireOnce => "fire once, together".to_owned(),
        Missed::CatchUp(most) => format!("fire each, the latest {most}"),
        _ => "as declared".to_owned(),
    }
}

fn overlap(overlap: Overlap) -> &'static str {
    match overlap {
        Overlap::Allow => "is allowed",
        Overlap::Skip => "a time is skipped while a job of the schedule waits or runs",
        Overlap::QueueOne => "one job waits while another one runs",
        _ => "as declared",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_the_clocks_is_noted() {
        // The clocks of this zone went back by an hour on 1 November 2026.
        let before: Zoned = "2026-10-31T03:00:00-04:00[-04:00]".parse().expect("a time");
        let after: Zoned = "2026-11-01T03:00:00-05:00[-05:00]".parse().expect("a time");
        assert_eq!(
            note(Some(&before), &after).as_deref(),
            Some("clocks go back by 1 h before this time")
        );
        assert_eq!(note(Some(&after), &after), None);
    }
}
