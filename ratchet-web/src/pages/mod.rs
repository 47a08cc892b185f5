//! The pages.

pub(crate) mod archive;
pub(crate) mod audit;
pub(crate) mod breakers;
pub(crate) mod catalog;
pub(crate) mod confirm;
pub(crate) mod doctor;
pub(crate) mod enqueue;
pub(crate) mod failure_group;
pub(crate) mod failures;
pub(crate) mod flow;
pub(crate) mod flows;
pub(crate) mod help;
pub(crate) mod job;
mod job_details;
mod job_runs;
pub(crate) mod job_text;
pub(crate) mod jobs;
pub(crate) mod lists;
pub(crate) mod nodes;
pub(crate) mod operations;
pub(crate) mod overview;
mod problems;
pub(crate) mod queue;
pub(crate) mod queues;
pub(crate) mod rejects;
mod revealed;
pub(crate) mod schedules;
pub(crate) mod stats;
mod why;

use maud::{Markup, html};
use ratchet_core::VERBS;

use crate::act::Action;
use crate::request::Request;
use crate::views::{button, command_line};

/// Returns the buttons of the actions that the request may use.
fn action_buttons<'a>(
    request: &Request,
    actions: impl IntoIterator<Item = &'a Action>,
    target: &[(&str, &str)],
) -> Markup {
    html! {
        @for action in actions {
            @if may(request, action) {
                (button(
                    &request.root.with(&format!("act/{}", action.verb), target),
                    action.label,
                    if action.ends { "danger" } else { "" },
                ))
            }
        }
    }
}

/// Returns whether the request may use an action.
fn may(request: &Request, action: &Action) -> bool {
    let verb = VERBS.iter().find(|verb| verb.name == action.verb);
    verb.is_some_and(|verb| request.access.may(verb.capability))
}

/// Returns the commands that show the same as a page.
fn commands(request: &Request, lines: &[String]) -> Markup {
    let program = &request.app.program;
    html! {
        section.card.quiet {
            header { h2 { "On the command line" } }
            div.body { ul.commands { @for line in lines {
                li { (command_line(&format!("{program} {line}"))) }
            } } }
        }
    }
}
