//! Builds invocations of the job `ratchet.http`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Body, Http};

impl Http {
    /// Creates a request with any method.
    pub fn request(method: impl Into<String>, url: impl Into<String>) -> Self {
        Self { method: method.into(), url: url.into(), headers: BTreeMap::new(), body: None }
    }

    /// Creates a `GET` request.
    pub fn get(url: impl Into<String>) -> Self {
        Self::request("GET", url)
    }

    /// Creates a `POST` request.
    ///
    /// ```
    /// use ratchet_extras::http::Http;
    ///
    /// let request = Http::post("https://api.example.com/orders").json(&[1, 2])?;
    /// assert_eq!(request.body.as_ref().and_then(|body| body.text()), Some("[1,2]"));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn post(url: impl Into<String>) -> Self {
        Self::request("POST", url)
    }

    /// Creates a `PUT` request.
    pub fn put(url: impl Into<String>) -> Self {
        Self::request("PUT", url)
    }

    /// Creates a `DELETE` request.
    pub fn delete(url: impl Into<String>) -> Self {
        Self::request("DELETE", url)
    }

    /// Sets a header. It is stored with the job. A password or a token should be a
    /// [credential](super::HttpPolicyBuilder::credential) of the policy instead.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.insert(name.into(), value.into());
        self
    }

    /// Sets the body to a text.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.body = Some(Body::Text(text.into()));
        self
    }

    /// Sets the body to bytes.
    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        self.body = Some(Body::from_bytes(bytes));
        self
    }

    /// Sets the body to a value as JSON, and its content type.
    pub fn json<T: Serialize + ?Sized>(self, value: &T) -> Result<Self, serde_json::Error> {
        let text = serde_json::to_string(value)?;
        Ok(self.header("content-type", "application/json").text(text))
    }
}
