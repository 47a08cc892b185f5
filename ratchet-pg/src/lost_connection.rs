//! Lost connections: how they are recognized, and how long an operation keeps trying on new ones.
//!
//! An operation is retried only if it can be repeated safely: it reads, it is idempotent, or its transaction did not
//! come to its commit. A commit whose reply was lost is [`Fault::Uncertain`], which only repeatable operations retry.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::error::{is_conflict, is_unique_violation};
use crate::fault::{Fault, TRIES};
use crate::pool::Pool;
use crate::unreachable::{Cause, Unreachable};

/// Returns whether an error ended the connection it happened on, or prevented a new one.
pub(crate) fn is_lost(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) => true,
        sqlx::Error::AnyDriverError(_) => {
            Unreachable::of(error).is_some_and(|why| why.cause == Cause::Failed)
        }
        sqlx::Error::Database(database) => {
            let code = database.code().unwrap_or_default();
            // The server shuts down, restarts or crashed; it ended an idle session or transaction; the connection
            // failed. A pooler reports a lost server connection with the same class.
            code.starts_with("08")
                || ["57P01", "57P02", "57P03", "57P05", "25P03"].contains(&code.as_ref())
        }
        _ => false,
    }
}

/// When a connection was last found lost. Connections that were idle at that time are checked before they are used.
#[derive(Debug, Default)]
pub(crate) struct LastLoss(Mutex<Option<Instant>>);

impl LastLoss {
    pub(crate) fn note(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Returns whether a connection that has been idle for this time was idle when another one was lost.
    pub(crate) fn may_concern(&self, idle_for: Duration) -> bool {
        let last = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.is_some_and(|last| last.elapsed() <= idle_for)
    }
}

/// The longest pause between two tries.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// Counts the tries of one operation.
#[derive(Debug)]
pub(crate) struct Retries<'a> {
    pool: &'a Pool,
    conflicts: u32,
    /// When this operation first lost a connection.
    lost: Option<Instant>,
    pause: Duration,
}

impl<'a> Retries<'a> {
    pub(crate) fn new(pool: &'a Pool) -> Self {
        Self { pool, conflicts: 0, lost: None, pause: Duration::ZERO }
    }

    /// Returns whether to retry a transaction, after a pause if its connection was lost. Nothing of it is committed,
    /// unless it is repeatable.
    pub(crate) async fn transaction(&mut self, fault: &Fault) -> bool {
        if is_retryable(fault) && self.conflicts < TRIES {
            self.conflicts += 1;
            return true;
        }
        match fault {
            Fault::Database(error) if is_lost(error) => self.on_new_connection().await,
            _ => false,
        }
    }

    /// Returns whether to repeat an operation whose connection was lost, after a pause.
    pub(crate) async fn repeatable(&mut self, fault: &Fault) -> bool {
        match fault {
            Fault::Database(error) | Fault::Uncertain(error) if is_lost(error) => {
                self.on_new_connection().await
            }
            _ => false,
        }
    }

    /// Waits before the next try. Returns `false` if the server has been away for too long.
    pub(crate) async fn on_new_connection(&mut self) -> bool {
        self.pool.distrust();
        let lost = *self.lost.get_or_insert_with(Instant::now);
        if lost.elapsed() >= self.pool.reconnect_timeout() {
            return false;
        }
        // The first new connection often works: only one was closed, or the server is back already.
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 2).clamp(Duration::from_millis(10), LONGEST_PAUSE);
        true
    }
}

/// Returns whether a transaction failed only because of a conflict with another one.
pub(crate) fn is_retryable(fault: &Fault) -> bool {
    match fault {
        Fault::Conflict => true,
        Fault::Database(error) => is_conflict(error) || is_unique_violation(error),
        _ => false,
    }
}

/// Runs an operation of [`Inner`](crate::store::Inner) on the store runtime. It must be safe to repeat: it is retried
/// on a new connection for as long as the pool would wait for one.
macro_rules! repeatable {
    ($store:ident, |$inner:ident| $verb:expr) => {{
        let $inner = std::sync::Arc::clone(&$store.inner);
        let verb = async move {
            let mut retries = $crate::lost_connection::Retries::new(&$inner.pool);
            loop {
                match $verb.await {
                    Err(fault) if retries.repeatable(&fault).await => {}
                    answer => break answer.map_err(Into::into),
                }
            }
        };
        $store.runtime.run(verb).await
    }};
}
pub(crate) use repeatable;

/// Runs an operation of [`Inner`](crate::store::Inner) on the store runtime once. If its connection is lost, it may
/// have been applied or not.
macro_rules! once {
    ($store:ident, |$inner:ident| $verb:expr) => {{
        let $inner = std::sync::Arc::clone(&$store.inner);
        let verb = async move {
            let answer = $verb.await;
            if let Err(fault) = &answer {
                $inner.pool.check_after(fault);
            }
            answer.map_err(Into::into)
        };
        $store.runtime.run(verb).await
    }};
}
pub(crate) use once;

#[cfg(test)]
mod tests {
    use super::*;

    // spec: S-13
    #[tokio::test(start_paused = true)]
    async fn s_13_connections_that_were_idle_at_a_loss_are_checked() {
        let losses = LastLoss::default();
        assert!(!losses.may_concern(Duration::from_hours(1)), "none was lost");
        losses.note();
        tokio::time::advance(Duration::from_secs(2)).await;
        assert!(losses.may_concern(Duration::from_secs(3)));
        assert!(!losses.may_concern(Duration::from_secs(1)), "it was used after the loss");
    }
}
