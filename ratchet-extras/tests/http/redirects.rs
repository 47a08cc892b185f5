//! Attacks through redirects.

use ratchet::model::TerminalReason;
use ratchet_extras::http::Http;

use super::server::{Reply, Server, response};
use super::{Answers, allowing, assert_refused, run, url};

/// Redirects `/` to the location, and answers everything else.
async fn redirecting(status: &'static str, location: &str) -> Server {
    let location = format!("location: {location}");
    Server::start(move |request| {
        let is_first = request.split(' ').nth(1) == Some("/");
        Reply::Bytes(match is_first {
            true => response(status, &[&location], b""),
            false => response("200 OK", &[], b"arrived"),
        })
    })
    .await
}

#[tokio::test]
async fn redirects_are_not_followed_by_default() {
    for status in ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"] {
        let server = redirecting(status, "/elsewhere").await;
        let policy = allowing(&server).build().expect("a policy");
        let failed = run(policy, Http::get(url(&server, "/"))).await.expect_err("fails");
        assert_eq!((failed.reason, failed.attempts), (TerminalReason::NonRetryable, 1));
        assert!(
            failed.failure.message.contains("a redirect that is not followed"),
            "{}",
            failed.failure.message
        );
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn redirects_to_metadata_and_other_hosts_are_refused() {
    for location in [
        "http://169.254.169.254/latest/meta-data/iam/",
        "http://2852039166/",
        "http://[::ffff:169.254.169.254]/",
        "http://metadata.google.internal/",
        "//evil.test/",
        "http://localhost/",
        "https://evil.test/",
    ] {
        let server = redirecting("302 Found", location).await;
        let policy = allowing(&server).redirects(5).build().expect("a policy");
        assert_refused(policy, Http::get(url(&server, "/")), "host_not_allowed").await;
        assert_eq!(server.requests().len(), 1, "{location}");
    }
}

#[tokio::test]
async fn each_redirect_is_checked_like_a_new_request() {
    for (location, reason) in [
        ("http://api.test:22/", "port_not_allowed"),
        ("ftp://api.test/", "scheme_not_allowed"),
        ("file:///etc/passwd", "scheme_not_allowed"),
        ("http://user:password@api.test/", "user_info"),
        ("http://169.254.169.254/", "address_not_allowed"),
        ("http://[::1/", "bad_url"),
    ] {
        let server = redirecting("307 Temporary", location).await;
        let policy =
            allowing(&server).redirects(5).host("169.254.169.254").network("169.254.0.0/16");
        assert_refused(policy.build().expect("a policy"), Http::get(url(&server, "/")), reason)
            .await;
        assert_eq!(server.requests().len(), 1, "{location}");
    }
}

#[tokio::test]
async fn allowed_redirects_are_followed_up_to_the_limit() {
    let server = redirecting("302 Found", "/elsewhere").await;
    let policy = allowing(&server).redirects(1).build().expect("a policy");
    let response = run(policy, Http::get(url(&server, "/"))).await.expect("succeeds");
    assert_eq!(response.body.text(), Some("arrived"));

    let endless = redirecting("302 Found", "/").await;
    let policy = allowing(&endless).redirects(3).build().expect("a policy");
    let failed = run(policy, Http::get(url(&endless, "/"))).await.expect_err("fails");
    assert_eq!((failed.attempts, endless.requests().len()), (1, 4));
}

#[tokio::test]
async fn a_redirect_without_a_location_is_not_followed() {
    let server = Server::replying("302 Found", &[], b"").await;
    let policy = allowing(&server).redirects(3).build().expect("a policy");
    let failed = run(policy, Http::get(url(&server, "/"))).await.expect_err("fails");
    assert!(failed.failure.message.contains("it has no location"), "{}", failed.failure.message);
}

#[tokio::test]
async fn headers_of_the_job_are_not_sent_to_another_host() {
    let server = Server::start(|request| {
        let port = request.lines().find_map(|line| line.strip_prefix("host: api.test:"));
        Reply::Bytes(match port {
            Some(port) => {
                response("307 Temporary", &[&format!("location: http://other.test:{port}/")], b"")
            }
            None => response("200 OK", &[], b"arrived"),
        })
    })
    .await;
    let policy =
        allowing(&server).host("other.test").redirects(1).idempotency_header("idempotency-key");
    let policy = policy.resolver(Answers::new(&[&["127.0.0.1"]])).build().expect("a policy");
    let job = Http::post(url(&server, "/")).text("body");
    let job = ["authorization", "cookie", "x-api-key"]
        .iter()
        .fold(job, |job, name| job.header(*name, "hunter2"));
    run(policy, job.header("accept", "text/plain")).await.expect("succeeds");
    let [first, second] = server.requests().try_into().expect("two requests");
    assert_eq!(first.matches("hunter2").count(), 3, "{first}");
    assert!(first.contains("idempotency-key"), "{first}");
    assert!(!second.contains("hunter2") && !second.contains("idempotency-key"), "{second}");
    assert!(
        second.contains("accept: text/plain\r\n") && second.ends_with("\r\n\r\nbody"),
        "{second}"
    );
}

#[tokio::test]
async fn a_post_becomes_a_get_only_if_get_is_allowed() {
    let server = redirecting("303 See Other", "/elsewhere").await;
    let policy = allowing(&server).redirects(1).build().expect("a policy");
    run(policy, Http::post(url(&server, "/")).text("body")).await.expect("succeeds");
    let second = server.requests().pop().expect("two requests");
    assert!(second.starts_with("GET /elsewhere ") && second.ends_with("\r\n\r\n"), "{second}");

    let policy = ratchet_extras::http::HttpPolicy::builder().method("POST").host("api.test");
    let policy = policy.port(server.port()).allow_http().redirects(1).network("127.0.0.1/32");
    let policy = policy.resolver(Answers::new(&[&["127.0.0.1"]])).build().expect("a policy");
    assert_refused(policy, Http::post(url(&server, "/")), "method_not_allowed").await;
}
