//! Explains why no connection could be made. The pool itself reports only that it timed out.

use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection as _, Error, PgConnection, PgPool};
use tokio::sync::Mutex;
use tokio::time::Instant;

/// The reason why there is no connection, with the address of the server.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{why}")]
pub(crate) struct Unreachable {
    why: String,
    pub(crate) cause: Cause,
}

/// What prevented a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The pool has waited for as long as it may.
    TimedOut,
    /// The connection failed. The next one may work.
    Failed,
    /// The server does not support TLS, or its certificate is not accepted.
    Tls,
}

impl Unreachable {
    /// Returns the explanation that an error carries.
    pub(crate) fn of(error: &Error) -> Option<&Self> {
        match error {
            Error::AnyDriverError(source) => source.downcast_ref(),
            _ => None,
        }
    }

    fn into_error(self) -> Error {
        Error::AnyDriverError(Box::new(self))
    }
}

/// Returns the address of the server: a socket, or host and port.
pub(crate) fn address(options: &PgConnectOptions) -> String {
    let (host, port) = (options.get_host(), options.get_port());
    match options.get_socket() {
        Some(folder) => format!("{}/.s.PGSQL.{port}", folder.display()),
        None if host.starts_with('/') => format!("{host}/.s.PGSQL.{port}"),
        None => format!("{host}:{port}"),
    }
}

/// How long an explanation is valid, and how long one may take.
const VALID: Duration = Duration::from_secs(1);

/// Finds out why a pool timed out, at most once per second.
#[derive(Debug, Default)]
pub(crate) struct Diagnosis(Mutex<Option<(Instant, String)>>);

impl Diagnosis {
    /// Adds the address and the cause to an error of getting a connection from the pool.
    pub(crate) async fn explain(&self, pool: &PgPool, error: Error) -> Error {
        let options = pool.connect_options();
        match error {
            Error::PoolTimedOut => {
                let why = self.of_timeout(pool).await;
                Unreachable { why, cause: Cause::TimedOut }.into_error()
            }
            Error::Io(error) => {
                let why = cannot_connect(&options, &error.to_string());
                // This is how the TLS library reports a certificate.
                let tls = error.kind() == std::io::ErrorKind::InvalidData;
                let cause = if tls { Cause::Tls } else { Cause::Failed };
                Unreachable { why, cause }.into_error()
            }
            Error::Tls(error) => {
                let why = cannot_connect(&options, &error.to_string());
                Unreachable { why, cause: Cause::Tls }.into_error()
            }
            error => error,
        }
    }

    /// Tries to connect without the pool.
    async fn of_timeout(&self, pool: &PgPool) -> String {
        let mut last = self.0.lock().await;
        if let Some((at, why)) = &*last
            && at.elapsed() < VALID
        {
            return why.clone();
        }
        let options = pool.connect_options();
        let tried = tokio::time::timeout(VALID, PgConnection::connect_with(&options)).await;
        let waited = pool.options().get_acquire_timeout();
        let why = match tried {
            Ok(Ok(connection)) => {
                // The server closes the session when its socket is closed.
                drop(connection);
                let most = pool.options().get_max_connections();
                format!(
                    "none of the {most} connections of the store became free within {waited:?}; \
                     `PgOptions::connections` allows more"
                )
            }
            Ok(Err(Error::Io(cause))) => cannot_connect(&options, &cause.to_string()),
            Ok(Err(error)) => cannot_connect(&options, &error.to_string()),
            Err(_) => cannot_connect(&options, &format!("no answer within {waited:?}")),
        };
        *last = Some((Instant::now(), why.clone()));
        why
    }
}

fn cannot_connect(options: &PgConnectOptions, why: &str) -> String {
    format!("cannot connect to {}: {}", address(options), lower_first(why))
}

/// The operating system begins its messages in upper case.
fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}
