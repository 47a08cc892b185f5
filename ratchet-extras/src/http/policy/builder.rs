//! Builds an [`HttpPolicy`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hyper::header::HeaderValue;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::checks::{
    checked_credentials, checked_method, checked_name, checked_networks, checked_own_name,
};
use super::{HttpPolicy, HttpPolicyError};
use crate::Refusals;
use crate::http::Resolve;
use crate::http::hosts::Hosts;
use crate::http::resolve::SystemResolver;
use crate::http::status::StatusMeaning;

/// Builds an [`HttpPolicy`]. What is not allowed here is refused.
///
/// ```
/// use ratchet_extras::http::{HttpPolicy, HttpPolicyError};
///
/// let error = HttpPolicy::builder().host("https://api.example.com").build().unwrap_err();
/// assert!(matches!(error, HttpPolicyError::BadHost { .. }));
/// ```
#[must_use = "nothing is allowed until `.build()`"]
pub struct HttpPolicyBuilder {
    methods: Vec<String>,
    hosts: Vec<String>,
    parents: Vec<String>,
    ports: BTreeSet<u16>,
    allow_http: bool,
    networks: Vec<String>,
    redirects: u32,
    timeout: Duration,
    connect_timeout: Duration,
    max_request: usize,
    max_body: usize,
    keep_body: usize,
    kept_headers: Vec<String>,
    max_retry_after: Duration,
    statuses: BTreeMap<u16, StatusMeaning>,
    credentials: Vec<(String, String, String)>,
    idempotency_header: Option<String>,
    user_agent: String,
    resolver: Arc<dyn Resolve>,
    roots: Vec<Vec<u8>>,
    system_roots: bool,
}

impl Default for HttpPolicyBuilder {
    fn default() -> Self {
        Self {
            methods: Vec::new(),
            hosts: Vec::new(),
            parents: Vec::new(),
            ports: BTreeSet::from([80, 443]),
            allow_http: false,
            networks: Vec::new(),
            redirects: 0,
            timeout: Duration::from_mins(1),
            connect_timeout: Duration::from_secs(10),
            max_request: 1024 * 1024,
            max_body: 1024 * 1024,
            keep_body: 16 * 1024,
            kept_headers: vec!["content-type".to_owned()],
            max_retry_after: Duration::from_hours(1),
            statuses: BTreeMap::new(),
            credentials: Vec::new(),
            idempotency_header: None,
            user_agent: concat!("ratchet/", env!("CARGO_PKG_VERSION")).to_owned(),
            resolver: Arc::new(SystemResolver),
            roots: Vec::new(),
            system_roots: true,
        }
    }
}

impl HttpPolicyBuilder {
    /// Allows a method.
    pub fn method(mut self, method: impl Into<String>) -> Self {
        self.methods.push(method.into());
        self
    }

    /// Allows a host: a name or an IP address. An internationalized name can be written in Unicode.
    pub fn host(mut self, host: impl Into<String>) -> Self {
        self.hosts.push(host.into());
        self
    }

    /// Allows all subdomains of a domain, at any depth, without the domain itself.
    pub fn subdomains_of(mut self, domain: impl Into<String>) -> Self {
        self.parents.push(domain.into());
        self
    }

    /// Allows a port. 443 and 80 are allowed unless [`only_ports`](Self::only_ports) is called.
    pub fn port(mut self, port: u16) -> Self {
        self.ports.insert(port);
        self
    }

    /// Allows exactly these ports.
    pub fn only_ports(mut self, ports: impl IntoIterator<Item = u16>) -> Self {
        self.ports = ports.into_iter().collect();
        self
    }

    /// Allows `http` beside `https`. Credentials are sent over `https` only.
    pub fn allow_http(mut self) -> Self {
        self.allow_http = true;
        self
    }

    /// Allows the addresses of a network that are not public, such as `10.1.0.0/16`.
    ///
    /// Only the hosts of the allow-list are affected. The prefix must have 8 bits or more. The addresses under which
    /// clouds serve the credentials of a machine, such as 169.254.169.254, are refused in any case.
    pub fn network(mut self, network: impl Into<String>) -> Self {
        self.networks.push(network.into());
        self
    }

    /// Sets how many redirects are followed; none unless set. Each target must be allowed like the target of a job.
    ///
    /// A redirect from `https` to `http` is refused. Only the headers `accept`, `accept-language` and `content-type` are
    /// sent to another origin. A method and its body change as in a browser.
    pub fn redirects(mut self, limit: u32) -> Self {
        self.redirects = limit;
        self
    }

    /// Sets how long a job may take, with all redirects and the body; 60 s unless set.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }

    /// Sets how long name resolution and each connection may take; 10 s unless set.
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect_timeout = limit;
        self
    }

    /// Sets how many bytes the body of a request may have; 1 MiB unless set.
    pub fn max_request(mut self, bytes: usize) -> Self {
        self.max_request = bytes;
        self
    }

    /// Sets how many bytes the body of a response may have, before and after decompression; 1 MiB unless set. A larger
    /// response fails the job.
    pub fn max_body(mut self, bytes: usize) -> Self {
        self.max_body = bytes;
        self
    }

    /// Sets how many bytes of the body of a response are kept; 16 KiB unless set.
    ///
    /// The result of a job is kept only if it fits into the `output_limit` of the runtime, 64 KiB of JSON unless set.
    pub fn keep_body(mut self, bytes: usize) -> Self {
        self.keep_body = bytes;
        self
    }

    /// Keeps a header of the response; only `content-type` unless set.
    pub fn keep_header(mut self, name: impl Into<String>) -> Self {
        self.kept_headers.push(name.into());
        self
    }

    /// Sets the longest delay that `Retry-After` can request; one hour unless set.
    pub fn max_retry_after(mut self, limit: Duration) -> Self {
        self.max_retry_after = limit;
        self
    }

    /// Treats a status as a success.
    pub fn ok_status(mut self, status: u16) -> Self {
        self.statuses.insert(status, StatusMeaning::Success);
        self
    }

    /// Treats a status as a failed attempt.
    pub fn retry_status(mut self, status: u16) -> Self {
        self.statuses.insert(status, StatusMeaning::Retry);
        self
    }

    /// Treats a status as a permanent failure.
    pub fn fatal_status(mut self, status: u16) -> Self {
        self.statuses.insert(status, StatusMeaning::Fatal);
        self
    }

    /// Sends a header with every request to this host, over `https` only. It is not stored with jobs, and jobs cannot
    /// set a header of this name. `Debug` does not show the value.
    pub fn credential(
        mut self,
        host: impl Into<String>,
        name: impl Into<String>,
        value: impl Into<String>,
    ) -> Self {
        self.credentials.push((host.into(), name.into(), value.into()));
        self
    }

    /// Sends a key under this header that is the same for all attempts of a job, so that a server can recognize
    /// repeats.
    pub fn idempotency_header(mut self, name: impl Into<String>) -> Self {
        self.idempotency_header = Some(name.into());
        self
    }

    /// Sets the header `user-agent` of requests that do not set it.
    pub fn user_agent(mut self, value: impl Into<String>) -> Self {
        self.user_agent = value.into();
        self
    }

    /// Resolves names with this resolver instead of the operating system. Its answers are checked in the same way.
    pub fn resolver(mut self, resolver: impl Resolve) -> Self {
        self.resolver = Arc::new(resolver);
        self
    }

    /// Trusts these root certificates, in PEM, beside those of the system.
    pub fn root_certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.roots.push(pem.into());
        self
    }

    /// Trusts only the certificates of [`root_certificates`](Self::root_certificates), not those of the system.
    pub fn without_system_roots(mut self) -> Self {
        self.system_roots = false;
        self
    }

    /// Builds the policy. Reads the root certificates of the system if a host is allowed.
    pub fn build(self) -> Result<HttpPolicy, HttpPolicyError> {
        let hosts = self.checked_hosts()?;
        let methods = self.methods.iter().map(|method| checked_method(method));
        let kept = self.kept_headers.iter().map(|name| checked_name(name));
        let idempotency_header = match &self.idempotency_header {
            Some(name) => Some(checked_own_name(name)?),
            None => None,
        };
        let user_agent = HeaderValue::from_str(&self.user_agent)
            .map_err(|_| HttpPolicyError::BadHeader { name: "user-agent".to_owned() })?;
        Ok(HttpPolicy {
            methods: methods.collect::<Result<_, _>>()?,
            networks: checked_networks(&self.networks)?,
            kept_headers: kept.collect::<Result<_, _>>()?,
            credentials: checked_credentials(&self.credentials, &hosts)?,
            tls: self.tls()?,
            hosts,
            idempotency_header,
            user_agent,
            ports: self.ports,
            allow_http: self.allow_http,
            redirects: self.redirects,
            timeout: self.timeout,
            connect_timeout: self.connect_timeout,
            max_request: self.max_request,
            max_body: self.max_body,
            keep_body: self.keep_body,
            max_retry_after: self.max_retry_after,
            statuses: self.statuses,
            resolver: self.resolver,
            refusals: Refusals::default(),
        })
    }

    fn checked_hosts(&self) -> Result<Hosts, HttpPolicyError> {
        let mut hosts = Hosts::default();
        for host in &self.hosts {
            let bad = || HttpPolicyError::BadHost { host: host.clone() };
            hosts.allow(host).ok_or_else(bad)?;
        }
        for domain in &self.parents {
            let bad = || HttpPolicyError::BadDomain { domain: domain.clone() };
            hosts.allow_subdomains_of(domain).ok_or_else(bad)?;
        }
        Ok(hosts)
    }

    fn tls(&self) -> Result<Arc<ClientConfig>, HttpPolicyError> {
        let mut roots = RootCertStore::empty();
        for pem in &self.roots {
            let mut count = 0;
            for certificate in CertificateDer::pem_slice_iter(pem) {
                let certificate = certificate.map_err(|_| HttpPolicyError::BadCertificate)?;
                roots.add(certificate).map_err(|_| HttpPolicyError::BadCertificate)?;
                count += 1;
            }
            if count == 0 {
                return Err(HttpPolicyError::BadCertificate);
            }
        }
        if !self.hosts.is_empty() || !self.parents.is_empty() {
            if self.system_roots {
                // A certificate of the system that cannot be read is not trusted; the others are.
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            }
            if roots.is_empty() && !self.allow_http {
                return Err(HttpPolicyError::NoRootCertificates);
            }
        }
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| HttpPolicyError::Tls(error.into()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

impl fmt::Debug for HttpPolicyBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpPolicyBuilder")
            .field("methods", &self.methods)
            .field("hosts", &self.hosts)
            .field("networks", &self.networks)
            .finish_non_exhaustive()
    }
}
