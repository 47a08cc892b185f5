//! [`WebhookSink`]: sends outcomes, dead letters and alerts to an HTTP endpoint, signed.
//!
//! The sink is registered with the builder like one of the application. A message is read from the store after its commit
//! and is sent until the endpoint has answered with a status from 200 to 299, so it arrives at least once. A repeat has the
//! same `ratchet-delivery`. The outcomes of one job arrive in commit order. While the endpoint does not answer, messages stay
//! in the store, and the memory of the worker does not grow.
//!
//! ```no_run
//! use ratchet::{MemoryStore, Ratchet};
//! use ratchet_extras::http::HttpPolicy;
//! use ratchet_extras::webhook::WebhookSink;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let policy = HttpPolicy::builder().method("POST").host("hooks.example.com").build()?;
//! let sink = WebhookSink::new(policy, "https://hooks.example.com/jobs", "the shared secret")?;
//! let ratchet = Ratchet::builder(MemoryStore::new()).outcome_sink(sink).build().await?;
//! # let _ = ratchet;
//! # Ok(())
//! # }
//! ```
//!
//! # Requests
//!
//! The body is a JSON object: `type` is `outcome`, `dead_letter` or `alert`, and `data` is the message. The arguments of
//! the job are not part of it. The headers are:
//!
//! | header | value |
//! |---|---|
//! | `ratchet-delivery` | the id of the message; a repeat has the same |
//! | `ratchet-signature` | `t=<seconds>,v1=<hex>`: the HMAC-SHA256 of `<seconds>.<ratchet-delivery>.<body>` with the secret |
//! | `content-type` | `application/json` |
//!
//! [`verify`] checks a signature in Rust. In Python:
//!
//! ```python
//! expected = hmac.new(secret, f"{t}.{delivery}.".encode() + body, hashlib.sha256).hexdigest()
//! assert hmac.compare_digest(expected, v1) and abs(time.time() - int(t)) < 300
//! ```

mod signature;

use std::collections::BTreeMap;
use std::fmt;

use async_trait::async_trait;
use ratchet_core::{AlertSink, Clock as _, DeadLetterSink, OutcomeSink, SinkError, SystemClock};
use ratchet_store::model::{Alert, Envelope, JobOutcome};
use serde::Serialize;

pub use self::signature::{DELIVERY, SIGNATURE, SignatureError, verify};
use crate::http::{self, HttpPolicy, HttpRefusal};

/// Sends outcomes, dead letters and alerts to an HTTP endpoint. See the [module](self).
pub struct WebhookSink {
    policy: HttpPolicy,
    url: String,
    /// The first is the current one.
    secrets: Vec<Vec<u8>>,
}

/// Why a [`WebhookSink`] cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WebhookError {
    /// The policy does not allow the request.
    #[error("the policy does not allow requests to the webhook")]
    Refused(#[from] HttpRefusal),
    /// The secret is empty.
    #[error("the secret is empty: every request would have a signature that anyone can make")]
    NoSecret,
}

impl WebhookSink {
    /// Creates a sink that sends `POST` requests to this URL. The policy must allow them.
    pub fn new(
        policy: HttpPolicy,
        url: impl Into<String>,
        secret: impl Into<Vec<u8>>,
    ) -> Result<Self, WebhookError> {
        let (url, secret) = (url.into(), secret.into());
        if secret.is_empty() {
            return Err(WebhookError::NoSecret);
        }
        http::check_post(&policy, &url)?;
        Ok(Self { policy, url, secrets: vec![secret] })
    }

    /// Also signs with an older secret, while the receiver still checks with that one.
    #[must_use]
    pub fn also_signed_with(mut self, secret: impl Into<Vec<u8>>) -> Self {
        let secret = secret.into();
        if !secret.is_empty() {
            self.secrets.push(secret);
        }
        self
    }

    async fn send<T: Serialize>(&self, kind: &str, id: &str, data: &T) -> Result<(), SinkError> {
        let body = serde_json::to_vec(&Message { r#type: kind, data })?;
        let now = SystemClock::default().now().as_second().max(0).unsigned_abs();
        let signature = signature::sign(&self.secrets, now, id, &body);
        let headers = BTreeMap::from([
            ("content-type".to_owned(), "application/json".to_owned()),
            (DELIVERY.to_owned(), id.to_owned()),
            (SIGNATURE.to_owned(), signature),
        ]);
        http::post(&self.policy, &self.url, &headers, body).await
    }
}

/// The body of a request.
#[derive(Serialize)]
struct Message<'a, T> {
    r#type: &'a str,
    data: &'a T,
}

impl fmt::Debug for WebhookSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookSink").field("policy", &self.policy).finish_non_exhaustive()
    }
}

#[async_trait]
impl OutcomeSink for WebhookSink {
    async fn publish(&self, outcome: &JobOutcome) -> Result<(), SinkError> {
        self.send("outcome", &outcome.transition_key, outcome).await
    }
}

#[async_trait]
impl DeadLetterSink for WebhookSink {
    async fn publish(&self, envelope: &Envelope) -> Result<(), SinkError> {
        self.send("dead_letter", &envelope.transition_key, envelope).await
    }
}

#[async_trait]
impl AlertSink for WebhookSink {
    async fn alert(&self, alert: &Alert) -> Result<(), SinkError> {
        // The fingerprint tells alerts of one job apart.
        let id = format!("{}:{}", alert.job_id, alert.fingerprint);
        self.send("alert", &id, alert).await
    }
}
