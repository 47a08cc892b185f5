//! Every change that the pages and the API make. Nothing else in this crate changes anything.
//!
//! An [`Order`] names the actor and the reason. [`preview`] says in words what an order would do, and [`perform`] does
//! it.

mod action;
mod archive;
mod bulk;
mod edit;
mod erasure;
mod perform;
mod preview;
mod reveal;

pub(crate) use action::{ACTIONS, Action, Field, Target, action, of_target};
pub(crate) use bulk::verb as bulk_verb;
pub(crate) use edit::refusal as edit_refusal;
pub(crate) use erasure::subject as erasure_subject;
pub(crate) use perform::{Done, perform};
pub(crate) use preview::{Preview, limits_text, preview, written_rate};

use std::fmt::Write as _;

use ratchet_core::Actor;

use crate::link::Fields;
use crate::request::Request;
use crate::text::counted;

/// An order to change something.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) action: &'static Action,
    /// Who gives the order.
    pub(crate) actor: String,
    /// Where it was given: `page` or `api`.
    pub(crate) via: &'static str,
    /// Why, in the words of the actor; empty if not given.
    pub(crate) reason: String,
    /// The target and the settings.
    pub(crate) fields: Fields,
}

impl Order {
    /// Creates the order of a request.
    pub(crate) fn new(
        request: &Request,
        action: &'static Action,
        via: &'static str,
        fields: Fields,
    ) -> Self {
        let actor = request.access.actor().to_owned();
        Self { action, actor, via, reason: fields.get("reason").to_owned(), fields }
    }

    /// Returns the actor for the audit trail.
    fn actor(&self) -> Actor {
        let actor = Actor::new(&self.actor).via(self.via);
        if self.reason.is_empty() { actor } else { actor.reason(&self.reason) }
    }
}

/// Returns the sentence about the action that led to this page. The address contains only its verb and numbers, so that
/// a link cannot make a page say anything else.
pub(crate) fn result(request: &Request) -> Option<String> {
    let action = action(request.query.get("done"))?;
    let number = |field| request.query.get(field).parse::<u64>().ok();
    let Some(jobs) = number("jobs") else { return Some(action.done.to_owned()) };
    let noun = if action.target == Target::Ledger { "idempotency key" } else { "job" };
    let mut text = format!("{} {}", counted(jobs, noun), action.done);
    if number("more").is_some() {
        text.push_str(" Not all of them are deleted: repeat it.");
    }
    if let Some(skipped) = number("skipped").filter(|skipped| *skipped > 0) {
        let _ = write!(
            text,
            " {} skipped, because another live job holds the business key.",
            counted(skipped, "job")
        );
    }
    Some(text)
}
