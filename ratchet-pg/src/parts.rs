//! Ranges of ids: made ahead of time, dropped when nothing of them is needed any more.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ratchet_core::store::StoreError;
use tokio::time::Instant;

use crate::error::store_error;
use crate::fault::{Fault, transact};
use crate::pool::Pool;
use crate::spec::micros;
use crate::sql::Sql;
use crate::sqlx;
use crate::store::Inner;

/// How many ranges there are beyond the current one. Maintenance looks every minute; this is for when nobody does.
const AHEAD: u32 = 2;

/// Makes what is missing of the next ranges.
pub(crate) async fn make(pool: &Pool, sql: &Sql, range: Duration) -> Result<(), StoreError> {
    let made: Result<i32, _> = sqlx::query_scalar(sql.make_parts())
        .bind(micros(range))
        .bind(micros(range * AHEAD))
        .fetch_one(pool)
        .await;
    match made {
        Ok(0) => Ok(()),
        Ok(made) => {
            tracing::debug!(made, "ranges of ids were made");
            Ok(())
        }
        // Jobs of a range that is missing go to the rest, so this can wait.
        Err(error) if error.as_database_error().is_some() => {
            tracing::warn!(%error, "ranges of ids could not be made; it is tried again");
            Ok(())
        }
        Err(error) => Err(store_error(error)),
    }
}

/// When old ranges are looked at again. Finding out what must stay of one reads all of it.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    until: Mutex<Option<Instant>>,
}

impl Patience {
    /// More than this is not moved: the range stays, and what is old in it is removed job by job.
    const MOST_KEPT: i32 = 10_000;
    const AFTER_TOO_MUCH: Duration = Duration::from_hours(1);

    fn is_over(&self) -> bool {
        let until = *self.until.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_none_or(|until| Instant::now() >= until)
    }

    fn begin(&self) {
        let until = Instant::now() + Self::AFTER_TOO_MUCH;
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) = Some(until);
    }
}

impl Inner {
    /// Drops the ranges in which everything that has succeeded did so this long ago. Answers with how many jobs went.
    pub(crate) async fn drop_parts(&self, age: Duration) -> u64 {
        let mut gone = 0;
        while self.patience.is_over() {
            let dropped: Result<Option<i64>, Fault> = transact!(self, |db| {
                sqlx::query_scalar(self.sql.drop_part())
                    .bind(micros(age))
                    .bind(Patience::MOST_KEPT)
                    .fetch_one(&mut *db)
                    .await?
            });
            match dropped {
                Ok(Some(jobs)) if jobs >= 0 => {
                    tracing::info!(jobs, "a range of old jobs was dropped");
                    gone += u64::try_from(jobs).unwrap_or(0);
                }
                Ok(Some(_)) => self.patience.begin(),
                Ok(None) => break,
                // Somebody is reading: the next sweep tries again, and what is old goes job by job meanwhile.
                Err(fault) => {
                    let error = StoreError::from(fault);
                    tracing::warn!(%error, "a range of old jobs could not be dropped");
                    break;
                }
            }
        }
        gone
    }
}
