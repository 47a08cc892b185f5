//! [`HttpRefusal`]: why a request is not sent.

use std::net::IpAddr;

use crate::Refusal;

/// Why the job `ratchet.http` refuses to send a request. The job fails as `invalid`.
///
/// Messages contain neither paths, queries, bodies nor the values of headers, because these can be confidential.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpRefusal {
    /// The method is not allowed.
    #[error("the method `{method}` is not allowed; allow it with `HttpPolicyBuilder::method`")]
    MethodNotAllowed {
        /// The method.
        method: String,
    },
    /// The text is not an absolute URL, or is too long.
    #[error("the URL is not valid: {why}")]
    BadUrl {
        /// What is wrong.
        why: String,
    },
    /// The scheme is not allowed.
    #[error(
        "the scheme `{scheme}` is not allowed; requests use `https`, or `http` with `HttpPolicyBuilder::allow_http`"
    )]
    SchemeNotAllowed {
        /// The scheme.
        scheme: String,
    },
    /// The URL contains a user name or a password.
    #[error(
        "the URL contains a user name or a password; send credentials with `HttpPolicyBuilder::credential`"
    )]
    UserInfo,
    /// The host is not on the allow-list.
    #[error("the host `{host}` is not allowed; allow it with `HttpPolicyBuilder::host`")]
    HostNotAllowed {
        /// The host.
        host: String,
    },
    /// The port is not allowed.
    #[error("the port {port} of `{host}` is not allowed; allow it with `HttpPolicyBuilder::port`")]
    PortNotAllowed {
        /// The host.
        host: String,
        /// The port.
        port: u16,
    },
    /// The host has an address that is not public.
    #[error(
        "`{host}` has the address {address} ({kind}), which is not public; allow its network with `HttpPolicyBuilder::network`"
    )]
    AddressNotAllowed {
        /// The host.
        host: String,
        /// The address.
        address: IpAddr,
        /// The kind of address.
        kind: &'static str,
    },
    /// The name or the value of a header is not valid.
    #[error(
        "the header `{name}` is not valid: a name must be a token, and a value must not contain control characters"
    )]
    BadHeader {
        /// The name, without characters that are not printable.
        name: String,
    },
    /// A job must not set this header.
    #[error("the header `{name}` is set by the client or the policy and must not be set by a job")]
    HeaderNotAllowed {
        /// The name.
        name: String,
    },
    /// The headers or the body are larger than the policy allows.
    #[error("the {part} of the request take more than {limit} bytes, the limit of the policy")]
    TooLarge {
        /// `headers` or `contents`.
        part: &'static str,
        /// The limit.
        limit: usize,
    },
    /// The body is not valid base64.
    #[error("the body of the request is not valid base64")]
    BadBody,
}

impl HttpRefusal {
    /// Returns the name under which the refusal is counted.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::MethodNotAllowed { .. } => "method_not_allowed",
            Self::BadUrl { .. } => "bad_url",
            Self::SchemeNotAllowed { .. } => "scheme_not_allowed",
            Self::UserInfo => "user_info",
            Self::HostNotAllowed { .. } => "host_not_allowed",
            Self::PortNotAllowed { .. } => "port_not_allowed",
            Self::AddressNotAllowed { .. } => "address_not_allowed",
            Self::BadHeader { .. } => "bad_header",
            Self::HeaderNotAllowed { .. } => "header_not_allowed",
            Self::TooLarge { .. } => "too_large",
            Self::BadBody => "bad_body",
        }
    }
}

impl Refusal for HttpRefusal {
    fn reason(&self) -> &'static str {
        Self::reason(self)
    }
}
