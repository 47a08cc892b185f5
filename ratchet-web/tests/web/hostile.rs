//! Rows with hostile text, on every page and export.

use ratchet_core::{Filter, JobId, PageRequest};
use ratchet_store::model::{BreakerUpdate, JobSpec, NewJob, QueueUpdate};
use ratchet_web::Access;

use crate::html;
use crate::shop::Shop;
use crate::site::Site;

const TEXTS: [&str; 7] = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"><svg/onload=alert(1)>",
    "right\u{202e}tfel\u{2066}x",
    "=HYPERLINK(\"https://evil.example\")",
    "one\r\ndata: two\r\n\r\nevent: change",
    "../../x?y&z#w",
];

async fn insert(shop: &Shop, at: u128, text: &str) -> JobId {
    let id =
        JobId::from_uuid(uuid::Uuid::from_u128(0x019f_0000_0000_7000_8000_0000_0000_0000 + at));
    let payload = serde_json::json!({ "text": text, "large": u64::MAX, "minus": i64::MIN });
    let mut spec = JobSpec::new(text, serde_json::to_vec(&payload).expect("JSON"));
    spec.queue = text.to_owned();
    spec.tags = vec![text.to_owned()];
    spec.tenant = Some(text.to_owned());
    spec.business_key = Some(text.to_owned());
    spec.correlation_id = Some(text.to_owned());
    spec.service = Some(text.to_owned());
    let store = shop.ratchet().store();
    store.insert(vec![NewJob::new(id, spec)]).await.expect("inserts");
    id
}

/// Removes the values of an attribute.
fn without(html: &str, attribute: &str) -> String {
    let mut parts = html.split(attribute);
    let mut rest = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        rest += part.split_once('"').map_or("", |(_, after)| after);
    }
    rest
}

#[tokio::test]
async fn hostile_text_is_shown_and_does_nothing() {
    let shop = Shop::open().await;
    let site = Site::new(shop.ratchet(), Access::admin("<b>ada</b>"));
    let long = "y".repeat(100 * 1024);
    let mut pages = Vec::new();
    for (at, text) in TEXTS.into_iter().chain([long.as_str()]).enumerate() {
        let id = insert(&shop, at as u128, text).await;
        let encode =
            |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
        pages.push(format!("/jobs/{id}"));
        pages.push(format!("/act/jobs.cancel?job={id}"));
        if text.len() < 1000 {
            // The client refuses most of these names, the store does not.
            let store = shop.ratchet().store();
            store.update_queue(text, QueueUpdate::Pause).await.expect("pauses");
            store.update_breaker(text, BreakerUpdate::Open(None)).await.expect("opens");
            pages.push(format!("/queue?name={}", encode(text)));
            pages.push(format!("/breaker?service={}", encode(text)));
            pages.push(format!("/act/queues.resume?queue={}", encode(text)));
            pages.push(format!("/jobs?filter={}", encode(&Filter::any().queue(text).to_string())));
            pages.push(format!("/jobs?filter={}", encode(text)));
        }
    }
    pages.extend(
        ["/overview", "/jobs", "/queues", "/breakers", "/doctor", "/failures"].map(str::to_owned),
    );
    for path in &pages {
        let reply = site.get(path).await;
        assert_eq!(reply.status, 200, "{path}: {}", reply.body);
        html::check(path, &reply.body);
        // What is copied or sent must be exact, so that only what is displayed is escaped.
        let mut shown = reply.body.clone();
        for attribute in ["data-copy=\"", "value=\""] {
            shown = without(&shown, attribute);
        }
        for raw in ["<script>alert", "<img src=x", "<svg/onload", "\u{202e}", "\u{2066}", "<b>ada"]
        {
            assert!(!shown.contains(raw), "{path} contains {raw:?}");
        }
        assert!(reply.body.len() < 1_000_000, "{path} has {} bytes", reply.body.len());
    }
}

#[tokio::test]
async fn o_13_exports_have_every_job_and_no_formula() {
    let shop = Shop::open().await;
    for (at, text) in TEXTS.into_iter().enumerate() {
        insert(&shop, at as u128, text).await;
    }
    let site = Site::new(shop.ratchet(), Access::admin("ada"));
    let page = PageRequest { before: None, limit: 10_000 };
    let jobs = shop.ratchet().jobs().list(&Filter::any(), page).await.expect("lists").jobs;
    let lines = site.get("/jobs/export?format=ndjson").await;
    assert_eq!(lines.body.lines().count(), jobs.len());
    for (line, job) in lines.body.lines().zip(&jobs) {
        let value: serde_json::Value = serde_json::from_str(line).expect("a document");
        assert_eq!(value["id"], job.id.to_string());
    }
    let csv = site.get("/jobs/export?format=csv").await.body;
    assert!(!csv.contains(",=HYPERLINK") && !csv.contains(",\"=HYPERLINK"), "{csv}");
    assert!(csv.contains("\"'=HYPERLINK(\"\"https://evil.example\"\")\""), "{csv}");
    let some = site.get("/jobs/export?format=ndjson&filter=queue%3Apayments").await;
    let payments = jobs.iter().filter(|job| job.spec.queue == "payments").count();
    assert_eq!(some.body.lines().count(), payments);
}

#[tokio::test]
async fn every_page_of_a_list_is_reached_forward_and_backward() {
    let shop = Shop::open().await;
    for access in [
        Access::viewer("ada"),
        Access::viewer("ada").queues(["imports", "payments", "orders", "mail"]),
    ] {
        let site = Site::new(shop.ratchet(), access);
        let ids = |body: &str| -> Vec<String> {
            let tags = html::tags(body);
            tags.iter()
                .filter_map(|tag| tag.get("data-copy"))
                .filter(|id| id.len() == 36)
                .map(str::to_owned)
                .collect()
        };
        let link = |body: &str, rel: &str| {
            let tags = html::tags(body);
            tags.iter()
                .find(|tag| tag.get("rel") == Some(rel))
                .and_then(|tag| tag.get("href"))
                .map(|link| link.replacen('.', "", 1))
        };
        let mut pages = vec![site.get("/jobs").await.body];
        while let Some(next) = link(pages.last().expect("a page"), "next") {
            pages.push(site.get(&next).await.body);
        }
        assert!(pages.len() > 5, "{} pages", pages.len());
        for at in (1..pages.len()).rev() {
            let back = link(&pages[at], "prev").expect("a previous page");
            assert_eq!(ids(&site.get(&back).await.body), ids(&pages[at - 1]), "page {at}");
        }
        let all: Vec<_> = pages.iter().flat_map(|page| ids(page)).collect();
        let total: u64 = shop
            .ratchet()
            .jobs()
            .counts()
            .await
            .expect("counts")
            .queues
            .values()
            .flat_map(|queue| queue.states.values())
            .sum();
        assert_eq!(all.len() as u64, total);
    }
}
