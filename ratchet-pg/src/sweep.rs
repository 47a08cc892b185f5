//! Leak sweeps: find, free and count keys and slots that no operation should have left behind.
//!
//! A key or slot without a live job would stay taken forever and block every job that needs it. A count above zero
//! means that an operation has a bug.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ratchet_store::Wake;
use tokio::time::Instant;
use uuid::Uuid;

use crate::db;
use crate::fault::{Fault, transact};
use crate::insert::Scoped;
use crate::spec::to_u64;
use crate::store::{Inner, PgStore};
use sqlx::Row;

/// Counts of leaked keys and slots that the sweeps of this process had to free. All counts should be zero. Please
/// report one that is not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repairs {
    /// Business keys whose job had ended or no longer existed.
    pub business_keys: u64,
    /// Slots of concurrency keys and breaker probes that no run held.
    pub slots: u64,
}

/// The most slots to free in one sweep.
const PAGE: i64 = 1000;

/// The interval between sweeps.
const PAUSE: Duration = Duration::from_mins(1);

/// The position of the last sweep, and what the sweeps have freed so far.
#[derive(Debug, Default)]
pub(crate) struct Floors {
    next: Mutex<Option<Instant>>,
    /// The last business key that was checked.
    last: Mutex<Scoped>,
    business_keys: AtomicU64,
    slots: AtomicU64,
}

impl Floors {
    /// Returns whether a sweep is due, and schedules the next one if so.
    fn is_time(&self) -> bool {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let is_time = next.is_none_or(|next| now >= next);
        if is_time {
            *next = now.checked_add(PAUSE);
        }
        is_time
    }
}

impl PgStore {
    /// Returns the counts of leaked keys and slots that the sweeps of this process had to free.
    ///
    /// ```no_run
    /// # async fn demo(store: &ratchet_pg::PgStore) {
    /// assert_eq!(store.repairs(), ratchet_pg::Repairs::default(), "please report this");
    /// # }
    /// ```
    pub fn repairs(&self) -> Repairs {
        let floors = &self.inner.floors;
        Repairs {
            business_keys: floors.business_keys.load(Ordering::Relaxed),
            slots: floors.slots.load(Ordering::Relaxed),
        }
    }
}

impl Inner {
    /// Frees leaked slots and keys, at most once a minute.
    pub(crate) async fn sweep_leaks(&self) -> Result<(), Fault> {
        if self.floors.is_time() {
            self.sweep_slots().await?;
            self.sweep_keys().await?;
        }
        Ok(())
    }

    async fn sweep_slots(&self) -> Result<(), Fault> {
        let row = db::query(self.sql.sweep_slots()).bind(PAGE).fetch_one(&self.pool).await?;
        let slots: i64 = row.try_get("n")?;
        if slots > 0 {
            tracing::error!(
                slots,
                "slots that no run holds were freed; this is a bug of Ratchet, please report it"
            );
            self.floors.slots.fetch_add(to_u64(slots), Ordering::Relaxed);
            let queues: Vec<String> = row.try_get("queues")?;
            self.bounds.clear();
            self.wakes.send(queues.into_iter().map(|queue| Wake::Work { queue }));
        }
        Ok(())
    }

    /// Checks the next page of business keys. After the last key it starts over.
    async fn sweep_keys(&self) -> Result<(), Fault> {
        let (scope, key) = self.last_key().clone();
        let query = db::query(self.sql.select_keys()).bind(scope).bind(key);
        let (mut last, mut odd) = (Scoped::default(), Vec::<Uuid>::new());
        for row in query.fetch_all(&self.pool).await? {
            last = (row.try_get("scope")?, row.try_get("key")?);
            if row.try_get("odd")? {
                odd.push(row.try_get("job")?);
            }
        }
        *self.last_key() = last;
        if odd.is_empty() {
            return Ok(());
        }
        // Locked, then checked again: another transaction may be freeing them right now.
        let freed = transact!(self, |db| {
            db::query(self.sql.lock_business()).bind(&odd).fetch_all(&mut *db).await?;
            db::query(self.sql.sweep_keys()).bind(&odd).fetch_all(&mut *db).await?
        })?;
        for row in &freed {
            let (key, job): (String, Uuid) = (row.try_get("key")?, row.try_get("job")?);
            tracing::error!(key, job.id = %job, "a business key whose job has ended was freed; this is a bug of Ratchet, please report it");
        }
        self.floors.business_keys.fetch_add(freed.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    fn last_key(&self) -> std::sync::MutexGuard<'_, Scoped> {
        self.floors.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
