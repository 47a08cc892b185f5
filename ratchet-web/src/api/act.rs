//! The actions of the API.

use std::collections::BTreeMap;

use axum::http::header;
use ratchet_core::Revealed;
use serde::Serialize;
use serde_json::value::RawValue;

use super::{action_path, json};
use crate::act::{ACTIONS, Action, Order, Target, perform};
use crate::link::Fields;
use crate::problem::Problem;
use crate::request::{Answer, Request};
use crate::route::matches;

/// Returns the action of the address.
fn wanted(request: &Request) -> Result<&'static Action, Problem> {
    let found =
        ACTIONS.iter().find(|action| matches(&action_path(action), &request.path).is_some());
    found.ok_or_else(|| Problem::not_found("there is no such action"))
}

pub(crate) async fn act(request: Request) -> Answer {
    let action = wanted(&request)?;
    let mut fields = fields(&request)?;
    if action.target == Target::Job {
        let job = request.parameters.first().cloned().unwrap_or_default();
        fields.set("job", job);
        fields.set("version", version(&request)?);
    }
    let key = request.header("idempotency-key").to_owned();
    // The answer to a repeated request is kept in memory. Secrets are not: they are revealed, and recorded, again.
    if key.is_empty() || action.verb == "jobs.reveal" {
        return once(&request, action, fields).await;
    }
    let repeats = request.app.repeats.clone();
    let id = (request.access.actor().to_owned(), request.path.clone(), key);
    repeats.once(id, &request.body, once(&request, action, fields)).await
}

async fn once(request: &Request, action: &'static Action, fields: Fields) -> Answer {
    let done = perform(request, &Order::new(request, action, "api", fields)).await?;
    if let Some(revealed) = &done.revealed {
        // The texts are those that are stored, so that every number is exact.
        let answer = Shown { verb: action.verb, done: true, revealed };
        return Ok(json(serde_json::to_string(&answer).unwrap_or_default()));
    }
    let mut value = serde_json::json!({ "verb": action.verb, "done": true });
    if let Some(job) = done.job {
        value["job"] = job.to_string().into();
    }
    if let Some(operation) = done.operation {
        value["operation"] = operation.to_string().into();
    }
    match done.jobs {
        Some((deleted, _)) if matches!(action.target, Target::Archive | Target::Ledger) => {
            value["deleted"] = deleted.into();
            value["complete"] = (!done.more).into();
        }
        Some((retried, skipped)) => {
            value["retried"] = retried.into();
            value["skipped"] = skipped.into();
        }
        None => {}
    }
    Ok(json(value.to_string()))
}

/// The answer that reveals the secrets of a job.
#[derive(Serialize)]
struct Shown<'a> {
    verb: &'static str,
    done: bool,
    #[serde(flatten)]
    revealed: &'a Revealed,
}

/// Returns the version that the job must have; empty for any.
fn version(request: &Request) -> Result<String, Problem> {
    let text = request.header(header::IF_MATCH.as_str()).trim();
    if text == "*" {
        return Ok(String::new());
    }
    let number = text.trim_matches('"').parse::<u64>();
    match number {
        Ok(version) => Ok(version.to_string()),
        Err(_) if text.is_empty() => Err(Problem::new(
            "if-match",
            "send the version of the job that you saw as `If-Match: \"7\"`, or `If-Match: *` for any",
        )),
        Err(_) => {
            Err(Problem::bad("`If-Match` must be the `ETag` of the job, such as `\"7\"`, or `*`"))
        }
    }
}

/// Reads the body: a JSON object whose values are texts, numbers, or documents such as `arguments`.
fn fields(request: &Request) -> Result<Fields, Problem> {
    let mut fields = Fields::default();
    if request.body.iter().all(u8::is_ascii_whitespace) {
        return Ok(fields);
    }
    let object: BTreeMap<String, Box<RawValue>> = serde_json::from_slice(&request.body)
        .map_err(|error| Problem::bad(format!("the body must be a JSON object: {error}")))?;
    for (name, value) in object {
        // A text is taken without its quotation marks. Anything else keeps its exact text.
        let text = serde_json::from_str::<String>(value.get());
        let text = text.unwrap_or_else(|_| value.get().to_owned());
        if text != "null" {
            fields.set(&name, text);
        }
    }
    Ok(fields)
}
