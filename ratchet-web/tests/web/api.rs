//! The API: its document, its answers, and what it requires of actions. spec: O-13

use axum::body::Body;
use axum::http::{Request, header};
use ratchet_core::JobState;
use ratchet_web::Access;
use serde_json::Value;

use crate::shop::Shop;
use crate::site::{Reply, Site};

async fn site() -> (Shop, Site) {
    let shop = Shop::open().await;
    let site = Site::new(shop.ratchet(), Access::admin("ada"));
    (shop, site)
}

async fn post(site: &Site, path: &str, body: &str, headers: &[(&str, &str)]) -> Reply {
    let mut request = Request::post(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    site.read(request.body(Body::from(body.to_owned())).expect("a request")).await
}

fn value(reply: &Reply) -> Value {
    serde_json::from_str(&reply.body).unwrap_or_else(|_| panic!("not JSON: {}", reply.body))
}

/// Checks a value against a schema: references, types, enumerations, required and declared properties, and items.
fn validate(document: &Value, schema: &Value, value: &Value, at: &str) {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = document.pointer(reference.trim_start_matches('#')).expect("a schema");
        return validate(document, target, value, at);
    }
    let name = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let allowed = match &schema["type"] {
        Value::String(one) => one == name,
        Value::Array(several) => several.iter().any(|one| one == name),
        _ => true,
    };
    assert!(allowed, "{at} is {name}, not {}: {value}", schema["type"]);
    if let Some(known) = schema["enum"].as_array() {
        assert!(known.contains(value), "{at}: {value}");
    }
    if schema["format"] == "date-time" {
        value.as_str().expect("text").parse::<jiff::Timestamp>().expect(at);
    }
    for required in schema["required"].as_array().into_iter().flatten() {
        assert!(value.get(required.as_str().expect("a name")).is_some(), "{at} has no {required}");
    }
    for (field, schema) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(value) = value.get(field) {
            validate(document, schema, value, &format!("{at}.{field}"));
        }
    }
    if let (Some(items), false) = (value.as_array(), schema["items"].is_null()) {
        for (number, item) in items.iter().enumerate() {
            validate(document, &schema["items"], item, &format!("{at}[{number}]"));
        }
    }
}

#[tokio::test]
async fn o_13_the_document_is_the_committed_one() {
    let (_shop, site) = site().await;
    let served = format!("{}\n", site.get("/api/v1/openapi.json").await.body.trim_end());
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path, &served).expect("writes");
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(served == committed, "run the test with UPDATE_EXPECT=1 and read the difference");
}

#[tokio::test]
async fn o_13_every_answer_conforms_to_the_document() {
    let (shop, site) = site().await;
    let document = value(&site.get("/api/v1/openapi.json").await);
    let routes = ratchet_web::__private::routes();
    let paths = document["paths"].as_object().expect("paths");
    let mut described = Vec::new();
    for (path, methods) in paths {
        described.extend(
            methods
                .as_object()
                .expect("methods")
                .keys()
                .map(|it| (it.to_uppercase(), path.clone())),
        );
    }
    let mut offered: Vec<_> = routes
        .into_iter()
        .filter(|route| route.1.starts_with("/api/v1/") && route.1 != "/api/v1/openapi.json")
        .map(|route| (route.0, route.1))
        .collect();
    described.sort();
    offered.sort();
    assert_eq!(described, offered);
    let operations = shop.ratchet().operations();
    let any = ratchet_core::Filter::any();
    let preview = operations.preview(ratchet_core::BulkVerb::Retry, &any).await;
    let bulk = ratchet_core::Bulk::of(preview.expect("previews"));
    let started = operations.start(bulk.pace(1)).await.expect("starts").id;
    for (path, methods) in paths {
        let Some(operation) = methods.get("get") else { continue };
        let query = match path.as_str() {
            "/api/v1/queue" => "?name=payments",
            "/api/v1/erasures/preview" => "?subject=tenant:acme",
            "/api/v1/catalog/job" => "?name=shop.report",
            "/api/v1/breaker" => "?service=payment-gateway",
            "/api/v1/schedules/next" | "/api/v1/pipeline" => "?name=nightly",
            _ => "",
        };
        for job in [shop.failed, shop.succeeded, shop.waiting, shop.retrying] {
            for flow in [shop.workflow, shop.batch] {
                let address =
                    path.replace("{job}", &job.to_string()).replace("{flow}", &flow.to_string());
                let address = address.replace("{operation}", &started.to_string());
                let reply = site.get(&format!("{address}{query}")).await;
                assert_eq!(reply.status, 200, "{address}: {}", reply.body);
                let schema =
                    &operation["responses"]["200"]["content"]["application/json"]["schema"];
                if !schema.is_null() {
                    validate(&document, schema, &value(&reply), path);
                }
            }
        }
    }
    let missing = site.get("/api/v1/jobs/nonsense").await;
    assert_eq!(missing.header(header::CONTENT_TYPE), "application/problem+json");
    validate(&document, &document["components"]["schemas"]["Problem"], &value(&missing), "problem");
    let wrong = site.get("/api/v1/jobs?filter=sate:failed").await;
    assert_eq!(wrong.status, 400);
    assert!(
        value(&wrong)["detail"]
            .as_str()
            .is_some_and(|detail| detail.contains("there is no condition `sate`"))
    );
}

#[tokio::test]
async fn o_13_an_action_on_a_job_needs_the_version_that_was_seen() {
    let (shop, site) = site().await;
    let path = format!("/api/v1/jobs/{}", shop.failed);
    let tag = site.get(&path).await.header(header::ETAG).to_owned();
    let retry = format!("{path}/retry");
    assert_eq!(post(&site, &retry, "", &[]).await.status, 428);
    assert_eq!(post(&site, &retry, "", &[("if-match", "\"0\"")]).await.status, 412);
    let done = post(&site, &retry, "{\"reason\":\"gateway is back\"}", &[("if-match", &tag)]).await;
    assert_eq!(done.status, 200, "{}", done.body);
    let stale = value(&post(&site, &retry, "", &[("if-match", &tag)]).await);
    assert_eq!((&stale["status"], &stale["state"]), (&412.into(), &"PENDING".into()));
    let cancel = post(&site, &format!("{path}/cancel"), "", &[("if-match", "*")]).await;
    assert_eq!(cancel.status, 200);
    let job = shop.ratchet().jobs().get(shop.failed).await.expect("reads").expect("exists");
    assert_eq!(job.state, JobState::Canceled);
}

#[tokio::test]
async fn o_05_an_edit_needs_the_version_and_answers_with_the_successor() {
    let (shop, site) = site().await;
    let path = format!("/api/v1/jobs/{}", shop.failed);
    let tag = site.get(&path).await.header(header::ETAG).to_owned();
    let edit = format!("{path}/edit");
    let body = r#"{"arguments":{"order":901,"cents":99,"card":"***"},"reason":"a wrong amount"}"#;
    assert_eq!(post(&site, &edit, body, &[]).await.status, 428);
    assert_eq!(post(&site, &edit, body, &[("if-match", "\"0\"")]).await.status, 412);
    let wrong = r#"{"arguments":{"order":901}}"#;
    assert_eq!(post(&site, &edit, wrong, &[("if-match", &tag)]).await.status, 422);
    let done = post(&site, &edit, body, &[("if-match", &tag)]).await;
    assert_eq!(done.status, 200, "{}", done.body);
    let successor = value(&done)["job"].as_str().expect("an id").to_owned();
    assert_eq!(value(&site.get(&path).await)["successor"], successor.as_str());
    let new = value(&site.get(&format!("/api/v1/jobs/{successor}")).await);
    assert_eq!(new["successor_of"], shop.failed.to_string());
    let again = post(&site, &edit, body, &[("if-match", &tag)]).await;
    assert_eq!(again.status, 409, "{}", again.body);
    assert!(again.body.contains(&successor), "{}", again.body);
}

#[tokio::test]
async fn o_13_a_repeated_request_gets_the_answer_of_the_first() {
    let (shop, site) = site().await;
    let body = r#"{"name":"shop.charge","arguments":{"order":18446744073709551615,"cents":1,"card":"x"},"reason":"test"}"#;
    let headers = [("idempotency-key", "k1")];
    let first = post(&site, "/api/v1/jobs/enqueue", body, &headers).await;
    assert_eq!(first.status, 200, "{}", first.body);
    let second = post(&site, "/api/v1/jobs/enqueue", body, &headers).await;
    assert_eq!(second.body, first.body);
    assert_eq!(second.headers.get("idempotent-replayed").expect("a header"), "true");
    let other = post(&site, "/api/v1/jobs/enqueue", "{\"name\":\"shop.report\"}", &headers).await;
    assert_eq!(other.status, 422, "{}", other.body);
    let third = post(&site, "/api/v1/jobs/enqueue", body, &[("idempotency-key", "k2")]).await;
    assert_ne!(third.body, first.body);
    let id = value(&first)["job"].as_str().expect("an id").to_owned();
    let job = site.get(&format!("/api/v1/jobs/{id}")).await.body;
    assert!(job.contains("\"order\": 18446744073709551615"), "{job}");
    drop(shop);
}

#[tokio::test]
async fn o_13_cursors_reach_every_job_once() {
    let (shop, site) = site().await;
    let (mut seen, mut after) = (Vec::new(), String::new());
    loop {
        let page = value(&site.get(&format!("/api/v1/jobs?limit=37&after={after}")).await);
        let jobs = page["jobs"].as_array().expect("jobs");
        seen.extend(jobs.iter().map(|job| job["id"].as_str().expect("an id").to_owned()));
        match page["next"].as_str() {
            Some(next) => after = next.to_owned(),
            None => break,
        }
    }
    let exported = site.get("/api/v1/jobs?format=ndjson").await.body;
    assert_eq!(exported.lines().count(), seen.len());
    seen.sort();
    seen.dedup();
    assert_eq!(exported.lines().count(), seen.len());
    assert_eq!(site.get("/api/v1/jobs?limit=0").await.status, 400);
    drop(shop);
}

#[tokio::test]
async fn health_has_no_details_and_metrics_need_access() {
    let (shop, site) = site().await;
    let closed = Site::new(shop.ratchet(), Access::denied());
    for path in ["/health/live", "/health/ready"] {
        let reply = closed.get(path).await;
        assert_eq!((reply.status.as_u16(), reply.body.as_str()), (200, "ok\n"), "{path}");
    }
    assert_eq!(closed.get("/metrics").await.status, 403);
    let metrics = site.get("/metrics").await.body;
    assert!(metrics.contains("ratchet_"), "{metrics}");
}
