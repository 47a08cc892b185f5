//! TLS to the server, with certificates of a private authority.

use std::path::PathBuf;
use std::time::Duration;

use crate::support::OwnServer;
use ratchet_pg::{PgOptions, PgStore};
use ratchet_store::{Store, StoreError, StoreErrorKind};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};

/// A server on a port of the loopback interface, with certificates of its own authority.
struct Secured {
    server: OwnServer,
    port: u16,
    authority: Issuer<'static, KeyPair>,
    root: PathBuf,
}

impl Secured {
    fn start() -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(Vec::new()).expect("a certificate");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root = params.self_signed(&key).expect("a certificate").pem();
        let port = crate::support::free_port();
        let server = OwnServer::start(&format!(
            "listen_addresses = '127.0.0.1'\nport = {port}\nssl_cert_file = 'tls.crt'\nssl_key_file = 'tls.key'\n"
        ));
        server.write_secret("root.crt", &root);
        let root = server.data().join("root.crt");
        Self { server, port, authority: Issuer::new(params, key), root }
    }

    /// Restarts the server with a certificate for this host.
    fn certify(&self, host: &str, expired: bool) {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(vec![host.to_owned()]).expect("a certificate");
        if expired {
            params.not_before = date_time_ymd(2019, 1, 1);
            params.not_after = date_time_ymd(2020, 1, 1);
        }
        let certificate = params.signed_by(&key, &self.authority).expect("a certificate");
        self.server.write_secret("tls.crt", &certificate.pem());
        self.server.write_secret("tls.key", &key.serialize_pem());
        self.restart("ssl = on");
    }

    fn restart(&self, settings: &str) {
        self.server.down("fast");
        self.server.write_secret("postgresql.auto.conf", settings);
        self.server.up();
    }

    /// Opens a store with this query in its URL.
    async fn open(&self, query: &str) -> Result<PgStore, StoreError> {
        let url = format!("postgres://postgres@127.0.0.1:{}/postgres?{query}", self.port);
        let url = url.replace("ROOT", &self.root.display().to_string());
        PgStore::open(PgOptions::new(&url)?.acquire_timeout(Duration::from_secs(10))).await
    }

    /// Returns whether all sessions of a store are encrypted.
    async fn is_encrypted(&self, query: &str) -> bool {
        let store = self.open(query).await.unwrap_or_else(|error| panic!("{query}: {error}"));
        store.counts().await.expect("works");
        let url = format!("{}?port={}", self.server.url("postgres"), self.port);
        let pool = sqlx::PgPool::connect(&url).await.expect("connects");
        let sql = "SELECT bool_and(s.ssl) FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid)
                   WHERE a.application_name = 'ratchet'";
        let encrypted = sqlx::query_scalar(sql).fetch_one(&pool).await.expect("an answer");
        store.close().await;
        pool.close().await;
        encrypted
    }

    async fn refusal(&self, query: &str) -> String {
        let Err(error) = self.open(query).await else { panic!("{query}: it should be refused") };
        assert_eq!(error.kind(), StoreErrorKind::Config, "{query}: {error}");
        let text = error.to_string();
        assert!(text.contains(&format!("cannot connect to 127.0.0.1:{}", self.port)), "{text}");
        text
    }
}

// spec: Z-11
#[tokio::test(flavor = "multi_thread")]
async fn z_11_each_mode_does_what_it_says() {
    let server = Secured::start();
    // Without TLS on the server.
    for mode in ["disable", "allow", "prefer"] {
        assert!(!server.is_encrypted(&format!("sslmode={mode}")).await, "{mode}");
    }
    for mode in ["require", "verify-ca", "verify-full"] {
        let text = server.refusal(&format!("sslmode={mode}")).await;
        assert!(text.contains("server does not support TLS"), "{text}");
    }

    server.certify("127.0.0.1", false);
    for mode in ["disable", "allow"] {
        assert!(!server.is_encrypted(&format!("sslmode={mode}")).await, "{mode}");
    }
    for query in [
        "",
        "sslmode=prefer",
        "sslmode=require",
        "sslmode=verify-ca&sslrootcert=ROOT",
        "sslmode=verify-full&sslrootcert=ROOT",
    ] {
        assert!(server.is_encrypted(query).await, "{query}");
    }
    for query in ["sslmode=verify-ca", "sslmode=verify-full"] {
        let text = server.refusal(query).await;
        assert!(text.contains("invalid peer certificate: UnknownIssuer"), "{text}");
    }

    server.certify("db.example.com", false);
    assert!(server.is_encrypted("sslmode=verify-ca&sslrootcert=ROOT").await);
    let text = server.refusal("sslmode=verify-full&sslrootcert=ROOT").await;
    assert!(text.contains("certificate not valid for name"), "{text}");

    server.certify("127.0.0.1", true);
    assert!(server.is_encrypted("sslmode=require").await);
    for mode in ["verify-ca", "verify-full"] {
        let text = server.refusal(&format!("sslmode={mode}&sslrootcert=ROOT")).await;
        assert!(text.contains("certificate expired"), "{text}");
    }

    // A server that requires TLS: `allow` uses it then.
    server.server.write_secret("pg_hba.conf", "local all all trust\nhostssl all all all trust\n");
    server.restart("ssl = on");
    for mode in ["allow", "prefer", "require"] {
        assert!(server.is_encrypted(&format!("sslmode={mode}")).await, "{mode}");
    }
}
