//! Every link and form leads to a page, under every mount. spec: O-09

use std::collections::{BTreeSet, VecDeque};

use axum::Router;
use ratchet::Ratchet;
use ratchet_web::Access;
use url::Url;

use crate::html;
use crate::shop::Shop;
use crate::site::Site;

/// Follows every link from the overview. `strip` is the prefix that a proxy removes.
pub(crate) async fn crawl(site: &Site, mount: &str, strip: &str) -> BTreeSet<String> {
    let start = Url::parse(&format!("http://shop.example{strip}{mount}")).expect("an address");
    let mut seen = BTreeSet::new();
    let mut open = VecDeque::from([start]);
    while let Some(address) = open.pop_front() {
        let mut page = address.clone();
        page.set_fragment(None);
        if page.path().ends_with("/live") || !seen.insert(page.to_string()) || seen.len() > 400 {
            continue;
        }
        let path = &page[url::Position::BeforePath..];
        let inner = path.strip_prefix(strip).unwrap_or_else(|| panic!("{path} leaves {strip}"));
        assert!(inner.starts_with(mount.trim_end_matches('/')), "{path} leaves the dashboard");
        let reply = site.get(inner).await;
        if reply.status == 303 {
            let location = reply.header(axum::http::header::LOCATION);
            open.push_back(page.join(location).expect("an address"));
            continue;
        }
        assert_eq!(reply.status, 200, "{path}: {}", reply.body);
        let policy = reply.header(axum::http::header::CONTENT_SECURITY_POLICY);
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self'"));
        if !reply.header(axum::http::header::CONTENT_TYPE).starts_with("text/html") {
            continue;
        }
        html::check(path, &reply.body);
        for tag in html::tags(&reply.body) {
            let is_post = tag.get("method") == Some("post");
            let link =
                tag.get("href").or(tag.get("src")).or(tag.get("action").filter(|_| !is_post));
            open.extend(link.map(|link| page.join(link).expect("an address")));
        }
    }
    seen
}

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
