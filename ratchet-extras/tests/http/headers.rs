//! Attacks through headers, and headers that must stay secret.

use ratchet::model::TerminalReason;
use ratchet_extras::http::Http;

use super::server::{Reply, Server};
use super::{allowing, assert_refused, run, url};

#[tokio::test]
async fn header_injection_is_refused() {
    let server = Server::replying("200 OK", &[], b"").await;
    for (name, value) in [
        ("x-a", "1\r\nx-evil: 2"),
        ("x-a", "1\nx-evil: 2"),
        ("x-a", "1\r\n\r\nGET /evil HTTP/1.1"),
        ("x-a\r\nx-evil", "1"),
        ("x-a: 1\r\nx-evil", "1"),
        ("x a", "1"),
        ("", "1"),
        ("x-a", "\0"),
    ] {
        let policy = allowing(&server).build().expect("a policy");
        let job = Http::get(url(&server, "/")).header(name, value);
        assert_refused(policy, job, "bad_header").await;
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_path_cannot_inject_a_header() {
    let server = Server::replying("200 OK", &[], b"").await;
    let policy = allowing(&server).build().expect("a policy");
    let job = Http::get(url(&server, "/%0d%0ax-evil:%202?q=%0d%0ay"));
    run(policy, job).await.expect("an ordinary path");
    let request = server.requests().pop().expect("one request");
    assert!(request.starts_with("GET /%0d%0ax-evil:%202?q=%0d%0ay HTTP/1.1\r\n"), "{request}");
}

#[tokio::test]
async fn headers_of_the_connection_are_refused() {
    let server = Server::replying("200 OK", &[], b"").await;
    for name in [
        "Host",
        "Content-Length",
        "Transfer-Encoding",
        "Connection",
        "TE",
        "Proxy-Authorization",
        "Expect",
        "Idempotency-Key",
    ] {
        let policy =
            allowing(&server).idempotency_header("idempotency-key").build().expect("a policy");
        let job = Http::get(url(&server, "/")).header(name, "1");
        assert_refused(policy, job, "header_not_allowed").await;
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn large_headers_of_a_job_are_refused() {
    let server = Server::replying("200 OK", &[], b"").await;
    let policy = || allowing(&server).build().expect("a policy");
    let large = Http::get(url(&server, "/")).header("x-a", "a".repeat(20_000));
    assert_refused(policy(), large, "too_large").await;
    let job = Http::get(url(&server, "/"));
    let many = (0..100).fold(job, |job, i| job.header(format!("x-{i}"), "1"));
    assert_refused(policy(), many, "too_large").await;
}

#[tokio::test]
async fn huge_headers_of_a_response_are_given_up() {
    let start = b"HTTP/1.1 200 OK\r\n".to_vec();
    let one_line = [start.clone(), b"x-a: ".to_vec()].concat();
    let many = (0..200).flat_map(|i| format!("x-{i}: 1\r\n").into_bytes());
    let many = [start.clone(), many.collect(), b"\r\n".to_vec()].concat();
    let long = [one_line.clone(), vec![b'a'; 200_000], b"\r\ncontent-length: 0\r\n\r\n".to_vec()];
    for reply in [
        Reply::Bytes(long.concat()),
        Reply::Endless(one_line, vec![b'a'; 1024]),
        Reply::Endless(start, b"x-a: 1\r\n".to_vec()),
        Reply::Bytes(many),
    ] {
        let server = Server::start(move |_| reply.clone()).await;
        let policy = allowing(&server).build().expect("a policy");
        let failed = run(policy, Http::get(url(&server, "/"))).await.expect_err("fails");
        assert_eq!((failed.reason, failed.attempts), (TerminalReason::RetryExhausted, 2));
        assert!(
            failed.failure.message.contains("not valid or too large"),
            "{}",
            failed.failure.message
        );
    }
}

#[tokio::test]
async fn secrets_are_not_shown() {
    let server = Server::replying("500 Oops", &["set-cookie: hunter2"], b"hunter2").await;
    let policy = || {
        let policy = allowing(&server).credential("api.test", "authorization", "Bearer hunter2");
        policy.build().expect("a policy")
    };
    assert!(!format!("{:?}", policy()).contains("hunter2"), "{:?}", policy());
    let job = Http::get(url(&server, "/hunter2?key=hunter2")).header("x-api-key", "hunter2");
    assert!(!format!("{:?}", job.headers).is_empty());
    let debug = format!("{:?}", Http { url: String::new(), ..job.clone() });
    assert!(!debug.contains("hunter2"), "{debug}");
    let failed = run(policy(), job.clone()).await.expect_err("fails");
    assert!(!failed.failure.message.contains("hunter2"), "{}", failed.failure.message);
    let refused = run(policy(), job.header("x\r\ny", "hunter2")).await.expect_err("refused");
    assert!(!refused.failure.message.contains("hunter2"), "{}", refused.failure.message);
}
