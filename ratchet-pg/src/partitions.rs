//! Partitions by id: created ahead of time, and dropped when their jobs are no longer needed.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ratchet_store::StoreError;
use tokio::time::Instant;

use crate::db;
use crate::fault::{Fault, transact};
use crate::pool::Pool;
use crate::spec::micros;
use crate::sql::Sql;
use crate::store::Inner;

/// The number of partitions to create beyond the current one. Maintenance runs every minute; these cover times without
/// a worker.
const AHEAD: u32 = 2;

/// Creates the missing partitions. A user without the rights of a worker leaves that to the workers.
pub(crate) async fn make(pool: &Pool, sql: &Sql, range: Duration) -> Result<(), Fault> {
    let made: Result<i32, _> = db::query_scalar(sql.make_parts())
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
        Err(error) if is_denied(&error) => {
            tracing::debug!(%error, "ranges of ids are made by workers");
            Ok(())
        }
        // Jobs of a missing partition go to the default partition, so this can wait.
        Err(error) if error.as_database_error().is_some() => {
            tracing::warn!(%error, "ranges of ids could not be made; it is tried again");
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns the statement that creates the missing partitions.
pub(crate) fn statement(sql: &Sql, range: Duration) -> String {
    let text = sql.make_parts().text.as_str().trim_end().to_owned();
    let text = text.replace("$1", &micros(range).to_string());
    text.replace("$2", &micros(range * AHEAD).to_string()) + ";\n"
}

/// Returns whether the user of the database lacks a right.
fn is_denied(error: &sqlx::Error) -> bool {
    error
        .as_database_error()
        .and_then(sqlx::error::DatabaseError::code)
        .is_some_and(|code| code == "42501")
}

/// When to examine old partitions again. Finding the jobs that must be kept reads a whole partition.
#[derive(Debug, Default)]
pub(crate) struct DropBackoff {
    until: Mutex<Option<Instant>>,
}

impl DropBackoff {
    /// The most jobs to move out of a partition. If more must be kept, the partition stays and its old jobs are purged
    /// one by one.
    pub(crate) const MOST_KEPT: i32 = 10_000;
    const AFTER_TOO_MUCH: Duration = Duration::from_hours(1);

    pub(crate) fn is_over(&self) -> bool {
        let until = *self.until.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_none_or(|until| Instant::now() >= until)
    }

    pub(crate) fn begin(&self) {
        let until = Instant::now() + Self::AFTER_TOO_MUCH;
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) = Some(until);
    }
}

impl Inner {
    /// Drops partitions whose succeeded jobs all ended at least `age` ago, until they had at least `limit` jobs. Returns the
    /// number of jobs removed.
    pub(crate) async fn drop_parts(&self, age: Duration, limit: u32) -> u64 {
        let mut gone = 0;
        while gone < u64::from(limit) && self.drop_backoff.is_over() {
            let dropped: Result<Option<i64>, Fault> = transact!(self, |db| {
                db::query_scalar(self.sql.drop_part())
                    .bind(micros(age))
                    .bind(DropBackoff::MOST_KEPT)
                    .fetch_one(&mut *db)
                    .await?
            });
            match dropped {
                Ok(Some(jobs)) if jobs >= 0 => {
                    tracing::info!(jobs, "a range of old jobs was dropped");
                    gone += u64::try_from(jobs).unwrap_or(0);
                }
                Ok(Some(_)) => self.drop_backoff.begin(),
                Ok(None) => break,
                // The partition is in use. The next sweep tries again, and meanwhile old jobs are purged one by one.
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
