//! Every route, as data: method, path, verb and what it needs. The router, the access checks and the tests use this
//! list.

use std::pin::Pin;
use std::sync::LazyLock;

use axum::http::Method;
use ratchet_core::{Capability, VERBS};

use crate::act::ACTIONS;
use crate::request::{Answer, Request};
use crate::{api, assets, health, live, pages};

pub(crate) type Handler = fn(Request) -> Pin<Box<dyn Future<Output = Answer> + Send>>;

/// What a request needs in order to use a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gate {
    /// Nothing.
    Open,
    /// A capability.
    Needs(Capability),
}

/// A route.
#[derive(Debug, Clone)]
pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) path: String,
    /// The verb of `ratchet_core::VERBS` that the route offers; empty if it offers none.
    pub(crate) verb: &'static str,
    pub(crate) gate: Gate,
    pub(crate) handler: Handler,
}

impl Route {
    pub(crate) fn new(
        method: Method,
        path: impl Into<String>,
        verb: &'static str,
        handler: Handler,
    ) -> Self {
        let capability = VERBS.iter().find(|known| known.name == verb);
        let capability = capability.map_or(Capability::See, |known| known.capability);
        Self { method, path: path.into(), verb, gate: Gate::Needs(capability), handler }
    }

    fn open(path: &'static str, handler: Handler) -> Self {
        let method = Method::GET;
        Self { method, path: path.to_owned(), verb: "", gate: Gate::Open, handler }
    }

    /// Returns the values of the placeholders if the path is one of this route.
    pub(crate) fn parameters(&self, path: &str) -> Option<Vec<String>> {
        matches(&self.path, path)
    }
}

/// Returns the values of the placeholders of a pattern such as `/jobs/{job}` if the path matches it.
pub(crate) fn matches(pattern: &str, path: &str) -> Option<Vec<String>> {
    let (mut wanted, mut given) = (pattern.split('/'), path.split('/'));
    let mut parameters = Vec::new();
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return Some(parameters),
            (Some(wanted), Some(given)) if wanted.starts_with('{') => {
                parameters.push(given.to_owned());
            }
            (Some(wanted), Some(given)) if wanted == given => {}
            _ => return None,
        }
    }
}

macro_rules! handler {
    ($handler:path) => {
        |request| Box::pin($handler(request))
    };
}

macro_rules! get {
    ($($path:literal $verb:literal $handler:path;)*) => {
        [$(Route::new(Method::GET, $path, $verb, handler!($handler))),*]
    };
}

/// Returns every route.
pub(crate) fn routes() -> &'static [Route] {
    static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(list);
    &ROUTES
}

fn list() -> Vec<Route> {
    let mut routes = vec![
        Route::open("/assets/{name}", handler!(assets::serve)),
        Route::open("/health/live", handler!(health::live)),
        Route::open("/health/ready", handler!(health::ready)),
    ];
    routes.extend(get! {
        "/" "status" pages::overview::root;
        "/overview" "status" pages::overview::page;
        "/jobs" "jobs.list" pages::jobs::page;
        "/jobs/export" "jobs.export" api::export::jobs;
        "/jobs/{job}" "jobs.show" pages::job::page;
        "/jobs/{job}/arguments" "jobs.show" pages::job_text::arguments;
        "/jobs/{job}/output" "jobs.show" pages::job_text::output;
        "/failures" "failures.list" pages::failures::page;
        "/failures/group" "failures.show" pages::failure_group::page;
        "/queues" "queues.list" pages::queues::page;
        "/queue" "queues.show" pages::queue::page;
        "/breakers" "breakers.list" pages::breakers::page;
        "/breaker" "breakers.show" pages::breakers::one;
        "/schedules" "schedules.list" pages::schedules::page;
        "/schedule" "schedules.next" pages::schedules::one;
        "/flows" "flows.list" pages::flows::page;
        "/flows/{flow}" "flows.show" pages::flow::page;
        "/nodes" "nodes.list" pages::nodes::page;
        "/operations" "operations.list" pages::operations::page;
        "/operations/{operation}" "operations.show" pages::operations::one;
        "/catalog" "catalog.list" pages::catalog::page;
        "/catalog/job" "catalog.show" pages::catalog::one;
        "/stats" "stats" pages::stats::page;
        "/archive" "archive.status" pages::archive::page;
        "/archive/jobs" "archive.list" pages::archive::jobs;
        "/archive/export" "archive.export" api::export::archived_jobs;
        "/audit" "audit.list" pages::audit::page;
        "/audit/verify" "audit.verify" pages::audit::verify;
        "/alerts" "alerts.list" pages::lists::alerts;
        "/rejects" "rejects.list" pages::rejects::page;
        "/pipelines" "pipelines.show" pages::lists::pipelines;
        "/unreadable" "unreadable.list" pages::lists::unreadable;
        "/doctor" "doctor" pages::doctor::page;
        "/enqueue" "jobs.enqueue" pages::enqueue::page;
        "/help" "" pages::help::page;
        "/live" "" live::stream;
        "/metrics" "" health::metrics;
    });
    for action in ACTIONS {
        let path = format!("/act/{}", action.verb);
        let ask = Route::new(Method::GET, &path, action.verb, handler!(pages::confirm::page));
        let act = Route::new(Method::POST, &path, action.verb, handler!(pages::confirm::act));
        routes.extend([ask, act]);
    }
    routes.extend(api::routes());
    routes
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn o_01_every_verb_has_a_route_and_every_route_a_known_verb() {
        let known: BTreeSet<_> = VERBS.iter().map(|verb| verb.name).collect();
        // `wait` is what a page does while it is open.
        let shown = ["jobs.wait"];
        let routes: BTreeSet<_> =
            routes().iter().map(|route| route.verb).filter(|verb| !verb.is_empty()).collect();
        let offered: BTreeSet<_> = routes.iter().copied().chain(shown).collect();
        assert_eq!(offered, known);
    }

    #[test]
    fn o_08_a_route_that_changes_something_is_a_post_with_the_capability_of_its_verb() {
        for route in routes() {
            let verb = VERBS.iter().find(|verb| verb.name == route.verb);
            if let Some(verb) = verb {
                assert_eq!(route.gate, Gate::Needs(verb.capability), "{}", route.path);
            }
            if route.method != Method::GET {
                assert!(verb.is_some_and(|verb| verb.changes), "{} {}", route.method, route.path);
            }
        }
    }

    #[test]
    fn no_two_routes_match_the_same_request() {
        let mut seen = BTreeSet::new();
        for route in routes() {
            assert!(seen.insert(format!("{} {}", route.method, route.path)), "{}", route.path);
        }
    }
}
