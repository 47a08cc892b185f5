//! [`Keyring`]: the keys of a process.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use super::cipher::{self, Cipher};
use super::key::Material;
use super::{Key, KeyError, KeyId, KeyInfo, KeyProvider, KeyState, KeyringError, Purpose};

/// The keys of a process. Clones share their keys, so [`replace`](Self::replace) changes all of them.
///
/// Its `Debug` output contains ids and no key material.
///
/// ```
/// # mod ratchet { pub use ratchet_keyring as security; }
/// use ratchet::security::{Key, Keyring, Purpose};
///
/// // In a program: `Keyring::from_env()?`, or `Keyring::from_file("/etc/shop/keys.json")?`.
/// let keyring = Keyring::new([Key::generate("s1", Purpose::Sign)?, Key::generate("e1", Purpose::Encrypt)?])?;
/// let ids: Vec<_> = keyring.list().iter().map(|key| key.id.to_string()).collect();
/// assert_eq!(ids, ["e1", "s1"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Keyring {
    shared: Arc<RwLock<Arc<Keys>>>,
    provider: Option<Arc<dyn KeyProvider>>,
}

/// The keys at one moment.
struct Keys {
    keys: BTreeMap<KeyId, Entry>,
    /// The active key of each purpose and tenant.
    active: BTreeMap<(Purpose, Option<String>), KeyId>,
}

#[derive(Clone)]
struct Entry {
    key: Key,
    /// Present unless the key is destroyed, or wrapped and not unwrapped yet.
    cipher: Option<Arc<Cipher>>,
}

impl Entry {
    fn new(key: Key) -> Self {
        let cipher = match &key.material {
            Material::Plain(bytes) => Some(Arc::new(cipher_of(key.purpose, bytes))),
            Material::Wrapped(_) | Material::Destroyed => None,
        };
        Self { key, cipher }
    }
}

fn cipher_of(purpose: Purpose, bytes: &[u8; 32]) -> Cipher {
    match purpose {
        Purpose::Encrypt => Cipher::aead(bytes),
        Purpose::Sign | Purpose::Digest => Cipher::mac(bytes),
    }
}

impl Keyring {
    /// Creates a keyring. Fails if two keys have the same id, or are active for the same purpose and tenant.
    pub fn new(keys: impl IntoIterator<Item = Key>) -> Result<Self, KeyringError> {
        let keys = Keys::new(keys)?;
        Ok(Self { shared: Arc::new(RwLock::new(Arc::new(keys))), provider: None })
    }

    /// Sets the provider that unwraps the wrapped keys of this keyring. Each key is unwrapped when it is first used.
    pub fn provider(mut self, provider: impl KeyProvider) -> Self {
        self.provider = Some(Arc::new(provider));
        self
    }

    /// Replaces the keys of this keyring and of its clones by those of another one, for example after a rotation. Keys
    /// that were unwrapped stay unwrapped.
    ///
    /// ```
    /// # mod ratchet { pub use ratchet_keyring as security; }
    /// use ratchet::security::{Key, Keyring, Purpose};
    ///
    /// let keyring = Keyring::new([Key::generate("s1", Purpose::Sign)?])?;
    /// let of_the_worker = keyring.clone();
    /// // The file has changed: `Keyring::from_file(…)`.
    /// keyring.replace(&Keyring::new([Key::generate("s2", Purpose::Sign)?])?);
    /// assert_eq!(of_the_worker.active(Purpose::Sign, None).expect("a key").to_string(), "s2");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn replace(&self, other: &Self) {
        let (old, new) = (self.keys(), other.keys());
        let unwrapped = |(id, entry): (&KeyId, &Entry)| {
            let known =
                old.keys.get(id).filter(|_| matches!(entry.key.material, Material::Wrapped(_)));
            let cipher = entry.cipher.clone().or_else(|| known?.cipher.clone());
            (id.clone(), Entry { key: entry.key.clone(), cipher })
        };
        let keys = new.keys.iter().map(unwrapped).collect();
        self.set(Keys { keys, active: new.active.clone() });
    }

    /// Lists the keys, ordered by id.
    pub fn list(&self) -> Vec<KeyInfo> {
        self.keys().keys.values().map(|entry| entry.key.info()).collect()
    }

    /// Returns the id of the active key of a purpose. An encryption key of the tenant comes before the common one.
    pub fn active(&self, purpose: Purpose, tenant: Option<&str>) -> Option<KeyId> {
        self.keys().active(purpose, tenant).ok()
    }

    /// Returns `true` if the keyring has a key of this purpose, in any state.
    pub fn has(&self, purpose: Purpose) -> bool {
        self.keys().keys.values().any(|entry| entry.key.purpose == purpose)
    }

    /// Returns the purpose of a key; `None` if the keyring does not have it.
    pub fn purpose(&self, id: &KeyId) -> Option<Purpose> {
        self.keys().keys.get(id).map(|entry| entry.key.purpose)
    }

    /// Signs a message with the active key. Returns `<key id>:<base64>`.
    pub fn sign(&self, message: &[u8]) -> Result<String, KeyError> {
        let keys = self.keys();
        let id = keys.active(Purpose::Sign, None)?;
        let tag = keys.cipher(&id, Purpose::Sign)?.tag(message).ok_or(KeyError::Malformed)?;
        Ok(cipher::encode(&id, &tag))
    }

    /// Verifies a signature, in a time that does not depend on where it differs.
    pub fn verify(&self, signature: &str, message: &[u8]) -> Result<(), KeyError> {
        let (id, tag) = cipher::decode(signature)?;
        match self.keys().cipher(&id, Purpose::Sign)?.verifies(message, &tag) {
            true => Ok(()),
            false => Err(KeyError::Mismatch(id)),
        }
    }

    /// Encrypts with the active key of the tenant, or the common one if the tenant has none. `aad` is authenticated but
    /// not stored: the same must be given to open. Returns `<key id>:<base64>`.
    ///
    /// A tenant whose keys are all retired or destroyed does not fall back to the common key.
    pub fn seal(&self, tenant: Option<&str>, aad: &[u8], plain: &[u8]) -> Result<String, KeyError> {
        let keys = self.keys();
        let id = keys.active(Purpose::Encrypt, tenant)?;
        let sealed = keys.cipher(&id, Purpose::Encrypt)?.seal(&id, aad, plain)?;
        Ok(cipher::encode(&id, &sealed))
    }

    /// Decrypts what [`Self::seal`] returned.
    pub fn open(&self, sealed: &str, aad: &[u8]) -> Result<Vec<u8>, KeyError> {
        let (id, sealed) = cipher::decode(sealed)?;
        self.keys().cipher(&id, Purpose::Encrypt)?.open(&id, aad, &sealed)
    }

    /// Returns the keyed digest of a value; `None` if the keyring has no active digest key.
    pub fn digest(&self, value: &[u8]) -> Option<[u8; 32]> {
        let keys = self.keys();
        let id = keys.active(Purpose::Digest, None).ok()?;
        keys.cipher(&id, Purpose::Digest).ok()?.tag(value)
    }

    /// Unwraps a key with the provider, and keeps it in memory. Does nothing for a key that is not wrapped.
    pub async fn unwrap_key(&self, id: &KeyId) -> Result<(), KeyringError> {
        let keys = self.keys();
        let Some(entry) = keys.keys.get(id) else {
            return Err(KeyringError::NotFound(id.clone()));
        };
        let (Material::Wrapped(wrapped), None) = (&entry.key.material, &entry.cipher) else {
            return Ok(());
        };
        let failed = |error| KeyringError::Unwrap { id: id.clone(), error };
        let provider = self.provider.as_ref();
        let provider = provider
            .ok_or_else(|| failed(super::ProviderError::new("the keyring has no key provider")))?;
        let bytes = provider.unwrap_key(id, wrapped).await.map_err(failed)?;
        let cipher = Arc::new(cipher_of(entry.key.purpose, &bytes));
        let mut shared = self.shared.write().unwrap_or_else(PoisonError::into_inner);
        // The keys may have been replaced while the provider was called.
        let mut entries = shared.keys.clone();
        if let Some(entry) = entries.get_mut(id)
            && matches!(&entry.key.material, Material::Wrapped(same) if same == wrapped)
        {
            entry.cipher = Some(cipher);
        }
        *shared = Arc::new(Keys { keys: entries, active: shared.active.clone() });
        Ok(())
    }

    fn keys(&self) -> Arc<Keys> {
        Arc::clone(&self.shared.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn set(&self, keys: Keys) {
        *self.shared.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(keys);
    }
}

impl Keys {
    fn new(given: impl IntoIterator<Item = Key>) -> Result<Self, KeyringError> {
        let (mut keys, mut active) = (BTreeMap::new(), BTreeMap::new());
        for key in given {
            let (id, purpose) = (key.id.clone(), key.purpose);
            if key.tenant.is_some() && purpose != Purpose::Encrypt {
                return Err(KeyringError::TenantOfOtherKey(id));
            }
            if key.state == KeyState::Active
                && let Some(first) = active.insert((purpose, key.tenant.clone()), id.clone())
            {
                return Err(KeyringError::TwoActive { first, second: id, purpose });
            }
            if keys.insert(id.clone(), Entry::new(key)).is_some() {
                return Err(KeyringError::DuplicateId(id));
            }
        }
        Ok(Self { keys, active })
    }

    fn active(&self, purpose: Purpose, tenant: Option<&str>) -> Result<KeyId, KeyError> {
        let own = |key: &Key| key.purpose == purpose && key.tenant.as_deref() == tenant;
        // After the key of a tenant was destroyed, nothing may be readable with another key.
        let tenant = tenant.filter(|_| self.keys.values().any(|entry| own(&entry.key)));
        let active = self.active.get(&(purpose, tenant.map(str::to_owned)));
        active
            .cloned()
            .ok_or_else(|| KeyError::NoActiveKey { purpose, tenant: tenant.map(str::to_owned) })
    }

    /// Returns a key for use. Active and rotated keys can be used.
    fn cipher(&self, id: &KeyId, wanted: Purpose) -> Result<&Cipher, KeyError> {
        let entry = self.keys.get(id).ok_or_else(|| KeyError::Unknown(id.clone()))?;
        if entry.key.purpose != wanted {
            return Err(KeyError::WrongPurpose { id: id.clone(), wanted });
        }
        match entry.key.state {
            KeyState::Active | KeyState::Rotated => {
                entry.cipher.as_deref().ok_or_else(|| KeyError::Wrapped(id.clone()))
            }
            KeyState::Retired => Err(KeyError::Retired(id.clone())),
            KeyState::Destroyed => Err(KeyError::Destroyed(id.clone())),
        }
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = self.keys();
        let ids = keys.keys.values().map(|entry| (entry.key.id.as_str(), entry.key.state));
        f.debug_map().entries(ids).finish()
    }
}
