//! The options of a [`SqliteStore`].

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ratchet_store::env::{Clock, SystemClock};
use ratchet_store::{StoreError, StoreErrorKind};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions as _, SqlitePool};

use crate::SqliteStore;
use crate::open::{migrate_only, migration_script};

/// How durable a commit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Synchronous {
    /// A committed job survives a power loss.
    #[default]
    Full,
    /// A committed job survives the end of the process, including `kill -9`. A power loss may undo the last commits,
    /// but never damages the file.
    Normal,
}

/// Options of a [`SqliteStore`].
///
/// ```
/// use std::time::Duration;
/// use ratchet_sqlite::{SqliteStore, Synchronous};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("jobs.db");
/// let store = SqliteStore::options(path)
///     .synchronous(Synchronous::Normal)
///     .busy_timeout(Duration::from_secs(10))
///     .open()
///     .await?;
/// # Ok::<_, ratchet_core::StoreError>(()) }).unwrap();
/// ```
#[derive(Clone)]
#[must_use = "options do nothing until `open`"]
pub struct SqliteOptions {
    pub(crate) path: PathBuf,
    /// The pool of the application, if the store is opened from it.
    pub(crate) pool: Option<SqlitePool>,
    pub(crate) migrate: bool,
    pub(crate) synchronous: Synchronous,
    pub(crate) busy_timeout: Duration,
    pub(crate) readers: usize,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) watch: Duration,
    pub(crate) max_skipped: usize,
    pub(crate) max_pages: Option<u32>,
    pub(crate) log_kept: u64,
    pub(crate) long_log: u64,
}

/// The size in bytes to which the write-ahead log is truncated after a checkpoint.
const LOG_KEPT: u64 = 64 << 20;

/// The size in bytes above which the write-ahead log is reported as too long.
const LONG_LOG: u64 = 256 << 20;

impl SqliteOptions {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self {
            path,
            pool: None,
            migrate: true,
            synchronous: Synchronous::Full,
            busy_timeout: Duration::from_secs(5),
            readers: 2,
            clock: Arc::new(SystemClock::default()),
            watch: Duration::from_millis(5),
            max_skipped: 64,
            max_pages: None,
            log_kept: LOG_KEPT,
            long_log: LONG_LOG,
        }
    }

    /// Uses the file and the connect options of a pool of the application.
    ///
    /// The store opens connections of its own, because a handler that keeps the connections of the pool must not delay
    /// claims and heartbeats. The settings of this type override those of the pool for these connections. The pool
    /// serves the application and [`SqliteStore::begin`].
    ///
    /// Opening fails with an error of kind `Config` if the database of the pool is in memory.
    pub fn from_pool(pool: &SqlitePool) -> Self {
        let path = pool.connect_options().get_filename().to_owned();
        Self { pool: Some(pool.clone()), ..Self::new(path) }
    }

    /// Disables migrations. Opening fails with an error of kind `Schema` if the file is not at the version that this
    /// program needs. [`migrate`](Self::migrate) migrates it in a separate step.
    pub fn without_migrations(mut self) -> Self {
        self.migrate = false;
        self
    }

    /// Migrates the schema of the file without opening a store. Creates the file if it does not exist, and does nothing
    /// if it is up to date.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use ratchet_sqlite::SqliteStore;
    ///
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("jobs.db");
    /// SqliteStore::options(&path).migrate().await?;
    /// let store = SqliteStore::options(&path).without_migrations().open().await?;
    /// # Ok::<_, ratchet_core::StoreError>(()) }).unwrap();
    /// ```
    pub async fn migrate(self) -> Result<(), StoreError> {
        migrate_only(&self).await
    }

    /// Returns the statements that [`migrate`](Self::migrate) would execute, as a script for `sqlite3`, or `None` if nothing is
    /// missing. Does not change the file, and does not create it.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use ratchet_sqlite::SqliteStore;
    ///
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("jobs.db");
    /// assert!(SqliteStore::options(&path).migration_script().await?.is_some());
    /// SqliteStore::options(&path).migrate().await?;
    /// assert!(SqliteStore::options(&path).migration_script().await?.is_none());
    /// # Ok::<_, ratchet_core::StoreError>(()) }).unwrap();
    /// ```
    pub async fn migration_script(self) -> Result<Option<String>, StoreError> {
        migration_script(&self).await
    }

    /// Sets how durable a commit is (default: [`Synchronous::Full`]).
    pub fn synchronous(mut self, synchronous: Synchronous) -> Self {
        self.synchronous = synchronous;
        self
    }

    /// Sets how long to wait for a write transaction of another connection before failing as locked (default: 5 s, at
    /// most 24 hours).
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout;
        self
    }

    /// Sets the number of connections for reads (default: 2, minimum: 1). There is always one connection for writes.
    pub fn readers(mut self, readers: usize) -> Self {
        self.readers = readers.max(1);
        self
    }

    /// Sets the clock that determines when jobs are due. Intended for tests.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Sets how often to check whether another process has written (default: 5 ms, minimum: 1 ms). The check runs only
    /// while there is a subscriber for wake-ups.
    pub fn watch_every(mut self, interval: Duration) -> Self {
        self.watch = interval.max(Duration::from_millis(1));
        self
    }

    /// Sets the maximum size of the file, in pages of 4 KiB. Writes beyond it fail as full.
    pub fn max_pages(mut self, pages: u32) -> Self {
        self.max_pages = Some(pages);
        self
    }

    #[doc(hidden)] // for tests of setting jobs aside
    pub fn max_skipped(mut self, jobs: usize) -> Self {
        self.max_skipped = jobs;
        self
    }

    #[doc(hidden)] // for tests of truncating the log
    pub fn log_kept(mut self, bytes: u64) -> Self {
        self.log_kept = bytes;
        self
    }

    #[doc(hidden)] // for tests of the warning about a long log
    pub fn long_log(mut self, bytes: u64) -> Self {
        self.long_log = bytes;
        self
    }

    /// Opens the file. Creates it if it does not exist, and migrates its schema.
    pub async fn open(self) -> Result<SqliteStore, StoreError> {
        SqliteStore::open_with(self).await
    }

    pub(crate) fn connect_options(&self) -> Result<SqliteConnectOptions, StoreError> {
        let text = self.path.to_str().unwrap_or_default();
        if text.is_empty() || text.contains('\0') || text.starts_with("file:") || text == ":memory:"
        {
            let why = format!(
                "`{}` is not the path of a file; a job database lives in a file whose path is UTF-8 without NUL",
                self.path.display()
            );
            return Err(StoreError::new(StoreErrorKind::Config, why));
        }
        // The driver stores milliseconds in 32 bits.
        let longest = Duration::from_hours(24);
        let options = self
            .base()
            .filename(&self.path)
            .create_if_missing(self.migrate)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(self.sync_mode())
            .busy_timeout(self.busy_timeout.min(longest))
            .foreign_keys(false)
            .statement_cache_capacity(256)
            .row_buffer_size(1024)
            .pragma("temp_store", "memory")
            .pragma("cache_size", "-32000")
            .pragma("wal_autocheckpoint", "4000")
            .pragma("journal_size_limit", self.log_kept.to_string())
            .pragma("mmap_size", "0")
            .disable_statement_logging();
        Ok(match self.max_pages {
            Some(pages) => options.pragma("max_page_count", pages.to_string()),
            None => options,
        })
    }

    /// Returns the connect options of the application's pool, or the defaults.
    pub(crate) fn base(&self) -> SqliteConnectOptions {
        let pool = self.pool.as_ref();
        pool.map_or_else(SqliteConnectOptions::new, |pool| (*pool.connect_options()).clone())
    }

    pub(crate) fn sync_mode(&self) -> SqliteSynchronous {
        match self.synchronous {
            Synchronous::Full => SqliteSynchronous::Full,
            Synchronous::Normal => SqliteSynchronous::Normal,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl fmt::Debug for SqliteOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteOptions")
            .field("path", &self.path)
            .field("synchronous", &self.synchronous)
            .field("busy_timeout", &self.busy_timeout)
            .field("readers", &self.readers)
            .finish_non_exhaustive()
    }
}
