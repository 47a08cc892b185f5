//! The webhook sink against servers that answer, fail and hang.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ratchet::JobError;
use ratchet::env::{Clock as _, SystemClock};
use ratchet::prelude::*;
use ratchet::testing::Sandbox;
use ratchet_extras::webhook::{WebhookError, WebhookSink, verify};

use super::server::{Reply, Server, response};
use super::{allowing, url};

const SECRET: &[u8] = b"whsec";

#[job(name = "webhook.work", max_retries = 0)]
async fn work(fails: bool) -> Result<u32, JobError> {
    if fails { Err(JobError::msg("broken")) } else { Ok(7) }
}

fn sink(server: &Server) -> WebhookSink {
    let policy = allowing(server).timeout(Duration::from_millis(200)).build().expect("a policy");
    WebhookSink::new(policy, url(server, "/hook"), SECRET).expect("a sink")
}

async fn sandbox(server: &Server) -> Sandbox {
    let builder = Sandbox::builder().jobs([Work::JOB]).configure(|builder| {
        let builder = builder.outcome_sink(sink(server)).dead_letter_sink(sink(server));
        builder.alert_sink(sink(server))
    });
    builder.build().await.expect("a sandbox")
}

/// Checks the signature of a request, and returns the id of the delivery and the body.
fn verified(request: &str) -> (String, serde_json::Value) {
    let (head, body) = request.split_once("\r\n\r\n").expect("a head");
    let headers: BTreeMap<_, _> = head.lines().filter_map(|line| line.split_once(": ")).collect();
    let now = SystemClock::default().now().as_second().unsigned_abs();
    let (signature, id) = (headers["ratchet-signature"], headers["ratchet-delivery"]);
    verify(SECRET, signature, id, body.as_bytes(), now, Duration::from_mins(5))
        .expect("a valid signature");
    assert_eq!(headers["content-type"], "application/json");
    (id.to_owned(), serde_json::from_str(body).expect("JSON"))
}

// spec: D-08
#[tokio::test]
async fn d_08_every_message_is_sent_and_signed() {
    let server = Server::replying("204 No Content", &[], b"").await;
    let sandbox = sandbox(&server).await;
    let paid = sandbox.enqueue(Work { fails: false }).await.expect("enqueued");
    let broken = sandbox.enqueue(Work { fails: true }).await.expect("enqueued");
    sandbox.drain().await.expect("drained");
    let requests: Vec<_> = server.requests().iter().map(|request| verified(request)).collect();
    let of = |kind: &str| {
        let bodies = requests.iter().filter(|(_, body)| body["type"] == kind);
        bodies.map(|(_, body)| body["data"].clone()).collect::<Vec<_>>()
    };
    let outcomes = of("outcome");
    let find = |id: ratchet::JobId| {
        outcomes.iter().find(|it| it["job_id"] == id.to_string()).expect("an outcome")
    };
    assert_eq!((find(paid.id())["kind"].as_str(), outcomes.len()), (Some("success"), 2));
    assert_eq!(find(broken.id())["kind"], "failure");
    assert_eq!(of("dead_letter")[0]["job_id"], broken.id().to_string());
    assert_eq!(of("alert")[0]["message"], "broken");
    assert_eq!(requests.len(), 4);
}

// spec: D-08
#[tokio::test]
async fn d_08_a_message_is_repeated_until_it_is_accepted() {
    let tries = AtomicUsize::new(0);
    let server = Server::start(move |_| match tries.fetch_add(1, Ordering::SeqCst) {
        0 => Reply::Bytes(response("503 Service Unavailable", &[], b"")),
        1 => Reply::Stall(b"HTTP/1.1 200 OK\r\n".to_vec()),
        2 => Reply::Bytes(b"not HTTP".to_vec()),
        3 => Reply::Bytes(response("302 Found", &["location: /elsewhere"], b"")),
        _ => Reply::Bytes(response("200 OK", &[], b"")),
    })
    .await;
    let builder = Sandbox::builder().jobs([Work::JOB]);
    let builder = builder.configure(|builder| builder.outcome_sink(sink(&server)));
    let sandbox = builder.build().await.expect("a sandbox");
    sandbox.enqueue(Work { fails: false }).await.expect("enqueued");
    for _ in 0..8 {
        sandbox.drain().await.expect("drained");
        sandbox.advance(Duration::from_hours(1));
    }
    let requests: Vec<_> = server.requests().iter().map(|request| verified(request)).collect();
    assert_eq!(requests.len(), 5, "four failures and one success");
    assert!(requests.windows(2).all(|pair| pair[0] == pair[1]), "repeats are recognizable");
}

// spec: D-08
#[tokio::test]
async fn d_08_a_sink_that_could_not_send_is_not_built() {
    let server = Server::replying("200 OK", &[], b"").await;
    let policy = || allowing(&server).build().expect("a policy");
    let refused = WebhookSink::new(policy(), "https://elsewhere.test/", SECRET);
    assert!(matches!(refused, Err(WebhookError::Refused(_))));
    let unsigned = WebhookSink::new(policy(), url(&server, "/"), "");
    assert!(matches!(unsigned, Err(WebhookError::NoSecret)));
    let shown = format!("{:?}", sink(&server).also_signed_with("older secret"));
    assert!(!shown.contains("secret") && !shown.contains("whsec"), "{shown}");
}
