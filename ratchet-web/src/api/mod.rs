//! The admin API at `/api/v1`: the same queries and actions as the pages, as JSON.

pub(crate) mod act;
pub(crate) mod document;
pub(crate) mod export;
mod idempotency;
pub(crate) mod job;
pub(crate) mod read;
pub(crate) mod table;

pub(crate) use idempotency::Repeats;

use axum::body::Body;
use axum::http::{Method, Response, StatusCode};

use crate::act::{ACTIONS, Action, Target};
use crate::request::response;
use crate::route::Route;

/// Returns a JSON document as a response.
fn json(body: String) -> Response<Body> {
    response(StatusCode::OK, "application/json", body)
}

/// Returns the path of an action. An action on a job names it in the path; others name their target in the body.
pub(crate) fn action_path(action: &Action) -> String {
    let (noun, verb) = action.verb.split_once('.').unwrap_or((action.verb, ""));
    match action.target {
        Target::Job => format!("/api/v1/{noun}/{{job}}/{verb}"),
        _ => format!("/api/v1/{noun}/{verb}"),
    }
}

/// Returns the routes of the API.
pub(crate) fn routes() -> Vec<Route> {
    let mut routes = vec![
        Route::new(Method::GET, "/api/v1", "", |request| Box::pin(document::page(request))),
        Route::new(Method::GET, "/api/v1/openapi.json", "", |request| {
            Box::pin(document::serve(request))
        }),
    ];
    for row in &table::READS {
        routes.push(Route::new(Method::GET, row.path, row.verb, row.handler));
    }
    for action in &ACTIONS {
        let path = action_path(action);
        routes.push(Route::new(Method::POST, path, action.verb, |request| {
            Box::pin(act::act(request))
        }));
    }
    routes
}
