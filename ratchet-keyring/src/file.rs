//! [`KeyFile`]: the keyring as a file, and the changes of its keys.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::{Key, KeyId, KeyInfo, KeyState, Keyring, KeyringError, Purpose, document};

impl Keyring {
    /// Reads a keyring from a file. On Unix, the file must not be readable by other users.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, KeyringError> {
        Self::new(KeyFile::open(path)?.keys)
    }

    /// Reads a keyring from its JSON document, as [`KeyFile`] writes it.
    pub fn from_json(text: &str) -> Result<Self, KeyringError> {
        Self::new(document::read(text)?)
    }

    /// Reads the keyring of the environment: the document in `RATCHET_KEYS`, or the file that `RATCHET_KEYS_FILE` names.
    pub fn from_env() -> Result<Self, KeyringError> {
        Self::find_in_env()?.ok_or(KeyringError::NotInEnvironment)
    }

    /// Reads the keyring like [`Self::from_env`]; `None` if neither variable is set.
    pub fn find_in_env() -> Result<Option<Self>, KeyringError> {
        if let Ok(text) = std::env::var("RATCHET_KEYS") {
            return Self::from_json(&Zeroizing::new(text)).map(Some);
        }
        std::env::var_os("RATCHET_KEYS_FILE").map(Self::from_file_name).transpose()
    }

    fn from_file_name(path: std::ffi::OsString) -> Result<Self, KeyringError> {
        Self::from_file(PathBuf::from(path))
    }
}

/// A keyring in a file. Changes are written by [`save`](Self::save), which replaces the file atomically.
///
/// ```
/// # mod ratchet { pub use ratchet_keyring as security; }
/// use ratchet::security::{KeyFile, Keyring, Purpose};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("keys.json");
/// let mut file = KeyFile::create(&path)?;
/// file.add("s1", Purpose::Sign, None)?;
/// file.save()?;
/// assert!(Keyring::from_file(&path)?.sign(b"message").is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct KeyFile {
    path: PathBuf,
    keys: Vec<Key>,
}

impl KeyFile {
    /// Opens a file. On Unix, it must not be readable by other users.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, KeyringError> {
        let path = path.as_ref().to_owned();
        let failed = |error| KeyringError::File { path: path.clone(), error };
        let file = fs::File::open(&path).map_err(failed)?;
        check_mode(&path, &file.metadata().map_err(failed)?)?;
        let text = Zeroizing::new(io::read_to_string(file).map_err(failed)?);
        Ok(Self { keys: document::read(&text)?, path })
    }

    /// Creates a keyring without keys. Nothing is written before [`save`](Self::save). Fails if the file exists.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, KeyringError> {
        let path = path.as_ref().to_owned();
        if path.exists() {
            let error = io::Error::from(io::ErrorKind::AlreadyExists);
            return Err(KeyringError::File { path, error });
        }
        Ok(Self { path, keys: Vec::new() })
    }

    /// Lists the keys, in the order of the file.
    pub fn list(&self) -> Vec<KeyInfo> {
        self.keys.iter().map(Key::info).collect()
    }

    /// Adds a new key. It becomes active; the key that was active before becomes rotated.
    pub fn add(
        &mut self,
        id: &str,
        purpose: Purpose,
        tenant: Option<&str>,
    ) -> Result<(), KeyringError> {
        let mut key = Key::generate(id, purpose)?;
        if self.keys.iter().any(|existing| existing.id == key.id) {
            return Err(KeyringError::DuplicateId(key.id));
        }
        if tenant.is_some() && purpose != Purpose::Encrypt {
            return Err(KeyringError::TenantOfOtherKey(key.id));
        }
        key.tenant = tenant.map(str::to_owned);
        for active in &mut self.keys {
            if (active.purpose, &active.tenant, active.state)
                == (purpose, &key.tenant, KeyState::Active)
            {
                active.state = KeyState::Rotated;
            }
        }
        self.keys.push(key);
        Ok(())
    }

    /// Adds a key in the state rotated, so that every process can verify and decrypt with it before one signs and
    /// encrypts with it. [`activate`](Self::activate) makes it active.
    pub fn prepare(
        &mut self,
        id: &str,
        purpose: Purpose,
        tenant: Option<&str>,
    ) -> Result<(), KeyringError> {
        let active = self.keys.iter().position(|key| {
            (key.purpose, key.tenant.as_deref(), key.state) == (purpose, tenant, KeyState::Active)
        });
        self.add(id, purpose, tenant)?;
        if let Some(active) = active {
            self.keys[active].state = KeyState::Active;
            let added = self.keys.len() - 1;
            self.keys[added].state = KeyState::Rotated;
        }
        Ok(())
    }

    /// Makes a rotated or retired key active. The key that was active before becomes rotated.
    pub fn activate(&mut self, id: &KeyId) -> Result<(), KeyringError> {
        let index = self.index(id)?;
        if self.keys[index].state == KeyState::Destroyed {
            return Err(self.refused(index, "a destroyed key cannot be used again"));
        }
        let (purpose, tenant) = (self.keys[index].purpose, self.keys[index].tenant.clone());
        for key in &mut self.keys {
            if (key.purpose, &key.tenant, key.state) == (purpose, &tenant, KeyState::Active) {
                key.state = KeyState::Rotated;
            }
        }
        self.keys[index].state = KeyState::Active;
        Ok(())
    }

    /// Retires a key that is not active. The key stays in the file.
    pub fn retire(&mut self, id: &KeyId) -> Result<(), KeyringError> {
        let index = self.index(id)?;
        match self.keys[index].state {
            KeyState::Active => Err(self.refused(index, "activate another key before")),
            KeyState::Destroyed => Err(self.refused(index, "it cannot be used in any case")),
            KeyState::Rotated | KeyState::Retired => {
                self.keys[index].state = KeyState::Retired;
                Ok(())
            }
        }
    }

    /// Destroys a key: the file keeps its id and no material. What the key encrypted cannot be read any more, and what it
    /// signed is refused. Copies of the file must be destroyed as well.
    pub fn destroy(&mut self, id: &KeyId) -> Result<(), KeyringError> {
        let index = self.index(id)?;
        let key = self.keys.remove(index).state(KeyState::Destroyed);
        self.keys.insert(index, key);
        Ok(())
    }

    /// Writes the file, readable by its owner only, and replaces the old one atomically.
    pub fn save(&self) -> Result<(), KeyringError> {
        // Checked before anything is written, so that a file is always readable.
        Keyring::new(self.keys.iter().cloned())?;
        let failed = |error| KeyringError::File { path: self.path.clone(), error };
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(".new");
        let new = self.path.with_file_name(name);
        let written = write_private(&new, document::write(&self.keys).as_bytes())
            .and_then(|()| fs::rename(&new, &self.path));
        written.inspect_err(|_| drop(fs::remove_file(&new))).map_err(failed)
    }

    fn index(&self, id: &KeyId) -> Result<usize, KeyringError> {
        let index = self.keys.iter().position(|key| key.id == *id);
        index.ok_or_else(|| KeyringError::NotFound(id.clone()))
    }

    fn refused(&self, index: usize, why: &'static str) -> KeyringError {
        let key = &self.keys[index];
        KeyringError::State { id: key.id.clone(), state: key.state, why }
    }
}

#[cfg(unix)]
fn check_mode(path: &Path, metadata: &fs::Metadata) -> Result<(), KeyringError> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = metadata.permissions().mode() & 0o7777;
    let others = mode & 0o077;
    match others {
        0 => Ok(()),
        _ => Err(KeyringError::Permissions { path: path.to_owned(), mode }),
    }
}

#[cfg(not(unix))]
fn check_mode(_: &Path, _: &fs::Metadata) -> Result<(), KeyringError> {
    Ok(())
}

/// Writes a file that only its owner can read.
fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
