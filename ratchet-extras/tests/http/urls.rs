//! Attacks through the URL.

use ratchet_extras::http::{Http, HttpPolicy, HttpPolicyBuilder};

use super::{Answers, assert_refused};

/// Allows `good.test`. Its name must not even be resolved, because every URL below is refused before.
fn policy(resolver: &Answers) -> HttpPolicy {
    builder(resolver).build().expect("a policy")
}

fn builder(resolver: &Answers) -> HttpPolicyBuilder {
    let builder =
        HttpPolicy::builder().without_system_roots().method("GET").host("good.test").allow_http();
    builder.resolver(resolver.clone())
}

async fn assert_urls_refused(urls: &[&str], reason: &str) {
    let resolver = Answers::new(&[&["127.0.0.1"]]);
    for url in urls {
        assert_refused(policy(&resolver), Http::get(*url), reason).await;
    }
    assert_eq!(resolver.names(), [""; 0], "refused before the name is resolved");
}

#[tokio::test]
async fn hosts_that_are_not_on_the_list_are_refused() {
    let urls = [
        "https://evil.test/",
        "https://good.test.evil.test/",
        "https://evilgood.test/",
        "https://x.good.test/",
        "https://test/",
        "https://evil.test/https://good.test/",
        "https://evil.test?good.test",
        "https://evil.test#@good.test/",
        "https:///evil.test/",
    ];
    assert_urls_refused(&urls, "host_not_allowed").await;
}

#[tokio::test]
async fn addresses_in_any_notation_are_refused() {
    let urls = [
        "http://127.0.0.1/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0x7f.0.0.1/",
        "http://017700000001/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://127.0.1/",
        "http://127.0.0.1./",
        "http://%31%32%37.0.0.1/",
        "http://1２7.0.0.1/",
        "http://0.0.0.0/",
        "http://0/",
        "http://169.254.169.254/latest/meta-data/",
        "http://2852039166/",
        "http://0xa9fea9fe/",
        "http://[::1]/",
        "http://[::]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:7f00:1]/",
        "http://[0:0:0:0:0:ffff:a9fe:a9fe]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[2002:7f00:1::]/",
        "http://[fd00:ec2::254]/",
    ];
    assert_urls_refused(&urls, "host_not_allowed").await;
    assert_urls_refused(
        &["http://[fe80::1%25eth0]/", "http://1.2.3.4.5/", "http://256.0.0.1/"],
        "bad_url",
    )
    .await;
}

/// A host of the list that is an address must also be public or in an allowed network.
#[tokio::test]
async fn an_allowed_host_that_is_not_public_is_refused_in_any_notation() {
    for url in ["http://127.0.0.1/", "http://2130706433/", "http://0x7f.1/", "http://0177.0.0.1/"] {
        let policy = HttpPolicy::builder()
            .without_system_roots()
            .method("GET")
            .host("127.0.0.1")
            .allow_http();
        assert_refused(policy.build().expect("a policy"), Http::get(url), "address_not_allowed")
            .await;
    }
    for (host, url) in [
        ("0.0.0.0", "http://0/"),
        ("[::1]", "http://[0:0:0:0:0:0:0:1]/"),
        ("[::ffff:127.0.0.1]", "http://[::ffff:7f00:1]/"),
        ("localhost", "http://LOCALHOST/"),
    ] {
        let policy =
            HttpPolicy::builder().without_system_roots().method("GET").host(host).allow_http();
        let policy = policy.resolver(Answers::new(&[&["127.0.0.1"]])).build().expect("a policy");
        assert_refused(policy, Http::get(url), "address_not_allowed").await;
    }
}

#[tokio::test]
async fn a_trailing_dot_is_another_host() {
    assert_urls_refused(&["https://good.test./", "https://good.test../"], "host_not_allowed").await;
}

#[tokio::test]
async fn look_alike_names_are_other_hosts() {
    let urls = [
        "https://gооd.test/",        // Cyrillic о
        "https://goοd.test/",        // Greek omicron
        "https://xn--gd-jbca.test/", // punycode
        "https://good.tést/",
        "https://ɡood.test/", // Latin script g
        "https://good․test/", // one dot leader: not a dot of the standard
    ];
    for url in urls {
        let resolver = Answers::new(&[&["127.0.0.1"]]);
        let refusals = {
            let policy = policy(&resolver);
            let refusals = policy.refusals();
            super::run(policy, Http::get(url)).await.expect_err("refused");
            refusals
        };
        let refused = refusals.count("host_not_allowed") + refusals.count("bad_url");
        // Unicode maps a one dot leader to a dot: then it is the same host, and its address is refused.
        assert_eq!(refused + refusals.count("address_not_allowed"), 1, "{url}");
    }
}

#[tokio::test]
async fn user_names_and_passwords_are_refused() {
    let urls = [
        "https://good.test@evil.test/",
        "https://good.test:443@evil.test/",
        "https://user:password@good.test/",
        "https://user@good.test/",
        "https://@good.test/",
        "https://:@good.test/",
        "https://evil.test@good.test@good.test/",
    ];
    assert_urls_refused(&urls, "user_info").await;
}

#[tokio::test]
async fn urls_that_parsers_read_differently_are_refused() {
    let long = format!("https://good.test/{}", "a".repeat(9000));
    let urls = [
        "https://good.test\\@evil.test/",
        "https:\\\\good.test/",
        "https://good.test\r\nx: y/",
        "https://good.test/ a",
        "https://good\t.test/",
        " https://good.test/",
        "https://good.test/\u{a0}",
        "https://",
        "https:good.test/",
        "//good.test/",
        "good.test",
        "",
        "https://good.test:99999/",
        &long,
    ];
    assert_urls_refused(&urls, "bad_url").await;
}

#[tokio::test]
async fn other_schemes_are_refused() {
    let urls = [
        "ftp://good.test/",
        "file:///etc/passwd",
        "gopher://good.test/",
        "ws://good.test/",
        "unix://good.test/",
    ];
    assert_urls_refused(&urls, "scheme_not_allowed").await;
    let https = HttpPolicy::builder().method("GET").host("good.test").build().expect("a policy");
    assert_refused(https, Http::get("http://good.test/"), "scheme_not_allowed").await;
}

#[tokio::test]
async fn other_ports_are_refused() {
    let urls = ["https://good.test:22/", "http://good.test:6379/", "http://good.test:0/"];
    assert_urls_refused(&urls, "port_not_allowed").await;
}

#[tokio::test]
async fn other_methods_are_refused() {
    let resolver = Answers::new(&[&["127.0.0.1"]]);
    for method in ["POST", "get", "CONNECT", "GET ", "GET / HTTP/1.1\r\nx: y\r\n\r\nGET", ""] {
        let job = Http::request(method, "https://good.test/");
        assert_refused(policy(&resolver), job, "method_not_allowed").await;
    }
}
