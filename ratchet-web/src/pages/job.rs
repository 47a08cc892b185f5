//! The page of a job: why it waits, what happened to it, what it is.

use maud::html;
use ratchet_core::{Explanation, JobState};
use ratchet_store::model::TransitionKind;

use super::{action_buttons, commands, job_details, job_runs, why};
use crate::act::{self, Target};
use crate::arguments::{Arguments, MASK};
use crate::charts::timeline;
use crate::request::{Answer, Request};
use crate::text::brief;
use crate::views::{Page, card, state_chip};

pub(crate) async fn page(request: Request) -> Answer {
    let id = request.id("job")?;
    let job = request.job(id).await?;
    let jobs = request.ratchet().jobs();
    let explanation = jobs.explain(id).await?.unwrap_or(Explanation::NotWaiting(job.state));
    let runs = jobs.attempts(id).await?;
    let logs = jobs.logs(id).await?;
    let now = request.now;

    let ended = matches!(job.state, JobState::Failed | JobState::Canceled);
    let is_live = job.archived_at.is_none();
    let editable = is_live && ended && act::edit_refusal(&request, &job).await?.is_none();
    let masked = job.output.as_ref().is_some_and(|output| output.contains(MASK))
        || Arguments::has_secrets(request.ratchet(), &job);
    let revealable = masked && request.access.sees_arguments();
    let links = jobs.succession(id).await?;
    let admission = jobs.admission(id).await?;
    let possible = act::of_target(Target::Job).filter(|action| {
        let kind = match action.verb {
            "jobs.edit" => return editable,
            "jobs.reveal" => return revealable,
            "jobs.retry" if links.successor.is_some() => return false,
            "jobs.retry" => TransitionKind::RetryManually,
            "jobs.pause" => TransitionKind::Pause,
            "jobs.resume" => TransitionKind::Resume,
            "jobs.move" => TransitionKind::Move,
            "jobs.reschedule" => TransitionKind::Reschedule,
            _ => TransitionKind::Cancel,
        };
        is_live && job.state.allows(kind)
    });
    let (text, version) = (id.to_string(), job.version.to_string());
    let target = [("job", text.as_str()), ("version", version.as_str())];
    let waiting = why::why(&request, &job, &explanation);
    let content = html! {
        @if let Some(waiting) = waiting {
            (card("why", "Why it waits", "from the conditions that claims use", waiting))
        }
        (job_runs::ending(&request, &job))
        (card("timeline", "Timeline", "", timeline::timeline(&job, &runs, now)))
        div.two {
            div {
                (job_runs::runs(&request, &job, &runs, &logs))
                (job_details::arguments(&request, &job))
                (job_details::output(&request, &job))
            }
            div {
                (job_details::details(&request, &job))
                (job_details::succession(&request, links))
                (job_details::admission(&request, admission.as_ref()))
                (job_details::relatives(&request, &job).await?)
                @if !job.warnings.is_empty() {
                    (card("warnings", "Warnings", "", html! { ul { @for warning in &job.warnings { li { (brief(warning, 500)) } } } }))
                }
                (commands(&request, &[
                    format!("jobs show {id}"),
                    format!("jobs explain {id}"),
                    format!("jobs log {id} --follow"),
                    format!("jobs {} {id}", if job.state == JobState::Failed { "retry" } else { "runs" }),
                ]))
            }
        }
    };
    let mut page = Page::new("jobs", brief(&job.spec.name, 120), content);
    page.parent = Some((request.root.to("jobs"), "Jobs"));
    page.beside = html! { span #state data-live="" { (state_chip(&job, now)) } };
    page.actions =
        html! { div #actions data-live="" { (action_buttons(&request, possible, &target)) } };
    page.answer(&request).await
}
