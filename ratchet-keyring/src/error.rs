//! The errors of keys and keyrings.

use std::path::PathBuf;

use super::{KeyId, ProviderError, Purpose};

/// Why a keyring cannot sign, verify, seal or open.
///
/// ```
/// # mod ratchet { pub use ratchet_keyring as security; }
/// use ratchet::security::{Key, KeyError, Keyring, Purpose};
///
/// let signature = Keyring::new([Key::generate("s2", Purpose::Sign)?])?.sign(b"message")?;
///
/// // A process that has not been given the new key.
/// let keyring = Keyring::new([Key::generate("s1", Purpose::Sign)?])?;
/// let error = keyring.verify(&signature, b"message").unwrap_err();
/// assert!(matches!(error, KeyError::Unknown(_)) && error.may_pass());
/// assert_eq!(error.key().map(|id| id.as_str()), Some("s2"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The keyring has no key with this id.
    #[error("the keyring has no key `{0}`")]
    Unknown(KeyId),
    /// The key is wrapped, and was not unwrapped yet or cannot be unwrapped.
    #[error("key `{0}` is wrapped and was not unwrapped")]
    Wrapped(KeyId),
    /// The key is retired: it neither verifies nor opens.
    #[error("key `{0}` is retired")]
    Retired(KeyId),
    /// The key was destroyed. What it sealed cannot be read by anyone.
    #[error("key `{0}` was destroyed, so what it encrypted cannot be read any more")]
    Destroyed(KeyId),
    /// The key has another purpose.
    #[error("key `{id}` is not a key to {wanted}")]
    WrongPurpose {
        /// The id of the key.
        id: KeyId,
        /// What it was to be used for.
        wanted: Purpose,
    },
    /// The signature or the ciphertext does not belong to this content and key.
    #[error("the content does not belong to its signature or encryption by key `{0}`")]
    Mismatch(KeyId),
    /// The text is not a signature or a sealed value.
    #[error("the signature or the encrypted value is malformed")]
    Malformed,
    /// No key is active for this purpose and tenant.
    #[error("the keyring has no active key to {purpose}{}", for_tenant(.tenant.as_deref()))]
    NoActiveKey {
        /// What the key would be used for.
        purpose: Purpose,
        /// The tenant, if it has keys of its own.
        tenant: Option<String>,
    },
    /// The operating system has no random numbers.
    #[error("the operating system returned no random numbers")]
    NoRandomness,
}

fn for_tenant(tenant: Option<&str>) -> String {
    tenant.map_or_else(String::new, |tenant| format!(" for tenant `{tenant}`"))
}

impl KeyError {
    /// Returns `true` if another keyring, or this one later, may have the key: it is unknown or wrapped.
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Unknown(_) | Self::Wrapped(_))
    }

    /// Returns the id of the key.
    pub fn key(&self) -> Option<&KeyId> {
        match self {
            Self::Unknown(id)
            | Self::Wrapped(id)
            | Self::Retired(id)
            | Self::Destroyed(id)
            | Self::Mismatch(id)
            | Self::WrongPurpose { id, .. } => Some(id),
            Self::Malformed | Self::NoActiveKey { .. } | Self::NoRandomness => None,
        }
    }
}

/// Why a keyring cannot be read, written or changed.
///
/// ```
/// # mod ratchet { pub use ratchet_keyring as security; }
/// use ratchet::security::{Key, Keyring, KeyringError, Purpose};
///
/// let keys = [Key::generate("s1", Purpose::Sign)?, Key::generate("s2", Purpose::Sign)?];
/// match Keyring::new(keys) {
///     Err(KeyringError::TwoActive { first, second, purpose }) => {
///         println!("rotate {first} or {second}: only one key may {purpose}");
///     }
///     other => panic!("{other:?}"),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyringError {
    /// A key id is invalid.
    #[error("`{0}` is not a key id: it must have 1 to 64 of the characters `A-Z a-z 0-9 _ - .`")]
    InvalidId(String),
    /// Two keys have the same id.
    #[error("two keys have the id `{0}`")]
    DuplicateId(KeyId),
    /// Two keys are active for the same purpose and tenant.
    #[error(
        "the keys `{first}` and `{second}` are both active to {purpose}; only one key can be active for a purpose and a tenant"
    )]
    TwoActive {
        /// The first key.
        first: KeyId,
        /// The second key.
        second: KeyId,
        /// Their purpose.
        purpose: Purpose,
    },
    /// A key of a tenant is not an encryption key.
    #[error("key `{0}` has a tenant, but only encryption keys can belong to a tenant")]
    TenantOfOtherKey(KeyId),
    /// A key has no material, or not the right length.
    #[error("key `{0}` must have 32 bytes in base64, or be wrapped, or be destroyed")]
    Material(KeyId),
    /// The keyring has no key with this id.
    #[error("the keyring has no key `{0}`")]
    NotFound(KeyId),
    /// A key cannot change to this state.
    #[error("key `{id}` is {state}: {why}")]
    State {
        /// The key.
        id: KeyId,
        /// Its current state.
        state: super::KeyState,
        /// Why it cannot change.
        why: &'static str,
    },
    /// The file of the keyring cannot be read or written.
    #[error("cannot use the key file {}", path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        error: std::io::Error,
    },
    /// Other users can read the file.
    #[error(
        "the key file {} has the mode {mode:04o}, so other users can read it; set it to 0600", path.display()
    )]
    Permissions {
        /// The path of the file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The keyring is not the expected JSON document. The text of the error contains no key.
    #[error("the keyring cannot be read: {0}")]
    Document(String),
    /// Neither environment variable is set.
    #[error("neither `RATCHET_KEYS` nor `RATCHET_KEYS_FILE` is set")]
    NotInEnvironment,
    /// The operating system has no random numbers.
    #[error("the operating system returned no random numbers")]
    NoRandomness,
    /// A wrapped key cannot be unwrapped.
    #[error("key `{id}` cannot be unwrapped")]
    Unwrap {
        /// The key.
        id: KeyId,
        /// The error of the provider.
        #[source]
        error: ProviderError,
    },
}
