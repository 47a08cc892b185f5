//! Attacks through the name server.

use ratchet_extras::http::{Http, HttpPolicy, HttpPolicyBuilder};

use super::server::{Reply, Server, response};
use super::{Answers, allowing, assert_refused, run, url};

/// Allows nothing but the method, and needs no root certificates.
fn plain() -> HttpPolicyBuilder {
    HttpPolicy::builder().without_system_roots().allow_http().method("GET")
}

#[tokio::test]
async fn a_host_with_an_address_that_is_not_public_is_refused() {
    for address in [
        "127.0.0.1",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.0.1",
        "100.64.0.1",
        "169.254.169.254",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1",
        "fc00::1",
        "fd00:ec2::254",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:93.184.216.34",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "2001:0:7f00:1::",
    ] {
        let policy = plain().host("good.test");
        let policy = policy.resolver(Answers::new(&[&[address]])).build().expect("a policy");
        assert_refused(policy, Http::get("https://good.test/"), "address_not_allowed").await;
    }
}

/// If one address of several is not public, the name server is not to be trusted with the others.
#[tokio::test]
async fn one_address_that_is_not_public_refuses_the_host() {
    for answer in [&["93.184.216.34", "10.0.0.1"][..], &["10.0.0.1", "93.184.216.34"]] {
        let policy = plain().host("good.test");
        let policy = policy.resolver(Answers::new(&[answer])).build().expect("a policy");
        assert_refused(policy, Http::get("https://good.test/"), "address_not_allowed").await;
    }
}

/// The first answer of the name server is allowed, the second one is an internal address. The name must be resolved
/// once per request, and the connection must go to the address that was checked.
#[cfg(target_os = "linux")] // all of 127.0.0.0/8 is on the loopback interface
#[tokio::test]
async fn dns_rebinding_does_not_reach_another_address() {
    let reply = |body: &'static [u8]| move |_: &str| Reply::Bytes(response("200 OK", &[], body));
    let allowed = Server::listen("127.0.0.2:0", None, reply(b"allowed")).await;
    let port = allowed.port();
    let internal = Server::listen(&format!("127.0.0.1:{port}"), None, reply(b"internal")).await;
    let resolver = Answers::new(&[&["127.0.0.2"], &["127.0.0.1"]]);
    let policy = || {
        let builder = plain().host("good.test").port(port);
        builder.network("127.0.0.2/32").resolver(resolver.clone()).build().expect("a policy")
    };
    let job = Http::get(format!("http://good.test:{port}/"));
    let response = run(policy(), job.clone()).await.expect("the first address is allowed");
    assert_eq!(response.body.text(), Some("allowed"));
    assert_eq!(resolver.names(), ["good.test"], "resolved once");
    assert_refused(policy(), job, "address_not_allowed").await;
    assert_eq!((allowed.requests().len(), internal.requests().len()), (1, 0));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn dns_rebinding_between_redirects_is_refused() {
    let redirect = |_: &str| Reply::Bytes(response("302 Found", &["location: /again"], b""));
    let allowed = Server::listen("127.0.0.2:0", None, redirect).await;
    let port = allowed.port();
    let internal = Server::listen(&format!("127.0.0.1:{port}"), None, redirect).await;
    let policy = plain().host("good.test").port(port);
    let resolver = Answers::new(&[&["127.0.0.2"], &["127.0.0.1"]]);
    let policy = policy.network("127.0.0.2/32").redirects(5).resolver(resolver);
    let job = Http::get(format!("http://good.test:{port}/"));
    assert_refused(policy.build().expect("a policy"), job, "address_not_allowed").await;
    assert_eq!((allowed.requests().len(), internal.requests().len()), (1, 0));
}

#[tokio::test]
async fn an_allowed_network_does_not_open_metadata_addresses() {
    for (host, network) in [
        ("169.254.169.254", "169.254.0.0/16"),
        ("[fd00:ec2::254]", "fd00::/8"),
        ("100.100.100.200", "100.0.0.0/8"),
    ] {
        let policy = plain().host(host).network(network);
        let job = Http::get(format!("http://{host}/latest/meta-data/"));
        assert_refused(policy.build().expect("a policy"), job, "address_not_allowed").await;
    }
}

#[tokio::test]
async fn an_allowed_network_does_not_open_mapped_addresses() {
    let policy = plain().host("good.test").network("127.0.0.0/8");
    let policy = policy.resolver(Answers::new(&[&["::ffff:127.0.0.1"]]));
    let job = Http::get("https://good.test/");
    assert_refused(policy.build().expect("a policy"), job, "address_not_allowed").await;
}

#[tokio::test]
async fn a_name_without_an_address_is_tried_again() {
    let server = Server::replying("200 OK", &[], b"").await;
    for resolver in [Answers::new(&[]), Answers::new(&[&[]])] {
        let policy = allowing(&server).resolver(resolver.clone()).build().expect("a policy");
        let failed = run(policy, Http::get(url(&server, "/"))).await.expect_err("fails");
        assert_eq!((failed.attempts, resolver.names().len()), (2, 2), "{}", failed.failure.message);
    }
    assert!(server.requests().is_empty());
}
