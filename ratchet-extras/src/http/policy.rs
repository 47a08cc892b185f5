//! [`HttpPolicy`]: which requests jobs may send, and how.

mod builder;
mod checks;
mod error;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hyper::Method;
use hyper::header::{HeaderName, HeaderValue};
use tokio_rustls::rustls::ClientConfig;

pub use self::builder::HttpPolicyBuilder;
use self::checks::Credentials;
pub use self::error::HttpPolicyError;
use super::Resolve;
use super::address::AllowedNetworks;
use super::hosts::Hosts;
use super::status::StatusMeaning;
use crate::Refusals;

/// Which requests the job `ratchet.http` may send, and how. Without configuration, none.
///
/// Register it with `.state(policy)`. A worker that knows the job does not start without a policy.
pub struct HttpPolicy {
    pub(super) methods: Vec<Method>,
    pub(super) hosts: Hosts,
    pub(super) ports: BTreeSet<u16>,
    pub(super) allow_http: bool,
    pub(super) networks: AllowedNetworks,
    pub(super) redirects: u32,
    pub(super) timeout: Duration,
    pub(super) connect_timeout: Duration,
    pub(super) max_request: usize,
    pub(super) max_body: usize,
    pub(super) keep_body: usize,
    pub(super) kept_headers: Vec<HeaderName>,
    pub(super) max_retry_after: Duration,
    pub(super) statuses: BTreeMap<u16, StatusMeaning>,
    /// By host. The values are marked as sensitive.
    pub(super) credentials: Credentials,
    pub(super) idempotency_header: Option<HeaderName>,
    pub(super) user_agent: HeaderValue,
    pub(super) resolver: Arc<dyn Resolve>,
    pub(super) tls: Arc<ClientConfig>,
    pub(super) refusals: Refusals,
}

impl HttpPolicy {
    /// Starts building a policy that allows nothing.
    pub fn builder() -> HttpPolicyBuilder {
        HttpPolicyBuilder::default()
    }

    /// Returns the counter of refused jobs.
    pub fn refusals(&self) -> Refusals {
        self.refusals.clone()
    }

    /// Returns `true` if the policy itself sets this header.
    pub(super) fn sets_header(&self, name: &HeaderName) -> bool {
        self.idempotency_header.as_ref() == Some(name)
            || self.credentials.values().flatten().any(|(credential, _)| credential == name)
    }
}

impl fmt::Debug for HttpPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpPolicy")
            .field("methods", &self.methods)
            .field("hosts", &self.hosts)
            .field("ports", &self.ports)
            .field("allow_http", &self.allow_http)
            .field("networks", &self.networks)
            .field("redirects", &self.redirects)
            .field("credentials", &self.credentials)
            .finish_non_exhaustive()
    }
}
