//! The stored states of concurrency keys in queues with a rate per key, and the lanes of jobs that wait for them.
//!
//! A claim moves the jobs that it must pass over to `blocked`, so that later claims do not examine them. Each of their
//! lanes notes when the rate of its key lets a job start. The first claim after that returns a few jobs to `ready`. What
//! rates mean is defined by `ratchet_store::rules`.

use std::collections::HashMap;
use std::time::Duration;

use jiff::Timestamp;
use ratchet_store::Wake;
use ratchet_store::model::{KeyRate, Rate};
use ratchet_store::rules::claim::SpentKey;

use crate::db;
use crate::fault::{Fault, transact};
use crate::spec::{instant, micros, to_u64};
use crate::store::Inner;
use crate::unreadable::or_report;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

/// The number of jobs that are returned at once when their queue has no rate per key any more.
const PAGE: i64 = 5000;

/// The most pages per sweep or change.
const PAGES: u32 = 30;

/// How long jobs that were brought back may wait before their lane brings back others.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// Rows to be written, as columns.
#[derive(Debug, Default)]
struct States {
    queues: Vec<String>,
    keys: Vec<String>,
    texts: Vec<String>,
    full_until: Vec<Option<i64>>,
    waiting: Vec<bool>,
    ends: Vec<i64>,
}

impl States {
    fn push(
        &mut self,
        queue: &str,
        key: &str,
        state: &KeyRate,
        ends: Timestamp,
        now: Timestamp,
    ) -> Result<(), Fault> {
        let text = serde_json::to_string(state);
        self.texts.push(text.map_err(|error| sqlx::Error::Encode(Box::new(error)))?);
        self.queues.push(queue.to_owned());
        self.keys.push(key.to_owned());
        self.full_until.push(state.full_until(now).map(Timestamp::as_microsecond));
        self.waiting.push(state.is_waiting());
        self.ends.push(ends.as_microsecond());
        Ok(())
    }
}

impl Inner {
    /// Returns the stored states of these keys. A key that is missing has the default state.
    pub(crate) async fn key_rates(
        &self,
        db: &mut PgConnection,
        queue: &str,
        keys: &[String],
    ) -> Result<HashMap<String, KeyRate>, Fault> {
        if keys.is_empty() {
            return Ok(HashMap::new());
        }
        let rows = db::query(self.sql.select_key_rates()).bind(queue).bind(keys);
        states(&rows.fetch_all(db).await?)
    }

    /// Writes the states of keys that a claim has changed.
    pub(crate) async fn save_key_rates(
        &self,
        db: &mut PgConnection,
        spent: &[SpentKey],
        now: Timestamp,
    ) -> Result<(), Fault> {
        let mut rows = States::default();
        for SpentKey { queue, key, state, ends, .. } in spent {
            rows.push(queue, key, state, *ends, now)?;
        }
        self.write_states(db, rows).await
    }

    async fn write_states(&self, db: &mut PgConnection, rows: States) -> Result<(), Fault> {
        if rows.keys.is_empty() {
            return Ok(());
        }
        db::query(self.sql.upsert_key_rates())
            .bind(rows.queues)
            .bind(rows.keys)
            .bind(rows.texts)
            .bind(rows.full_until)
            .bind(rows.waiting)
            .bind(rows.ends)
            .execute(db)
            .await?;
        Ok(())
    }

    /// Judges the keys of a queue by another rate. Without a rate, their states are deleted and their jobs brought back.
    pub(crate) async fn change_key_rate(
        &self,
        db: &mut PgConnection,
        queue: &str,
        rate: Option<Rate>,
    ) -> Result<(), Fault> {
        let Some(rate) = rate else {
            db::query(self.sql.delete_key_rates()).bind(queue).execute(&mut *db).await?;
            self.bring_back_unlimited(db, queue).await?;
            return Ok(());
        };
        let now = self.now(&mut *db).await?;
        let stored = db::query(self.sql.select_all_key_rates()).bind(queue);
        let mut rows = States::default();
        for (key, state) in states(&stored.fetch_all(&mut *db).await?)? {
            let state = state.judged_by(rate, instant(now));
            rows.push(queue, &key, &state, state.ends_at(rate), instant(now))?;
        }
        self.write_states(db, rows).await?;
        db::query(self.sql.open_key_lanes()).bind(queue).bind(now).execute(db).await?;
        Ok(())
    }

    /// Returns the jobs of a queue without a rate per key to `ready`. Returns whether there were any.
    async fn bring_back_unlimited(
        &self,
        db: &mut PgConnection,
        queue: &str,
    ) -> Result<bool, Fault> {
        let now = self.now(&mut *db).await?;
        let mut all = 0;
        for _ in 0..PAGES {
            let back = db::query(self.sql.bring_back_key_lanes_of_queue()).bind(queue).bind(now);
            let moved = back.bind(PAGE).execute(&mut *db).await?.rows_affected();
            // A page reads the first lanes, so those that are empty must go.
            let empty = db::query(self.sql.delete_empty_key_lanes_of_queue()).bind(queue);
            empty.execute(&mut *db).await?;
            all += moved;
            if moved == 0 {
                break;
            }
        }
        Ok(all > 0)
    }

    /// Returns the first jobs of lanes to `ready`, as many of each as given.
    pub(crate) async fn bring_back_lanes(
        &self,
        db: &mut PgConnection,
        lanes: &[String],
        jobs: Vec<i64>,
        now: i64,
    ) -> Result<(), Fault> {
        let back = db::query(self.sql.bring_back_key_lanes()).bind(lanes).bind(jobs).bind(now);
        back.execute(&mut *db).await?;
        db::query(self.sql.delete_empty_key_lanes()).bind(lanes).execute(db).await?;
        Ok(())
    }

    /// Returns how many keys of each queue have used up their rate.
    pub(crate) async fn full_keys(
        &self,
        db: &mut PgConnection,
        queues: Vec<String>,
        now: Timestamp,
    ) -> Result<HashMap<String, u64>, Fault> {
        if queues.is_empty() {
            return Ok(HashMap::new());
        }
        let count = db::query(self.sql.count_full_keys()).bind(queues).bind(now.as_microsecond());
        let count = count.fetch_all(db).await?;
        let full = |row: &PgRow| Ok((row.try_get(0)?, to_u64(row.try_get(1)?)));
        Ok(count.iter().map(full).collect::<Result<_, sqlx::Error>>()?)
    }

    /// Brings back jobs that no claim would: those of queues that have no rate per key any more, and those behind jobs
    /// that were brought back and have left their queue without being claimed.
    pub(crate) async fn sweep_key_lanes(&self) -> Result<(), Fault> {
        let queues = db::query_scalar(self.sql.select_key_lane_queues());
        let queues: Vec<String> = queues.fetch_all(&self.pool).await?;
        if queues.is_empty() {
            return Ok(());
        }
        let now: i64 = db::query_scalar(self.sql.now()).fetch_one(&self.pool).await?;
        let since = now.saturating_sub(micros(LONGEST_WAIT));
        let woken = db::query_scalar(self.sql.wake_key_lanes()).bind(since).bind(now);
        let mut woken: Vec<String> = woken.fetch_all(&self.pool).await?;
        for queue in queues {
            let some = transact!(repeatable self, |db| {
                let rules = self.rules_within(db, &queue).await?;
                rules.limits.rate_per_key.is_none() && self.bring_back_unlimited(db, &queue).await?
            })?;
            woken.extend(some.then_some(queue));
        }
        if !woken.is_empty() {
            self.bounds.clear();
            woken.sort_unstable();
            woken.dedup();
            self.wakes.send(woken.into_iter().map(|queue| Wake::Work { queue }));
        }
        Ok(())
    }
}

/// Reads rows of a key and its state. A state that cannot be read is replaced by the next claim of its key.
fn states(rows: &[PgRow]) -> Result<HashMap<String, KeyRate>, Fault> {
    let mut states = HashMap::new();
    for row in rows {
        let read = || {
            let state = serde_json::from_str(row.try_get("state")?);
            let state = state.map_err(|error| sqlx::Error::Decode(Box::new(error)))?;
            Ok((row.try_get("key")?, state))
        };
        states.extend(or_report("rate of a key", read())?);
    }
    Ok(states)
}
