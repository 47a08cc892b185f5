//! The stored states of concurrency keys in queues with a rate per key, and the lanes of jobs that wait for them. What
//! rates mean is defined by `ratchet_store::rules`.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use ratchet_store::model::{ClaimRequest, KeyRate, Rate};
use ratchet_store::rules::ClaimPlan;
use ratchet_store::rules::claim::{Candidate, SpentKey};
use sqlx::Row as _;
use sqlx::SqliteConnection;

use crate::session::Session;
use crate::sql;
use crate::unreadable::or_report;
use crate::value::{json, parse};

/// The most lanes per queue that one claim brings back. The rest are brought back by the next claim, which is due at
/// once.
const LANES: usize = 1000;

/// How many microseconds jobs that were brought back may wait before their lane brings back others.
const LONGEST_WAIT: i64 = 60_000_000;

/// The keys whose jobs a claim has passed over because of their rate, by queue and key, and until when.
pub(crate) type Refused = BTreeMap<(String, String), Timestamp>;

/// A row to be written: queue, key, state, until when it is full, whether jobs wait, when it ends.
type StateRow<'a> = (&'a str, &'a str, String, Option<i64>, i64, i64);

impl Session<'_> {
    /// Reads the state of the rate of a job's concurrency key, once per claim.
    pub(crate) async fn read_key_rate(
        &mut self,
        job: &Candidate<'_>,
        plan: &mut ClaimPlan,
    ) -> Result<(), sqlx::Error> {
        if let Some(key) = plan.unread_key(job) {
            let state = key_rate(self.conn, job.queue, key).await?;
            plan.set_key_rate(job.queue, key, state);
        }
        Ok(())
    }

    /// Returns jobs to the lines of the requested queues whose keys may start again. Returns `true` if there are more of
    /// them than one claim brings back.
    pub(crate) async fn bring_back_rated(
        &mut self,
        request: &ClaimRequest,
        plan: &mut ClaimPlan,
    ) -> Result<bool, sqlx::Error> {
        let mut more = false;
        for demand in &request.queues {
            let queue = demand.queue.as_str();
            if plan.rate_per_key(queue).is_none() || plan.room(queue) == 0 {
                continue;
            }
            let lanes = sqlx::query(sql::key_rate::LIST_LANES)
                .bind(queue)
                .bind(self.micros())
                .bind(i64::try_from(LANES).unwrap_or(i64::MAX));
            let lanes = lanes.fetch_all(&mut *self.conn).await?;
            more |= lanes.len() >= LANES;
            for row in lanes {
                let lane: i64 = row.try_get(0)?;
                // A key that cannot be read limits nothing.
                let key = or_report::<String>("key of a lane", row.try_get(1))?.unwrap_or_default();
                let state = key_rate(self.conn, queue, &key).await?;
                plan.set_key_rate(queue, key.as_str(), state);
                let until = plan.key_full_until(queue, &key);
                let brought = until.is_none().then(|| self.micros());
                let put_off = sqlx::query(sql::key_rate::PUT_OFF_LANE).bind(lane);
                let put_off = put_off.bind(until.map(Timestamp::as_microsecond)).bind(brought);
                put_off.execute(&mut *self.conn).await?;
                if until.is_none() {
                    // One more than can start, so that the claim notices that others wait.
                    let jobs = i64::from(plan.key_room(queue, &key)) + 1;
                    self.bring_back(lane, jobs).await?;
                }
            }
        }
        Ok(more)
    }

    /// Writes the states of the keys that a claim has changed, and when the lanes of keys bring back jobs. Returns how
    /// long until the rate of a key lets a job start that was passed over.
    pub(crate) async fn save_key_rates(
        &mut self,
        queues: &[&str],
        refused: &Refused,
        plan: &mut ClaimPlan,
    ) -> Result<Option<Duration>, sqlx::Error> {
        let spent = plan.spend_keys(self.now);
        let row = |spent: &SpentKey| (spent.queue.clone(), spent.key.clone());
        let mut backs = refused.clone();
        backs.extend(spent.iter().map(|spent| (row(spent), spent.back)));
        let mut rows = Vec::with_capacity(spent.len());
        for SpentKey { queue, key, state, ends, .. } in &spent {
            rows.push(state_row(queue, key, state, *ends, self.now)?);
        }
        self.write_states(&rows).await?;
        if !backs.is_empty() {
            let backs: Vec<_> = backs
                .iter()
                .map(|((queue, key), back)| (queue, key, back.as_microsecond()))
                .collect();
            let put_off = sqlx::query(sql::key_rate::PUT_OFF_KEYS).bind(json(&backs)?);
            put_off.execute(&mut *self.conn).await?;
        }
        let now = self.micros();
        let next = sqlx::query(sql::key_rate::NEXT_FREE).bind(json(&queues)?).bind(now);
        let next: Option<i64> = next.fetch_one(&mut *self.conn).await?.try_get(0)?;
        Ok(next.map(|next| Duration::from_micros(next.saturating_sub(now).max(0).unsigned_abs())))
    }

    /// Judges the keys of a queue by another rate. Without a rate, their states are deleted and their jobs brought back
    /// by the next claims.
    pub(crate) async fn change_key_rate(
        &mut self,
        queue: &str,
        rate: Option<Rate>,
    ) -> Result<(), sqlx::Error> {
        let Some(rate) = rate else {
            let states = sqlx::query(sql::key_rate::DELETE_STATES).bind(queue);
            states.execute(&mut *self.conn).await?;
            sqlx::query(sql::key_rate::FREE_LANES).bind(queue).execute(&mut *self.conn).await?;
            return Ok(());
        };
        let stored = sqlx::query(sql::key_rate::LIST_STATES).bind(queue);
        let mut judged = Vec::new();
        for row in stored.fetch_all(&mut *self.conn).await? {
            let read = || Ok((row.try_get::<String, _>(0)?, parse::<KeyRate>(row.try_get(1)?)?));
            let read = or_report("rate of a key", read())?;
            judged.extend(read.map(|(key, state)| (key, state.judged_by(rate, self.now))));
        }
        let mut rows = Vec::with_capacity(judged.len());
        for (key, state) in &judged {
            rows.push(state_row(queue, key, state, state.ends_at(rate), self.now)?);
        }
        self.write_states(&rows).await?;
        let open = sqlx::query(sql::key_rate::OPEN_LANES).bind(queue).bind(self.micros());
        open.execute(&mut *self.conn).await?;
        Ok(())
    }

    async fn write_states(&mut self, rows: &[StateRow<'_>]) -> Result<(), sqlx::Error> {
        if !rows.is_empty() {
            let save = sqlx::query(sql::key_rate::SAVE_STATES).bind(json(&rows)?);
            save.execute(&mut *self.conn).await?;
        }
        Ok(())
    }

    /// Deletes the states of keys that have no counted claim in the period, and lets lanes bring back jobs if those that they have
    /// brought back were not claimed.
    pub(crate) async fn sweep_key_rates(&mut self) -> Result<(), sqlx::Error> {
        let now = self.micros();
        let ended = sqlx::query(sql::key_rate::DELETE_ENDED).bind(now);
        ended.execute(&mut *self.conn).await?;
        let woken = sqlx::query(sql::key_rate::WAKE_LANES).bind(now - LONGEST_WAIT).bind(now);
        for row in woken.fetch_all(&mut *self.conn).await? {
            self.effects.wake_queue(row.try_get(0)?);
        }
        Ok(())
    }
}

/// Returns the stored state of a key; the default if there is none or it cannot be read.
pub(crate) async fn key_rate(
    conn: &mut SqliteConnection,
    queue: &str,
    key: &str,
) -> Result<KeyRate, sqlx::Error> {
    let row = sqlx::query(sql::key_rate::GET_STATE).bind(queue).bind(key);
    let row = row.fetch_optional(conn).await?;
    let read = row.map(|row| row.try_get(0).and_then(parse)).transpose();
    Ok(or_report("rate of a key", read)?.flatten().unwrap_or_default())
}

/// Returns how many keys of a queue have used up their rate.
pub(crate) async fn full_keys(
    conn: &mut SqliteConnection,
    queue: &str,
    now: i64,
) -> Result<u64, sqlx::Error> {
    let row = sqlx::query(sql::key_rate::COUNT_FULL).bind(queue).bind(now).fetch_one(conn).await?;
    Ok(row.try_get::<i64, _>(0)?.unsigned_abs())
}

fn state_row<'a>(
    queue: &'a str,
    key: &'a str,
    state: &KeyRate,
    ends: Timestamp,
    now: Timestamp,
) -> Result<StateRow<'a>, sqlx::Error> {
    let until = state.full_until(now).map(Timestamp::as_microsecond);
    let waiting = i64::from(state.is_waiting());
    Ok((queue, key, json(state)?, until, waiting, ends.as_microsecond()))
}
