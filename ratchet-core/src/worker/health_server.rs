//! [`HealthServer`]: a small HTTP server for probes and metrics, for workers without a web framework.
//!
//! It runs on its own thread, so that it answers while every handler thread is stuck.

use std::collections::VecDeque;
use std::net::{SocketAddr, TcpListener as StdListener, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Handle};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::http_head::{Head, Refusal};
use crate::client::Ratchet;
use crate::meter::Metrics;
use crate::runtime::{Core, Health};

/// How many connections are open at once. A further one closes the oldest.
const MOST_CONNECTIONS: usize = 64;

/// How long a client may take to send its request.
const READ_LIMIT: Duration = Duration::from_secs(5);

/// How long a client may take to receive the response.
const WRITE_LIMIT: Duration = Duration::from_secs(10);

/// How long `/metrics` waits for a sample of the store before it responds with the last one.
const SAMPLE_LIMIT: Duration = Duration::from_secs(1);

/// A running HTTP server for probes and metrics; see [`Ratchet::serve_health`]. It stops when this is dropped.
///
/// ```
/// # mod ratchet { pub use ratchet_core::{Ratchet, self as runtime}; pub use ratchet_memory::MemoryStore; }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use ratchet::{MemoryStore, Ratchet};
/// # let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
/// use ratchet::runtime::HealthServer;
///
/// let server: HealthServer = ratchet.serve_health("127.0.0.1:0")?;
/// assert_ne!(server.addr().port(), 0); // the port that the system has chosen
///
/// // After the worker has stopped:
/// server.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "the server stops when this is dropped"]
pub struct HealthServer {
    addr: SocketAddr,
    stop: CancellationToken,
    ended: CancellationToken,
}

impl HealthServer {
    /// Returns the address on which the server listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Stops the server and waits until it has closed its connections.
    pub async fn stop(self) {
        self.stop.cancel();
        self.ended.cancelled().await;
    }
}

impl Drop for HealthServer {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Ratchet {
    /// Starts an HTTP server with `/health/live`, `/health/ready` and `/metrics`, for workers without a web framework.
    ///
    /// The health paths respond with status 200 or 503 and a [`Health`] as JSON. They never wait for the store. `/metrics`
    /// samples the store at most every five seconds, waits for it at most one second, and responds with
    /// [`Metrics::to_prometheus`]. The server has its own thread, so it responds while every handler thread is stuck.
    ///
    /// There is no access control, and the responses contain names of jobs and error messages. Bind a loopback or
    /// cluster-internal address. If the address is a loopback address, requests for another `Host` are refused, so that
    /// web pages cannot read the responses through a DNS name of their own.
    ///
    /// ```
    /// # use ratchet_core::Ratchet;
    /// # use ratchet_memory::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
    /// let health = ratchet.serve_health("127.0.0.1:0")?; // usually a fixed port
    /// println!("http://{}/health/ready", health.addr());
    /// health.stop().await;
    /// # Ok(())
    /// # }
    /// ```
    pub fn serve_health(&self, addr: impl ToSocketAddrs) -> std::io::Result<HealthServer> {
        let listener = StdListener::bind(addr)?;
        listener.set_nonblocking(true)?;
        let addr = listener.local_addr()?;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (stop, ended) = (CancellationToken::new(), CancellationToken::new());
        let server = Arc::new(Server {
            core: Arc::clone(&self.core),
            // A store that blocks its thread must not block this server.
            store_runtime: Handle::try_current().ok(),
            is_loopback: addr.ip().is_loopback(),
        });
        let (stopping, end) = (stop.clone(), ended.clone().drop_guard());
        std::thread::Builder::new().name("ratchet-health".to_owned()).spawn(move || {
            runtime.block_on(async {
                match TcpListener::from_std(listener) {
                    Ok(listener) => serve(&server, &listener, &stopping).await,
                    Err(error) => tracing::error!(%error, "the health server cannot listen"),
                }
            });
            // Closes the connections.
            drop(runtime);
            drop(end);
        })?;
        Ok(HealthServer { addr, stop, ended })
    }
}

/// What a connection needs.
#[derive(Debug)]
struct Server {
    core: Arc<Core>,
    store_runtime: Option<Handle>,
    is_loopback: bool,
}

/// Accepts connections until the server is stopped. Open connections are dropped with the runtime.
async fn serve(server: &Arc<Server>, listener: &TcpListener, stop: &CancellationToken) {
    let mut connections: VecDeque<JoinHandle<()>> = VecDeque::new();
    loop {
        let accepted = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        connections.retain(|connection| !connection.is_finished());
        match accepted {
            Ok((stream, _)) => {
                // A client that holds its connections must not keep probes from being answered.
                while connections.len() >= MOST_CONNECTIONS {
                    connections.pop_front().iter().for_each(JoinHandle::abort);
                }
                connections.push_back(tokio::spawn(respond(Arc::clone(server), stream)));
            }
            Err(error) => {
                tracing::debug!(%error, "the health server could not accept a connection");
                // The process may have too many open files. Do not spin.
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

/// Reads one request, responds, and closes the connection.
async fn respond(server: Arc<Server>, mut stream: TcpStream) {
    let response = match timeout(READ_LIMIT, Head::read(&mut stream)).await {
        Err(_) => Response::refused(408, "Request Timeout"),
        Ok(Err(Refusal::Closed)) => return,
        Ok(Err(Refusal::TooLarge)) => Response::refused(431, "Request Header Fields Too Large"),
        Ok(Err(Refusal::Malformed)) => Response::refused(400, "Bad Request"),
        Ok(Ok(head)) if server.is_loopback && !head.is_for_loopback() => {
            Response::refused(403, "Forbidden")
        }
        Ok(Ok(head)) => server.response(&head).await,
    };
    let close = async {
        stream.write_all(&response.bytes()).await?;
        stream.shutdown().await?;
        // Unread input would reset the connection, and the client could lose the response.
        let mut rest = [0; 1024];
        for _ in 0..64 {
            if stream.read(&mut rest).await? == 0 {
                break;
            }
        }
        std::io::Result::Ok(())
    };
    // A client that has gone needs no response.
    let _ = timeout(WRITE_LIMIT, close).await;
}

impl Server {
    async fn response(&self, head: &Head) -> Response {
        if !matches!(&*head.method, "GET" | "HEAD") {
            let mut response = Response::refused(405, "Method Not Allowed");
            response.headers = "Allow: GET, HEAD\r\n";
            return response;
        }
        let mut response = match &*head.path {
            "/health/live" => Response::health(&self.core.workers.liveness()),
            "/health/ready" => Response::health(&self.core.workers.readiness()),
            "/metrics" => {
                self.sample().await;
                let body = self.core.metrics().to_prometheus();
                Response { content_type: Metrics::PROMETHEUS, body, ..Response::ok() }
            }
            _ => Response::refused(404, "Not Found"),
        };
        response.without_body = head.method == "HEAD";
        response
    }

    /// Samples the store, but does not wait for it for long. If it fails, the last sample is used, whose age is a metric.
    async fn sample(&self) {
        let core = Arc::clone(&self.core);
        let sample = async move { core.sample_metrics().await };
        let Some(runtime) = &self.store_runtime else {
            let _ = timeout(SAMPLE_LIMIT, sample).await;
            return;
        };
        let mut sampling = runtime.spawn(sample);
        if timeout(SAMPLE_LIMIT, &mut sampling).await.is_err() {
            sampling.abort();
        }
    }
}

/// A response to send.
#[derive(Debug)]
struct Response {
    status: u16,
    reason: &'static str,
    content_type: &'static str,
    headers: &'static str,
    body: String,
    without_body: bool,
}

impl Response {
    fn ok() -> Self {
        Self {
            status: 200,
            reason: "OK",
            content_type: "text/plain; charset=utf-8",
            headers: "",
            body: String::new(),
            without_body: false,
        }
    }

    fn refused(status: u16, reason: &'static str) -> Self {
        Self { status, reason, body: format!("{reason}\n"), ..Self::ok() }
    }

    fn health(health: &Health) -> Self {
        let (status, reason) = if health.ok { (200, "OK") } else { (503, "Service Unavailable") };
        let body = serde_json::to_string(health).unwrap_or_default();
        Self { status, reason, content_type: "application/json", body, ..Self::ok() }
    }

    fn bytes(self) -> Vec<u8> {
        let Self { status, reason, content_type, headers, body, without_body } = self;
        let mut bytes = format!(
            "HTTP/1.1 {status} {reason}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\
             Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n{headers}Connection: close\r\n\r\n",
            body.len()
        );
        if !without_body {
            bytes.push_str(&body);
        }
        bytes.into_bytes()
    }
}
