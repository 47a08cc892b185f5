//! The timeline of a job: waits, runs and events.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};
use ratchet_core::{JobRecord, JobState};
use ratchet_store::model::{AttemptOutcome, AttemptRecord};

use crate::text::{duration, exact};

/// The width and the left margin of the drawing.
const WIDTH: f64 = 1000.0;
const LEFT: f64 = 64.0;
/// How many runs are drawn.
const MOST: usize = 60;

/// A part of a row.
struct Segment {
    row: usize,
    class: &'static str,
    from: Timestamp,
    to: Timestamp,
    label: String,
}

/// An instant.
struct Mark {
    class: &'static str,
    at: Timestamp,
    label: String,
}

/// Draws what happened to a job until now.
pub(crate) fn timeline(job: &JobRecord, runs: &[AttemptRecord], now: Timestamp) -> Markup {
    let first = runs.len().saturating_sub(MOST);
    let shown = &runs[first..];
    let start = shown.first().filter(|_| first > 0).map_or(job.queued_at, |run| run.started_at);
    let end = job.finished_at.unwrap_or(now).max(start);
    let end = if job.state == JobState::Pending { end.max(job.due) } else { end };
    let (segments, marks) = parts(job, shown, start, now);
    let scale = Scale { start, length: seconds(start, end).max(0.001) };
    html! {
        svg.timeline viewBox="0 0 1000 128" role="img" aria-label=(summary(job, runs.len())) {
            @for (row, name) in ["waits", "runs", "events"].iter().enumerate() {
                text.t-name x="0" y=(24 + row * 34) { (name) }
            }
            @for segment in &segments { (scale.segment(segment)) }
            @for mark in &marks { (scale.mark(mark)) }
            @if scale.inside(now) && job.finished_at.is_none() {
                line.t-now x1=(scale.x(now)) x2=(scale.x(now)) y1="4" y2="104" {}
            }
            line.t-axis x1=(LEFT) x2=(WIDTH) y1="106" y2="106" {}
            @for at in 0..=3_i32 {
                @let instant = scale.at(f64::from(at) / 3.0);
                text.t-tick x=(format!("{:.0}", LEFT + (WIDTH - LEFT) * f64::from(at) / 3.0)) y="122"
                    text-anchor=(match at { 0 => "start", 3 => "end", _ => "middle" }) {
                    (tick(instant, scale.length))
                }
            }
        }
        @if first > 0 { p.meta { "The newest " (MOST) " of " (runs.len()) " runs are drawn." } }
    }
}

fn summary(job: &JobRecord, runs: usize) -> String {
    format!("Timeline: {runs} ended runs, the job is {}", job.state.name().to_lowercase())
}

fn parts(
    job: &JobRecord,
    runs: &[AttemptRecord],
    start: Timestamp,
    now: Timestamp,
) -> (Vec<Segment>, Vec<Mark>) {
    let mut segments = Vec::new();
    let mut marks = vec![Mark { class: "run", at: job.queued_at, label: "submitted".to_owned() }];
    let mut since = start;
    for (at, run) in runs.iter().enumerate() {
        let due = run.started_at.checked_sub(signed(run.queue_wait)).unwrap_or(run.started_at);
        let later = if at == 0 { "not due" } else { "backoff" };
        push_wait(&mut segments, since, due, run.started_at, later);
        segments.push(Segment {
            row: 1,
            class: outcome_class(run.outcome),
            from: run.started_at,
            to: run.finished_at,
            label: format!("run {}", run.run),
        });
        since = run.finished_at;
    }
    match job.state {
        JobState::Running => {
            let started = job.started_at.unwrap_or(since);
            let due = job.due.min(started);
            push_wait(&mut segments, since, due, started, "backoff");
            let label = format!("run {}", job.run);
            segments.push(Segment { row: 1, class: "run", from: started, to: now, label });
        }
        JobState::Pending => {
            let later = if runs.is_empty() { "not due" } else { "backoff" };
            push_wait(&mut segments, since, job.due, now.max(job.due), later);
        }
        JobState::Paused => segments.push(Segment {
            row: 0,
            class: "held",
            from: since,
            to: now,
            label: "paused".to_owned(),
        }),
        JobState::Canceled if runs.is_empty() => {
            let end = job.finished_at.unwrap_or(now);
            push_wait(&mut segments, since, job.due.min(end), end, "not due");
        }
        _ => {}
    }
    if let Some(at) = job.finished_at {
        let class = match job.state {
            JobState::Succeeded => "ok",
            JobState::Failed => "bad",
            _ => "mute",
        };
        marks.push(Mark { class, at, label: job.state.name().to_lowercase() });
    }
    (segments, marks)
}

/// Adds a wait: first until the job is due, then until it starts.
fn push_wait(
    segments: &mut Vec<Segment>,
    since: Timestamp,
    due: Timestamp,
    until: Timestamp,
    later: &str,
) {
    let due = due.clamp(since, until.max(since));
    let mut add = |class, from: Timestamp, to: Timestamp, label: String| {
        if to.duration_since(from) > SignedDuration::ZERO {
            segments.push(Segment { row: 0, class, from, to, label });
        }
    };
    let length = Duration::try_from(due.duration_since(since)).unwrap_or_default();
    add("wait", since, due, format!("{later} {}", duration(length)));
    add("mute", due, until, "queued".to_owned());
}

fn signed(length: Duration) -> SignedDuration {
    SignedDuration::try_from(length).unwrap_or(SignedDuration::ZERO)
}

fn outcome_class(outcome: AttemptOutcome) -> &'static str {
    match outcome {
        AttemptOutcome::Success => "ok",
        AttemptOutcome::Failure
        | AttemptOutcome::Exception
        | AttemptOutcome::Invalid
        | AttemptOutcome::Crashed => "bad",
        AttemptOutcome::Snoozed | AttemptOutcome::Rejected | AttemptOutcome::DomainFailure => {
            "wait"
        }
        AttemptOutcome::BreakerOpen => "held",
        _ => "mute",
    }
}

struct Scale {
    start: Timestamp,
    /// The length of the time axis in seconds.
    length: f64,
}

impl Scale {
    fn x(&self, at: Timestamp) -> String {
        format!("{:.1}", self.position(at))
    }

    fn position(&self, at: Timestamp) -> f64 {
        LEFT + (WIDTH - LEFT) * (seconds(self.start, at) / self.length).clamp(0.0, 1.0)
    }

    fn inside(&self, at: Timestamp) -> bool {
        (0.0..=self.length).contains(&seconds(self.start, at))
    }

    fn at(&self, part: f64) -> Timestamp {
        let after = SignedDuration::try_from_secs_f64(self.length * part).unwrap_or_default();
        self.start.checked_add(after).unwrap_or(self.start)
    }

    fn segment(&self, segment: &Segment) -> Markup {
        let (from, to) = (self.position(segment.from), self.position(segment.to));
        // A short run stays visible.
        let width = (to - from).max(4.0);
        let from = from.min(WIDTH - width);
        #[allow(clippy::cast_precision_loss)] // a few letters
        let fits = width > 10.0 + segment.label.len() as f64 * 7.0;
        let y = 8 + segment.row * 34;
        let length = Duration::try_from(segment.to.duration_since(segment.from));
        html! {
            g {
                title { (segment.label) ", " (duration(length.unwrap_or_default())) ", from " (exact(segment.from)) }
                rect class=(format!("t-{}", segment.class)) x=(format!("{from:.1}")) y=(y) width=(format!("{width:.1}")) height="24" rx="4" {}
                @if fits { text class=(format!("t-text t-{}-text", segment.class)) x=(format!("{:.1}", from + 6.0)) y=(y + 16) { (segment.label) } }
            }
        }
    }

    fn mark(&self, mark: &Mark) -> Markup {
        let x = self.position(mark.at).clamp(LEFT + 5.0, WIDTH - 5.0);
        let late = x > WIDTH - 120.0;
        let text = if late { x - 10.0 } else { x + 10.0 };
        html! {
            g {
                title { (mark.label) ", " (exact(mark.at)) }
                circle class=(format!("t-dot-{}", mark.class)) cx=(format!("{:.1}", x)) cy="88" r="5" {}
                text.t-mark x=(format!("{text:.1}")) y="92" text-anchor=(if late { "end" } else { "start" }) { (mark.label) }
            }
        }
    }
}

fn seconds(from: Timestamp, to: Timestamp) -> f64 {
    to.duration_since(from).as_secs_f64()
}

/// Returns the time of a tick, with the date if the axis is longer than a day.
fn tick(at: Timestamp, length: f64) -> String {
    let format = if length > 86_400.0 {
        "%m-%d %H:%M"
    } else if length < 10.0 {
        "%H:%M:%S%.3f"
    } else {
        "%H:%M:%S"
    };
    at.strftime(format).to_string()
}
