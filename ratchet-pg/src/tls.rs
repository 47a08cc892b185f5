//! Encryption of connections: the mode `allow`, and a warning about connections in clear text.
//!
//! The driver implements the other modes of `sslmode`. It does not say whether a connection is encrypted, so this
//! module asks the server in the same way as the driver does.

use std::net::IpAddr;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgSslMode};
use sqlx::{Connection as _, PgConnection};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::unreachable::address;

/// Resolves `sslmode=allow`: clear text, or TLS if the server refuses clear text. The driver itself never tries TLS in
/// this mode.
pub(crate) async fn resolve(options: PgConnectOptions) -> PgConnectOptions {
    if !cfg!(feature = "tls") || !matches!(options.get_ssl_mode(), PgSslMode::Allow) {
        return options;
    }
    match PgConnection::connect_with(&options).await {
        Ok(connection) => drop(connection.close().await),
        // The server has no rule for clear text. Any other problem occurs again and is reported then.
        Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some("28000") => {
            return options.ssl_mode(PgSslMode::Require);
        }
        Err(_) => {}
    }
    options
}

/// Logs a warning if connections to a host that is not local are not encrypted.
pub(crate) async fn warn_of_clear_text(options: &PgConnectOptions) {
    if !is_local(options) && is_clear_text(options).await {
        tracing::warn!(
            server = address(options),
            "connections to PostgreSQL are not encrypted; `sslmode=verify-full` in the URL requires TLS and checks \
             the server, `sslmode=require` only encrypts"
        );
    }
}

/// Returns whether the server is reached by a socket or on this machine.
fn is_local(options: &PgConnectOptions) -> bool {
    let host = options.get_host();
    if options.get_socket().is_some() || host.starts_with('/') || host == "localhost" {
        return true;
    }
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

async fn is_clear_text(options: &PgConnectOptions) -> bool {
    match options.get_ssl_mode() {
        PgSslMode::Disable | PgSslMode::Allow => true,
        PgSslMode::Prefer => !cfg!(feature = "tls") || refuses_tls(options).await,
        PgSslMode::Require | PgSslMode::VerifyCa | PgSslMode::VerifyFull => false,
    }
}

/// The time limit of the request.
const LONGEST: Duration = Duration::from_secs(3);

/// The message that requests TLS: its length and a code.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// Requests TLS from the server. Returns whether it declined.
async fn refuses_tls(options: &PgConnectOptions) -> bool {
    let ask = async {
        let mut stream = TcpStream::connect((options.get_host(), options.get_port())).await?;
        stream.write_all(&SSL_REQUEST).await?;
        stream.read_u8().await
    };
    matches!(tokio::time::timeout(LONGEST, ask).await, Ok(Ok(b'N')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    fn options(host: &str, mode: PgSslMode) -> PgConnectOptions {
        PgConnectOptions::new_without_pgpass().host(host).ssl_mode(mode)
    }

    // spec: Z-11
    #[test]
    fn z_11_sockets_and_loopback_addresses_are_local() {
        for host in ["localhost", "127.0.0.1", "127.1.2.3", "::1", "[::1]", "/run/postgresql"] {
            assert!(is_local(&options(host, PgSslMode::Prefer)), "{host}");
        }
        for host in ["10.0.0.1", "db.example.com", "localhost.example.com", "0.0.0.0", "::2"] {
            assert!(!is_local(&options(host, PgSslMode::Prefer)), "{host}");
        }
    }

    // spec: Z-11
    #[tokio::test]
    async fn z_11_a_server_that_declines_tls_is_recognized() {
        for (answer, clear) in [(b'N', true), (b'S', !cfg!(feature = "tls"))] {
            let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
            let port = listener.local_addr().expect("a port").port();
            let server = tokio::spawn(async move {
                let (mut stream, _) = listener.accept().await.expect("a client");
                let mut request = [0; 8];
                stream.read_exact(&mut request).await.expect("a request");
                stream.write_u8(answer).await.expect("answers");
                request
            });
            let prefer = options("127.0.0.1", PgSslMode::Prefer).port(port);
            assert_eq!(is_clear_text(&prefer).await, clear);
            if cfg!(feature = "tls") {
                assert_eq!(server.await.expect("ends"), SSL_REQUEST);
            }
        }
        for (mode, clear) in [
            (PgSslMode::Disable, true),
            (PgSslMode::Allow, true),
            (PgSslMode::Require, false),
            (PgSslMode::VerifyCa, false),
            (PgSslMode::VerifyFull, false),
        ] {
            assert_eq!(is_clear_text(&options("127.0.0.1", mode)).await, clear, "{mode:?}");
        }
    }
}
