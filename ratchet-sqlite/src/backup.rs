//! A copy of the database that is whole, taken while jobs run.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use ratchet_core::{StoreError, StoreErrorKind};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};

use crate::SqliteStore;
use crate::error::Fault;
use crate::sql;

impl SqliteStore {
    /// Writes a copy of the database to `target`: every job that was acknowledged before the call is in it.
    ///
    /// The copy is taken with `VACUUM INTO` on a connection of its own: it is one state of the database, and neither reads nor
    /// writes wait for it. While it is taken the write-ahead log grows by what is written meanwhile. The copy is synced to the
    /// disk and gets its name only then, so that a file of this name is always complete; an interrupted call leaves nothing
    /// but a file with the ending `.partial` behind.
    ///
    /// To restore it, stop every process that uses the database, delete the database together with its `-wal` and `-shm`, and
    /// put the copy in its place.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Config`] if there is something at `target` already, if its folder does not exist, or if the database
    /// itself was moved or deleted; [`StoreErrorKind::Full`] if the disk has no space for the copy.
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
            // The error counts; what cannot be removed has a name that tells what it is.
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
        // The path may name another file by now; then this is a copy of the wrong one.
        self.shared.files.check().map_err(StoreError::from)?;
        let copied = sqlx::query(sql::backup::VACUUM_INTO).bind(partial).execute(&mut conn).await;
        let copied = copied.map(|_| ()).map_err(|error| failed(&error));
        if let Err(error) = conn.close().await {
            tracing::debug!(%error, "the connection of a backup was not closed cleanly");
        }
        copied
    }
}

/// Where the copy is written before it gets its name.
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

/// Syncs the copy and gives it its name, which must be free.
fn publish(partial: &Path, target: &Path) -> io::Result<()> {
    File::open(partial)?.sync_all()?;
    match fs::hard_link(partial, target) {
        Ok(()) => fs::remove_file(partial)?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
        // A file system without hard links: the name was free a moment ago.
        Err(_) if fs::symlink_metadata(target).is_err() => fs::rename(partial, target)?,
        Err(error) => return Err(error),
    }
    sync_folder(folder(target))
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Where folders cannot be opened, names are durable without this.
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
