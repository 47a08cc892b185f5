//! The pool of connections that only read. In WAL mode readers and the writer never wait for each other.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

use sqlx::SqliteConnection;
use tokio::sync::{Semaphore, SemaphorePermit};

#[derive(Debug)]
pub(crate) struct Readers {
    free: Mutex<Vec<SqliteConnection>>,
    permits: Semaphore,
}

/// A borrowed connection, returned to the pool when dropped.
pub(crate) struct Reader<'a> {
    conn: Option<SqliteConnection>,
    readers: &'a Readers,
    _permit: SemaphorePermit<'a>,
}

impl Readers {
    pub(crate) fn new(connections: Vec<SqliteConnection>) -> Self {
        Self { permits: Semaphore::new(connections.len()), free: Mutex::new(connections) }
    }

    pub(crate) async fn get(&self) -> Result<Reader<'_>, sqlx::Error> {
        let permit = self.permits.acquire().await.map_err(|_| sqlx::Error::PoolClosed)?;
        let conn = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Ok(Reader {
            conn: Some(conn.ok_or(sqlx::Error::PoolClosed)?),
            readers: self,
            _permit: permit,
        })
    }
}

impl Readers {
    /// Takes all connections out of the pool, when no handle of the store is left.
    pub(crate) fn take(&self) -> Vec<SqliteConnection> {
        std::mem::take(&mut *self.free.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Deref for Reader<'_> {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        self.conn.as_ref().expect("it is there until the loan ends")
    }
}

impl DerefMut for Reader<'_> {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        self.conn.as_mut().expect("it is there until the loan ends")
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        if let Some(conn) = self.conn.take() {
            self.readers.free.lock().unwrap_or_else(PoisonError::into_inner).push(conn);
        }
    }
}
