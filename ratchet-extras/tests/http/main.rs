//! The job `ratchet.http`, and attacks on it. The tables in the README name these tests. All servers listen on
//! loopback addresses.
#![cfg(feature = "http")]

mod addresses;
mod bodies;
mod headers;
mod policies;
#[cfg(feature = "webhook")]
mod receiver;
mod redirects;
mod server;
mod statuses;
mod tls;
mod urls;
#[cfg(feature = "webhook")]
mod webhook;

use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use ratchet::model::{Envelope, TerminalReason};
use ratchet::testing::Sandbox;
use ratchet::{Job as _, WaitError};
use ratchet_extras::http::{Http, HttpPolicy, HttpPolicyBuilder, HttpResponse, Resolve};

use server::Server;

/// Answers from a script. The last answer is repeated.
#[derive(Debug, Clone)]
pub(crate) struct Answers(Arc<Mutex<Script>>);

#[derive(Debug)]
struct Script {
    answers: VecDeque<Vec<IpAddr>>,
    names: Vec<String>,
}

impl Answers {
    pub(crate) fn new(answers: &[&[&str]]) -> Self {
        let parse = |text: &&str| text.parse().expect("an address");
        let answers = answers.iter().map(|answer| answer.iter().map(parse).collect()).collect();
        Self(Arc::new(Mutex::new(Script { answers, names: Vec::new() })))
    }

    /// The names that were resolved.
    pub(crate) fn names(&self) -> Vec<String> {
        self.0.lock().expect("not poisoned").names.clone()
    }
}

#[ratchet::async_trait]
impl Resolve for Answers {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let mut state = self.0.lock().expect("not poisoned");
        state.names.push(host.to_owned());
        let answers = &mut state.answers;
        let next = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
        next.ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// Allows requests to `api.test`, which is this server on loopback.
pub(crate) fn allowing(server: &Server) -> HttpPolicyBuilder {
    HttpPolicy::builder()
        .without_system_roots()
        .method("GET")
        .method("POST")
        .host("api.test")
        .port(server.port())
        .allow_http()
        .network("127.0.0.1/32")
        .resolver(Answers::new(&[&["127.0.0.1"]]))
}

pub(crate) fn url(server: &Server, path: &str) -> String {
    format!("http://api.test:{}{path}", server.port())
}

/// Runs one job to its end in a sandbox, with one retry.
pub(crate) async fn run(policy: HttpPolicy, job: Http) -> Result<HttpResponse, Box<Envelope>> {
    let builder = Sandbox::builder().jobs([Http::JOB]).state(policy);
    let sandbox = builder.build().await.expect("a sandbox");
    let handle = sandbox.enqueue(job).max_retries(1).await.expect("enqueued");
    sandbox.drain_for(std::time::Duration::from_hours(24)).await.expect("drained");
    match handle.wait().await {
        Ok(response) => Ok(response),
        Err(WaitError::Failed(envelope)) => Err(envelope),
        Err(error) => panic!("{error}"),
    }
}

/// Runs a job that must be refused for this reason, in its first attempt.
pub(crate) async fn assert_refused(policy: HttpPolicy, job: Http, reason: &str) {
    let refusals = policy.refusals();
    let envelope = run(policy, job.clone()).await.expect_err("refused");
    assert_eq!(envelope.reason, TerminalReason::Invalid, "{job:?}: {}", envelope.failure.message);
    assert_eq!(envelope.failure.code, reason, "{job:?}: {}", envelope.failure.message);
    assert_eq!(envelope.attempts, 1, "a refusal is not retried: {job:?}");
    assert_eq!((refusals.total(), refusals.count(reason)), (1, 1), "{job:?}");
}

// spec: Y-02
#[tokio::test]
async fn y_02_nothing_is_allowed_by_default() {
    let policy = || HttpPolicy::builder().build().expect("a policy");
    let job = Http::get("https://example.com/");
    assert_refused(policy(), job.clone(), "method_not_allowed").await;
    let policy = HttpPolicy::builder().method("GET").build().expect("a policy");
    assert_refused(policy, job, "host_not_allowed").await;
}

// spec: Y-02
#[tokio::test]
async fn y_02_an_allowed_request_is_sent_and_its_response_is_kept() {
    let server =
        Server::replying("200 OK", &["content-type: text/plain", "x-other: 1"], b"hello").await;
    let policy = allowing(&server).idempotency_header("idempotency-key").build().expect("a policy");
    let refusals = policy.refusals();
    let job = Http::post(url(&server, "/orders?id=7#part")).json(&[1, 2]).expect("JSON");
    let response = run(policy, job.header("X-Trace", "abc")).await.expect("succeeds");
    assert_eq!((response.status, response.body.text(), response.cut), (200, Some("hello"), 0));
    assert_eq!(
        response.headers.into_iter().collect::<Vec<_>>(),
        [("content-type".into(), "text/plain".into())]
    );
    let request = server.requests().pop().expect("one request");
    assert!(request.starts_with("POST /orders?id=7 HTTP/1.1\r\n"), "{request}");
    for part in [
        &format!("host: api.test:{}\r\n", server.port()),
        "content-type: application/json\r\n",
        "x-trace: abc\r\n",
        "content-length: 5\r\n",
        "accept-encoding: gzip\r\n",
        "idempotency-key: ",
        "user-agent: ratchet/",
        "\r\n\r\n[1,2]",
    ] {
        assert!(request.contains(part), "{part}: {request}");
    }
    assert_eq!(refusals.total(), 0);
}
