//! States as a shape, a color and a word. The shape differs too, so that no state depends on its color alone.

use maud::{Markup, html};
use ratchet_core::{BreakerState, JobRecord, JobState};
use ratchet_store::model::{AttemptOutcome, GroupState};

/// Returns a label with a shape.
pub(crate) fn chip(class: &str, shape: &str, word: &str) -> Markup {
    html! { span class=(format!("chip {class}")) { span aria-hidden="true" { (shape) } " " (word) } }
}

/// Returns the class and the shape of a state.
pub(crate) fn look(state: JobState) -> (&'static str, &'static str) {
    match state {
        JobState::Pending => ("wait", "○"),
        JobState::Running => ("run", "▶"),
        JobState::Succeeded => ("ok", "✓"),
        JobState::Failed => ("bad", "✕"),
        JobState::Paused => ("held", "❚❚"),
        JobState::Canceled => ("mute", "⊘"),
    }
}

/// Returns the state of a job. A pending job that is not due yet, or waits for a step, says so.
pub(crate) fn state_chip(job: &JobRecord, now: jiff::Timestamp) -> Markup {
    let (class, shape) = look(job.state);
    let word = match job.state {
        JobState::Pending if job.wait.is_some() => "waits for steps".to_owned(),
        JobState::Pending if job.due > now && job.attempts > 0 => "retries later".to_owned(),
        JobState::Pending if job.due > now => "scheduled".to_owned(),
        state => state.name().to_lowercase(),
    };
    chip(class, shape, &word)
}

/// Returns the state of a chain, batch or workflow.
pub(crate) fn group_chip(state: GroupState) -> Markup {
    let (class, shape) = match state {
        GroupState::Waiting => ("wait", "○"),
        GroupState::Running => ("run", "▶"),
        GroupState::Succeeded => ("ok", "✓"),
        GroupState::Failed => ("bad", "✕"),
        GroupState::Canceled => ("mute", "⊘"),
    };
    chip(class, shape, &state.name().to_lowercase())
}

/// Returns how a run ended.
pub(crate) fn outcome_chip(outcome: AttemptOutcome) -> Markup {
    let (class, shape, word) = match outcome {
        AttemptOutcome::Success => ("ok", "✓", "success"),
        AttemptOutcome::Failure => ("bad", "✕", "failure"),
        AttemptOutcome::Exception => ("bad", "✕", "exception"),
        AttemptOutcome::Invalid => ("bad", "✕", "invalid"),
        AttemptOutcome::Snoozed => ("wait", "○", "snoozed"),
        AttemptOutcome::Rejected => ("wait", "○", "rejected"),
        AttemptOutcome::BreakerOpen => ("held", "◐", "breaker open"),
        AttemptOutcome::Released => ("mute", "↺", "released"),
        AttemptOutcome::Crashed => ("bad", "✕", "crashed"),
        AttemptOutcome::Canceled => ("mute", "⊘", "canceled"),
        AttemptOutcome::DomainFailure => ("wait", "!", "domain failure"),
        _ => ("mute", "?", "ended"),
    };
    chip(class, shape, word)
}

/// Returns the state of a breaker.
pub(crate) fn breaker_chip(state: &BreakerState) -> Markup {
    match state {
        BreakerState::Closed => chip("ok", "●", "closed"),
        BreakerState::Open { .. } => chip("bad", "○", "open"),
        BreakerState::HalfOpen { .. } => chip("held", "◐", "half open"),
    }
}
