//! The cryptographic operations of one key.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use hmac::{Hmac, Mac as _};
use sha2::Sha256;

use super::{KeyError, KeyId};

/// The length of a nonce, in bytes.
pub(crate) const NONCE: usize = 24;
/// The length of an authentication tag, in bytes.
pub(crate) const TAG: usize = 16;

/// A key with its schedule computed. The crates overwrite it in memory when it is dropped.
pub(crate) enum Cipher {
    Mac(Box<Hmac<Sha256>>),
    Aead(Box<XChaCha20Poly1305>),
}

impl Cipher {
    pub(crate) fn mac(key: &[u8; 32]) -> Self {
        let mac = <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(key);
        Self::Mac(Box::new(mac.expect("a key can have any length")))
    }

    pub(crate) fn aead(key: &[u8; 32]) -> Self {
        Self::Aead(Box::new(XChaCha20Poly1305::new(key.into())))
    }

    /// Returns the MAC of a message; `None` if this is not a signing key.
    pub(crate) fn tag(&self, message: &[u8]) -> Option<[u8; 32]> {
        let Self::Mac(mac) = self else { return None };
        let mut mac = mac.as_ref().clone();
        mac.update(message);
        Some(mac.finalize().into_bytes().into())
    }

    /// Compares in constant time.
    pub(crate) fn verifies(&self, message: &[u8], tag: &[u8]) -> bool {
        let Self::Mac(mac) = self else { return false };
        let mut mac = mac.as_ref().clone();
        mac.update(message);
        mac.verify_slice(tag).is_ok()
    }

    /// Returns the nonce and the ciphertext with its tag.
    pub(crate) fn seal(&self, id: &KeyId, aad: &[u8], plain: &[u8]) -> Result<Vec<u8>, KeyError> {
        let Self::Aead(aead) = self else { return Err(KeyError::Mismatch(id.clone())) };
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).map_err(|_| KeyError::NoRandomness)?;
        let sealed = aead.encrypt(&XNonce::from(nonce), Payload { msg: plain, aad });
        let sealed = sealed.map_err(|_| KeyError::Mismatch(id.clone()))?;
        Ok([nonce.as_slice(), &sealed].concat())
    }

    pub(crate) fn open(&self, id: &KeyId, aad: &[u8], sealed: &[u8]) -> Result<Vec<u8>, KeyError> {
        let Self::Aead(aead) = self else { return Err(KeyError::Mismatch(id.clone())) };
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE>().ok_or(KeyError::Malformed)?;
        let plain = aead.decrypt(&XNonce::from(*nonce), Payload { msg: sealed, aad });
        plain.map_err(|_| KeyError::Mismatch(id.clone()))
    }
}

/// Writes `<key id>:<base64>`.
pub(crate) fn encode(id: &KeyId, bytes: &[u8]) -> String {
    let mut text = String::with_capacity(id.as_str().len() + 1 + bytes.len() * 4 / 3 + 4);
    text.push_str(id.as_str());
    text.push(':');
    STANDARD_NO_PAD.encode_string(bytes, &mut text);
    text
}

/// Reads `<key id>:<base64>`.
pub(crate) fn decode(text: &str) -> Result<(KeyId, Vec<u8>), KeyError> {
    let (id, bytes) = text.split_once(':').ok_or(KeyError::Malformed)?;
    let id = KeyId::new(id).map_err(|_| KeyError::Malformed)?;
    let bytes = STANDARD_NO_PAD.decode(bytes).map_err(|_| KeyError::Malformed)?;
    Ok((id, bytes))
}
