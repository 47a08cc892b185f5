//! [`HttpPolicyError`]: why an HTTP policy cannot be built.

/// Why an [`HttpPolicy`](super::HttpPolicy) cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpPolicyError {
    /// The method is not valid or can never be allowed.
    #[error(
        "`{method}` is not a method that can be allowed: it must be a token in upper case, and not CONNECT or TRACE"
    )]
    BadMethod {
        /// The method.
        method: String,
    },
    /// The text is not the name or the address of a host.
    #[error(
        "`{host}` is not a host: write a name such as `api.example.com`, without scheme, port, path and final dot"
    )]
    BadHost {
        /// The text.
        host: String,
    },
    /// The text is not a domain whose subdomains can be allowed.
    #[error(
        "`{domain}` is not a domain whose subdomains can be allowed: write two labels or more, such as `example.com`"
    )]
    BadDomain {
        /// The text.
        domain: String,
    },
    /// The text is not a network.
    #[error(
        "`{network}` is not a network: write an address and a prefix length, such as `10.1.0.0/16`"
    )]
    BadNetwork {
        /// The text.
        network: String,
    },
    /// The network contains more than one block of addresses.
    #[error("the network `{network}` is too wide: its prefix must have 8 bits or more")]
    NetworkTooWide {
        /// The network.
        network: String,
    },
    /// The name or the value of a header is not valid, or the client sets the header itself.
    #[error("the header `{name}` is not valid or is set by the client")]
    BadHeader {
        /// The name of the header.
        name: String,
    },
    /// A credential belongs to a host that is not allowed.
    #[error("the credential `{name}` belongs to `{host}`, which is not an allowed host")]
    UnknownHost {
        /// The name of the header.
        name: String,
        /// The host.
        host: String,
    },
    /// A root certificate cannot be read.
    #[error("a root certificate is not valid PEM")]
    BadCertificate,
    /// There are hosts to connect to, but no root certificates to trust.
    #[error(
        "there are no root certificates; install those of the system, or add some with `root_certificates`"
    )]
    NoRootCertificates,
    /// TLS cannot be configured.
    #[error("TLS cannot be configured")]
    Tls(#[source] Box<dyn std::error::Error + Send + Sync>),
}
