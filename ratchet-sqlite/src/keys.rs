//! Slots and business keys. Slots are counted from live runs, never from a stored counter.

use ratchet_store::model::{JobSpec, Token};
use sqlx::Row as _;

use crate::row::JobRow;
use crate::session::Session;
use crate::sql;
use crate::value::{bytes, signed};

impl Session<'_> {
    /// Returns how many runs hold a slot of a concurrency key.
    pub(crate) async fn slots_taken(&mut self, key: &str) -> Result<u64, sqlx::Error> {
        let row = sqlx::query(sql::key::COUNT_SLOTS).bind(key).fetch_one(&mut *self.conn).await?;
        Ok(row.try_get::<i64, _>(0)?.unsigned_abs())
    }

    /// Handles a released slot: brings back the next job of each lane of its key.
    pub(crate) async fn free_slot(&mut self, spec: &JobSpec) -> Result<(), sqlx::Error> {
        if let Some(slot) = &spec.concurrency {
            self.bring_back_slot(&slot.key, 1).await?;
            // Jobs with the same key are probably in the same queue.
            self.effects.wake_queue(&spec.queue);
        }
        Ok(())
    }

    /// Frees the business key of an ended job, unless one of its runs lingers.
    pub(crate) async fn free_business_key(&mut self, row: &JobRow) -> Result<(), sqlx::Error> {
        if let Some(key) = row.scoped_key.as_deref().filter(|_| !row.job.is_live()) {
            sqlx::query(sql::key::FREE_BUSINESS_KEY)
                .bind(key)
                .bind(bytes(row.job.id.uuid()))
                .execute(&mut *self.conn)
                .await?;
        }
        Ok(())
    }

    /// Frees the slot and key that a lingering run still held after its end.
    pub(crate) async fn release_holds(&mut self, token: Token) -> Result<(), sqlx::Error> {
        let lingered = sqlx::query(sql::key::DELETE_LINGERING)
            .bind(bytes(token.job.uuid()))
            .bind(bytes(token.lease.uuid()))
            .bind(signed(token.version))
            .fetch_optional(&mut *self.conn)
            .await?;
        let Some(lingered) = lingered else { return Ok(()) };
        self.wake_limited().await?;
        if let Some(row) = self.load(token.job).await? {
            self.free_slot(&row.job.spec).await?;
            self.free_business_key(&row).await?;
        } else if let Ok(Some(slot)) = lingered.try_get::<Option<String>, _>(0) {
            // The job no longer exists or cannot be read, but the slot is free.
            self.bring_back_slot(&slot, 1).await?;
        }
        Ok(())
    }

    pub(crate) async fn let_go_all(&mut self, tokens: &[Token]) -> Result<(), sqlx::Error> {
        for token in tokens {
            self.release_holds(*token).await?;
        }
        Ok(())
    }
}
