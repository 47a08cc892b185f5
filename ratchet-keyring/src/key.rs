//! [`Key`]: one key with its id, purpose, tenant and state.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::KeyringError;

/// The id of a key: 1 to 64 of the characters `A-Z a-z 0-9 _ - .`. Stored in plain text beside what the key protects.
///
/// ```
/// # mod ratchet { pub use ratchet_keyring as security; }
/// use ratchet::security::KeyId;
///
/// // By convention with the date from which the key is used.
/// let id = KeyId::new("sign-2026-11")?;
/// assert_eq!(id.as_str(), "sign-2026-11");
/// assert!(KeyId::new("sign 2026").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KeyId(String);

impl KeyId {
    /// Creates an id.
    pub fn new(id: impl Into<String>) -> Result<Self, KeyringError> {
        let id = id.into();
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        if id.is_empty() || id.len() > 64 || !id.bytes().all(allowed) {
            let shown: String = id.chars().take(64).collect();
            return Err(KeyringError::InvalidId(shown));
        }
        Ok(Self(id))
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for KeyId {
    type Err = KeyringError;

    fn from_str(id: &str) -> Result<Self, KeyringError> {
        Self::new(id)
    }
}

impl TryFrom<String> for KeyId {
    type Error = KeyringError;

    fn try_from(id: String) -> Result<Self, KeyringError> {
        Self::new(id)
    }
}

impl From<KeyId> for String {
    fn from(id: KeyId) -> Self {
        id.0
    }
}

/// What a key is used for.
///
/// ```
/// # mod ratchet { pub use ratchet_keyring as security; }
/// use ratchet::security::{Key, Keyring, Purpose};
///
/// // Signs all jobs and encrypts some, whose digests cannot be guessed.
/// let keyring = Keyring::new([
///     Key::generate("s1", Purpose::Sign)?,
///     Key::generate("e1", Purpose::Encrypt)?,
///     Key::generate("d1", Purpose::Digest)?,
/// ])?;
/// assert!(keyring.has(Purpose::Sign) && keyring.has(Purpose::Digest));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Purpose {
    /// To sign jobs and schedules.
    Sign,
    /// To encrypt arguments, outputs and texts.
    Encrypt,
    /// To replace the digests of encrypted arguments by keyed ones, so that they cannot be guessed. Must not be rotated:
    /// a repeated idempotency key is recognized by its digest.
    Digest,
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Sign => "sign",
            Self::Encrypt => "encrypt",
            Self::Digest => "digest",
        })
    }
}

/// What a key may still be used for.
///
/// ```
/// # mod ratchet { pub use ratchet_keyring as security; }
/// use ratchet::security::{Key, KeyState, Keyring, Purpose};
///
/// // A rotation: `s2` signs what is new, and `s1` still verifies.
/// let old = Key::generate("s1", Purpose::Sign)?;
/// let signature = Keyring::new([old.clone()])?.sign(b"message")?;
/// let rotated = [old.state(KeyState::Rotated), Key::generate("s2", Purpose::Sign)?];
/// assert!(Keyring::new(rotated)?.verify(&signature, b"message").is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum KeyState {
    /// The key signs or encrypts what is new. One key is active for each purpose and tenant.
    Active,
    /// The key verifies or decrypts, and protects nothing new.
    Rotated,
    /// The key is kept but not used. Jobs that it signed are refused; jobs that it encrypted wait.
    Retired,
    /// The key is gone, and only its id is kept. What it encrypted cannot be read by anyone.
    Destroyed,
}

impl fmt::Display for KeyState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Active => "active",
            Self::Rotated => "rotated",
            Self::Retired => "retired",
            Self::Destroyed => "destroyed",
        })
    }
}

/// The bytes of a key. Overwritten in memory when they are dropped.
#[derive(Clone)]
pub(crate) enum Material {
    Plain(Zeroizing<[u8; 32]>),
    Wrapped(Vec<u8>),
    Destroyed,
}

/// One key. Its `Debug` output contains no key material.
///
/// ```
/// # mod ratchet { pub use ratchet_keyring as security; }
/// use ratchet::security::{Key, Purpose};
///
/// let key = Key::generate("s1", Purpose::Sign)?;
/// assert_eq!(key.info().id.to_string(), "s1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Key {
    pub(crate) id: KeyId,
    pub(crate) purpose: Purpose,
    pub(crate) tenant: Option<String>,
    pub(crate) state: KeyState,
    pub(crate) material: Material,
}

impl Key {
    /// Creates an active key from random bytes of the operating system.
    pub fn generate(id: &str, purpose: Purpose) -> Result<Self, KeyringError> {
        let mut bytes = Zeroizing::new([0; 32]);
        getrandom::fill(bytes.as_mut()).map_err(|_| KeyringError::NoRandomness)?;
        Ok(Self::with(KeyId::new(id)?, purpose, Material::Plain(bytes)))
    }

    /// Creates an active key from its bytes.
    pub fn from_bytes(id: &str, purpose: Purpose, bytes: [u8; 32]) -> Result<Self, KeyringError> {
        Ok(Self::with(KeyId::new(id)?, purpose, Material::Plain(Zeroizing::new(bytes))))
    }

    /// Creates an active key that a [`KeyProvider`](super::KeyProvider) must unwrap.
    pub fn wrapped(id: &str, purpose: Purpose, wrapped: Vec<u8>) -> Result<Self, KeyringError> {
        Ok(Self::with(KeyId::new(id)?, purpose, Material::Wrapped(wrapped)))
    }

    fn with(id: KeyId, purpose: Purpose, material: Material) -> Self {
        Self { id, purpose, tenant: None, state: KeyState::Active, material }
    }

    /// Uses the key for one tenant only. Only encryption keys can belong to a tenant.
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    /// Sets the state. A destroyed key loses its material.
    pub fn state(mut self, state: KeyState) -> Self {
        self.state = state;
        if state == KeyState::Destroyed {
            self.material = Material::Destroyed;
        }
        self
    }

    /// Describes the key without its material.
    pub fn info(&self) -> KeyInfo {
        KeyInfo {
            id: self.id.clone(),
            purpose: self.purpose,
            tenant: self.tenant.clone(),
            state: self.state,
            wrapped: matches!(self.material, Material::Wrapped(_)),
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.info(), f)
    }
}

/// A key without its material.
///
/// ```
/// # mod ratchet { pub use ratchet_keyring as security; }
/// use ratchet::security::{Key, KeyInfo, Purpose};
///
/// fn show(key: &KeyInfo) -> String {
///     let tenant = key.tenant.as_deref().unwrap_or("all tenants");
///     format!("{} to {} for {tenant}, {}", key.id, key.purpose, key.state)
/// }
/// let key = Key::generate("e1", Purpose::Encrypt)?.tenant("acme");
/// assert_eq!(show(&key.info()), "e1 to encrypt for acme, active");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct KeyInfo {
    /// The id of the key.
    pub id: KeyId,
    /// What the key is used for.
    pub purpose: Purpose,
    /// The tenant that the key belongs to; `None` for a key of all tenants without a key of their own.
    pub tenant: Option<String>,
    /// What the key may still be used for.
    pub state: KeyState,
    /// Whether a provider must unwrap the key.
    pub wrapped: bool,
}
