//! Why a job does not run, in words with links.

use maud::{Markup, html};
use ratchet_core::{Explanation, JobRecord, Waiting};

use crate::request::Request;
use crate::text::{brief, count};
use crate::views::{job_link, time};

/// Returns why a job does not run. `None` if it is not waiting, and the state says everything.
pub(super) fn why(request: &Request, job: &JobRecord, explanation: &Explanation) -> Option<Markup> {
    Some(match explanation {
        Explanation::Waits(reasons) => html! {
            ul.why { @for reason in reasons { li { (reason_text(request, job, reason)) } } }
        },
        Explanation::AllClear => html! {
            p { "Nothing holds it back. It runs when its turn comes and a worker has room." }
        },
        Explanation::BranchNotTaken { root, parents, dead } => html! {
            p {
                "It was canceled: it waits for all of " (count((*parents).into())) " steps, and "
                (count((*dead).into())) " of them are on a branch that was not taken"
                @if let Some(root) = root.and_then(ratchet_store::model::Vertex::job) {
                    " after " (job_link(&request.root, root))
                }
                "."
            }
        },
        Explanation::Expired { at } => html! {
            p { "It was canceled: it expired " (time(*at, request.now)) ", before it was started." }
        },
        _ => return None,
    })
}

fn reason_text(request: &Request, job: &JobRecord, reason: &Waiting) -> Markup {
    let (root, now) = (&request.root, request.now);
    let queue_link = |queue: &str| {
        html! { a href=(root.with("queue", &[("name", queue)])) { (brief(queue, 60)) } }
    };
    let breaker_link = |service: &str| {
        html! { a href=(root.with("breaker", &[("service", service)])) { (brief(service, 60)) } }
    };
    html! {
        @match reason {
            Waiting::NotDue { due } => {
                @if job.attempts > 0 { "Its last attempt failed. The next one is due " } @else { "It is due " }
                (time(*due, now)) "."
            }
            Waiting::Expired { at } => { "It expired " (time(*at, now)) ". The next sweep of a worker cancels it." }
            Waiting::ParentNotDone { parents: 0, .. } => { "Its group has not begun." }
            Waiting::ParentNotDone { parents, ended } => {
                (ended) " of the " (parents) " steps that it waits for have ended."
                @if let Some(group) = job.spec.step.as_ref().and_then(|step| step.group) {
                    " " a href=(root.to(&format!("flows/{group}"))) { "See the flow" } "."
                }
            }
            Waiting::NotItsTurn { key, follows } => {
                "Jobs with the key " code { (brief(key, 60)) } " run in order. " (job_link(root, *follows))
                " before it has not ended, or has failed and holds up the rest."
            }
            Waiting::QueuePaused { queue } => { "Queue " (queue_link(queue)) " is paused." }
            Waiting::QueueFull { queue, limit } => {
                "Queue " (queue_link(queue)) " runs at most " (count((*limit).into()))
                " jobs at once in the cluster, and these are running."
            }
            Waiting::RateLimited { queue, until } => {
                "The rate limit of queue " (queue_link(queue)) " is used up. The next job starts " (time(*until, now)) "."
            }
            Waiting::KeyRateLimited { queue, key, until } => {
                "The rate of its concurrency key " code { (brief(key, 60)) } " in queue " (queue_link(queue))
                " is used up. The next job with this key starts " (time(*until, now)) "."
            }
            Waiting::KeyHeld { key, limit, holders } => {
                "Its concurrency key " code { (brief(key, 60)) } " (limit " (limit) ") is held by "
                @for (at, holder) in holders.iter().take(5).enumerate() {
                    @if at > 0 { ", " } (job_link(root, *holder))
                }
                @if holders.len() > 5 { " and " (holders.len() - 5) " more" } "."
            }
            Waiting::BreakerOpen { service, until: Some(until) } => {
                "The breaker of " (breaker_link(service)) " is open. Trial runs follow " (time(*until, now)) "."
            }
            Waiting::BreakerOpen { service, until: None } => {
                "The breaker of " (breaker_link(service)) " is open until an operator closes it."
            }
            Waiting::BreakerProbing { service, probing } => {
                "The breaker of " (breaker_link(service)) " waits for the result of " (count(*probing)) " trial runs."
            }
            Waiting::NoWorkerKnowsIt { name, version } => {
                "No live worker knows " code { (brief(name, 80)) } " in version " (version)
                ". Start one, or see " a href=(root.to("nodes")) { "the nodes" } "."
            }
            Waiting::NoWorkerServesIt { queue } => {
                "No live worker that knows it serves queue " (queue_link(queue)) "."
            }
            Waiting::MustRunAlone { crashes } => {
                "Its worker died " (crashes) " times with it, so it waits for a worker that runs nothing else."
            }
            other => { (other.to_string()) "." }
        }
    }
}
