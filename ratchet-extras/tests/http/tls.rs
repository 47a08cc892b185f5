//! Requests over TLS.

use std::sync::Arc;

use ratchet_extras::http::{Http, HttpPolicy, HttpPolicyBuilder};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use super::server::{Reply, Server, response};
use super::{Answers, assert_refused, run};

/// A server for these names, and its certificate.
async fn server(
    names: &[&str],
    handler: impl Fn(&str) -> Reply + Send + Sync + 'static,
) -> (Server, String) {
    let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(names).expect("a certificate");
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(signing_key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .expect("a configuration");
    let tls = TlsAcceptor::from(Arc::new(config));
    (Server::listen("127.0.0.1:0", Some(tls), handler).await, cert.pem())
}

fn hello(_: &str) -> Reply {
    Reply::Bytes(response("200 OK", &[], b"hello"))
}

fn allowing(server: &Server, root: &str) -> HttpPolicyBuilder {
    let builder = HttpPolicy::builder()
        .without_system_roots()
        .method("GET")
        .host("api.test")
        .port(server.port());
    let builder = builder.network("127.0.0.1/32").resolver(Answers::new(&[&["127.0.0.1"]]));
    builder.root_certificates(root)
}

fn url(server: &Server) -> String {
    format!("https://api.test:{}/", server.port())
}

#[tokio::test]
async fn a_credential_is_sent_over_tls() {
    let (server, root) = server(&["api.test"], hello).await;
    let policy = allowing(&server, &root).credential("API.test", "Authorization", "Bearer hunter2");
    let response = run(policy.build().expect("a policy"), Http::get(url(&server))).await;
    assert_eq!(response.expect("succeeds").body.text(), Some("hello"));
    let request = server.requests().pop().expect("one request");
    assert!(request.contains("authorization: Bearer hunter2\r\n"), "{request}");
}

#[tokio::test]
async fn a_job_cannot_replace_a_credential() {
    let (server, root) = server(&["api.test"], hello).await;
    let policy = allowing(&server, &root).credential("api.test", "authorization", "Bearer hunter2");
    let job = Http::get(url(&server)).header("Authorization", "Bearer other");
    assert_refused(policy.build().expect("a policy"), job, "header_not_allowed").await;
}

#[tokio::test]
async fn a_credential_is_not_sent_without_tls() {
    let server = Server::replying("200 OK", &[], b"").await;
    let policy = super::allowing(&server).credential("api.test", "authorization", "Bearer hunter2");
    let job = Http::get(super::url(&server, "/"));
    run(policy.build().expect("a policy"), job).await.expect("succeeds");
    let request = server.requests().pop().expect("one request");
    assert!(!request.contains("hunter2"), "{request}");
}

#[tokio::test]
async fn a_credential_is_not_sent_to_another_host() {
    let (server, root) = server(&["api.test", "other.test"], |request| {
        let port = request.lines().find_map(|line| line.strip_prefix("host: api.test:"));
        let location = port.map(|port| format!("location: https://other.test:{port}/"));
        Reply::Bytes(match location {
            Some(location) => response("302 Found", &[&location], b""),
            None => response("200 OK", &[], b""),
        })
    })
    .await;
    let policy = allowing(&server, &root).host("other.test").redirects(1);
    let policy = policy.credential("api.test", "authorization", "Bearer hunter2");
    run(policy.build().expect("a policy"), Http::get(url(&server))).await.expect("succeeds");
    let [first, second] = server.requests().try_into().expect("two requests");
    assert!(first.contains("hunter2") && !second.contains("hunter2"), "{second}");
}

#[tokio::test]
async fn a_redirect_from_https_to_http_is_refused() {
    let plain = Server::replying("200 OK", &[], b"").await;
    let location = format!("location: http://api.test:{}/", plain.port());
    let (server, root) =
        server(&["api.test"], move |_| Reply::Bytes(response("302 Found", &[&location], b"")))
            .await;
    let policy = allowing(&server, &root).allow_http().port(plain.port()).redirects(1);
    assert_refused(
        policy.build().expect("a policy"),
        Http::get(url(&server)),
        "scheme_not_allowed",
    )
    .await;
    assert!(plain.requests().is_empty());
}

#[tokio::test]
async fn a_server_that_is_not_the_host_is_not_sent_anything() {
    let (wrong_name, root) = server(&["evil.test"], hello).await;
    let (untrusted, _) = server(&["api.test"], hello).await;
    for server in [&wrong_name, &untrusted] {
        let policy = allowing(server, &root).build().expect("a policy");
        let failed = run(policy, Http::get(url(server))).await.expect_err("fails");
        assert!(
            failed.failure.message.contains("no connection to `api.test`"),
            "{}",
            failed.failure.message
        );
        assert!(server.requests().is_empty());
    }
}
