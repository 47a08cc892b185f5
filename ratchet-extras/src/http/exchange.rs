//! Sends one request and reads its response, within the limits of the policy.

use std::io;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{ACCEPT_ENCODING, CONNECTION, HOST, HeaderValue, USER_AGENT};
use hyper::{HeaderMap, Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::task::JoinHandle;

use super::connect::connect;
use super::decode::Decoder;
use super::target::Target;
use super::{HttpError, HttpPolicy, HttpRefusal};

/// What is sent.
#[derive(Debug, Clone)]
pub(super) struct Outgoing {
    pub(super) method: Method,
    /// The headers of the job.
    pub(super) headers: HeaderMap,
    /// The header that identifies the job to the server.
    pub(super) idempotency_key: Option<HeaderValue>,
    pub(super) body: Bytes,
}

/// A response whose body is read on request.
#[derive(Debug)]
pub(super) struct Answer {
    host: String,
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    body: Incoming,
    /// Drives the connection while the body is read.
    _connection: AbortOnDrop,
}

/// Why a hop did not succeed.
#[derive(Debug)]
pub(super) enum HopError {
    Refused(HttpRefusal),
    Failed(HttpError),
}

impl From<HttpRefusal> for HopError {
    fn from(refusal: HttpRefusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<HttpError> for HopError {
    fn from(error: HttpError) -> Self {
        Self::Failed(error)
    }
}

#[derive(Debug)]
struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The size of the read buffer. The head of a response must fit into it; one read can exceed it by as much again.
const MAX_HEAD: usize = 64 * 1024;

/// Connects, sends a request and reads the head of the response.
pub(super) async fn send(
    policy: &HttpPolicy,
    target: &Target,
    outgoing: &Outgoing,
) -> Result<Answer, HopError> {
    let request = request(policy, target, outgoing)?;
    let connection = connect(policy, target).await?;
    let failed = |error| transport(target, error);
    let (mut sender, driver) = http1::Builder::new()
        .max_buf_size(MAX_HEAD)
        .max_headers(100)
        .handshake(TokioIo::new(connection))
        .await
        .map_err(failed)?;
    let driver = AbortOnDrop(tokio::spawn(async move {
        // The sender and the body report the error.
        let _ = driver.await;
    }));
    let (head, body) = sender.send_request(request).await.map_err(failed)?.into_parts();
    let (status, headers) = (head.status, head.headers);
    Ok(Answer { host: target.host.clone(), status, headers, body, _connection: driver })
}

fn request(
    policy: &HttpPolicy,
    target: &Target,
    outgoing: &Outgoing,
) -> Result<Request<Full<Bytes>>, HttpRefusal> {
    let bad = |what: &str| HttpRefusal::BadUrl { why: format!("its {what} cannot be sent") };
    let mut request = Request::new(Full::new(outgoing.body.clone()));
    *request.method_mut() = outgoing.method.clone();
    *request.uri_mut() = target.path_and_query().parse().map_err(|_| bad("path"))?;
    let headers = request.headers_mut();
    headers.insert(USER_AGENT, policy.user_agent.clone());
    headers.extend(outgoing.headers.clone());
    headers.insert(HOST, target.authority().parse().map_err(|_| bad("host"))?);
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    if let (Some(name), Some(key)) = (&policy.idempotency_header, &outgoing.idempotency_key) {
        headers.insert(name.clone(), key.clone());
    }
    // Credentials are sent only to their own host, and only encrypted.
    for (name, value) in policy.credentials.get(&target.host).into_iter().flatten() {
        if target.is_tls {
            headers.insert(name.clone(), value.clone());
        }
    }
    Ok(request)
}

fn transport(target: &Target, error: hyper::Error) -> HopError {
    let host = target.host.clone();
    match error.is_parse() {
        true => HttpError::BadHead { host, source: error.into() }.into(),
        false => HttpError::Transport { host, source: error.into() }.into(),
    }
}

impl Answer {
    /// Reads and decompresses the body.
    pub(super) async fn read(mut self, limit: usize) -> Result<Vec<u8>, HttpError> {
        let mut decoder = Decoder::of(&self.headers, limit)
            .map_err(|encoding| HttpError::Encoding { host: self.host.clone(), encoding })?;
        let mut received = 0_usize;
        while let Some(frame) = self.body.frame().await {
            let frame = frame.map_err(|error| self.failed(error))?;
            let Ok(data) = frame.into_data() else { continue };
            received = received.saturating_add(data.len());
            if received > limit {
                return Err(self.too_large(limit));
            }
            self.check(decoder.push(&data), &decoder, limit)?;
        }
        // The response of a `HEAD` request has an encoding and no body.
        if received > 0 {
            let finished = decoder.finish();
            self.check(finished, &decoder, limit)?;
        }
        Ok(decoder.into_bytes())
    }

    fn check(
        &self,
        written: io::Result<()>,
        decoder: &Decoder,
        limit: usize,
    ) -> Result<(), HttpError> {
        if decoder.is_full() {
            return Err(self.too_large(limit));
        }
        written.map_err(|error| self.failed(error))
    }

    fn too_large(&self, limit: usize) -> HttpError {
        HttpError::BodyTooLarge { host: self.host.clone(), limit }
    }

    fn failed(&self, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> HttpError {
        HttpError::Transport { host: self.host.clone(), source: error.into() }
    }
}
