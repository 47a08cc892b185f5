//! The forms in which sealed values are stored: as text, and as JSON.

use serde_json::Value;
use serde_json::value::RawValue;

use super::cipher::{NONCE, TAG};
use super::{Content, Envelope, KeyId};

/// How a sealed text begins. A reader without the key sees that the text is encrypted, and with which key.
const PREFIX: &str = "encrypted:v1:";

/// Returns the stored form of a sealed text, or `None` if the text is not one: see [`sealed_value`] for JSON.
///
/// ```
/// assert_eq!(ratchet_keyring::sealed_text("encrypted:v1:e1:AAAA"), Some("e1:AAAA"));
/// assert_eq!(ratchet_keyring::sealed_text("connection refused"), None);
/// ```
pub fn sealed_text(text: &str) -> Option<&str> {
    text.strip_prefix(PREFIX)
}

/// Returns the sealed content of a JSON text, or `None` if it is not sealed.
pub fn sealed_value(json: &str) -> Option<String> {
    match Envelope::parse(json.as_bytes()).ok()??.content {
        Content::Sealed(sealed) => Some(sealed.into_owned()),
        Content::Plain(_) => None,
    }
}

/// Returns the id of the key with which a text or a JSON text is encrypted, or `None` if it is not encrypted.
///
/// ```
/// let id = ratchet_keyring::sealed_key("encrypted:v1:e1:AAAA").map(|id| id.to_string());
/// assert_eq!(id.as_deref(), Some("e1"));
/// ```
pub fn sealed_key(stored: &str) -> Option<KeyId> {
    let sealed = match sealed_text(stored) {
        Some(sealed) => sealed.to_owned(),
        None => sealed_value(stored)?,
    };
    KeyId::new(sealed.split_once(':')?.0).ok()
}

/// Returns how many bytes longer a sealed value of `length` bytes is as text, without its key id.
pub const fn seal_overhead(length: usize) -> usize {
    let base64 = ((length + NONCE + TAG) * 4).div_ceil(3);
    base64 + 1 - length
}

/// Writes a sealed value as text.
pub(crate) fn as_text(sealed: &str) -> String {
    format!("{PREFIX}{sealed}")
}

/// Writes a sealed value as JSON.
pub(crate) fn as_json(sealed: &str) -> String {
    Envelope { signature: None, content: Content::Sealed(sealed.into()) }.to_json()
}

impl super::Keyring {
    /// Seals a text. The result says that it is encrypted, and with which key.
    pub fn seal_text(
        &self,
        tenant: Option<&str>,
        aad: &[u8],
        text: &str,
    ) -> Result<String, super::KeyError> {
        Ok(as_text(&self.seal(tenant, aad, text.as_bytes())?))
    }

    /// Opens a sealed text. Returns `None` if the text is not sealed.
    pub fn open_text(&self, aad: &[u8], text: &str) -> Option<Result<String, super::KeyError>> {
        let opened = self.open(sealed_text(text)?, aad);
        Some(
            opened.and_then(|text| String::from_utf8(text).map_err(|_| super::KeyError::Malformed)),
        )
    }

    /// Seals a JSON text. The result is a JSON object.
    pub fn seal_json(
        &self,
        tenant: Option<&str>,
        aad: &[u8],
        json: &str,
    ) -> Result<String, super::KeyError> {
        Ok(as_json(&self.seal(tenant, aad, json.as_bytes())?))
    }

    /// Opens a sealed JSON text. Returns `None` if it is not sealed.
    pub fn open_json(&self, aad: &[u8], json: &str) -> Option<Result<String, super::KeyError>> {
        let opened = self.open(&sealed_value(json)?, aad);
        let text = |bytes| {
            let text = String::from_utf8(bytes).map_err(|_| super::KeyError::Malformed)?;
            serde_json::from_str::<&RawValue>(&text).map_err(|_| super::KeyError::Malformed)?;
            Ok(text)
        };
        Some(opened.and_then(text))
    }

    /// Seals a JSON value.
    pub fn seal_value(
        &self,
        tenant: Option<&str>,
        aad: &[u8],
        value: &Value,
    ) -> Result<Value, super::KeyError> {
        let json = self.seal_json(tenant, aad, &value.to_string())?;
        serde_json::from_str(&json).map_err(|_| super::KeyError::Malformed)
    }

    /// Opens a sealed JSON value. Returns `None` if it is not sealed.
    pub fn open_value(&self, aad: &[u8], value: &Value) -> Option<Result<Value, super::KeyError>> {
        value.get(super::envelope::MEMBER)?;
        let opened = self.open_json(aad, &value.to_string())?;
        Some(
            opened.and_then(|json| {
                serde_json::from_str(&json).map_err(|_| super::KeyError::Malformed)
            }),
        )
    }
}
