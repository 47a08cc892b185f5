//! Lanes of blocked jobs: set aside when many of them are at the head of a queue, and brought back when their cause has
//! ended.
//!
//! When a slot is freed, the same commit brings back the next job of its key. The sweep handles the rest: names that no
//! live node knows, services whose breaker is open, and jobs that a settlement could not see because they were being
//! set aside at that moment.

use std::sync::{Mutex, PoisonError};

use ratchet_store::Wake;

use crate::db;
use crate::fault::Fault;
use crate::spec::to_u64;
use crate::store::Inner;
use sqlx::Row;

/// The number of jobs examined at the head of each queue: at first, and once the head is known to be blocked.
const GLANCE: i64 = 500;
const HEAD: i64 = 5000;

/// The minimum number of jobs with the same cause at the head of a queue to set aside.
const MANY: i64 = 100;

/// The most rounds per sweep.
const ROUNDS: u32 = 30;

/// Where the last sweep stopped searching for causes that have ended.
#[derive(Debug, Default)]
pub(crate) struct Causes {
    last: Mutex<String>,
}

impl Inner {
    /// Brings back jobs that are no longer blocked, and sets aside jobs that block the heads of queues.
    pub(crate) async fn sweep_blocked(&self) -> Result<(), Fault> {
        self.bring_back().await?;
        self.sweep_key_lanes().await?;
        self.set_aside().await
    }

    /// Brings back jobs that are no longer blocked.
    pub(crate) async fn bring_back(&self) -> Result<(), Fault> {
        let mut back = Vec::new();
        for _ in 0..ROUNDS {
            let after = self.causes.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let row = db::query(self.sql.bring_back())
                .bind(&after)
                .bind(HEAD)
                .fetch_one(&self.pool)
                .await?;
            let (last, n): (Option<String>, i64) = (row.try_get("last")?, row.try_get("n")?);
            // A lane that returned the full number may have more.
            let ended = n < HEAD;
            if ended {
                let mut kept = self.causes.last.lock().unwrap_or_else(PoisonError::into_inner);
                *kept = last.clone().unwrap_or_default();
            }
            back.extend(row.try_get::<Vec<String>, _>("queues")?);
            if ended {
                break;
            }
        }
        if !back.is_empty() {
            self.bounds.clear();
            back.sort_unstable();
            back.dedup();
            self.wakes.send(back.into_iter().map(|queue| Wake::Work { queue }));
        }
        Ok(())
    }

    async fn set_aside(&self) -> Result<(), Fault> {
        let mut window = GLANCE;
        for _ in 0..ROUNDS {
            let moved: i64 = db::query_scalar(self.sql.set_aside())
                .bind(window)
                .bind(MANY)
                .fetch_one(&self.pool)
                .await?;
            if moved == 0 {
                break;
            }
            tracing::info!(jobs = to_u64(moved), "jobs that cannot run now were set aside");
            window = HEAD;
        }
        Ok(())
    }
}
