//! A server on loopback that answers in any way, also in wrong ones.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// How the server answers.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// These bytes, then the end of the connection.
    Bytes(Vec<u8>),
    /// These bytes, then the same bytes again and again.
    Endless(Vec<u8>, Vec<u8>),
    /// These bytes, then nothing.
    Stall(Vec<u8>),
}

type Handler = Arc<dyn Fn(&str) -> Reply + Send + Sync>;

/// The server. It ends when it is dropped.
pub(crate) struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Server {
    /// Answers every request with the result of a function.
    pub(crate) async fn start(handler: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Self {
        Self::listen("127.0.0.1:0", None, handler).await
    }

    /// Answers every request with a complete response.
    pub(crate) async fn replying(status: &str, headers: &[&str], body: &[u8]) -> Self {
        let bytes = response(status, headers, body);
        Self::start(move |_| Reply::Bytes(bytes.clone())).await
    }

    pub(crate) async fn listen(
        address: &str,
        tls: Option<TlsAcceptor>,
        handler: impl Fn(&str) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (handler, log): (Handler, _) = (Arc::new(handler), Arc::clone(&requests));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (handler, log, tls) = (Arc::clone(&handler), Arc::clone(&log), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => serve(stream, &handler, &log).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                serve(stream, &handler, &log).await;
                            }
                        }
                    }
                });
            }
        });
        Self { address, requests, task }
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// The requests so far, with their bodies.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("not poisoned").clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Writes a response with the right length.
pub(crate) fn response(status: &str, headers: &[&str], body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n", body.len()).into_bytes();
    for header in headers {
        bytes.extend(format!("{header}\r\n").bytes());
    }
    bytes.extend(b"\r\n");
    bytes.extend(body);
    bytes
}

async fn serve(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    handler: &Handler,
    log: &Mutex<Vec<String>>,
) {
    let Some(request) = read(&mut stream).await else { return };
    let reply = handler(&request);
    log.lock().expect("not poisoned").push(request);
    // The client may go away at any time.
    let _ = write(&mut stream, reply).await;
}

async fn write(stream: &mut (impl AsyncWrite + Unpin), reply: Reply) -> std::io::Result<()> {
    match reply {
        Reply::Bytes(bytes) => stream.write_all(&bytes).await?,
        Reply::Endless(first, next) => {
            stream.write_all(&first).await?;
            loop {
                stream.write_all(&next).await?;
            }
        }
        Reply::Stall(bytes) => {
            stream.write_all(&bytes).await?;
            stream.flush().await?;
            std::future::pending::<()>().await;
        }
    }
    stream.shutdown().await
}

async fn read(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length =
            head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        if body.len() >= length.unwrap_or(0) {
            return Some(text.into_owned());
        }
    }
}
