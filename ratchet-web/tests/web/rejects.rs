//! The page of rejected items, and its queries.

use ratchet_store::model::RejectFilter;
use ratchet_web::Access;
use serde_json::Value;

use crate::html;
use crate::shop::Shop;
use crate::site::Site;

fn value(body: &str) -> Value {
    serde_json::from_str(body).unwrap_or_else(|_| panic!("not JSON: {body}"))
}

#[tokio::test]
async fn o_09_rejected_items_are_shown_over_time_and_by_error() {
    let shop = Shop::open().await;
    let site = Site::new(shop.ratchet(), Access::admin("ada"));
    let page = site.get("/rejects").await;
    assert_eq!(page.status, 200);
    html::check("/rejects", &page.body);
    for text in ["Rejected per minute", "Stored items", "rejects?last=7d", "shop.import_line"] {
        assert!(page.body.contains(text), "`{text}` is missing: {}", page.body);
    }
    assert!(!page.body.contains("id=\"items\""), "items are only shown for a job: {}", page.body);

    let groups = shop.ratchet().rejects().groups(&RejectFilter::any()).await.expect("reads");
    let path = format!(
        "/rejects?last=1h&name={}&fingerprint={}",
        groups[0].job_name, groups[0].fingerprint
    );
    let page = site.get(&path).await;
    html::check(&path, &page.body);
    assert!(page.body.contains("the line has no price"), "{}", page.body);
    let command =
        format!("rejects trends --name shop.import_line --fingerprint {}", groups[0].fingerprint);
    assert!(page.body.contains(&command), "`{command}` is missing: {}", page.body);
    let none = site.get("/rejects?name=shop.import_line&fingerprint=other").await;
    assert!(none.body.contains("No job has rejected an item."), "{}", none.body);
    assert_eq!(site.get("/rejects?last=soon").await.status, 400);
}

#[tokio::test]
async fn o_10_rejected_items_are_grouped_counted_and_sampled_by_the_api() {
    let shop = Shop::open().await;
    let site = Site::new(shop.ratchet(), Access::admin("ada"));
    let groups = value(&site.get("/api/v1/rejects?last=1h").await.body);
    assert_eq!(groups["groups"][0]["count"], 1, "{groups}");
    let trends = value(&site.get("/api/v1/rejects/trends?last=1h").await.body);
    assert_eq!(trends["interval"], 120, "{trends}");
    let trend = &trends["groups"][0];
    assert_eq!(trend["job_name"], "shop.import_line", "{trends}");
    assert_eq!(trend["backlog"].as_array().and_then(|it| it.last()), Some(&Value::from(1)));
    let sample = value(&site.get("/api/v1/rejects/sample?name=shop.import_line").await.body);
    assert_eq!(sample["items"][0]["index"], 42, "{sample}");
    assert_eq!(value(&site.get("/api/v1/rejects?name=other").await.body)["groups"], value("[]"));
    assert_eq!(site.get("/api/v1/rejects/sample?limit=0").await.status, 400);
}
