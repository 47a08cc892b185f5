//! [`Head`]: the head of an HTTP/1.1 request, read with a limit.

use std::net::IpAddr;

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// The maximum size of the head of a request, in bytes.
const MOST_BYTES: usize = 8 * 1024;

/// The parts of a request that the server looks at.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) method: String,
    /// The path, without the query.
    pub(super) path: String,
    host: Option<String>,
}

/// Why a request is not read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The client has closed the connection.
    Closed,
    /// The head is too large.
    TooLarge,
    /// The head is not that of an HTTP/1 request.
    Malformed,
}

impl Head {
    /// Reads the head of a request. What follows it is ignored.
    pub(super) async fn read(stream: &mut (impl AsyncRead + Unpin)) -> Result<Self, Refusal> {
        let (mut bytes, mut chunk) = (Vec::new(), [0; 1024]);
        loop {
            let read = stream.read(&mut chunk).await.map_err(|_| Refusal::Closed)?;
            // The end of the head can be split between two chunks.
            let searched = bytes.len().saturating_sub(3);
            bytes.extend_from_slice(&chunk[..read]);
            if let Some(end) = bytes[searched..].windows(4).position(|four| four == b"\r\n\r\n") {
                bytes.truncate(searched + end);
                return Self::parse(&bytes).ok_or(Refusal::Malformed);
            }
            if read == 0 {
                return Err(if bytes.is_empty() { Refusal::Closed } else { Refusal::Malformed });
            }
            if bytes.len() > MOST_BYTES {
                return Err(Refusal::TooLarge);
            }
        }
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut lines = std::str::from_utf8(bytes).ok()?.split("\r\n");
        let mut words = lines.next()?.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        let is_request = words.next().is_none()
            && matches!(version, "HTTP/1.0" | "HTTP/1.1")
            && !method.is_empty()
            && method.bytes().all(|byte| byte.is_ascii_uppercase())
            && target.starts_with('/')
            && !target.contains(char::is_control);
        if !is_request {
            return None;
        }
        let mut host = None;
        for line in lines {
            let (name, value) = line.split_once(':')?;
            if name.eq_ignore_ascii_case("host") && host.replace(value.trim().to_owned()).is_some()
            {
                return None;
            }
        }
        let path = target.split('?').next().unwrap_or_default().to_owned();
        Some(Self { method: method.to_owned(), path, host })
    }

    /// Returns whether the request is for a loopback address, or does not say for which host it is.
    pub(super) fn is_for_loopback(&self) -> bool {
        let Some(host) = &self.host else { return true };
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => host.split(':').next().unwrap_or_default(),
        };
        name.eq_ignore_ascii_case("localhost")
            || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(request: &str) -> Result<Head, Refusal> {
        Head::read(&mut request.as_bytes()).await
    }

    #[tokio::test]
    async fn a_request_is_read_up_to_its_body() {
        let head =
            read("GET /metrics?x=1 HTTP/1.1\r\nhost: localhost:9090\r\nA: b\r\n\r\nGET /").await;
        let head = head.expect("is well-formed");
        assert_eq!((&*head.method, &*head.path), ("GET", "/metrics"));
        assert_eq!(head.host.as_deref(), Some("localhost:9090"));
        assert_eq!(read("GET / HTTP/1.0\r\n\r\n").await.expect("is well-formed").host, None);
    }

    #[tokio::test]
    async fn m_07_what_is_not_a_request_is_refused() {
        let malformed = [
            "GET /\r\n\r\n",
            "GET / HTTP/2\r\n\r\n",
            "GET  / HTTP/1.1\r\n\r\n",
            "get / HTTP/1.1\r\n\r\n",
            "GET http://a/ HTTP/1.1\r\n\r\n",
            "GET /\0 HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nno colon\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            "\r\n\r\n",
            "GET / HTTP/1.1\r\n",
            "\u{16}\u{3}\u{1} TLS",
        ];
        for request in malformed {
            assert_eq!(read(request).await, Err(Refusal::Malformed), "{request:?}");
        }
        assert_eq!(read("").await, Err(Refusal::Closed));
        let large = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(20_000));
        assert_eq!(read(&large).await, Err(Refusal::TooLarge));
        let fits = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(8000));
        assert!(read(&fits).await.is_ok());
    }

    #[tokio::test]
    async fn only_loopback_names_are_for_loopback() {
        let is_for_loopback = |host: &str| {
            let host = Some(host.to_owned());
            Head { method: "GET".to_owned(), path: "/".to_owned(), host }.is_for_loopback()
        };
        for host in
            ["localhost", "LOCALHOST:80", "127.0.0.1:9090", "127.9.9.9", "[::1]:80", "[::1]"]
        {
            assert!(is_for_loopback(host), "{host}");
        }
        for host in
            ["example.com", "127.0.0.1.example.com", "localhost.example.com:80", "10.0.0.1", ""]
        {
            assert!(!is_for_loopback(host), "{host}");
        }
    }
}
