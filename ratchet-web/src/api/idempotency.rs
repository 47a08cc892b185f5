//! [`Repeats`]: answers a repeated request with the answer of the first one.
//!
//! Answers are kept in the memory of this process. A repeat that reaches another process, or this one after a restart, is
//! carried out again. A job itself is protected by its own idempotency key, which the store keeps.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::to_bytes;
use axum::http::{HeaderValue, StatusCode};
use sha2::{Digest, Sha256};

use crate::problem::Problem;
use crate::request::{Answer, response};

/// How many answers are kept.
const KEPT: usize = 10_000;

/// Identifies a request: its actor, its path and its key.
type Key = (String, String, String);

/// The answers to requests with an `Idempotency-Key`. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Repeats {
    kept: Arc<Mutex<Kept>>,
}

#[derive(Debug, Default)]
struct Kept {
    answers: HashMap<Key, (Body, Option<Vec<u8>>)>,
    order: VecDeque<Key>,
}

/// A digest of a body.
type Body = [u8; 32];

impl Repeats {
    /// Returns the answer that was given to this key, or carries out the request and keeps its answer. A problem is not
    /// kept, so that the request can be sent again.
    pub(crate) async fn once(
        &self,
        key: Key,
        body: &[u8],
        perform: impl Future<Output = Answer>,
    ) -> Answer {
        let digest: Body = Sha256::digest(body).into();
        if let Some(answer) = self.begin(&key, digest)? {
            let mut repeat = response(StatusCode::OK, "application/json", answer);
            repeat.headers_mut().insert("idempotent-replayed", HeaderValue::from_static("true"));
            return Ok(repeat);
        }
        // If the request is dropped before it ends, its key must not stay taken.
        let guard = Guard { repeats: self, key: Some(key) };
        let (parts, content) = perform.await?.into_parts();
        let content = to_bytes(content, usize::MAX).await;
        let content = content.map_err(|error| Problem::new("store", error.to_string()))?;
        guard.finish(content.to_vec());
        Ok(axum::http::Response::from_parts(parts, content.into()))
    }

    /// Takes a key, or returns the answer that it has.
    fn begin(&self, key: &Key, digest: Body) -> Result<Option<Vec<u8>>, Problem> {
        let mut kept = self.lock();
        if let Some((known, answer)) = kept.answers.get(key) {
            if *known != digest {
                return Err(Problem::new(
                    "refused",
                    "another request had the same `Idempotency-Key` and another body",
                ));
            }
            return match answer {
                Some(answer) => Ok(Some(answer.clone())),
                None => Err(Problem::new(
                    "conflict",
                    "a request with the same `Idempotency-Key` is being carried out",
                )),
            };
        }
        kept.answers.insert(key.clone(), (digest, None));
        kept.order.push_back(key.clone());
        if kept.order.len() > KEPT
            && let Some(oldest) = kept.order.pop_front()
        {
            kept.answers.remove(&oldest);
        }
        Ok(None)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Frees the key of a request that did not end with an answer.
struct Guard<'a> {
    repeats: &'a Repeats,
    key: Option<Key>,
}

impl Guard<'_> {
    fn finish(mut self, content: Vec<u8>) {
        let Some(key) = self.key.take() else { return };
        if let Some((_, answer)) = self.repeats.lock().answers.get_mut(&key) {
            *answer = Some(content);
        }
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if let Some(key) = self.key.take() {
            let mut kept = self.repeats.lock();
            kept.answers.remove(&key);
            kept.order.retain(|known| *known != key);
        }
    }
}
