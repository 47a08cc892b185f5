//! Erasures, and the deletion of idempotency keys.

use std::time::Duration;

use ratchet_core::{ErasurePreview, ErasureSubject, Filter, KeyKind, Ratchet};

use super::Order;
use super::bulk::number;
use super::perform::Done;
use super::preview::Preview;
use crate::link::Fields;
use crate::problem::Problem;
use crate::request::Request;
use crate::text::{brief, count, counted, read_duration, shell};

/// From how many deleted keys on a request ends. It must answer within seconds.
const ENOUGH: u64 = 10_000;

/// Reads whose data is deleted: `tenant:…` or `correlation:…`.
pub(crate) fn subject(request: &Request, fields: &Fields) -> Result<ErasureSubject, Problem> {
    let filter = Filter::parse(fields.get("subject"), request.now)?;
    ErasureSubject::of(&filter).ok_or_else(|| {
        let text = brief(fields.get("subject"), 80);
        Problem::new(
            "refused",
            format!("`{text}` is not one tenant or one correlation id; write tenant:acme or correlation:order-17"),
        )
    })
}

/// Returns the options of the command line for a subject.
fn options(subject: &ErasureSubject) -> String {
    match subject.tenant() {
        Some(tenant) => format!("--tenant {}", shell(tenant)),
        None => format!("--correlation {}", shell(subject.correlation_id().unwrap_or_default())),
    }
}

pub(super) async fn preview(request: &Request, order: &Order) -> Result<Preview, Problem> {
    request.sees_everything("erasures")?;
    let back = ("operations".to_owned(), Vec::new());
    if order.fields.get("subject").is_empty() {
        let refused = "Write tenant:acme or correlation:order-17 on the page of operations.";
        let refused = Some(refused.to_owned());
        return Ok(Preview { refused, back, ..Preview::default() });
    }
    let subject = subject(request, &order.fields)?;
    let found = request.ratchet().erasures().preview(&subject).await?;
    let refused = found.is_empty().then(|| "There is nothing to delete.".to_owned());
    let mut command = options(&subject);
    let mut sentences = sentences(&found);
    if let Some(pace) = number(order, "pace")? {
        sentences.push(format!("At most {} are deleted per second.", counted(pace.into(), "job")));
        command = format!("{command} --pace {pace}/s");
    }
    let hidden = vec![("cutoff", found.cutoff.to_string()), ("digest", found.digest)];
    Ok(Preview { sentences, refused, command, hidden, back, ..Preview::default() })
}

fn sentences(found: &ErasurePreview) -> Vec<String> {
    let more = if found.exact { "" } else { "+" };
    let kinds = [
        (found.jobs, "job"),
        (found.archived, "archived job"),
        (found.groups, "flow"),
        (found.hand_offs, "hand-off"),
        (found.deliveries, "waiting message"),
    ];
    let kinds: Vec<_> = kinds
        .into_iter()
        .filter(|(rows, _)| *rows > 0)
        .map(|(rows, noun)| counted(rows, noun))
        .collect();
    let what = if kinds.is_empty() { "no job".to_owned() } else { kinds.join(", ") };
    let subject = brief(&found.subject.to_string(), 200);
    let mut sentences = vec![
        format!("Everything of `{subject}` is deleted: {what}{more}, with history, logs and alerts."),
        "Jobs that have not ended are canceled first. The erasure ends after their handlers have stopped. What is submitted from now on is not deleted.".to_owned(),
    ];
    if found.keys > 0 {
        sentences.push(format!(
            "{}{more} idempotency keys are replaced by digests, so that a repeated submit is still found.",
            count(found.keys)
        ));
    }
    if !found.schedules.is_empty() {
        let names: Vec<_> = found.schedules.iter().take(8).map(|name| brief(name, 60)).collect();
        let schedules = counted(found.schedules.len() as u64, "schedule");
        sentences.push(format!("{schedules} are removed: {}.", names.join(", ")));
    }
    sentences.push("The audit trail stays. This cannot be undone.".to_owned());
    sentences
}

pub(super) async fn start(
    request: &Request,
    ratchet: &Ratchet,
    order: &Order,
) -> Result<Done, Problem> {
    request.sees_everything("erasures")?;
    let subject = subject(request, &order.fields)?;
    let cutoff = order.fields.get("cutoff").parse().map_err(|_| {
        Problem::new("refused", "`cutoff` must be the cut-off of a preview, which is an instant")
    })?;
    let mut preview = ratchet.erasures().preview_at(&subject, cutoff).await?;
    order.fields.get("digest").clone_into(&mut preview.digest);
    let mut erasures = ratchet.erasures();
    if let Some(pace) = number(order, "pace")? {
        erasures = erasures.pace(pace);
    }
    let started = erasures.start(preview).await?;
    Ok(Done { path: "operations", operation: Some(started.id), ..Done::default() })
}

/// Reads which keys are deleted.
fn keys(order: &Order) -> Result<KeyKind, Problem> {
    let text = |name| Some(order.fields.get(name)).filter(|text| !text.is_empty());
    match order.fields.get("keys") {
        "clear" => Ok(KeyKind::Clear {
            tenant: text("tenant").map(str::to_owned),
            prefix: order.fields.get("prefix").to_owned(),
        }),
        "erased" if text("tenant").or_else(|| text("prefix")).is_some() => Err(Problem::new(
            "refused",
            "a digest does not show its tenant or its key; leave `tenant` and `prefix` empty",
        )),
        "erased" => Ok(KeyKind::Erased),
        other => Err(Problem::new(
            "refused",
            format!("`{}` is not one of clear and erased", brief(other, 40)),
        )),
    }
}

/// Reads how long ago the keys were used; `None` if the order does not say.
fn age(order: &Order) -> Result<Option<Duration>, Problem> {
    match order.fields.get("older_than") {
        "" => Ok(None),
        text => read_duration(text).map(Some).map_err(|why| Problem::new("refused", why)),
    }
}

pub(super) fn preview_keys(request: &Request, order: &Order) -> Result<Preview, Problem> {
    request.sees_everything("idempotency keys")?;
    let (kind, age) = (keys(order)?, age(order)?);
    let (mut what, mut command) = match &kind {
        KeyKind::Clear { tenant, prefix } => {
            let mut what = "Idempotency keys".to_owned();
            let mut command = String::new();
            match tenant {
                Some(tenant) => {
                    what = format!("{what} of tenant `{}`", brief(tenant, 80));
                    command = format!("--tenant {} ", shell(tenant));
                }
                None => what = format!("{what} without a tenant"),
            }
            if !prefix.is_empty() {
                what = format!("{what} that begin with `{}`", brief(prefix, 80));
                command = format!("{command}--prefix {} ", shell(prefix));
            }
            (what, command)
        }
        _ => ("Digests of erased idempotency keys".to_owned(), "--erased ".to_owned()),
    };
    if age.is_some() {
        let text = order.fields.get("older_than");
        what = format!("{what} that were used at least {} ago", brief(text, 40));
        command = format!("{command}--older-than {}", shell(text));
    }
    let sentences = vec![
        format!("{what} are deleted."),
        "A later submit with one of these keys creates a job again. This cannot be undone."
            .to_owned(),
    ];
    let back = ("archive".to_owned(), Vec::new());
    Ok(Preview { sentences, command: command.trim_end().to_owned(), back, ..Preview::default() })
}

pub(super) async fn purge_keys(
    request: &Request,
    ratchet: &Ratchet,
    order: &Order,
) -> Result<Done, Problem> {
    request.sees_everything("idempotency keys")?;
    let (kind, age) = (keys(order)?, age(order)?);
    let age = age.ok_or_else(|| {
        Problem::new("refused", "`older_than` is missing; write a duration such as 90d")
    })?;
    let deleted = ratchet.ledger().purge_some(kind, age, ENOUGH).await?;
    Ok(Done {
        path: "archive",
        jobs: Some((deleted, 0)),
        more: deleted >= ENOUGH,
        ..Done::default()
    })
}
