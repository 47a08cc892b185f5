//! Name resolution.

use std::fmt;
use std::io;
use std::net::IpAddr;

use async_trait::async_trait;

/// Resolves the names of hosts.
///
/// The policy checks every address that a resolver returns, and connects only to these addresses.
#[async_trait]
pub trait Resolve: Send + Sync + fmt::Debug + 'static {
    /// Returns the addresses of a host.
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// Resolves names with the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SystemResolver;

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let addresses = tokio::net::lookup_host((host, 0)).await?;
        Ok(addresses.map(|address| address.ip()).collect())
    }
}
