//! The deletion of archived jobs.

use std::time::Duration;

use ratchet_core::{JobState, Ratchet};

use super::Order;
use super::perform::Done;
use super::preview::Preview;
use crate::problem::Problem;
use crate::request::Request;
use crate::text::{brief, counted, exact, read_duration, relative, shell};

/// From how many deleted jobs on a request ends. It must answer within seconds.
const ENOUGH: u64 = 10_000;

/// Reads the state of an order.
fn state(order: &Order) -> Result<JobState, Problem> {
    let text = order.fields.get("state");
    let found = text.to_uppercase().parse().ok().filter(|state: &JobState| state.is_terminal());
    found.ok_or_else(|| {
        Problem::new(
            "refused",
            format!("`{}` is not one of succeeded, canceled and failed", brief(text, 40)),
        )
    })
}

/// Reads how long ago the jobs were archived; `None` if the order does not say.
fn age(order: &Order) -> Result<Option<Duration>, Problem> {
    match order.fields.get("older_than") {
        "" => Ok(None),
        text => read_duration(text).map(Some).map_err(|why| Problem::new("refused", why)),
    }
}

pub(super) async fn purge(
    request: &Request,
    ratchet: &Ratchet,
    order: &Order,
) -> Result<Done, Problem> {
    request.sees_everything("deletions from the archive")?;
    let (state, age) = (state(order)?, age(order)?);
    let age = age.ok_or_else(|| {
        Problem::new("refused", "`older_than` is missing; write a duration such as 90d")
    })?;
    let deleted = ratchet.archive().purge_some(state, age, ENOUGH).await?;
    Ok(Done {
        path: "archive",
        jobs: Some((deleted, 0)),
        more: deleted >= ENOUGH,
        ..Done::default()
    })
}

pub(super) async fn preview(request: &Request, order: &Order) -> Result<Preview, Problem> {
    request.sees_everything("deletions from the archive")?;
    let (state, age) = (state(order)?, age(order)?);
    let name = state.name().to_lowercase();
    let overview = request.ratchet().archive().overview().await?;
    let archived = overview.states.iter().find(|it| it.state == state);
    let jobs = archived.map_or(0, |it| it.jobs);
    let oldest = archived.and_then(|it| it.oldest);
    let mut sentences = vec![match oldest {
        Some(at) => format!(
            "The archive has {}. The first was archived {}.",
            counted(jobs, &format!("{name} job")),
            relative(at, overview.now)
        ),
        None => format!("The archive has no {name} job."),
    }];
    let mut command = name.clone();
    if let Some(age) = age {
        command = format!("{command} --older-than {}", shell(order.fields.get("older_than")));
        let until = overview.now.checked_sub(age).unwrap_or(jiff::Timestamp::MIN);
        sentences.push(if oldest.is_some_and(|at| at <= until) {
            format!("Those that were archived before {} are deleted.", exact(until))
        } else {
            format!("None of them was archived before {}.", exact(until))
        });
    }
    sentences.push(
        "They are deleted with their history and log lines. Their idempotency keys stay. This cannot be undone.".to_owned(),
    );
    let refused = (jobs == 0).then(|| "There is nothing to delete.".to_owned());
    let back = ("archive".to_owned(), Vec::new());
    Ok(Preview { sentences, refused, command, back, ..Preview::default() })
}
