//! [`Body`]: the content of a request or a response, as it is stored.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

/// The content of a request or a response. It is stored as text if it is UTF-8, and as base64 otherwise.
///
/// ```
/// use ratchet_extras::http::Body;
///
/// assert_eq!(Body::from_bytes(b"hello"), Body::Text("hello".into()));
/// assert_eq!(Body::from_bytes(&[0xff]), Body::Base64("/w==".into()));
/// assert_eq!(Body::Base64("/w==".into()).to_bytes()?, [0xff]);
/// # Ok::<(), ratchet_extras::http::BodyError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// Text.
    Text(String),
    /// Bytes, in base64 with padding.
    Base64(String),
}

/// A [`Body::Base64`] that is not valid base64.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the body is not valid base64")]
pub struct BodyError(#[source] base64::DecodeError);

impl Body {
    /// Stores bytes.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        match str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => Self::Base64(STANDARD.encode(bytes)),
        }
    }

    /// Returns the bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, BodyError> {
        match self {
            Self::Text(text) => Ok(text.clone().into_bytes()),
            Self::Base64(text) => STANDARD.decode(text).map_err(BodyError),
        }
    }

    /// Returns the text, or `None` if the body is not UTF-8.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Base64(_) => None,
        }
    }
}
