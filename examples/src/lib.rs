//! Shared by the examples: an SQLite store in a temporary folder that is removed when the program ends.

#[cfg(doctest)]
mod site;

use ratchet::SqliteStore;

/// A store on a fresh file, and the path of that file. The folder is removed on drop.
pub struct Scratch {
    pub store: SqliteStore,
    pub path: std::path::PathBuf,
}

impl Scratch {
    /// Opens a store on a fresh file.
    pub async fn open(name: &str) -> anyhow::Result<Self> {
        let folder =
            std::env::temp_dir().join(format!("ratchet-example-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let path = folder.join("jobs.db");
        Ok(Self { store: SqliteStore::open(&path).await?, path })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Some(folder) = self.path.parent() {
            // Ignore errors: the system cleans up its temporary folder.
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}
