//! Every page answers.

use ratchet_web::Access;

use crate::shop::Shop;
use crate::site::Site;

#[tokio::test]
async fn every_page_of_the_navigation_answers() {
    let shop = Shop::open().await;
    let site = Site::new(shop.ratchet(), Access::admin("ada"));
    let job = |id| format!("/jobs/{id}");
    let pages = [
        "/overview",
        "/jobs",
        "/failures",
        "/queues",
        "/breakers",
        "/schedules",
        "/flows",
        "/nodes",
        "/alerts",
        "/rejects",
        "/rejects?name=shop.import_line&last=7d",
        "/pipelines",
        "/unreadable",
        "/doctor",
        "/enqueue",
        "/help",
        "/queue?name=payments",
        "/breaker?service=payment-gateway",
        "/schedule?name=nightly",
    ]
    .map(str::to_owned);
    let more = [shop.succeeded, shop.failed, shop.waiting, shop.retrying].map(job);
    let flows = [shop.workflow, shop.batch].map(|id| format!("/flows/{id}"));
    for path in pages.iter().chain(&more).chain(&flows) {
        let reply = site.get(path).await;
        assert_eq!(reply.status, 200, "{path}: {}", reply.body);
    }
}
