//! Connects to a target. The address that is connected to is the address that was checked.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use url::Host;

use super::exchange::HopError;
use super::target::Target;
use super::{HttpError, HttpPolicy, HttpRefusal};

/// A connection, with or without TLS.
pub(super) trait Connection: AsyncRead + AsyncWrite + Unpin + Send {}
impl<C: AsyncRead + AsyncWrite + Unpin + Send> Connection for C {}

/// An address that the policy has checked. There is no other way to make one than [`check`].
#[derive(Debug, Clone, Copy)]
struct CheckedAddress(SocketAddr);

fn check(
    policy: &HttpPolicy,
    target: &Target,
    address: IpAddr,
) -> Result<CheckedAddress, HttpRefusal> {
    match policy.networks.refusal(address) {
        None => Ok(CheckedAddress(SocketAddr::new(address, target.port))),
        Some(kind) => {
            Err(HttpRefusal::AddressNotAllowed { host: target.host.clone(), address, kind })
        }
    }
}

/// Resolves the host once. Refuses it if any of its addresses is not allowed.
async fn addresses(policy: &HttpPolicy, target: &Target) -> Result<Vec<CheckedAddress>, HopError> {
    let found = match target.parsed_host() {
        Some(Host::Ipv4(address)) => vec![IpAddr::V4(address)],
        Some(Host::Ipv6(address)) => vec![IpAddr::V6(address)],
        Some(Host::Domain(name)) => {
            let found = timeout(policy.connect_timeout, policy.resolver.resolve(name)).await;
            let found = found.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
            found.map_err(|source| HttpError::Resolve { host: target.host.clone(), source })?
        }
        None => Vec::new(),
    };
    if found.is_empty() {
        let source = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
        return Err(HttpError::Resolve { host: target.host.clone(), source }.into());
    }
    let checked = found.into_iter().map(|address| check(policy, target, address));
    Ok(checked.collect::<Result<_, _>>()?)
}

/// Connects to the first address that accepts.
pub(super) async fn connect(
    policy: &HttpPolicy,
    target: &Target,
) -> Result<Box<dyn Connection>, HopError> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for CheckedAddress(address) in addresses(policy, target).await? {
        let opened = timeout(policy.connect_timeout, open(policy, target, address)).await;
        match opened.unwrap_or_else(|_| Ok(Err(io::ErrorKind::TimedOut.into())))? {
            Ok(connection) => return Ok(connection),
            Err(error) => last = error,
        }
    }
    Err(HttpError::Connect { host: target.host.clone(), source: last }.into())
}

/// Opens one connection. The outer error is a refusal, the inner one permits another address.
async fn open(
    policy: &HttpPolicy,
    target: &Target,
    address: SocketAddr,
) -> Result<io::Result<Box<dyn Connection>>, HttpRefusal> {
    let (stream, peer) = match TcpStream::connect(address).await.and_then(|stream| {
        let peer = stream.peer_addr()?;
        Ok((stream, peer))
    }) {
        Ok(connected) => connected,
        Err(error) => return Ok(Err(error)),
    };
    // Checks what the system has connected to, whatever was requested.
    check(policy, target, peer.ip())?;
    let _ = stream.set_nodelay(true);
    if target.is_tls { Ok(tls(policy, target, stream).await) } else { Ok(Ok(Box::new(stream))) }
}

async fn tls(
    policy: &HttpPolicy,
    target: &Target,
    stream: TcpStream,
) -> io::Result<Box<dyn Connection>> {
    let name = match target.parsed_host() {
        Some(Host::Ipv4(address)) => ServerName::from(IpAddr::V4(address)),
        Some(Host::Ipv6(address)) => ServerName::from(IpAddr::V6(address)),
        _ => ServerName::try_from(target.host.clone()).map_err(io::Error::other)?,
    };
    let connector = TlsConnector::from(Arc::clone(&policy.tls));
    Ok(Box::new(connector.connect(name, stream).await?))
}
