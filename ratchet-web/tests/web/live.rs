//! Open pages are notified of changes. spec: O-10

use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt as _;
use ratchet_web::Access;

use crate::shop::{Reserve, Shop};
use crate::site::Site;

#[tokio::test(start_paused = true)]
async fn o_10_a_change_notifies_open_pages_and_a_closed_page_costs_nothing() {
    let shop = Shop::open().await;
    let site = Site::new(shop.ratchet(), Access::viewer("ada"));
    let request = || Request::get("/live").body(Body::empty()).expect("a request");
    let mut stream = site.send(request()).await.into_body();
    let mut next = async || {
        let frame = stream.frame().await.expect("is open").expect("reads");
        String::from_utf8(frame.into_data().expect("data").to_vec()).expect("text")
    };
    assert_eq!(next().await, ": connected\n\n");
    // The first look at the store has nothing to compare with.
    assert_eq!(next().await, "event: change\ndata: 1\n\n");
    shop.ratchet().enqueue(Reserve { order: 5 }).await.expect("enqueues");
    assert_eq!(next().await, "event: change\ndata: 2\n\n");
    // Without a change, pages are notified every ten seconds, because they show relative times.
    let before = tokio::time::Instant::now();
    assert_eq!(next().await, "event: change\ndata: 3\n\n");
    assert_eq!(before.elapsed(), Duration::from_secs(10));
    drop(stream);
    // The task looks once more, finds no open page and ends. A new page starts it again.
    tokio::time::sleep(Duration::from_mins(1)).await;
    let mut again = site.send(request()).await.into_body();
    again.frame().await.expect("is open").expect("reads");
    let notice = again.frame().await.expect("is open").expect("reads");
    assert_eq!(notice.into_data().expect("data"), "event: change\ndata: 4\n\n");
}
