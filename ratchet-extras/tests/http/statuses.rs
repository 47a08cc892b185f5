//! What statuses mean for a job.

use std::time::Duration;

use ratchet::Job as _;
use ratchet::model::TerminalReason;
use ratchet::testing::Sandbox;
use ratchet_extras::http::Http;

use super::server::Server;
use super::{allowing, run, url};

#[tokio::test]
async fn statuses_decide_about_the_job() {
    for (status, reason, attempts) in [
        ("400 Bad Request", TerminalReason::NonRetryable, 1),
        ("404 Not Found", TerminalReason::NonRetryable, 1),
        ("304 Not Modified", TerminalReason::NonRetryable, 1),
        ("408 Timeout", TerminalReason::RetryExhausted, 2),
        ("425 Too Early", TerminalReason::RetryExhausted, 2),
        ("429 Too Many Requests", TerminalReason::RetryExhausted, 2),
        ("500 Internal Server Error", TerminalReason::RetryExhausted, 2),
        ("503 Unavailable", TerminalReason::RetryExhausted, 2),
    ] {
        let server = Server::replying(status, &[], b"").await;
        let policy = allowing(&server).build().expect("a policy");
        let failed = run(policy, Http::get(url(&server, "/"))).await.expect_err("fails");
        assert_eq!((failed.reason, failed.attempts), (reason, attempts), "{status}");
        assert_eq!(server.requests().len(), attempts as usize);
        assert!(failed.failure.message.contains(&status[..3]), "{}", failed.failure.message);
    }
}

#[tokio::test]
async fn the_policy_can_change_the_meaning_of_a_status() {
    let server = Server::replying("404 Not Found", &[], b"none").await;
    let policy = allowing(&server).ok_status(404).build().expect("a policy");
    let response = run(policy, Http::get(url(&server, "/"))).await.expect("succeeds");
    assert_eq!((response.status, response.body.text()), (404, Some("none")));
    let policy = allowing(&server).retry_status(404).build().expect("a policy");
    assert_eq!(run(policy, Http::get(url(&server, "/"))).await.expect_err("fails").attempts, 2);
    let server = Server::replying("503 Unavailable", &[], b"").await;
    let policy = allowing(&server).fatal_status(503).build().expect("a policy");
    assert_eq!(run(policy, Http::get(url(&server, "/"))).await.expect_err("fails").attempts, 1);
}

/// Returns whether the second attempt runs exactly after this delay.
async fn retried_exactly_after(server: &Server, delay: Duration) -> bool {
    let policy = allowing(server).max_retry_after(Duration::from_hours(2)).build();
    let builder = Sandbox::builder().jobs([Http::JOB]).state(policy.expect("a policy"));
    let sandbox = builder.build().await.expect("a sandbox");
    let job = Http::get(url(server, "/"));
    sandbox.enqueue(job).max_retries(1).await.expect("enqueued");
    assert_eq!(sandbox.drain().await.expect("drained").retried, 1);
    sandbox.advance(delay.saturating_sub(Duration::from_millis(1)));
    let early = sandbox.drain().await.expect("drained").runs();
    sandbox.advance(Duration::from_millis(1));
    early == 0 && sandbox.drain().await.expect("drained").failed == 1
}

#[tokio::test]
async fn retry_after_is_the_delay_of_the_next_attempt() {
    let hour = Duration::from_hours(1);
    for headers in [
        &["retry-after: 3600"][..],
        &["retry-after: Sun, 06 Nov 1994 09:49:37 GMT", "date: Sun, 06 Nov 1994 08:49:37 GMT"],
    ] {
        let server = Server::replying("429 Too Many Requests", headers, b"").await;
        assert!(retried_exactly_after(&server, hour).await, "{headers:?}");
    }
    let server =
        Server::replying("503 Unavailable", &["retry-after: 99999999999999999999"], b"").await;
    assert!(retried_exactly_after(&server, 2 * hour).await, "limited by the policy");
}
