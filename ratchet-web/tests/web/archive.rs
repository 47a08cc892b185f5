//! The page of the archive, its routes, and the deletion of archived jobs.

use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, header};
use ratchet_core::{JobState, PageRequest};
use ratchet_web::Access;
use serde_json::Value;

use crate::html;
use crate::shop::Shop;
use crate::site::Site;

/// Archives every job that has succeeded or failed. Returns the number of both.
async fn archived() -> (Shop, Site, [u64; 2]) {
    let shop = Shop::open().await;
    let store = shop.ratchet().store();
    let mut numbers = [0; 2];
    for (number, state) in numbers.iter_mut().zip([JobState::Succeeded, JobState::Failed]) {
        *number = store.archive(state, Duration::ZERO, 1000).await.expect("archives");
        assert!(*number > 0, "{state}");
    }
    let site = Site::new(shop.ratchet(), Access::admin("ada"));
    (shop, site, numbers)
}

fn value(body: &str) -> Value {
    serde_json::from_str(body).unwrap_or_else(|_| panic!("not JSON: {body}"))
}

async fn count(shop: &Shop, state: JobState) -> u64 {
    shop.ratchet().archive().status().await.expect("reads").counts.state(state)
}

#[tokio::test]
async fn a_01_the_page_shows_each_state_and_what_to_do_about_it() {
    let (shop, site, [succeeded, failed]) = archived().await;
    let page = site.get("/archive").await;
    assert_eq!(page.status, 200);
    html::check("/archive", &page.body);
    assert!(page.body.contains(&format!(">{}<", succeeded + failed)), "{}", page.body);
    assert!(page.body.contains("always open"), "{}", page.body);
    assert!(page.body.contains("act/archive.purge?state=failed"), "{}", page.body);
    assert!(!page.body.contains("state=canceled"), "nothing to delete: {}", page.body);
    let viewer = Site::new(shop.ratchet(), Access::operator("bob"));
    assert!(!viewer.get("/archive").await.body.contains("act/archive.purge"));
    let empty = Shop::open().await;
    let empty = Site::new(empty.ratchet(), Access::admin("ada")).get("/archive").await;
    assert!(empty.body.contains("No job is archived."), "{}", empty.body);
}

#[tokio::test]
async fn a_01_archived_jobs_are_deleted_after_a_confirmation() {
    let (shop, site, [succeeded, failed]) = archived().await;
    shop.sandbox.advance(Duration::from_hours(24));
    let ask = site.get("/act/archive.purge?state=failed&older_than=2d").await;
    html::check("/act/archive.purge", &ask.body);
    assert!(ask.body.contains(&format!("The archive has {failed} failed jobs")), "{}", ask.body);
    assert!(ask.body.contains("None of them was archived before"), "{}", ask.body);
    assert!(ask.body.contains("archive purge failed --older-than 2d"), "{}", ask.body);
    let ask = site.get("/act/archive.purge?state=failed&older_than=1d").await;
    assert!(ask.body.contains("Those that were archived before"), "{}", ask.body);
    let none = site.get("/act/archive.purge?state=canceled").await;
    assert!(none.body.contains("There is nothing to delete."), "{}", none.body);
    for (form, status) in [
        (vec![("state", "failed")], 422),
        (vec![("state", "failed"), ("older_than", "soon")], 422),
        (vec![("state", "pending"), ("older_than", "0s")], 422),
        (vec![("state", "failed"), ("older_than", "2d")], 303),
    ] {
        let reply = site.post("/act/archive.purge", &form).await;
        assert_eq!(reply.status, status, "{form:?}: {}", reply.body);
        assert_eq!(count(&shop, JobState::Failed).await, failed, "{form:?}");
    }
    let reply = site.post("/act/archive.purge", &[("state", "failed"), ("older_than", "1d")]).await;
    assert_eq!(reply.status, 303, "{}", reply.body);
    assert_eq!(count(&shop, JobState::Failed).await, 0);
    assert_eq!(count(&shop, JobState::Succeeded).await, succeeded);
    let page = site.get(reply.header(header::LOCATION).trim_start_matches("..")).await;
    let said = format!("{failed} jobs deleted from the archive.");
    assert!(page.body.contains(&said), "{}", page.body);
    let more = site.get("/archive?done=archive.purge&jobs=10000&more=1").await;
    assert!(more.body.contains("10,000 jobs deleted from the archive. Not all"), "{}", more.body);
    let trail = site.get("/api/v1/audit?verb=archive.purge").await;
    let entries = value(&trail.body)["entries"].as_array().expect("a list").len();
    assert_eq!(entries, 1, "{}", trail.body);
}

#[tokio::test]
async fn a_01_the_list_and_the_export_are_those_of_jobs_with_a_condition() {
    let (shop, site, [succeeded, failed]) = archived().await;
    for filter in ["", "state%3Afailed", "archived%3Afalse", "queue%3Anone"] {
        let only = format!("{filter}%20archived%3Aonly");
        for format in ["", "&format=csv", "&format=ndjson"] {
            let archive = site.get(&format!("/api/v1/archive/jobs?filter={filter}{format}")).await;
            let jobs = site.get(&format!("/api/v1/jobs?filter={only}{format}")).await;
            assert_eq!((archive.status, &archive.body), (jobs.status, &jobs.body), "{filter}");
        }
        let archive = site.get(&format!("/archive/export?filter={filter}&format=csv")).await;
        let jobs = site.get(&format!("/jobs/export?filter={only}&format=csv")).await;
        assert_eq!(archive.body, jobs.body, "{filter}");
    }
    let export = site.get("/archive/export?format=ndjson").await;
    assert_eq!(export.body.lines().count() as u64, succeeded + failed);
    let list = site.get("/archive/jobs").await;
    assert_eq!(list.header(header::LOCATION), "../jobs?filter=archived%3Aonly");
    let request = PageRequest { before: None, limit: 1 };
    let filter = ratchet_core::Filter::any().archived(ratchet_core::ArchivedJobs::Only);
    let newest = shop.ratchet().jobs().list(&filter, request).await.expect("lists").jobs.remove(0);
    let scoped = Site::new(shop.ratchet(), Access::admin("m").queues([newest.spec.queue.as_str()]));
    let list = scoped.get("/api/v1/archive/jobs").await;
    assert!(list.body.contains(&newest.id.to_string()), "a scope sees its own jobs");
    assert_eq!(scoped.get("/archive").await.status, 403);
}

#[tokio::test]
async fn a_01_the_api_describes_the_archive_and_deletes_from_it() {
    let (shop, site, [succeeded, failed]) = archived().await;
    let status = value(&site.get("/api/v1/archive").await.body);
    assert_eq!(status["jobs"], succeeded + failed);
    let of = |name: &str| {
        let states = status["states"].as_array().expect("a list");
        states.iter().find(|it| it["state"] == name).expect(name).clone()
    };
    assert_eq!((&of("FAILED")["jobs"], &of("CANCELED")["jobs"]), (&failed.into(), &0.into()));
    assert!(of("FAILED")["oldest"].is_string() && of("CANCELED")["oldest"].is_null());
    let purge = async |site: &Site, body: &'static str| {
        let request = Request::post("/api/v1/archive/purge").body(Body::from(body));
        site.read(request.expect("a request")).await
    };
    let all = r#"{"state":"succeeded","older_than":"0s","reason":"a test"}"#;
    let operator = Site::new(shop.ratchet(), Access::operator("bob"));
    let scoped = Site::new(shop.ratchet(), Access::admin("m").queues(["payments"]));
    for site in [&operator, &scoped] {
        assert_eq!(purge(site, all).await.status, 403);
    }
    assert_eq!(purge(&site, r#"{"state":"succeeded"}"#).await.status, 422);
    assert_eq!(count(&shop, JobState::Succeeded).await, succeeded);
    let done = purge(&site, all).await;
    let done = value(&done.body);
    assert_eq!((&done["deleted"], &done["complete"]), (&succeeded.into(), &true.into()), "{done}");
    assert_eq!(count(&shop, JobState::Succeeded).await, 0);
}
