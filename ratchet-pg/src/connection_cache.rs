//! Keeps the most recently used connections for the next operations.
//!
//! The pool lends connections in turn and checks each one that is returned. That costs one more round trip, and leads
//! to a server process with cold caches that may not have prepared the statement. Under light load, one or two
//! connections are enough and stay warm.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sqlx::Postgres;
use sqlx::pool::PoolConnection;
use tokio::time::Instant;

/// A connection that was idle for longer may have been cut off.
pub(crate) const FRESH: Duration = Duration::from_secs(1);

/// After this time a connection is returned to the pool, which enforces the maximum lifetime.
const LONGEST: Duration = Duration::from_mins(1);

/// Connections that are not returned to the pool yet.
#[derive(Debug)]
pub(crate) struct ConnectionCache {
    most: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    kept: Vec<CachedConnection>,
    /// The number of operations that wait for the pool. Returned connections go to them first.
    waiting: usize,
    closed: bool,
}

/// A kept connection: `since` is when the pool last lent it, `rests` is when it became idle.
#[derive(Debug)]
pub(crate) struct CachedConnection {
    pub(crate) db: PoolConnection<Postgres>,
    pub(crate) since: Instant,
    pub(crate) rests: Instant,
}

impl ConnectionCache {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the most recently used connection. If there is none, registers the caller as waiting for the pool.
    pub(crate) fn take(&self) -> Result<CachedConnection, PoolWaiter<'_>> {
        let mut state = self.state();
        state.kept.pop().ok_or_else(|| {
            state.waiting += 1;
            PoolWaiter(self)
        })
    }

    /// Keeps a working connection, unless another operation waits for the pool.
    pub(crate) fn keep(&self, db: PoolConnection<Postgres>, since: Instant) {
        let rests = Instant::now();
        let mut state = self.state();
        let full = state.closed || state.waiting > 0 || state.kept.len() >= self.most;
        if !full && rests - since < LONGEST {
            state.kept.push(CachedConnection { db, since, rests });
        }
    }

    /// Closes all kept connections, because another one was lost.
    pub(crate) fn discard(&self) {
        let kept = std::mem::take(&mut self.state().kept);
        for kept in kept {
            drop(kept.db.detach());
        }
    }

    /// Returns all connections to the pool and keeps no more.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.kept.clear();
    }
}

impl Drop for ConnectionCache {
    fn drop(&mut self) {
        // Returning a connection to the pool needs a runtime, which may be gone.
        for kept in self.state().kept.drain(..) {
            drop(kept.db.detach());
        }
    }
}

/// Registers an operation that waits for the pool, until it is dropped.
#[derive(Debug)]
pub(crate) struct PoolWaiter<'a>(&'a ConnectionCache);

impl Drop for PoolWaiter<'_> {
    fn drop(&mut self) {
        self.0.state().waiting -= 1;
    }
}
