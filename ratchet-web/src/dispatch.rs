//! The way of every request: route, access, handler, headers.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{OriginalUri, Request as HttpRequest};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, Response, StatusCode, header};
use ratchet_core::Capability;

use crate::access::Access;
use crate::dashboard::App;
use crate::link::{Fields, Root};
use crate::problem::Problem;
use crate::request::{Answer, Request, response};
use crate::route::{Gate, Route};
use crate::{route, views};

/// The greatest body of a request.
const MOST_BYTES: usize = 1 << 20;

/// The headers of every response. The policy allows only files of this router, and no framing.
const HEADERS: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

pub(crate) async fn handle(app: Arc<App>, request: HttpRequest) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let is_api = parts.uri.path().starts_with("/api/");
    let original = parts.extensions.get::<OriginalUri>();
    let original = original.map_or(parts.uri.path(), |original| original.path());
    let root = Root::of(parts.uri.path(), original);
    let answer = answer(&app, &parts, body, root.clone()).await;
    let mut response = match answer {
        Ok(response) => response,
        Err(problem) if is_api => problem_document(&problem),
        Err(problem) => views::problem_page(&app, &root, &problem),
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    let uncached = HeaderValue::from_static("no-store");
    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(uncached);
    if parts.method == Method::HEAD {
        *response.body_mut() = Body::empty();
    }
    response
}

async fn answer(app: &Arc<App>, parts: &Parts, body: Body, root: Root) -> Answer {
    let path = parts.uri.path();
    let (route, parameters) = find(&parts.method, path)?;
    let access = access(app, parts);
    admit(app, route, &access)?;
    let too_large =
        |_| Problem::new("too-large", format!("a request has at most {MOST_BYTES} bytes"));
    let body = to_bytes(body, MOST_BYTES).await.map_err(too_large)?;
    // Health checks must not depend on the store.
    let now = match route.gate {
        Gate::Open => jiff::Timestamp::UNIX_EPOCH,
        Gate::Needs(_) => app.ratchet.store().now().await?,
    };
    let request = Request {
        app: Arc::clone(app),
        access,
        root,
        path: path.to_owned(),
        parameters,
        query: Fields::read(parts.uri.query().unwrap_or_default().as_bytes()),
        headers: parts.headers.clone(),
        body: body.into(),
        now,
    };
    (route.handler)(request).await
}

/// Finds the route of a request.
fn find(method: &Method, path: &str) -> Result<(&'static Route, Vec<String>), Problem> {
    let method = if *method == Method::HEAD { &Method::GET } else { method };
    let mut other_method = false;
    for route in route::routes() {
        if let Some(parameters) = route.parameters(path) {
            if route.method == *method {
                return Ok((route, parameters));
            }
            other_method = true;
        }
    }
    Err(match other_method {
        true => Problem::new("method", format!("{method} is not a method of this address")),
        false => Problem::not_found("there is no such page"),
    })
}

fn access(app: &App, parts: &Parts) -> Access {
    let access = app.access.as_ref().map_or_else(Access::denied, |access| access(parts));
    if app.read_only { access.without_changes() } else { access }
}

/// Decides whether a request may use a route. This is the only place that does.
fn admit(app: &App, route: &Route, access: &Access) -> Result<(), Problem> {
    let Gate::Needs(capability) = route.gate else { return Ok(()) };
    if access.may(capability) {
        return Ok(());
    }
    if app.access.is_none() {
        return Err(Problem::new(
            "denied",
            "no access is configured; add `.access(|request| …)` to `ratchet_web::router`",
        ));
    }
    if !access.may(Capability::See) {
        return Err(Problem::new("denied", "log in to the application first"));
    }
    if app.read_only {
        return Err(Problem::new("read-only", "the application has configured `.read_only()`"));
    }
    let name = serde_json::to_value(capability).ok();
    let name = name.as_ref().and_then(|name| name.as_str()).unwrap_or_default();
    Err(Problem::new("denied", format!("this needs the capability `{name}`")))
}

/// Returns the RFC 9457 document of a problem.
pub(crate) fn problem_document(problem: &Problem) -> Response<Body> {
    let body = serde_json::to_vec(problem).unwrap_or_default();
    let mut response = response(problem.status, "application/problem+json", body);
    if problem.status == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
    }
    response
}
