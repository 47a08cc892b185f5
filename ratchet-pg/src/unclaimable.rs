//! Finds and sets aside jobs that make claims fail.
//!
//! A claim is one statement for many jobs. If one row makes it fail, for example because a number is out of range, no
//! job of the queue could be claimed. Therefore the rows are tried one by one, and those that fail are set aside.

use ratchet_store::model::{ClaimRequest, JobId};
use uuid::Uuid;

use crate::db;
use crate::error::is_about_data;
use crate::fault::{Fault, transact};
use crate::scan_start::{FIRST, Rank};
use crate::store::Inner;
use crate::unreadable::Unread;
use sqlx::Row;

/// The number of jobs per page.
const PAGE: i64 = 200;

/// The most jobs of a queue to try.
const MOST: usize = 10_000;

/// Returns whether a statement failed because of the content of a row.
pub(crate) fn is_unclaimable(fault: &Fault) -> bool {
    matches!(fault, Fault::Database(error) if is_about_data(error))
}

impl Inner {
    /// Sets aside the jobs that make claims fail. Returns how many were found.
    pub(crate) async fn set_aside_unclaimable(
        &self,
        request: &ClaimRequest,
    ) -> Result<usize, Fault> {
        let mut found = 0;
        for demand in &request.queues {
            let (mut after, mut tried) = (FIRST, 0);
            while tried < MOST && found == 0 {
                let rows = db::query(self.sql.list_waiting())
                    .bind(&demand.queue)
                    .bind(after.sort_key)
                    .bind(after.due)
                    .bind(after.job)
                    .bind(PAGE)
                    .fetch_all(&self.pool)
                    .await?;
                if rows.is_empty() {
                    break;
                }
                tried += rows.len();
                for row in &rows {
                    let ctid: String = row.try_get("row_id")?;
                    after = Rank {
                        sort_key: row.try_get("sort_key")?,
                        due: row.try_get("due")?,
                        job: row.try_get("job")?,
                    };
                    if let Some(error) = self.try_claim(request, &demand.queue, &ctid).await? {
                        self.set_aside_one(&demand.queue, &after, &error).await?;
                        found += 1;
                    }
                }
            }
        }
        Ok(found)
    }

    /// Claims a single job and rolls back. Returns the error if the job makes the claim fail.
    async fn try_claim(
        &self,
        request: &ClaimRequest,
        queue: &str,
        ctid: &str,
    ) -> Result<Option<sqlx::Error>, Fault> {
        let mut tx = self.pool.begin().await?;
        let db: &mut sqlx::PgConnection = &mut tx;
        let tried = async {
            db::query(self.sql.try_claim()).bind(ctid).fetch_all(&mut *db).await?;
            db::query(self.sql.take_chosen())
                .bind(vec![ctid])
                .bind(vec![queue])
                .bind(vec![self.ids.lease().uuid()])
                .bind(request.node.uuid())
                .bind(0_i64)
                .bind(false)
                .bind(Vec::<&str>::new())
                .bind(Vec::<&str>::new())
                .fetch_all(&mut *db)
                .await
        };
        let tried = tried.await;
        // Rolled back here and not when it is dropped: the next claim would skip the row if it were still locked.
        tx.rollback().await?;
        match tried {
            Ok(_) => Ok(None),
            Err(error) if is_about_data(&error) => Ok(Some(error)),
            Err(error) => Err(error.into()),
        }
    }

    async fn set_aside_one(
        &self,
        queue: &str,
        rank: &Rank,
        error: &sqlx::Error,
    ) -> Result<(), Fault> {
        let job: Uuid = rank.job;
        let unread = Unread::new(JobId::from_uuid(job), None, error);
        let (column, why) = unread.cause();
        transact!(self, |db| {
            db::query(self.sql.record_unreadable())
                .bind(vec![job])
                .bind(vec![column])
                .bind(vec![why])
                .execute(&mut *db)
                .await?;
            db::query(self.sql.set_aside_one())
                .bind(queue)
                .bind(rank.sort_key)
                .bind(rank.due)
                .bind(job)
                .execute(&mut *db)
                .await?;
        })?;
        tracing::warn!(job.id = %job, why, "a stored job makes claims fail and is set aside");
        Ok(())
    }
}
