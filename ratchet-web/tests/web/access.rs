//! Who may see and do what: every route, every role, every scope. spec: O-08

use axum::body::Body;
use axum::http::{Request, header};
use ratchet_core::Capability;
use ratchet_web::Access;

use crate::shop::Shop;
use crate::site::{Reply, Site};

/// Returns an address of a route, with objects of queue `payments`.
fn address(shop: &Shop, path: &str) -> String {
    let failed = shop.failed.to_string();
    let path = path
        .replace("{job}", &failed)
        .replace("{flow}", &shop.workflow.to_string())
        .replace("{name}", "style-000000000000.css");
    format!(
        "{path}?name=payments&service=payment-gateway&queue=payments&schedule=nightly&job={failed}&flow={}\
         &fingerprint=x&due=now&filter=queue:payments",
        shop.workflow
    )
}

async fn request(site: &Site, shop: &Shop, method: &str, path: &str) -> Reply {
    let failed = shop.failed.to_string();
    let form = format!(
        "job={failed}&queue=payments&service=payment-gateway&schedule=nightly&flow={}&filter=queue%3Apayments&name=shop.report&due=now",
        shop.workflow
    );
    let request = Request::builder()
        .method(method)
        .uri(address(shop, path))
        .header("sec-fetch-site", "same-origin")
        .header(header::IF_MATCH, "*")
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(Body::from(if method == "GET" { String::new() } else { form }))
        .expect("a request");
    // A stream of events does not end, so that only its head is read.
    if path.ends_with("/live") {
        let response = site.send(request).await;
        return Reply {
            status: response.status(),
            headers: response.headers().clone(),
            body: String::new(),
        };
    }
    site.read(request).await
}

#[tokio::test]
async fn o_08_every_route_needs_the_capability_of_its_verb() {
    let capabilities = [
        Capability::See,
        Capability::ActJobs,
        Capability::ActQueues,
        Capability::ActBreakers,
        Capability::ActSchedules,
        Capability::ActFlows,
        Capability::ActNodes,
        Capability::Bulk,
        Capability::SeeSecrets,
        Capability::Submit,
        Capability::Purge,
        Capability::Administer,
    ];
    let shop = Shop::open().await;
    let denied = Site::new(shop.ratchet(), Access::denied());
    let unset = Site::of(ratchet_web::router(shop.ratchet()).build());
    let mut roles: Vec<(Option<Capability>, Site)> =
        vec![(None, Site::new(shop.ratchet(), Access::viewer("v").see_arguments(true)))];
    for capability in capabilities {
        let access = Access::viewer("v").see_arguments(true).allow(capability);
        roles.push((Some(capability), Site::new(shop.ratchet(), access)));
    }
    for (method, path, _, needs) in ratchet_web::__private::routes() {
        for site in [&denied, &unset] {
            let status = request(site, &shop, &method, &path).await.status;
            assert_eq!(status == 403, needs.is_some(), "{method} {path} without access: {status}");
        }
        for (has, site) in &roles {
            let may = needs.is_none_or(|needs| needs == Capability::See || Some(needs) == *has);
            let status = request(site, &shop, &method, &path).await.status;
            assert_eq!(status == 403, !may, "{method} {path} with {has:?}: {status}");
            assert!(status.as_u16() < 500, "{method} {path}: {status}");
        }
    }
}

#[tokio::test]
async fn o_08_a_scope_shows_and_changes_nothing_outside_of_it() {
    let shop = Shop::open().await;
    let scoped = [
        Access::admin("m").queues(["mail"]),
        Access::admin("m").names(["shop.send_email"]),
        Access::admin("m").tenants(["unknown"]),
    ];
    for access in scoped {
        let before = shop.ratchet().jobs().counts().await.expect("counts");
        let rules = shop.ratchet().queues().list().await.expect("lists");
        let breakers = shop.ratchet().breakers().list().await.expect("lists");
        let schedules = shop.ratchet().schedules().list().await.expect("lists");
        let site = Site::new(shop.ratchet(), access);
        for (method, path, verb, _) in ratchet_web::__private::routes() {
            let reply = request(&site, &shop, &method, &path).await;
            if path == "/enqueue" || verb == "jobs.enqueue" {
                continue;
            }
            // The request itself names the queue and the job; nothing else may.
            for hidden in ["shop.charge", "order-901", "did not answer", "shop.pack", "worker-a"] {
                assert!(!reply.body.contains(hidden), "{method} {path} shows {hidden}");
            }
        }
        assert_eq!(shop.ratchet().jobs().counts().await.expect("counts"), before);
        assert_eq!(shop.ratchet().queues().list().await.expect("lists"), rules);
        assert_eq!(shop.ratchet().breakers().list().await.expect("lists"), breakers);
        assert_eq!(shop.ratchet().schedules().list().await.expect("lists"), schedules);
    }
}

#[tokio::test]
async fn o_08_a_scope_shows_what_is_in_it() {
    let shop = Shop::open().await;
    let site = Site::new(shop.ratchet(), Access::viewer("m").queues(["mail", "payments"]));
    let jobs = site.get("/jobs").await.body;
    assert!(jobs.contains("shop.send_email") && jobs.contains("shop.charge"));
    assert!(!jobs.contains("shop.reserve"));
    let job = site.get(&format!("/jobs/{}", shop.retrying)).await;
    assert_eq!(job.status, 200);
    assert!(site.get("/queues").await.body.contains("name=mail"));
    assert!(site.get("/failures").await.body.contains("NoAnswer"));
}

#[tokio::test]
async fn o_08_without_configuration_the_page_says_which_code_to_add() {
    let shop = Shop::open().await;
    let reply = Site::of(ratchet_web::router(shop.ratchet()).build()).get("/overview").await;
    assert_eq!(reply.status, 403);
    assert!(reply.body.contains(".access(|request|"), "{}", reply.body);
}

#[tokio::test]
async fn o_08_a_read_only_dashboard_changes_nothing_and_says_why() {
    let shop = Shop::open().await;
    let router = ratchet_web::router(shop.ratchet()).access(|_| Access::admin("ada")).read_only();
    let site = Site::of(router.build());
    assert!(!site.get(&format!("/jobs/{}", shop.failed)).await.body.contains("act/jobs.retry"));
    let reply = site.post("/act/queues.pause", &[("queue", "mail")]).await;
    assert_eq!(reply.status, 403);
    assert!(reply.body.contains("read_only"), "{}", reply.body);
}

#[tokio::test]
async fn o_08_a_request_of_another_site_changes_nothing() {
    let shop = Shop::open().await;
    let site = Site::new(shop.ratchet(), Access::admin("ada"));
    for (name, value) in [
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
        ("origin", "https://evil.example"),
    ] {
        let request = Request::post("/act/queues.pause")
            .header(header::HOST, "shop.example")
            .header(name, value)
            .body(Body::from("queue=mail"));
        let reply = site.read(request.expect("a request")).await;
        assert_eq!(reply.status, 403, "{name}: {value}");
    }
    let rules = shop.ratchet().queues().list().await.expect("lists");
    assert!(!rules.iter().any(|record| record.queue == "mail" && record.rules.paused));
    let reply = site.get("/overview").await;
    assert!(reply.headers.keys().all(|name| !name.as_str().starts_with("access-control")));
}

#[tokio::test]
async fn z_05_secret_arguments_are_masked_and_arguments_need_the_permission() {
    let shop = Shop::open().await;
    let paths = ["", "/arguments", "/output"].map(|end| format!("/jobs/{}{end}", shop.succeeded));
    let admin = Site::new(shop.ratchet(), Access::admin("ada"));
    let viewer = Site::new(shop.ratchet(), Access::viewer("eve"));
    for path in paths
        .iter()
        .map(String::as_str)
        .chain(["/jobs/export?format=ndjson", "/jobs/export?format=csv"])
    {
        for site in [&admin, &viewer] {
            let reply = site.get(path).await;
            assert!(!reply.body.contains("4111111111111111"), "{path} shows a secret");
        }
        assert!(!viewer.get(path).await.body.contains("4200"), "{path} shows arguments");
    }
    assert!(admin.get(&paths[1]).await.body.contains("\"cents\": 4200"));
}

#[tokio::test]
async fn z_05_a_filter_does_not_reveal_arguments() {
    let shop = Shop::open().await;
    let amount = "/api/v1/jobs?filter=args.cents%3D4200";
    let viewer = Site::new(shop.ratchet(), Access::viewer("v"));
    for path in [amount, "/jobs?filter=args.cents%3D4200", "/failures?filter=args.cents%3D4200"] {
        let reply = viewer.get(path).await;
        assert_eq!(reply.status, 403, "{path}: {}", reply.body);
    }
    let admin = Site::new(shop.ratchet(), Access::admin("ada"));
    let reply = admin.get(amount).await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    assert!(reply.body.contains("\"examined\":"), "{}", reply.body);
    let secret = admin.get("/api/v1/jobs?filter=args.card%3D4111111111111111").await;
    assert_eq!(secret.status, 403, "{}", secret.body);
    assert!(secret.body.contains("is secret"), "{}", secret.body);
}
