//! Backups: consistent copies of the database, taken while jobs run.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use ratchet_store::{StoreError, StoreErrorKind};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};

use crate::SqliteStore;
use crate::error::Fault;
use crate::sql;

impl SqliteStore {
    /// Writes a copy of the database to `target`. The copy contains every job that was acknowledged before the call.
    ///
    /// The copy is made with `VACUUM INTO` on a connection of its own. It is a consistent snapshot, and neither reads
    /// nor writes wait for it. While the copy is made, the write-ahead log grows by the concurrent writes. The copy is
    /// synced to disk before it gets its name, so a file with this name is always complete. An interrupted call leaves
    /// only a file with the extension `.partial`.
    ///
    /// To restore a backup, stop all processes that use the database, delete the database together with its `-wal` and
    /// `-shm`, and put the copy in its place.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Config`] if `target` already exists, if its directory does not exist, or if the database
    /// itself was moved or deleted. [`StoreErrorKind::Full`] if the disk has no space for the copy.
    ///
    /// ```
    /// use ratchet_sqlite::SqliteStore;
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let (path, target) = (folder.path().join("jobs.db"), folder.path().join("backup.db"));
    /// let store = SqliteStore::open(path).await?;
    /// store.backup_to(&target).await?;
    /// let restored = SqliteStore::open(&target).await?;
    /// # drop(restored);
    /// # Ok::<_, ratchet_core::StoreError>(()) }).unwrap();
    /// ```
    pub async fn backup_to(&self, target: impl AsRef<Path>) -> Result<(), StoreError> {
        let target = target.as_ref();
        let partial = partial(target)?;
        refuse_existing(target)?;
        let copied = self.copy_to(&partial).await;
        let named = match copied {
            Ok(()) => {
                let (from, to) = (partial.clone(), target.to_owned());
                let named = tokio::task::spawn_blocking(move || publish(&from, &to)).await;
                named.map_err(io::Error::other).flatten().map_err(|error| unwritable(target, error))
            }
            Err(error) => Err(error),
        };
        if named.is_err() {
            // The first error is reported. A file that cannot be removed is recognizable by its name.
            let _ = fs::remove_file(&partial);
        }
        named
    }

    async fn copy_to(&self, partial: &Path) -> Result<(), StoreError> {
        let partial = partial.to_str().ok_or_else(|| not_utf8(partial))?;
        let failed = |error: &sqlx::Error| StoreError::from(self.shared.fault(error));
        let options = SqliteConnectOptions::new()
            .filename(self.path())
            .create_if_missing(false)
            .pragma("temp_store", "memory")
            .disable_statement_logging();
        let mut conn = options
            .connect()
            .await
            .map_err(|error| StoreError::from(Fault::opening(self.path(), &error)))?;
        // If the path names another file by now, this would copy the wrong one.
        self.shared.files.check().map_err(StoreError::from)?;
        let copied = sqlx::query(sql::backup::VACUUM_INTO).bind(partial).execute(&mut conn).await;
        let copied = copied.map(|_| ()).map_err(|error| failed(&error));
        if let Err(error) = conn.close().await {
            tracing::debug!(%error, "the connection of a backup was not closed cleanly");
        }
        copied
    }
}

/// Returns the path to which the copy is written before it gets its name.
fn partial(target: &Path) -> Result<PathBuf, StoreError> {
    let Some(name) = target.file_name() else {
        let why = format!("`{}` is not the path of a file for a backup", target.display());
        return Err(StoreError::new(StoreErrorKind::Config, why));
    };
    let mut name = name.to_owned();
    name.push(format!("-{:016x}.partial", fastrand::u64(..)));
    Ok(target.with_file_name(name))
}

fn refuse_existing(target: &Path) -> Result<(), StoreError> {
    match fs::symlink_metadata(target) {
        Ok(_) => Err(exists(target)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let folder = folder(target);
            if folder.is_dir() {
                return Ok(());
            }
            let why = format!(
                "the backup {} cannot be written: its folder does not exist; create it first",
                target.display()
            );
            Err(StoreError::new(StoreErrorKind::Config, why))
        }
        Err(error) => Err(unwritable(target, error)),
    }
}

/// Syncs the copy and renames it to `target`, which must not exist.
fn publish(partial: &Path, target: &Path) -> io::Result<()> {
    File::open(partial)?.sync_all()?;
    match fs::hard_link(partial, target) {
        Ok(()) => fs::remove_file(partial)?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
        // The file system has no hard links. The target did not exist a moment ago.
        Err(_) if fs::symlink_metadata(target).is_err() => fs::rename(partial, target)?,
        Err(error) => return Err(error),
    }
    sync_folder(folder(target))
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// On platforms where directories cannot be opened, names are durable without a sync.
#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

fn folder(target: &Path) -> &Path {
    let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

fn exists(target: &Path) -> StoreError {
    let why = format!(
        "the backup {} cannot be written: there is something of this name already; choose another name or remove it first",
        target.display()
    );
    StoreError::new(StoreErrorKind::Config, why)
}

fn not_utf8(target: &Path) -> StoreError {
    let why = format!("the path of the backup {} is not UTF-8", target.display());
    StoreError::new(StoreErrorKind::Config, why)
}

fn unwritable(target: &Path, error: io::Error) -> StoreError {
    if error.kind() == io::ErrorKind::AlreadyExists {
        return exists(target);
    }
    let kind = match error.kind() {
        io::ErrorKind::StorageFull => StoreErrorKind::Full,
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            StoreErrorKind::ReadOnly
        }
        _ => StoreErrorKind::Unavailable,
    };
    StoreError::new(kind, format!("the backup {} cannot be written ({error})", target.display()))
        .with_source(error)
}
