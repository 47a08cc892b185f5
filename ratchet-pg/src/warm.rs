//! The connections that were used last, for whoever comes next.
//!
//! The pool lends in turn and looks at each connection that comes back: a round trip more, and then a server process whose
//! memory has gone cold and that may never have seen the statement. While little happens, one or two connections are enough
//! and stay warm.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sqlx::Postgres;
use sqlx::pool::PoolConnection;
use tokio::time::Instant;

/// One that has rested for longer may have been cut off meanwhile.
pub(crate) const FRESH: Duration = Duration::from_secs(1);

/// After this long a connection goes through the pool, which knows how old one may grow.
const LONGEST: Duration = Duration::from_mins(1);

/// Connections kept back from the pool.
#[derive(Debug)]
pub(crate) struct Warm {
    most: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    kept: Vec<Kept>,
    /// How many wait for the pool: what comes back is theirs.
    waiting: usize,
    closed: bool,
}

/// A connection, since when it has not been through the pool, and since when it rests.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) db: PoolConnection<Postgres>,
    pub(crate) since: Instant,
    pub(crate) rests: Instant,
}

impl Warm {
    /// Keeps at most so many.
    pub(crate) fn new(most: usize) -> Self {
        Self { most, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The one that was used last, or the word that somebody waits for the pool.
    pub(crate) fn take(&self) -> Result<Kept, Waits<'_>> {
        let mut state = self.state();
        state.kept.pop().ok_or_else(|| {
            state.waiting += 1;
            Waits(self)
        })
    }

    /// Keeps one that is in order, unless the pool needs it.
    pub(crate) fn keep(&self, db: PoolConnection<Postgres>, since: Instant) {
        let rests = Instant::now();
        let mut state = self.state();
        let full = state.closed || state.waiting > 0 || state.kept.len() >= self.most;
        if !full && rests - since < LONGEST {
            state.kept.push(Kept { db, since, rests });
        }
    }

    /// Gives all back to the pool.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.kept.clear();
    }
}

impl Drop for Warm {
    fn drop(&mut self) {
        // To give one back takes a runtime, and there may be none any more.
        for kept in self.state().kept.drain(..) {
            drop(kept.db.detach());
        }
    }
}

/// Somebody waits for the pool.
#[derive(Debug)]
pub(crate) struct Waits<'a>(&'a Warm);

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.state().waiting -= 1;
    }
}
