//! Policies that cannot be built.

use ratchet_extras::http::{HttpPolicy, HttpPolicyBuilder, HttpPolicyError};

fn refused(builder: HttpPolicyBuilder) -> HttpPolicyError {
    builder.build().expect_err("refused")
}

#[test]
fn what_is_allowed_must_be_valid() {
    let builder = HttpPolicy::builder;
    for method in ["get", "CONNECT", "TRACE", "GET ", ""] {
        assert!(
            matches!(refused(builder().method(method)), HttpPolicyError::BadMethod { .. }),
            "{method}"
        );
    }
    for host in [
        "",
        "https://good.test",
        "good.test:80",
        "good.test/path",
        "good.test.",
        "*.good.test",
        "a b",
    ] {
        assert!(matches!(refused(builder().host(host)), HttpPolicyError::BadHost { .. }), "{host}");
    }
    for domain in ["com", "", "1.2.3.4", ".good.test"] {
        assert!(
            matches!(refused(builder().subdomains_of(domain)), HttpPolicyError::BadDomain { .. }),
            "{domain}"
        );
    }
    for network in ["127.0.0.1", "10.0.0.0/33", "all", ""] {
        assert!(
            matches!(refused(builder().network(network)), HttpPolicyError::BadNetwork { .. }),
            "{network}"
        );
    }
    for network in ["0.0.0.0/0", "::/0", "10.0.0.0/7", "f000::/4"] {
        assert!(
            matches!(refused(builder().network(network)), HttpPolicyError::NetworkTooWide { .. }),
            "{network}"
        );
    }
}

#[test]
fn headers_of_the_policy_must_be_valid() {
    let good = || HttpPolicy::builder().host("good.test").allow_http().without_system_roots();
    for (name, value) in [("x a", "1"), ("x-a", "1\r\n"), ("host", "1"), ("content-length", "1")] {
        let error = refused(good().credential("good.test", name, value));
        assert!(matches!(error, HttpPolicyError::BadHeader { .. }), "{name}");
    }
    let error = refused(good().credential("other.test", "authorization", "hunter2"));
    assert!(matches!(error, HttpPolicyError::UnknownHost { .. }), "{error}");
    assert!(!error.to_string().contains("hunter2"));
    assert!(matches!(
        refused(good().idempotency_header("host")),
        HttpPolicyError::BadHeader { .. }
    ));
    assert!(matches!(refused(good().user_agent("a\r\nb")), HttpPolicyError::BadHeader { .. }));
    assert!(matches!(refused(good().keep_header("a b")), HttpPolicyError::BadHeader { .. }));
}

#[test]
fn a_policy_without_root_certificates_is_refused() {
    let error = refused(HttpPolicy::builder().host("good.test").without_system_roots());
    assert!(matches!(error, HttpPolicyError::NoRootCertificates), "{error}");
}

#[test]
fn root_certificates_must_be_pem() {
    for pem in ["", "-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n"] {
        let error = refused(HttpPolicy::builder().root_certificates(pem));
        assert!(matches!(error, HttpPolicyError::BadCertificate), "{error}");
    }
}
