//! The handle of the store. Its implementation of [`Store`](ratchet_store::Store) is in `operations`.

mod operations;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use ratchet_store::env::Clock;
use ratchet_store::{StoreError, StoreErrorKind, Wake};
use sqlx::{SqliteConnection, SqlitePool};
use tokio::sync::{Notify, broadcast, mpsc};

use crate::archive::Archive;
use crate::error::Fault;
use crate::file::Files;
use crate::open;
use crate::options::SqliteOptions;
use crate::query::Look;
use crate::readers::Readers;
use crate::template::Templates;
use crate::verb::{AnyRequest, LookAgain, RecordChange, RemoveArchived, Request, Verb};

/// A [`Store`](ratchet_store::Store) in one SQLite file, the embedded default. Clones share the connections.
///
/// ```
/// use ratchet_store::Store;
/// use ratchet_sqlite::SqliteStore;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("jobs.db");
/// let store = SqliteStore::open(path).await?;
/// assert!(store.counts().await?.queues.is_empty());
/// # Ok::<_, ratchet_core::StoreError>(()) }).unwrap();
/// ```
#[derive(Clone)]
pub struct SqliteStore {
    pub(crate) shared: Arc<Shared>,
    writer: mpsc::UnboundedSender<Box<dyn AnyRequest>>,
    readers: Arc<Readers>,
}

/// State shared by the handles and the writer.
pub(crate) struct Shared {
    pub(crate) path: PathBuf,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) templates: Templates,
    pub(crate) wakes: broadcast::Sender<Wake>,
    /// Receives the ends of jobs.
    pub(crate) ends: broadcast::Sender<Wake>,
    /// Notified when a subscriber for wake-ups arrives.
    pub(crate) listener: Notify,
    /// The first error that reported the file as damaged.
    pub(crate) damage: OnceLock<Fault>,
    pub(crate) files: Files,
    pub(crate) archive: Arc<Archive>,
    /// For transactions of the application.
    pub(crate) pool: SqlitePool,
}

impl Shared {
    /// Converts an error. If the file is damaged, that is recorded.
    pub(crate) fn fault(&self, error: &sqlx::Error) -> Fault {
        let fault = Fault::new(&self.path, error);
        if fault.kind == StoreErrorKind::Corrupt && self.damage.set(fault.clone()).is_ok() {
            tracing::error!(
                %error, file = %self.path.display(),
                "the job database is damaged; no job is claimed or submitted until it was restored and opened again"
            );
        }
        fault
    }
}

impl SqliteStore {
    /// Opens the file with default options. Creates it if it does not exist, and migrates its schema.
    ///
    /// Several processes may open the same file. The [`StoreErrorKind`] of an error says what is wrong: the directory
    /// does not exist, or the file cannot be written, is locked, damaged, not a database, or of a newer version than
    /// this program knows.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::options(path).open().await
    }

    /// Opens the file of a pool of the application, with default options. Like [`SqliteOptions::from_pool`], this opens
    /// connections of its own.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use ratchet_sqlite::SqliteStore;
    /// use ratchet_sqlite::sqlx::SqlitePool;
    ///
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let url = format!("sqlite://{}?mode=rwc", folder.path().join("shop.db").display());
    /// let pool = SqlitePool::connect(&url).await?;
    /// let store = SqliteStore::from_pool(&pool).await?;
    /// # Ok::<_, Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn from_pool(pool: &SqlitePool) -> Result<Self, StoreError> {
        SqliteOptions::from_pool(pool).open().await
    }

    /// Returns options for opening the file, initialized with the defaults.
    pub fn options(path: impl AsRef<Path>) -> SqliteOptions {
        SqliteOptions::new(path.as_ref().to_owned())
    }

    pub(crate) async fn open_with(options: SqliteOptions) -> Result<Self, StoreError> {
        let (shared, writer, readers) = open::open(options).await?;
        Ok(Self { shared, writer, readers })
    }

    /// Returns the path of the file, as given when the store was opened.
    pub fn path(&self) -> &Path {
        &self.shared.path
    }

    /// Sends an operation to the writer and waits for its answer.
    pub(crate) async fn write<V: Verb>(&self, verb: V) -> Result<V::Answer, StoreError> {
        let (asked, answer) = Request::new(verb);
        let gone = || {
            let why = format!("the writer of the job database {} has ended", self.path().display());
            StoreError::new(StoreErrorKind::Unavailable, why)
        };
        self.writer.send(Box::new(asked)).map_err(|_| gone())?;
        answer.await.unwrap_or_else(|_| Err(gone()))
    }

    /// Deletes jobs whose copies are in the archive.
    pub(crate) async fn remove_archived(&self, verb: RemoveArchived) -> Result<u64, StoreError> {
        self.write(verb).await
    }

    /// Adds an entry to the audit trail.
    pub(crate) async fn record_change(&self, verb: RecordChange) -> Result<u64, StoreError> {
        self.write(verb).await
    }

    /// Sends jobs that could not be read to the writer, which sets them aside. Does not wait for it.
    fn set_aside(&self, jobs: Vec<i64>) {
        if !jobs.is_empty() {
            let (asked, _) = Request::new(LookAgain { jobs });
            // An error means that there is no writer, so nothing is claimed either.
            let _ = self.writer.send(Box::new(asked));
        }
    }

    pub(crate) fn look<'a>(&'a self, conn: &'a mut SqliteConnection) -> Look<'a> {
        let now = self.shared.clock.now().as_microsecond();
        Look { conn, templates: &self.shared.templates, now, unreadable: Vec::new() }
    }

    fn fault(&self, error: &sqlx::Error) -> StoreError {
        self.shared.fault(error).into()
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.shared.path).finish_non_exhaustive()
    }
}
