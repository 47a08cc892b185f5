//! The allow-list of hosts.

use std::collections::BTreeSet;

use url::Host;

/// The hosts that requests may go to, in the form of the URL standard: lower case, punycode, no trailing dot.
#[derive(Debug, Clone, Default)]
pub(super) struct Hosts {
    exact: BTreeSet<String>,
    /// Domains all of whose subdomains are allowed.
    parents: BTreeSet<String>,
}

impl Hosts {
    /// Adds a host. Returns `None` if it is not a host.
    pub(super) fn allow(&mut self, host: &str) -> Option<()> {
        self.exact.insert(normal_form(host)?);
        Some(())
    }

    /// Adds the subdomains of a domain. Returns `None` if it is not a domain with at least two labels.
    pub(super) fn allow_subdomains_of(&mut self, domain: &str) -> Option<()> {
        let domain =
            normal_form(domain).filter(|domain| domain.contains('.') && !is_address(domain))?;
        self.parents.insert(domain);
        Some(())
    }

    /// Returns `true` if the host of a parsed URL is allowed.
    pub(super) fn contains(&self, host: &str) -> bool {
        if self.exact.contains(host) {
            return true;
        }
        // An address has no subdomains, although it contains dots.
        !is_address(host) && {
            let parents = host.match_indices('.').map(|(dot, _)| &host[dot + 1..]);
            parents.into_iter().any(|parent| self.parents.contains(parent))
        }
    }
}

/// Parses a host as a URL does. Returns `None` for names with a trailing dot, an empty label or a wildcard.
pub(super) fn normal_form(host: &str) -> Option<String> {
    let host = Host::parse(host).ok()?;
    let Host::Domain(domain) = host else { return Some(host.to_string()) };
    let is_label = |label: &str| {
        !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
    };
    let is_name = domain.split('.').all(is_label) && domain.len() <= 253;
    is_name.then_some(domain)
}

fn is_address(host: &str) -> bool {
    !matches!(Host::parse(host), Ok(Host::Domain(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_compared_in_their_normal_form() {
        let mut hosts = Hosts::default();
        for host in ["API.Example.com", "bücher.example", "10.1.2.3", "[2001:db8::1]"] {
            hosts.allow(host).expect(host);
        }
        for host in ["api.example.com", "xn--bcher-kva.example", "10.1.2.3", "[2001:db8::1]"] {
            assert!(hosts.contains(host), "{host}");
        }
        for host in ["example.com", "xapi.example.com", "x.api.example.com", "api.example.com."] {
            assert!(!hosts.contains(host), "{host}");
        }
        for host in
            ["", "a b", "a/b", "example.com.", "a..b", "user@host", "host:80", "http://host"]
        {
            assert!(Hosts::default().allow(host).is_none(), "{host}");
        }
    }

    #[test]
    fn subdomains_of_a_domain_are_allowed_without_the_domain() {
        let mut hosts = Hosts::default();
        hosts.allow_subdomains_of("example.com").expect("a domain");
        for (host, allowed) in [
            ("a.example.com", true),
            ("a.b.example.com", true),
            ("example.com", false),
            ("aexample.com", false),
            ("a.example.com.evil.org", false),
            ("a.example.com.", false),
        ] {
            assert_eq!(hosts.contains(host), allowed, "{host}");
        }
        for domain in ["com", "", "1.2.3.4", "example.com."] {
            assert!(Hosts::default().allow_subdomains_of(domain).is_none(), "{domain}");
        }
    }
}
