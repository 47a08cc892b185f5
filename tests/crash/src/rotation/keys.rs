//! The file of keys that all processes read, and what each of them has read.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ratchet::security::{KeyFile, KeyId, Keyring, Purpose};

use crate::Problem;

const PURPOSES: [(&str, Purpose); 2] = [("s", Purpose::Sign), ("e", Purpose::Encrypt)];

/// The keys of a scene.
pub(super) struct Keys {
    folder: PathBuf,
}

impl Keys {
    /// Creates the file with the keys of the first generation.
    pub(super) fn create(folder: &Path) -> Result<Self, Problem> {
        let keys = Self { folder: folder.to_owned() };
        let mut file = KeyFile::create(path(folder))?;
        for (letter, purpose) in PURPOSES {
            file.add(&format!("{letter}1"), purpose, None)?;
        }
        file.save()?;
        Ok(keys)
    }

    /// Adds the keys of a generation. They verify and decrypt.
    pub(super) fn prepare(&self, generation: u32) -> Result<(), Problem> {
        self.change(|file| {
            PURPOSES.into_iter().try_for_each(|(letter, purpose)| {
                file.prepare(&format!("{letter}{generation}"), purpose, None)
            })
        })
    }

    /// Signs and encrypts with the keys of a generation.
    pub(super) fn activate(&self, generation: u32) -> Result<(), Problem> {
        let ids = ids(generation)?;
        self.change(|file| ids.iter().try_for_each(|id| file.activate(id)))
    }

    /// Refuses what the keys of a generation have signed.
    pub(super) fn retire(&self, generation: u32) -> Result<(), Problem> {
        let ids = ids(generation)?;
        self.change(|file| ids.iter().try_for_each(|id| file.retire(id)))
    }

    fn change<E: Into<Problem>>(
        &self,
        change: impl FnOnce(&mut KeyFile) -> Result<(), E>,
    ) -> Result<(), Problem> {
        let mut file = KeyFile::open(path(&self.folder))?;
        change(&mut file).map_err(Into::into)?;
        Ok(file.save()?)
    }

    /// Returns whether the process in a place has read the present keys.
    pub(super) fn are_known_in(&self, place: &str) -> Result<bool, Problem> {
        let read = std::fs::read_to_string(seen(&self.folder, place)).unwrap_or_default();
        Ok(read == summary(&Keyring::from_file(path(&self.folder))?))
    }

    /// Forgets what the process in a place has read, before another one is started.
    pub(super) fn forget(&self, place: &str) {
        let _ = std::fs::remove_file(seen(&self.folder, place));
    }
}

/// Returns the ids of the keys of a generation.
pub(super) fn ids(generation: u32) -> Result<Vec<KeyId>, Problem> {
    let id = |(letter, _): (&str, Purpose)| KeyId::new(format!("{letter}{generation}"));
    Ok(PURPOSES.into_iter().map(id).collect::<Result<_, _>>()?)
}

/// Reads the keys in a process, and reads them again whenever they change.
pub(super) fn follow(folder: &Path, place: &str) -> Result<Keyring, Problem> {
    let keyring = Keyring::from_file(path(folder))?;
    let (live, folder, place) = (keyring.clone(), folder.to_owned(), place.to_owned());
    tokio::spawn(async move {
        let mut known = String::new();
        loop {
            if let Ok(read) = Keyring::from_file(path(&folder)) {
                let summary = summary(&read);
                if summary != known {
                    live.replace(&read);
                    // Replaced as a whole, so that no process reads a part.
                    let new = folder.join(format!("{place}.new"));
                    if std::fs::write(&new, &summary).is_ok()
                        && std::fs::rename(&new, seen(&folder, &place)).is_ok()
                    {
                        known = summary;
                    }
                }
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    Ok(keyring)
}

fn path(folder: &Path) -> PathBuf {
    folder.join("keys.json")
}

fn seen(folder: &Path, place: &str) -> PathBuf {
    folder.join(format!("{place}.seen"))
}

/// Returns the ids and states of the keys.
fn summary(keyring: &Keyring) -> String {
    let keys = keyring.list();
    let keys = keys.iter().map(|key| format!("{} {:?}", key.id, key.state));
    keys.collect::<Vec<_>>().join(", ")
}
