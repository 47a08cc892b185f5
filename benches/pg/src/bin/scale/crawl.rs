//! Finds the pages of the dashboard by their links, and the lists of the API by their description.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use axum::Router;
use url::Url;

use crate::measure::get;

/// How many pages of one kind are measured.
const OF_EACH_KIND: usize = 2;

/// Where pages are read from. The host does not matter.
const HOST: &str = "http://dashboard/";

/// Exports and the verification of the audit trail read everything. The stream of events does not end.
const LEFT_OUT: [&str; 5] =
    ["/live", "/jobs/export", "/archive/export", "/audit/verify", "/assets/"];

/// What an operator writes into the box for filters.
pub(crate) const FILTERS: [&str; 22] = [
    "",
    "state:pending",
    "state:succeeded",
    "state:failed",
    "state:canceled",
    "queue:mail",
    "queue:mail state:pending",
    "queue:payments state:failed",
    "tenant:acme",
    "tenant:acme state:failed",
    "name:shop.send_mail state:succeeded",
    "name:shop.charge",
    "name:no.such.job",
    "tag:customer",
    "correlation:order-4711",
    "args.order=4711",
    "state:failed args.order=99000",
    "attempts>3",
    "state:failed error:Custom",
    "state:failed message:declined",
    "queued<1m",
    "queued>1h",
];

/// Returns what pages of one kind have in common: the path without ids, and the names of the parameters.
pub(crate) fn kind(path: &str) -> String {
    let url = Url::parse(HOST).and_then(|host| host.join(path)).expect("a path");
    let is_id =
        |part: &str| part.len() == 36 && part.bytes().filter(|byte| *byte == b'-').count() == 4;
    let parts: Vec<_> =
        url.path().split('/').map(|part| if is_id(part) { "{id}" } else { part }).collect();
    let names: BTreeSet<_> = url.query_pairs().map(|(name, _)| name.into_owned()).collect();
    let names: Vec<_> = names.into_iter().collect();
    if names.is_empty() {
        parts.join("/")
    } else {
        format!("{}?{}", parts.join("/"), names.join("&"))
    }
}

fn links(page: &str, body: &str) -> Vec<String> {
    let base = Url::parse(HOST).and_then(|host| host.join(page)).expect("a path");
    let found = body.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let found = found.filter_map(|link| base.join(&link.replace("&amp;", "&")).ok());
    let inside = found.filter(|url| url.host_str() == Some("dashboard"));
    let path = |url: Url| match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    inside.map(path).collect()
}

/// Follows the links of the dashboard, to a few pages of each kind.
pub(crate) async fn pages(dashboard: &Router) -> Vec<String> {
    let searches = FILTERS.map(|filter| format!("/jobs?filter={}", encoded(filter)));
    let mut waiting = VecDeque::from(["/overview".to_owned(), "/metrics".to_owned()]);
    waiting.extend(searches.clone());
    let (mut seen, mut kinds) = (BTreeSet::new(), BTreeMap::<String, usize>::new());
    let mut pages = Vec::new();
    while let Some(path) = waiting.pop_front() {
        if LEFT_OUT.iter().any(|left_out| path.starts_with(left_out)) || !seen.insert(path.clone())
        {
            continue;
        }
        let count = kinds.entry(kind(&path)).or_default();
        *count += 1;
        if *count > OF_EACH_KIND && !searches.contains(&path) {
            continue;
        }
        let (status, body, _) = get(dashboard, &path).await;
        assert!(status.is_success() || status.is_redirection(), "{path}: {status}");
        waiting.extend(links(&path, &body).into_iter().filter(|link| !link.starts_with("/api/")));
        pages.push(path);
    }
    pages
}

/// Returns the queries of the API, with every filter and with these jobs.
pub(crate) async fn lists(dashboard: &Router, jobs: &[String]) -> Vec<String> {
    let (_, document, _) = get(dashboard, "/api/v1/openapi.json").await;
    let document: serde_json::Value = serde_json::from_str(&document).expect("is JSON");
    let mut paths = Vec::new();
    for (path, methods) in document["paths"].as_object().expect("has paths") {
        let left_out = path.contains("/verify") || path.ends_with("openapi.json");
        if methods.get("get").is_none() || left_out {
            continue;
        }
        let parameters = methods["get"]["parameters"].as_array().cloned().unwrap_or_default();
        let has = |name: &str| parameters.iter().any(|parameter| parameter["name"] == name);
        if path.contains("{job}") {
            paths.extend(jobs.iter().map(|job| path.replace("{job}", job)));
        } else if has("subject") {
            paths.push(format!("{path}?subject=tenant:acme"));
        } else if path.contains('{') || has("name") && !has("limit") || has("service") {
            // The pages show the same.
        } else if has("filter") {
            paths.extend(FILTERS.map(|filter| format!("{path}?filter={}", encoded(filter))));
        } else {
            paths.push(path.clone());
        }
    }
    paths
}

fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
