//! Claims of a queue with a rate per concurrency key: reads and writes the states of keys, and sets aside the jobs that
//! must wait for them.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use ratchet_store::model::ClaimRequest;
use sqlx::PgConnection;

use super::{DueJob, Walk};
use crate::db;
use crate::fault::Fault;
use crate::spec::{duration, instant};
use sqlx::Row;

/// The most lanes per queue that one claim brings back. The rest are brought back by the next claim, which is due at
/// once.
const LANES: i64 = 1000;

/// The most jobs that one claim sets aside.
const SET_ASIDE: usize = 5000;

/// The jobs that a claim has passed over because their keys have used up their rate.
#[derive(Debug, Default)]
pub(super) struct Refused {
    /// The `ctid`s of their rows, which are locked.
    rows: Vec<String>,
    /// Their queues and keys, and until when the keys have used up their rate.
    keys: BTreeMap<(String, String), i64>,
}

impl Walk<'_> {
    /// Returns `true` if one of the requested queues has a rate per key.
    pub(super) fn has_key_rates(&self, request: &ClaimRequest) -> bool {
        request.queues.iter().any(|demand| self.plan.rate_per_key(&demand.queue).is_some())
    }

    /// Reads the states of the keys of due jobs.
    pub(super) async fn read_key_rates(
        &mut self,
        db: &mut PgConnection,
        queue: &str,
        window: &[DueJob],
    ) -> Result<(), Fault> {
        let unread = |job: &DueJob| self.plan.unread_key(&job.candidate(queue)).map(str::to_owned);
        let keys = window.iter().filter_map(unread).collect();
        self.read_keys(db, queue, keys).await
    }

    async fn read_keys(
        &mut self,
        db: &mut PgConnection,
        queue: &str,
        mut keys: Vec<String>,
    ) -> Result<(), Fault> {
        keys.sort_unstable();
        keys.dedup();
        let mut states = self.inner.key_rates(db, queue, &keys).await?;
        for key in keys {
            let state = states.remove(&key).unwrap_or_default();
            self.plan.set_key_rate(queue, key, state);
        }
        Ok(())
    }

    /// Returns jobs to `ready` whose keys may start again. Returns `true` if there are more of them than one claim brings
    /// back.
    pub(super) async fn bring_back_lanes(
        &mut self,
        db: &mut PgConnection,
        queue: &str,
    ) -> Result<bool, Fault> {
        if self.plan.rate_per_key(queue).is_none() || self.plan.room(queue) == 0 {
            return Ok(false);
        }
        let lanes = db::query(self.inner.sql.select_key_lanes()).bind(queue).bind(self.now);
        let lanes = lanes.bind(LANES).fetch_all(&mut *db).await?;
        let lanes = lanes.iter().map(|row| Ok((row.try_get("cause")?, row.try_get("key")?)));
        let lanes = lanes.collect::<Result<Vec<(String, String)>, sqlx::Error>>()?;
        if lanes.is_empty() {
            return Ok(false);
        }
        self.read_keys(db, queue, lanes.iter().map(|(_, key)| key.clone()).collect()).await?;
        let (mut causes, mut backs) = (Vec::new(), Vec::new());
        let (mut open, mut jobs) = (Vec::new(), Vec::new());
        for (cause, key) in &lanes {
            let until = self.plan.key_full_until(queue, key);
            if until.is_none() {
                // One more than can start, so that the claim notices that others wait.
                open.push(cause.clone());
                jobs.push(i64::from(self.plan.key_room(queue, key)) + 1);
            }
            causes.push(cause.as_str());
            backs.push(until.map(Timestamp::as_microsecond));
        }
        let put_off = db::query(self.inner.sql.put_off_key_lanes());
        put_off.bind(causes).bind(backs).bind(self.now).execute(&mut *db).await?;
        self.inner.bring_back_lanes(db, &open, jobs, self.now).await?;
        Ok(i64::try_from(lanes.len()).is_ok_and(|lanes| lanes >= LANES))
    }

    /// Passes over a job whose key has used up its rate.
    pub(super) fn refuse(&mut self, queue: &str, job: DueJob, until: Timestamp) {
        // A job that has crashed its worker may wait for other reasons too.
        let Some(key) = job.key.filter(|_| job.crashes == 0) else { return };
        if self.refused.rows.len() >= SET_ASIDE {
            self.full.insert(key.key, i32::MAX);
            return;
        }
        self.refused.rows.push(job.ctid);
        self.refused.keys.insert((queue.to_owned(), key.key), until.as_microsecond());
    }

    /// Writes the states of the keys of this claim, and sets aside the jobs that it has passed over. Returns how long
    /// until the rate of a key lets a job start that was passed over.
    pub(super) async fn save_key_rates(
        &mut self,
        db: &mut PgConnection,
        queues: &[&str],
        now: i64,
    ) -> Result<Option<Duration>, Fault> {
        let sql = &self.inner.sql;
        let Refused { rows, keys } = std::mem::take(&mut self.refused);
        if !rows.is_empty() {
            db::query(sql.set_aside_refused())
                .bind(rows)
                .bind(keys.keys().map(|(queue, _)| queue.as_str()).collect::<Vec<_>>())
                .bind(keys.keys().map(|(_, key)| key.as_str()).collect::<Vec<_>>())
                .bind(keys.values().copied().collect::<Vec<_>>())
                .bind(now)
                .execute(&mut *db)
                .await?;
        }
        let spent = self.plan.spend_keys(instant(now));
        if !spent.is_empty() {
            self.inner.save_key_rates(db, &spent, instant(now)).await?;
            db::query(sql.put_off_keys())
                .bind(spent.iter().map(|spent| spent.queue.as_str()).collect::<Vec<_>>())
                .bind(spent.iter().map(|spent| spent.key.as_str()).collect::<Vec<_>>())
                .bind(spent.iter().map(|spent| spent.back.as_microsecond()).collect::<Vec<_>>())
                .execute(&mut *db)
                .await?;
        }
        let next = db::query_scalar(sql.select_next_free_key()).bind(queues).bind(now);
        let next: Option<i64> = next.fetch_one(db).await?;
        Ok(next.map(|next| duration(next - now)))
    }
}
