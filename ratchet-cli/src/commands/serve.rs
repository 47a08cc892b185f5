//! `ratchet serve`: the dashboard as a program of its own.

mod login;

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::http::header;
use axum::http::request::Parts;
use ratchet_web::Access;
use tracing_subscriber::EnvFilter;

use self::login::Login;
use super::Session;
use super::token::Tokens;
use crate::args::Serve;
use crate::exit::Failure;

/// Headers that proxies add. A request with one of them does not come from this host.
const FORWARDED: [&str; 4] = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip"];

pub(super) async fn run(session: &Session, serve: Serve) -> Result<(), Failure> {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let _ = subscriber.with_ansi(std::io::stderr().is_terminal()).try_init();
    let tokens = serve.tokens.as_deref().map(Tokens::open).transpose()?;
    if tokens.is_none() && !serve.listen.ip().is_loopback() {
        return Err(Failure::usage(
            "other hosts can reach this address, so that `--tokens FILE` is required; create tokens with `ratchet token`",
        ));
    }
    let login = Arc::new(Login::new(tokens, serve.https));
    let access = {
        let login = Arc::clone(&login);
        let loopback = serve.listen.ip().is_loopback();
        move |parts: &Parts| access(&login, parts, loopback)
    };
    let title = serve.title.unwrap_or_else(|| {
        let context = session.selected.context.clone();
        context.unwrap_or_else(|| session.selected.target.to_string())
    });
    let mut dashboard = ratchet_web::router(&session.ratchet).access(access).title(title);
    if serve.read_only {
        dashboard = dashboard.read_only();
    }
    if session.selected.production {
        dashboard = dashboard.accent(ratchet_web::Accent::Red);
    }
    let app = login::with_login(dashboard.build(), login);
    let listener = listen(serve.listen).await?;
    eprintln!("serving {}", session.selected.target);
    eprintln!("http://{}/", listener.local_addr()?);
    let stopped = stopped()?;
    // Open pages hold a stream of events, so that waiting for all connections would not end.
    tokio::select! {
        result = axum::serve(listener, app) => Ok(result?),
        () = stopped => Ok(()),
    }
}

/// Waits for SIGINT or SIGTERM. As the first process of a container, a program must handle both itself.
#[cfg(unix)]
fn stopped() -> Result<impl Future<Output = ()>, Failure> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn stopped() -> Result<impl Future<Output = ()>, Failure> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}

async fn listen(address: SocketAddr) -> Result<tokio::net::TcpListener, Failure> {
    tokio::net::TcpListener::bind(address)
        .await
        .map_err(|error| Failure::refused(format!("cannot listen at {address}: {error}")))
}

/// Returns what a request may do: that of its token, or reading if it comes from this host.
fn access(login: &Login, parts: &Parts, loopback: bool) -> Access {
    if let Some(access) = login.access(&parts.headers) {
        return access;
    }
    if loopback && is_local(parts) { Access::viewer("local") } else { Access::denied() }
}

/// Returns whether a browser of this host has sent the request to this host. A page of another site cannot, even if its
/// name resolves to this host, because its name is not that of this host.
fn is_local(parts: &Parts) -> bool {
    let host = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let name =
        host.map(|host| match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((address, _)) => address,
            None => host.rsplit_once(':').map_or(host, |(name, _)| name),
        });
    let named = name.is_some_and(|name| {
        let address = name.parse::<std::net::IpAddr>();
        name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
    });
    named && !FORWARDED.iter().any(|name| parts.headers.contains_key(*name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(headers: &[(&str, &str)]) -> Parts {
        let mut request = axum::http::Request::get("/overview");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).expect("a request").into_parts().0
    }

    #[test]
    fn o_08_only_a_request_of_this_host_reads_without_a_token() {
        let login = Login::new(None, false);
        let may = |headers: &[(&str, &str)], loopback| {
            access(&login, &parts(headers), loopback) != Access::denied()
        };
        assert!(may(&[("host", "127.0.0.1:4000")], true));
        assert!(may(&[("host", "localhost:4000")], true));
        assert!(may(&[("host", "[::1]:4000")], true));
        assert!(!may(&[("host", "127.0.0.1:4000")], false));
        assert!(!may(&[("host", "evil.example:4000")], true), "a name that resolves to this host");
        assert!(!may(&[], true));
        for name in FORWARDED {
            assert!(!may(&[("host", "127.0.0.1:4000"), (name, "10.0.0.1")], true), "{name}");
        }
        let local = access(&login, &parts(&[("host", "127.0.0.1")]), true);
        assert!(!local.may(ratchet_core::Capability::ActJobs));
    }
}
