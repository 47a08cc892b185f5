//! Transactions of the application on the file of the store.

use ratchet_store::StoreError;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions};
use sqlx::{Sqlite, SqlitePool, Transaction};

use crate::SqliteStore;
use crate::options::SqliteOptions;

/// The most connections for transactions of the application. One of them can write at a time.
const MOST: u32 = 4;

/// Returns the pool for transactions of the application: the given one, or one that connects when it is needed.
pub(crate) fn pool(options: &SqliteOptions, connect: &SqliteConnectOptions) -> SqlitePool {
    if let Some(pool) = &options.pool {
        return pool.clone();
    }
    let busy_timeout = options.busy_timeout;
    let connect = options
        .base()
        .filename(connect.get_filename())
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(options.sync_mode())
        .busy_timeout(busy_timeout);
    SqlitePoolOptions::new()
        .max_connections(MOST)
        // A transaction that waits for a connection waits for the write lock.
        .acquire_timeout(busy_timeout)
        .connect_lazy_with(connect)
}

impl SqliteStore {
    /// Begins a transaction of the application on this file, with `BEGIN IMMEDIATE`.
    ///
    /// The transaction takes the write lock at once, and waits for it up to
    /// [`busy_timeout`](SqliteOptions::busy_timeout). A deferred transaction (plain `BEGIN`, `pool.begin()`) takes it
    /// with its first write. If it has read before, and another connection has written since, SQLite fails that write
    /// as locked without waiting.
    ///
    /// Connections come from the pool that the store was opened from, or from a small pool of the store.
    ///
    /// ```
    /// use ratchet_core::{Job, Ratchet};
    /// use ratchet_sqlite::{EnqueueInTx, SqliteStore, sqlx};
    ///
    /// async fn place_order<J: Job>(
    ///     store: &SqliteStore,
    ///     ratchet: &Ratchet,
    ///     charge: J,
    /// ) -> Result<(), Box<dyn std::error::Error>> {
    ///     let mut tx = store.begin().await?;
    ///     sqlx::query("INSERT INTO orders (total) VALUES (42)").execute(&mut *tx).await?;
    ///     ratchet.enqueue(charge).in_tx(&mut tx).await?;
    ///     tx.commit().await?; // both, or neither
    ///     Ok(())
    /// }
    /// ```
    pub async fn begin(&self) -> Result<Transaction<'static, Sqlite>, StoreError> {
        let begun = self.shared.pool.begin_with("BEGIN IMMEDIATE").await;
        begun.map_err(|error| self.shared.fault(&error).into())
    }
}
