//! [`Target`]: a URL that the policy has checked.

use url::{Host, Url};

use super::{HttpPolicy, HttpRefusal};

/// A URL whose scheme, host and port are allowed.
#[derive(Debug, Clone)]
pub(super) struct Target {
    url: Url,
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) is_tls: bool,
}

/// The maximum length of a URL.
const MAX_URL: usize = 8 * 1024;

impl Target {
    /// Checks the URL of a job.
    pub(super) fn parse(policy: &HttpPolicy, text: &str) -> Result<Self, HttpRefusal> {
        let bad = |why: &str| HttpRefusal::BadUrl { why: why.to_owned() };
        if text.len() > MAX_URL {
            return Err(bad("it is longer than 8192 bytes"));
        }
        // The URL standard removes or replaces these, and other parsers do not.
        if text.chars().any(|c| c.is_ascii_control() || c.is_whitespace() || c == '\\') {
            return Err(bad("it contains white space, a control character or a backslash"));
        }
        let Some((_, rest)) = text.split_once("://") else {
            return Err(bad("it must begin with a scheme and `://`"));
        };
        let url = Url::parse(text).map_err(|error| bad(&error.to_string()))?;
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.contains('@') {
            return Err(HttpRefusal::UserInfo);
        }
        Self::check(policy, url)
    }

    /// Checks the target of a redirect. A redirect must not leave TLS.
    pub(super) fn redirect(
        &self,
        policy: &HttpPolicy,
        location: &str,
    ) -> Result<Self, HttpRefusal> {
        let url = self.url.join(location);
        let url = url.map_err(|error| HttpRefusal::BadUrl { why: error.to_string() })?;
        let target = Self::check(policy, url)?;
        if self.is_tls && !target.is_tls {
            return Err(HttpRefusal::SchemeNotAllowed { scheme: "http".to_owned() });
        }
        Ok(target)
    }

    fn check(policy: &HttpPolicy, url: Url) -> Result<Self, HttpRefusal> {
        let is_tls = match url.scheme() {
            "https" => true,
            "http" if policy.allow_http => false,
            scheme => return Err(HttpRefusal::SchemeNotAllowed { scheme: scheme.to_owned() }),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(HttpRefusal::UserInfo);
        }
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
            return Err(HttpRefusal::BadUrl { why: "it has no host".to_owned() });
        };
        let host = host.to_owned();
        if !policy.hosts.contains(&host) {
            return Err(HttpRefusal::HostNotAllowed { host });
        }
        if !policy.ports.contains(&port) {
            return Err(HttpRefusal::PortNotAllowed { host, port });
        }
        Ok(Self { url, host, port, is_tls })
    }

    /// Returns the parsed host: a name or an address.
    pub(super) fn parsed_host(&self) -> Option<Host<&str>> {
        self.url.host()
    }

    /// Returns the path and the query, as they are sent.
    pub(super) fn path_and_query(&self) -> String {
        match self.url.query() {
            Some(query) => format!("{}?{query}", self.url.path()),
            None => self.url.path().to_owned(),
        }
    }

    /// Returns the value of the header `host`.
    pub(super) fn authority(&self) -> String {
        match self.url.port() {
            Some(port) => format!("{}:{port}", self.host),
            None => self.host.clone(),
        }
    }

    pub(super) fn is_same_origin(&self, other: &Self) -> bool {
        (self.is_tls, &self.host, self.port) == (other.is_tls, &other.host, other.port)
    }
}
