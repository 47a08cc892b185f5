//! Attacks through the body of a response.

use std::io::Write as _;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use ratchet::model::TerminalReason;
use ratchet_extras::http::{Body, Http};

use super::server::{Reply, Server, response};
use super::{allowing, run, url};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).expect("written");
    encoder.finish().expect("finished")
}

/// Runs a job whose response must fail it in its first attempt.
async fn assert_fatal(server: &Server, message: &str) {
    let policy = allowing(server).max_body(10_000).build().expect("a policy");
    let failed = run(policy, Http::get(url(server, "/"))).await.expect_err("fails");
    assert_eq!((failed.reason, failed.attempts), (TerminalReason::NonRetryable, 1));
    assert!(failed.failure.message.contains(message), "{}", failed.failure.message);
}

const TOO_LARGE: &str = "more than 10000 bytes";

#[tokio::test]
async fn an_endless_body_is_given_up() {
    for head in ["", "transfer-encoding: chunked\r\n", "content-length: 1000000000000\r\n"] {
        let head = format!("HTTP/1.1 200 OK\r\n{head}\r\n").into_bytes();
        let chunk =
            b"400\r\n".iter().copied().chain([b'a'; 1024]).chain(*b"\r\n").collect::<Vec<_>>();
        let server = Server::start(move |_| Reply::Endless(head.clone(), chunk.clone())).await;
        assert_fatal(&server, TOO_LARGE).await;
    }
}

#[tokio::test]
async fn a_slow_body_is_given_up() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf".to_vec();
    for reply in
        [Reply::Stall(head), Reply::Stall(b"HTTP/1.1 200".to_vec()), Reply::Stall(Vec::new())]
    {
        let server = Server::start(move |_| reply.clone()).await;
        let policy = allowing(&server).timeout(Duration::from_millis(100)).build();
        let failed = run(policy.expect("a policy"), Http::get(url(&server, "/"))).await;
        let failed = failed.expect_err("fails");
        assert_eq!((failed.reason, failed.attempts), (TerminalReason::RetryExhausted, 2));
        assert!(
            failed.failure.message.contains("took longer than 100ms"),
            "{}",
            failed.failure.message
        );
    }
}

#[tokio::test]
async fn a_gzip_body_is_decompressed() {
    let server = Server::replying("200 OK", &["content-encoding: gzip"], &gzip(b"hello")).await;
    let policy = allowing(&server).build().expect("a policy");
    let response = run(policy, Http::get(url(&server, "/"))).await.expect("succeeds");
    assert_eq!(response.body.text(), Some("hello"));
}

#[tokio::test]
async fn an_empty_body_needs_no_decompression() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 100\r\n\r\n".to_vec();
    let server = Server::start(move |_| Reply::Bytes(head.clone())).await;
    let policy = allowing(&server).method("HEAD").build().expect("a policy");
    let response = run(policy, Http::request("HEAD", url(&server, "/"))).await.expect("succeeds");
    assert_eq!((response.status, response.body.text()), (200, Some("")));
}

#[tokio::test]
async fn a_gzip_bomb_is_given_up() {
    let bomb = gzip(&vec![0; 10_000_000]);
    assert!(bomb.len() < 100_000);
    let server = Server::replying("200 OK", &["content-encoding: gzip"], &bomb).await;
    let policy = allowing(&server).max_body(1_000_000).build().expect("a policy");
    let failed = run(policy, Http::get(url(&server, "/"))).await.expect_err("fails");
    assert_eq!((failed.reason, failed.attempts), (TerminalReason::NonRetryable, 1));
    assert!(
        failed.failure.message.contains("more than 1000000 bytes"),
        "{}",
        failed.failure.message
    );
}

#[tokio::test]
async fn endless_gzip_members_without_content_are_given_up() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n".to_vec();
    let empty = gzip(b"");
    let server = Server::start(move |_| Reply::Endless(head.clone(), empty.clone())).await;
    assert_fatal(&server, TOO_LARGE).await;
}

#[tokio::test]
async fn nested_and_unknown_encodings_are_refused() {
    let nested = gzip(&gzip(&vec![0; 1_000_000]));
    for headers in [
        &["content-encoding: gzip, gzip"][..],
        &["content-encoding: gzip", "content-encoding: gzip"],
        &["content-encoding: br"],
        &["content-encoding: deflate"],
        &["content-encoding: gzip, identity"],
    ] {
        let server = Server::replying("200 OK", headers, &nested).await;
        assert_fatal(&server, "which was not requested").await;
    }
}

/// A body that was compressed twice but declared once is decompressed once.
#[tokio::test]
async fn a_hidden_second_compression_stays_compressed() {
    let inner = gzip(&vec![0; 1_000_000]);
    let server = Server::replying("200 OK", &["content-encoding: gzip"], &gzip(&inner)).await;
    let policy = allowing(&server).max_body(10_000).build().expect("a policy");
    let response = run(policy, Http::get(url(&server, "/"))).await.expect("succeeds");
    assert_eq!(response.body.to_bytes().expect("base64"), inner);
}

#[tokio::test]
async fn a_body_that_is_shorter_than_declared_is_tried_again() {
    let gzip = gzip(&[7; 1000]);
    let declared = |bytes: &[u8], extra: &str| {
        let mut reply =
            format!("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n{extra}\r\n").into_bytes();
        reply.extend(bytes);
        reply
    };
    for reply in [
        declared(b"short", ""),
        declared(&gzip[..gzip.len() / 2], "content-encoding: gzip\r\n"),
        response("200 OK", &["content-encoding: gzip"], &gzip[..gzip.len() / 2]),
        response("200 OK", &["content-encoding: gzip"], b"this is not gzip at all"),
    ] {
        let server = Server::start(move |_| Reply::Bytes(reply.clone())).await;
        let policy = allowing(&server).build().expect("a policy");
        let failed = run(policy, Http::get(url(&server, "/"))).await.expect_err("fails");
        assert_eq!((failed.reason, failed.attempts), (TerminalReason::RetryExhausted, 2));
        assert!(
            failed.failure.message.contains("before the response was complete"),
            "{}",
            failed.failure.message
        );
    }
}

#[tokio::test]
async fn a_body_that_is_longer_than_declared_is_cut() {
    let reply =
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello HTTP/1.1 200 OK\r\n\r\nevil".to_vec();
    let server = Server::start(move |_| Reply::Bytes(reply.clone())).await;
    let policy = allowing(&server).build().expect("a policy");
    let response = run(policy, Http::get(url(&server, "/"))).await.expect("succeeds");
    assert_eq!(response.body.text(), Some("hello"));
}

#[tokio::test]
async fn contradictory_lengths_are_not_accepted() {
    for lengths in
        ["content-length: 5\r\ncontent-length: 6", "content-length: -1", "content-length: 5, 6"]
    {
        let reply = format!("HTTP/1.1 200 OK\r\n{lengths}\r\n\r\nhello!").into_bytes();
        let server = Server::start(move |_| Reply::Bytes(reply.clone())).await;
        let policy = allowing(&server).build().expect("a policy");
        let failed = run(policy, Http::get(url(&server, "/"))).await.expect_err(lengths);
        assert_eq!(failed.reason, TerminalReason::RetryExhausted, "{}", failed.failure.message);
    }
}

#[tokio::test]
async fn only_the_beginning_of_a_body_is_kept() {
    let server = Server::replying("200 OK", &[], &[0xff; 100]).await;
    let policy = allowing(&server).keep_body(3).build().expect("a policy");
    let response = run(policy, Http::get(url(&server, "/"))).await.expect("succeeds");
    assert_eq!((response.body, response.cut), (Body::Base64("////".to_owned()), 97));
}

#[tokio::test]
async fn a_large_request_and_broken_base64_are_refused() {
    let server = Server::replying("200 OK", &[], b"").await;
    let policy = || allowing(&server).max_request(10).build().expect("a policy");
    let job = Http::post(url(&server, "/"));
    super::assert_refused(policy(), job.clone().text("01234567890"), "too_large").await;
    let broken = Http { body: Some(Body::Base64("a".to_owned())), ..job };
    super::assert_refused(policy(), broken, "bad_body").await;
    assert!(server.requests().is_empty());
}
