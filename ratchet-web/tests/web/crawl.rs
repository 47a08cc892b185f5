//! Every link and form leads to a page, under every mount. spec: O-09

use axum::Router;
use ratchet::Ratchet;
use ratchet_web::Access;

use crate::crawler::crawl;
use crate::html;
use crate::shop::Shop;
use crate::site::Site;

fn dashboard(ratchet: &Ratchet) -> Router {
    ratchet_web::router(ratchet).access(|_| Access::admin("ada")).build()
}

#[tokio::test]
async fn o_09_every_link_works_at_the_root_nested_and_behind_a_proxy_that_strips_a_prefix() {
    let shop = Shop::open().await;
    let at_root = Site::of(dashboard(shop.ratchet()));
    let root = crawl(&at_root, "/", "").await;
    assert!(root.len() > 100, "only {} pages", root.len());
    let nested = Site::of(Router::new().nest("/a/b", dashboard(shop.ratchet())));
    let below = crawl(&nested, "/a/b", "").await;
    assert_eq!(below.len(), root.len());
    let behind = crawl(&at_root, "/", "/ops").await;
    assert_eq!(behind.len(), root.len());
    let nested_behind = crawl(&nested, "/a/b", "/ops").await;
    assert_eq!(nested_behind.len(), root.len());
}

#[tokio::test]
async fn o_09_the_overview_weighs_less_than_60_kilobytes() {
    let shop = Shop::open().await;
    let site = Site::of(dashboard(shop.ratchet()));
    let overview = site.get("/overview").await;
    let mut bytes = overview.body.len();
    for tag in html::tags(&overview.body) {
        let asset = tag.get("src").filter(|_| tag.name == "script");
        let asset = asset.or(tag.get("href").filter(|_| tag.get("rel") == Some("stylesheet")));
        if let Some(asset) = asset {
            let reply = site.get(asset.trim_start_matches('.')).await;
            assert_eq!(reply.status, 200);
            bytes += reply.body.len();
        }
    }
    assert!(bytes < 60_000, "{bytes} bytes");
    let script = include_str!("../../assets/script.js");
    assert!(script.lines().count() <= 400);
}
