//! Finds sealed values in stored texts, and seals them again with the current key.

use super::cipher::{self, NONCE, TAG};
use super::{KeyError, KeyId, Keyring, Purpose};

/// What precedes a sealed value: in a text, and in the JSON of an envelope.
const MARKS: [&str; 2] = ["encrypted:v1:", "\"seal"];

/// Returns the sealed values in a stored text. The text can be in any form that contains them, such as JSON with a JSON
/// text in it, because a sealed value has no characters that are escaped.
///
/// ```
/// use ratchet_keyring::{Key, Keyring, Purpose, sealed_values};
///
/// let keyring = Keyring::new([Key::generate("e1", Purpose::Encrypt)?])?;
/// let stored = format!("{{\"error\":\"{}\"}}", keyring.seal_text(None, b"", "no route to host")?);
/// assert_eq!(sealed_values(&stored).len(), 1);
/// assert!(sealed_values("no route to host").is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn sealed_values(stored: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for mark in MARKS {
        for (at, _) in stored.match_indices(mark) {
            let rest = stored.get(at + mark.len()..).unwrap_or_default();
            let rest = rest.trim_start_matches(['\\', '"', ':']);
            let sealed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:+/".contains(&byte);
            let end = rest.bytes().position(|byte| !sealed(byte)).unwrap_or(rest.len());
            let value = rest.get(..end).unwrap_or_default();
            if cipher::decode(value).is_ok_and(|(_, bytes)| bytes.len() >= NONCE + TAG) {
                found.push(value);
            }
        }
    }
    found
}

impl Keyring {
    /// Returns `true` if a key is active for its purpose and tenant.
    pub fn is_active(&self, id: &KeyId) -> bool {
        let info = self.list().into_iter().find(|key| key.id == *id);
        let active = |key: super::KeyInfo| self.active(key.purpose, key.tenant.as_deref());
        info.and_then(active).as_ref() == Some(id)
    }

    /// Seals a sealed value again, with the active key of the tenant that its key belongs to. Returns `None` if that is
    /// already its key. `contexts` are the contexts that it may be bound to; the new value is bound to the same one.
    ///
    /// ```
    /// # mod ratchet { pub use ratchet_keyring as security; }
    /// use ratchet::security::{Key, KeyState, Keyring, Purpose};
    ///
    /// let old = Key::generate("e1", Purpose::Encrypt)?;
    /// let sealed = Keyring::new([old.clone()])?.seal(None, b"output", b"42")?;
    /// let keys = [old.state(KeyState::Rotated), Key::generate("e2", Purpose::Encrypt)?];
    /// let keyring = Keyring::new(keys)?;
    /// let again = keyring.reseal(&sealed, &[b"error".to_vec(), b"output".to_vec()])?.expect("another key");
    /// assert!(again.starts_with("e2:"));
    /// assert_eq!(keyring.open(&again, b"output")?, b"42");
    /// assert!(keyring.reseal(&again, &[b"output".to_vec()])?.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reseal(&self, sealed: &str, contexts: &[Vec<u8>]) -> Result<Option<String>, KeyError> {
        let (id, _) = cipher::decode(sealed)?;
        let info = self.list().into_iter().find(|key| key.id == id);
        let info = info.ok_or_else(|| KeyError::Unknown(id.clone()))?;
        let tenant = info.tenant.as_deref();
        if self.active(Purpose::Encrypt, tenant).as_ref() == Some(&id) {
            return Ok(None);
        }
        let mut refusal = KeyError::Mismatch(id);
        for context in contexts {
            match self.open(sealed, context) {
                Ok(plain) => return self.seal(tenant, context, &plain).map(Some),
                Err(error) => refusal = error,
            }
        }
        Err(refusal)
    }
}
