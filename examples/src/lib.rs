//! What the examples share: a store on a file that goes away with the program.

use ratchet::SqliteStore;

/// A store on a fresh file, and the folder it lives in. Keep both.
pub struct Scratch {
    pub store: SqliteStore,
    pub path: std::path::PathBuf,
}

impl Scratch {
    /// A fresh store.
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
            // Left-over files in the temporary folder are the system's to clean.
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}
