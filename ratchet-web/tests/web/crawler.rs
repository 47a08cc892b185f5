//! Follows every link and form of a dashboard.

use std::collections::{BTreeSet, VecDeque};

use url::Url;

use crate::html;
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
