//! Actions: confirmed on a page, then carried out, then reported.

use std::time::Duration;

use ratchet_core::{Capability, Filter, JobState, PageRequest, VERBS};
use ratchet_store::model::AuditFilter;
use ratchet_web::Access;

use crate::html;
use crate::shop::Shop;
use crate::site::Site;

async fn site() -> (Shop, Site) {
    let shop = Shop::open().await;
    let access = Access::admin("ada").allow(Capability::SeeSecrets);
    let site = Site::new(shop.ratchet(), access);
    (shop, site)
}

async fn state(shop: &Shop, id: ratchet_core::JobId) -> JobState {
    shop.ratchet().jobs().get(id).await.expect("reads").expect("exists").state
}

#[tokio::test]
async fn o_01_every_verb_that_changes_something_has_a_control_on_a_page() {
    let (shop, site) = site().await;
    let mut pages = vec![
        "/failures".to_owned(),
        "/queue?name=payments".to_owned(),
        "/queue?name=imports".to_owned(),
        "/breakers".to_owned(),
        "/schedule?name=nightly".to_owned(),
        "/enqueue".to_owned(),
        "/rejects?name=shop.import_line".to_owned(),
        "/nodes".to_owned(),
    ];
    let nodes = shop.ratchet().nodes();
    let quiet =
        nodes.list().await.expect("lists").iter().find(|node| node.alive).expect("a node").info.id;
    nodes.quiet(quiet).await.expect("requests");
    let open = shop.ratchet().batch("open").jobs([crate::shop::ImportLine { line: 1 }]).await;
    pages.push(format!("/flows/{}", open.expect("submits").id()));
    let page = PageRequest { before: None, limit: 1000 };
    let jobs = shop.ratchet().jobs().list(&Filter::any(), page).await.expect("lists");
    pages.extend(jobs.jobs.iter().map(|job| format!("/jobs/{}", job.id)));
    let operations = shop.ratchet().operations();
    for pauses in [false, true] {
        let filter = Filter::any().queue("none");
        let preview = operations.preview(ratchet_core::BulkVerb::Retry, &filter).await;
        let bulk = ratchet_core::Bulk::of(preview.expect("previews"));
        let started = operations.start(bulk).await.expect("starts");
        if pauses {
            operations.pause(started.id).await.expect("pauses");
        }
        pages.push(format!("/operations/{}", started.id));
    }
    pages.push("/operations".to_owned());
    let archived = shop.ratchet().store().archive(JobState::Canceled, Duration::ZERO, 10).await;
    assert!(archived.expect("archives") > 0);
    pages.push("/archive".to_owned());
    let mut found = String::new();
    for path in &pages {
        found += &site.get(path).await.body;
    }
    let failures = shop.ratchet().failures();
    let group = failures.groups(&Filter::any(), 100).await.expect("groups").groups.remove(0);
    let (name, fingerprint) = (&group.job_name, &group.fingerprint);
    let path = format!("/failures/group?name={name}&fingerprint={fingerprint}");
    found += &site.get(&path).await.body;
    failures.acknowledge(name, fingerprint).await.expect("marks");
    found += &site.get(&path).await.body;
    shop.ratchet().schedules().pause("nightly").await.expect("pauses");
    shop.ratchet().breakers().close("payment-gateway").await.expect("closes");
    let mut settings = ratchet_core::BreakerSettings::default();
    settings.window = 7;
    shop.ratchet().breakers().set("payment-gateway", settings).await.expect("sets");
    for path in ["/schedule?name=nightly", "/breakers"] {
        found += &site.get(path).await.body;
    }
    // The memory store has no unreadable rows, so that their controls do not appear.
    let without_target = ["unreadable.drop", "unreadable.repair"];
    for verb in VERBS.iter().filter(|verb| verb.changes && !without_target.contains(&verb.name)) {
        let control = |end| found.contains(&format!("act/{}{end}", verb.name));
        assert!(control("?") || control("\""), "no control for {}", verb.name);
    }
}

#[tokio::test]
async fn an_action_is_confirmed_in_words_then_done_then_reported() {
    let (shop, site) = site().await;
    let ask = format!("/act/jobs.retry?job={}", shop.failed);
    let page = site.get(&ask).await;
    assert_eq!(page.status, 200);
    html::check(&ask, &page.body);
    assert!(page.body.contains("runs again from the start"), "{}", page.body);
    assert!(page.body.contains(&format!("ratchet jobs retry {}", shop.failed)));
    assert_eq!(state(&shop, shop.failed).await, JobState::Failed, "asking changes nothing");

    let fields = html::tags(&page.body);
    let hidden: Vec<_> = fields.iter().filter(|tag| tag.get("type") == Some("hidden")).collect();
    let mut form: Vec<_> = hidden
        .iter()
        .map(|tag| (tag.get("name").expect("a name"), tag.get("value").expect("a value")))
        .collect();
    form.push(("reason", "the gateway is back"));
    let done = site.post("/act/jobs.retry", &form).await;
    assert_eq!(done.status, 303, "{}", done.body);
    let location = done.header(axum::http::header::LOCATION);
    assert_eq!(location, format!("../jobs/{}?done=jobs.retry", shop.failed));
    assert_eq!(state(&shop, shop.failed).await, JobState::Pending);
    let result = site.get(location.trim_start_matches("..")).await;
    assert!(result.body.contains("The job is pending again."));

    // The form is sent a second time: the job has moved since, so that nothing happens.
    let stale = site.post("/act/jobs.retry", &form).await;
    assert_eq!(stale.status, 412);
    assert!(stale.body.contains("it is pending now"), "{}", stale.body);
}

#[tokio::test]
async fn every_action_on_a_job_changes_it() {
    let (shop, site) = site().await;
    let id = shop.waiting.to_string();
    for (verb, expected) in [
        ("jobs.pause", JobState::Paused),
        ("jobs.resume", JobState::Pending),
        ("jobs.move", JobState::Pending),
        ("jobs.reschedule", JobState::Pending),
        ("jobs.cancel", JobState::Canceled),
    ] {
        let reply = site
            .post(
                &format!("/act/{verb}"),
                &[("job", &id), ("due", "now"), ("to_queue", "express"), ("priority", "high")],
            )
            .await;
        assert_eq!(reply.status, 303, "{verb}: {}", reply.body);
        assert_eq!(state(&shop, shop.waiting).await, expected, "{verb}");
    }
    let reply = site.post("/act/jobs.pause", &[("job", &id)]).await;
    assert_eq!(reply.status, 409, "{}", reply.body);
}

#[tokio::test]
async fn queues_breakers_and_schedules_are_changed() {
    let (shop, site) = site().await;
    let ratchet = shop.ratchet();
    let queue = |name: &'static str| async move {
        let queues = ratchet.queues().list().await.expect("lists");
        queues.into_iter().find(|record| record.queue == name)
    };
    let limits = [
        ("queue", "payments"),
        ("concurrency", "7"),
        ("rate", "5/10s"),
        ("rate_per_key", "2/m"),
        ("fair", "yes"),
    ];
    let ask =
        "/act/queues.limit?queue=payments&concurrency=7&rate=5%2F10s&rate_per_key=2%2Fm&fair=yes";
    let ask = site.get(ask).await;
    assert!(
        ask.body.contains("7 at once, 5 per 10 s, 2 per 1 m for each key, tenants in turn"),
        "{}",
        ask.body
    );
    assert!(
        ask.body.contains("--concurrency 7 --rate 5/10s --rate-per-key 2/1m --fair"),
        "{}",
        ask.body
    );
    assert_eq!(site.post("/act/queues.limit", &limits).await.status, 303);
    let limited = queue("payments").await.expect("limited").rules.limits;
    assert_eq!((limited.concurrency, limited.fair), (Some(7), true));
    let each = limited.rate_per_key.expect("each key has a rate");
    assert_eq!((each.jobs, each.per.as_secs()), (2, 60));
    let page = site.get("/queue?name=payments").await;
    assert!(page.body.contains("2 per 1 m for each key"), "{}", page.body);
    let wrong = [("queue", "mail"), ("rate_per_key", "soon")];
    assert_eq!(site.post("/act/queues.limit", &wrong).await.status, 422);
    assert_eq!(site.post("/act/queues.reset", &[("queue", "payments")]).await.status, 303);
    assert!(queue("payments").await.is_none());
    assert_eq!(site.post("/act/queues.resume", &[("queue", "imports")]).await.status, 303);
    assert!(queue("imports").await.is_none_or(|record| !record.rules.paused));
    let wrong = site.post("/act/queues.limit", &[("queue", "mail"), ("rate", "soon")]).await;
    assert_eq!(wrong.status, 422);
    let wrong = site.post("/act/queues.limit", &[("queue", "mail"), ("fair", "maybe")]).await;
    assert_eq!(wrong.status, 422);

    assert_eq!(
        site.post("/act/breakers.close", &[("service", "payment-gateway")]).await.status,
        303
    );
    let breaker = ratchet.breakers().get("payment-gateway").await.expect("reads").expect("exists");
    assert_eq!(breaker.state, ratchet_core::BreakerState::Closed);

    assert_eq!(site.post("/act/schedules.pause", &[("schedule", "nightly")]).await.status, 303);
    assert!(
        ratchet.schedules().get("nightly").await.expect("reads").expect("exists").schedule.paused
    );
    let run = site.post("/act/schedules.run", &[("schedule", "nightly")]).await;
    assert!(run.header(axum::http::header::LOCATION).starts_with("../jobs/"));
    assert_eq!(site.post("/act/schedules.remove", &[("schedule", "nightly")]).await.status, 303);
    assert!(ratchet.schedules().get("nightly").await.expect("reads").is_none());
}

#[tokio::test]
async fn failed_jobs_are_retried_a_few_first() {
    let (shop, site) = site().await;
    let failed =
        || async { shop.ratchet().jobs().counts().await.expect("counts").state(JobState::Failed) };
    let before = failed().await;
    assert!(before >= 3, "{before}");
    let reply = site.post("/act/failures.redrive", &[("limit", "1")]).await;
    let location = reply.header(axum::http::header::LOCATION).to_owned();
    assert_eq!(failed().await, before - 1, "{}", reply.body);
    let page = site.get(location.trim_start_matches("..")).await;
    assert!(page.body.contains("1 job retried."), "{location}");
}

#[tokio::test]
async fn a_typed_form_enqueues_a_job() {
    let (shop, site) = site().await;
    let page = site.get("/act/jobs.enqueue?name=shop.charge").await;
    assert!(page.body.contains("name=\"arg.card\" type=\"password\""), "{}", page.body);
    let form = [
        ("name", "shop.charge"),
        ("arg.order", "18446744073709551615"),
        ("arg.cents", "5"),
        ("arg.card", "42"),
    ];
    let reply = site.post("/act/jobs.enqueue", &form).await;
    let location = reply.header(axum::http::header::LOCATION).to_owned();
    assert_eq!(reply.status, 303, "{}", reply.body);
    let job = site.get(location.trim_start_matches("..")).await;
    assert!(job.body.contains("18446744073709551615"), "a number beyond 2^53 is exact");
    assert!(job.body.contains("The job is enqueued."));
    let wrong =
        site.post("/act/jobs.enqueue", &[("name", "shop.charge"), ("arg.order", "many")]).await;
    assert_eq!(wrong.status, 422, "{}", wrong.body);
    assert_eq!(shop.ratchet().definitions().len(), 7);
}

#[tokio::test]
async fn a_page_says_only_what_an_action_has_done() {
    let (_shop, site) = site().await;
    let page = site.get("/jobs?done=%3Cb%3Eyou+won%3C%2Fb%3E&jobs=x").await;
    assert!(!page.body.contains("you won"));
}

#[tokio::test]
async fn o_03_selected_jobs_become_the_filter_of_an_operation() {
    let (shop, site) = site().await;
    let failed = Filter::any().state(JobState::Failed);
    let request = PageRequest { before: None, limit: 2 };
    let jobs = shop.ratchet().jobs().list(&failed, request).await.expect("a page").jobs;
    let list = site.get("/jobs?filter=state%3Afailed").await;
    let mut ask = "/act/operations.start?selected=yes&action=retry".to_owned();
    for job in &jobs {
        let checkbox = format!("form=\"selection\" name=\"job\" value=\"{}\"", job.id);
        assert!(list.body.contains(&checkbox), "{}", list.body);
        ask = format!("{ask}&job={}", job.id);
    }
    let page = site.get(&ask).await;
    html::check(&ask, &page.body);
    assert!(page.body.contains("2 jobs match"), "{}", page.body);
    let filter = format!("id:{},{}", jobs[0].id, jobs[1].id);
    assert!(page.body.contains(&format!("name=\"filter\" value=\"{filter}\"")), "{}", page.body);
    let none = site.get("/act/operations.start?selected=yes&action=cancel").await;
    assert_eq!(none.status, 422, "an empty selection must not select all jobs");
    let wrong = site.get("/act/operations.start?selected=yes&job=7").await;
    assert_ne!(wrong.status, 200);
}

#[tokio::test]
async fn o_09_an_access_that_may_not_change_jobs_selects_none() {
    let shop = Shop::open().await;
    let viewer = Site::new(shop.ratchet(), Access::viewer("ada"));
    let page = viewer.get("/jobs?filter=state%3Afailed").await;
    assert!(!page.body.contains("type=\"checkbox\""), "{}", page.body);
    assert!(!page.body.contains("Change all that match"));
}

#[tokio::test]
async fn o_04_an_operation_is_started_only_as_it_was_previewed() {
    let (shop, site) = site().await;
    let ask = "/act/operations.start?filter=state%3Afailed&action=retry&canary=1&pace=10";
    let page = site.get(ask).await;
    assert_eq!(page.status, 200, "{}", page.body);
    html::check(ask, &page.body);
    assert!(page.body.contains("1 job first"), "{}", page.body);
    let fields = html::tags(&page.body);
    let value = |name: &str| {
        let tag = fields.iter().find(|tag| tag.get("name") == Some(name));
        tag.and_then(|tag| tag.get("value")).expect(name).to_owned()
    };
    let (cutoff, digest) = (value("cutoff"), value("digest"));
    let mut form = vec![
        ("filter", "queue:mail"),
        ("action", "retry"),
        ("canary", "1"),
        ("cutoff", &cutoff),
        ("digest", &digest),
        ("reason", "the gateway is back"),
    ];
    let other = site.post("/act/operations.start", &form).await;
    assert_eq!(other.status, 409, "{}", other.body);
    assert!(shop.ratchet().operations().list(10).await.expect("lists").is_empty());
    form[0].1 = "state:failed";
    let done = site.post("/act/operations.start", &form).await;
    assert_eq!(done.status, 303, "{}", done.body);
    let started = shop.ratchet().operations().list(10).await.expect("lists").remove(0);
    let location = done.header(axum::http::header::LOCATION);
    assert_eq!(location, format!("../operations/{}?done=operations.start", started.id));
    assert_eq!(started.canary.map(|canary| canary.jobs), Some(1));
    let reason = started.actor.and_then(|actor| actor.reason);
    assert_eq!(reason.as_deref(), Some("the gateway is back"));
    let id = started.id.to_string();
    let shown = site.get(&format!("/operations/{id}")).await;
    html::check("/operations/…", &shown.body);
    for (verb, status) in [("pause", 303), ("resume", 303), ("abort", 303), ("resume", 409)] {
        let path = format!("/act/operations.{verb}");
        let reply = site.post(&path, &[("operation", &id)]).await;
        assert_eq!(reply.status, status, "{verb}: {}", reply.body);
    }
}

#[tokio::test]
async fn o_05_a_failed_job_is_edited_on_its_page_and_secrets_are_kept() {
    let (shop, site) = site().await;
    let id = shop.failed.to_string();
    let page = site.get(&format!("/jobs/{id}")).await;
    assert!(page.body.contains("act/jobs.edit?"), "{}", page.body);
    let ask = format!("/act/jobs.edit?job={id}");
    let form = site.get(&ask).await;
    html::check(&ask, &form.body);
    assert!(
        form.body.contains("\"cents\": 4200") || form.body.contains("&quot;cents&quot;: 4200"),
        "{}",
        form.body
    );
    assert!(form.body.contains("***") && !form.body.contains("4111111111111111"));
    assert!(!form.body.contains("formmethod"), "arguments are not part of an address");
    let edited = r#"{"order": 901, "cents": 99, "card": "***"}"#;
    let wrong = [("job", id.as_str()), ("arguments", r#"{"order": "many"}"#)];
    assert_eq!(site.post("/act/jobs.edit", &wrong).await.status, 422);
    let fields = [("job", id.as_str()), ("arguments", edited), ("reason", "a wrong amount")];
    let reply = site.post("/act/jobs.edit", &fields).await;
    assert_eq!(reply.status, 303, "{}", reply.body);
    let location = reply.header(axum::http::header::LOCATION).to_owned();
    let page = site.get(location.trim_start_matches("..")).await;
    assert!(page.body.contains("in place of the one that was edited"), "{}", page.body);
    let links = shop.ratchet().jobs().succession(shop.failed).await.expect("reads");
    let successor = links.successor.expect("a successor");
    assert!(location.contains(&successor.to_string()), "{location}");
    let job = shop.ratchet().jobs().get(successor).await.expect("reads").expect("exists");
    assert_eq!(
        String::from_utf8_lossy(&job.spec.payload),
        r#"{"order":901,"cents":99,"card":"4111111111111111"}"#
    );
    assert_eq!(job.spec.business_key.as_deref(), Some("order-901"));
    assert_eq!(state(&shop, shop.failed).await, JobState::Failed);
    let page = site.get(&format!("/jobs/{id}")).await;
    assert!(page.body.contains("Edited and retried") && page.body.contains(&successor.to_string()));
    assert!(!page.body.contains("act/jobs.retry") && !page.body.contains("act/jobs.edit"));
    assert_eq!(site.post("/act/jobs.edit", &fields).await.status, 409);
    let refused = site.get(&ask).await;
    assert!(refused.body.contains("This is not possible"), "{}", refused.body);
    // An access without arguments must not replace them.
    let operator = Site::new(shop.ratchet(), Access::admin("bob").see_arguments(false));
    let other =
        shop.ratchet().jobs().list(&failed_without_successor(), PageRequest::default()).await;
    let other = other.expect("lists").jobs.into_iter().find(|job| job.id != shop.failed);
    let other = other.expect("another failed job").id.to_string();
    let reply = operator.post("/act/jobs.edit", &[("job", &other), ("arguments", edited)]).await;
    assert_eq!(reply.status, 403, "{}", reply.body);
}

#[tokio::test]
async fn z_05_secrets_are_revealed_on_one_page_and_the_trail_says_to_whom() {
    const CARD: &str = "4111111111111111";
    let (shop, site) = site().await;
    let id = shop.failed.to_string();
    let page = site.get(&format!("/jobs/{id}")).await;
    assert!(page.body.contains("act/jobs.reveal?") && !page.body.contains(CARD), "{}", page.body);
    let ask = site.get(&format!("/act/jobs.reveal?job={id}")).await;
    html::check("/act/jobs.reveal", &ask.body);
    assert!(ask.body.contains("audit trail records") && !ask.body.contains(CARD), "{}", ask.body);
    let fields = [("job", id.as_str()), ("reason", "a disputed charge")];
    let reveals = AuditFilter { verb: Some("jobs.reveal".to_owned()), ..AuditFilter::default() };
    let trail = async || shop.ratchet().audit().list(&reveals, None, 10).await;
    // Neither an administrator without the capability nor an access without arguments sees them.
    for access in [
        Access::admin("bob"),
        Access::admin("bob").allow(Capability::SeeSecrets).see_arguments(false),
    ] {
        let other = Site::new(shop.ratchet(), access);
        assert!(!other.get(&format!("/jobs/{id}")).await.body.contains("act/jobs.reveal"));
        let refused = other.post("/act/jobs.reveal", &fields).await;
        assert_eq!(refused.status, 403, "{}", refused.body);
        assert!(!refused.body.contains(CARD));
    }
    assert!(trail().await.expect("lists").is_empty());
    let shown = site.post("/act/jobs.reveal", &fields).await;
    assert_eq!(shown.status, 200, "{}", shown.body);
    html::check("/act/jobs.reveal", &shown.body);
    assert!(shown.body.contains(CARD), "{}", shown.body);
    assert_eq!(shown.header(axum::http::header::CACHE_CONTROL), "no-store");
    let entries = trail().await.expect("lists");
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].actor.name, "ada");
    assert_eq!(entries[0].actor.reason.as_deref(), Some("a disputed charge"));
    assert!(!site.get("/audit").await.body.contains(CARD));
}

fn failed_without_successor() -> Filter {
    Filter::any().state(JobState::Failed).name("shop.charge")
}
