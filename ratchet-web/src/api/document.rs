//! The `OpenAPI` document, built from the tables of routes, and a page that shows it.

use maud::html;
use serde_json::{Map, Value, json};

use super::table::{PARAMETERS, READS};
use super::{action_path, json as answer};
use crate::act::{ACTIONS, Action, Target};
use crate::problem::KINDS;
use crate::request::{Answer, Request};
use crate::views::{Page, Table, card, command_line};

/// The schemas of answers.
const SCHEMAS: &str = include_str!("schemas.json");

/// Returns the `OpenAPI` document.
pub(crate) fn document() -> Value {
    let mut paths = Map::new();
    for read in &READS {
        let mut parameters = path_parameters(read.path);
        for name in read.query {
            let words = PARAMETERS.iter().find(|row| row.0 == *name).map_or("", |row| row.1);
            let schema = match *name {
                "limit" | "count" => json!({ "type": "integer", "minimum": 1 }),
                _ => json!({ "type": "string" }),
            };
            parameters.push(
                json!({ "name": name, "in": "query", "description": words, "schema": schema }),
            );
        }
        let mut content = Map::new();
        match read.schema {
            "Text" => {
                for kind in ["text/plain", "text/vnd.graphviz", "image/svg+xml"] {
                    content.insert(kind.to_owned(), json!({ "schema": { "type": "string" } }));
                }
            }
            schema => {
                let schema = json!({ "$ref": format!("#/components/schemas/{schema}") });
                content.insert("application/json".to_owned(), json!({ "schema": schema }));
            }
        }
        if ["jobs.list", "archive.list"].contains(&read.verb) {
            for kind in ["text/csv", "application/x-ndjson"] {
                content.insert(kind.to_owned(), json!({ "schema": { "type": "string" } }));
            }
        }
        let operation = json!({
            "operationId": read.verb,
            "summary": read.summary,
            "parameters": parameters,
            "responses": { "200": { "description": "OK", "content": content }, "default": problem() },
        });
        insert(&mut paths, read.path, "get", operation);
    }
    for action in &ACTIONS {
        insert(&mut paths, &action_path(action), "post", post(action));
    }
    let schemas: Value = serde_json::from_str(SCHEMAS).unwrap_or_default();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Ratchet admin API",
            "version": "1",
            "description": "Looks at and controls background jobs. Lists have keyset cursors. Errors are RFC 9457 documents.",
        },
        "servers": [{ "url": "../.." }],
        "paths": paths,
        "components": { "schemas": schemas },
    })
}

fn insert(paths: &mut Map<String, Value>, path: &str, method: &str, operation: Value) {
    let entry = paths.entry(path.to_owned()).or_insert_with(|| json!({}));
    if let Some(entry) = entry.as_object_mut() {
        entry.insert(method.to_owned(), operation);
    }
}

fn path_parameters(path: &str) -> Vec<Value> {
    let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    names
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string", "format": "uuid" } }))
        .collect()
}

fn problem() -> Value {
    let schema = json!({ "$ref": "#/components/schemas/Problem" });
    json!({ "description": "A problem", "content": { "application/problem+json": { "schema": schema } } })
}

fn post(action: &Action) -> Value {
    let path = action_path(action);
    let mut parameters = path_parameters(&path);
    if action.target == Target::Job {
        parameters.push(json!({
            "name": "If-Match", "in": "header", "required": true, "schema": { "type": "string" },
            "description": "The `ETag` of the job, or `*`. If the job has changed, the answer is 412",
        }));
    }
    parameters.push(json!({
        "name": "Idempotency-Key", "in": "header", "schema": { "type": "string" },
        "description": "A repeated request with the same key gets the same answer, from the process that gave it",
    }));
    let mut properties = Map::new();
    let mut required = Vec::new();
    if action.target != Target::Job {
        let name = action.target.field();
        properties.insert(name.to_owned(), json!({ "type": "string" }));
        if !matches!(action.target, Target::Failures | Target::Bulk) {
            required.push(name);
        }
    }
    for field in action.fields {
        let schema = match field.name {
            "arguments" => json!({ "type": "object", "description": field.hint }),
            "limit" | "concurrency" => {
                json!({ "type": ["integer", "string"], "description": field.hint })
            }
            _ => json!({ "type": "string", "description": field.hint }),
        };
        properties.insert(field.name.to_owned(), schema);
        if field.required {
            required.push(field.name);
        }
    }
    properties.insert(
        "reason".to_owned(),
        json!({ "type": "string", "description": "Why; it is recorded" }),
    );
    let body = json!({ "type": "object", "properties": properties, "required": required });
    let done = json!({ "$ref": "#/components/schemas/Done" });
    json!({
        "operationId": action.verb,
        "summary": action.title,
        "parameters": parameters,
        "requestBody": { "required": !required.is_empty(), "content": { "application/json": { "schema": body } } },
        "responses": {
            "200": { "description": action.done, "content": { "application/json": { "schema": done } } },
            "default": problem(),
        },
    })
}

#[allow(clippy::unused_async, reason = "a handler")]
pub(crate) async fn serve(_: Request) -> Answer {
    Ok(answer(serde_json::to_string_pretty(&document()).unwrap_or_default()))
}

/// The reference as a page.
pub(crate) async fn page(request: Request) -> Answer {
    let mut reads = Table::new("Queries", &["query", "what", "parameters"]);
    for read in &READS {
        reads.row([
            html! { code { "GET " (read.path) } },
            html! { (read.summary) },
            html! { @for (at, name) in read.query.iter().enumerate() { @if at > 0 { ", " } code { (name) } } },
        ]);
    }
    let mut acts = Table::new("Actions", &["action", "what", "body"]);
    for action in &ACTIONS {
        let target = (action.target != Target::Job).then(|| action.target.field());
        let names = target
            .into_iter()
            .chain(action.fields.iter().map(|field| field.name))
            .chain(["reason"]);
        acts.row([
            html! { code { "POST " (action_path(action)) } },
            html! { (action.title) },
            html! { @for (at, name) in names.enumerate() { @if at > 0 { ", " } code { (name) } } },
        ]);
    }
    let mut problems = Table::new("Problems", &["type", "#status", "title"]);
    for (kind, status, title) in KINDS {
        problems.row([html! { code { (kind) } }, html! { (status) }, html! { (title) }]);
    }
    let mut parameters = Table::new("Parameters", &["parameter", "meaning"]);
    for (name, words) in PARAMETERS {
        parameters.row([html! { code { (name) } }, html! { (words) "." }]);
    }
    let content = html! {
        section.card { div.body {
            p { "Everything that the pages show and do, as JSON. The " a href=(request.root.to("api/v1/openapi.json")) { "OpenAPI document" } " describes it for programs." }
            p { "An action on a job needs the header " code { "If-Match" } " with the " code { "ETag" } " of the job, or " code { "*" } ". If the job has changed, the answer is 412 with its present state, and nothing happens." }
            p { "An action may have the header " code { "Idempotency-Key" } ": a repeat with the same key and body gets the same answer. Keys are kept by the process that answered." }
            (command_line("curl -H 'Accept: application/x-ndjson' 'https://…/api/v1/jobs?filter=state:failed'"))
        } }
        (card("queries", "Queries", "", reads.html()))
        (card("parameters", "Parameters", "", parameters.html()))
        (card("actions", "Actions", "with a JSON object as body", acts.html()))
        (card("problems", "Problems", "RFC 9457", problems.html()))
    };
    let mut page = Page::new("help", "API", content);
    page.live = false;
    page.answer(&request).await
}
