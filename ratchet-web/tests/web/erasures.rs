//! Erasures from the page of operations.

use ratchet_core::{BulkVerb, ErasurePhase};
use ratchet_web::Access;

use crate::html;
use crate::shop::Shop;
use crate::site::Site;

fn hidden(body: &str) -> Vec<(String, String)> {
    let fields = html::tags(body).into_iter().filter(|tag| tag.get("type") == Some("hidden"));
    let value = |tag: &html::Tag, name| tag.get(name).expect("an attribute").to_owned();
    fields.map(|tag| (value(&tag, "name"), value(&tag, "value"))).collect()
}

// spec: Z-12
#[tokio::test]
async fn z_12_an_erasure_is_previewed_confirmed_and_followed() {
    let shop = Shop::open().await;
    let site = Site::new(shop.ratchet(), Access::admin("ada"));
    let form = site.get("/operations").await;
    assert!(form.body.contains("act/erasures.start"), "{}", form.body);
    let ask = "/act/erasures.start?subject=tenant:acme";
    let page = site.get(ask).await;
    html::check(ask, &page.body);
    assert!(page.body.contains("tenant:acme</code> is deleted: 18 jobs"), "{}", page.body);
    assert!(page.body.contains("ratchet erasures start --tenant acme"), "{}", page.body);
    let operations = shop.ratchet().operations();
    assert!(operations.list(10).await.expect("lists").is_empty(), "a preview starts nothing");

    let mut fields = hidden(&page.body);
    fields.push(("reason".to_owned(), "ticket 4711".to_owned()));
    let form: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let done = site.post("/act/erasures.start", &form).await;
    assert_eq!(done.status, 303, "{}", done.body);
    let started = operations.list(10).await.expect("lists").remove(0);
    assert_eq!(started.verb, BulkVerb::Erase);
    assert_eq!(started.erasure.map(|erasure| erasure.phase), Some(ErasurePhase::Cancel));
    let path = format!("/operations/{}", started.id);
    let page = site.get(&path).await;
    html::check(&path, &page.body);
    for text in ["tenant:acme", "ticket 4711", "idempotency keys replaced by digests"] {
        assert!(page.body.contains(text), "`{text}` is missing: {}", page.body);
    }

    // The digest is that of another subject.
    let mut other = form.clone();
    other.retain(|(name, _)| *name != "subject");
    other.push(("subject", "tenant:other"));
    let refused = site.post("/act/erasures.start", &other).await;
    assert!(refused.status.is_client_error(), "{}: {}", refused.status, refused.body);
    assert_eq!(operations.list(10).await.expect("lists").len(), 1);
}

// spec: Z-12
#[tokio::test]
async fn z_12_only_an_access_to_everything_may_erase() {
    let shop = Shop::open().await;
    let limited = Site::new(shop.ratchet(), Access::admin("ada").queues(["payments"]));
    let operator = Site::new(shop.ratchet(), Access::operator("eve"));
    for site in [&limited, &operator] {
        let reply = site.post("/act/erasures.start", &[("subject", "tenant:acme")]).await;
        assert_eq!(reply.status, 403, "{}", reply.body);
    }
    // The numbers of a preview would reveal what other queues contain.
    let reply = limited.get("/api/v1/erasures/preview?subject=tenant:acme").await;
    assert_eq!(reply.status, 403, "{}", reply.body);
    let operations = shop.ratchet().operations().list(10).await.expect("lists");
    assert!(operations.is_empty(), "{operations:?}");
}
