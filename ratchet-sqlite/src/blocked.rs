//! Sets aside jobs that cannot run, by lane, so that later claims need not skip them again.
//!
//! All jobs of a lane have the same queue, name, version, service and concurrency key, so they are blocked together. A
//! lane with an unknown name is brought back by the first claim that knows it, a lane with an open breaker by the first
//! claim that the breaker admits, and a lane whose key is at its limit by the run that releases a slot. A lane whose key has
//! used up its rate is brought back by the first claim after the rate allows another start (`key_rates`). Jobs that have
//! crashed their worker are never set aside, because they wait for other reasons.

use std::collections::HashMap;

use ratchet_store::model::{ClaimRequest, JobSpec};
use ratchet_store::rules::ClaimPlan;
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use crate::session::Session;
use crate::sql;
use crate::unreadable::or_report;
use crate::value::{json, lane, number};

impl Session<'_> {
    /// Sets aside jobs, given by their seq, their spec, and whether the claimer knew their name.
    pub(crate) async fn set_aside(
        &mut self,
        jobs: Vec<(i64, &JobSpec, bool)>,
    ) -> Result<(), sqlx::Error> {
        let mut lanes = HashMap::new();
        let mut places = Vec::with_capacity(jobs.len());
        for (seq, spec, known) in jobs {
            let lane = lane(spec);
            places.push((seq, lane));
            lanes.entry(lane).or_insert((spec, known));
        }
        let lanes: Vec<_> = lanes
            .into_iter()
            .map(|(lane, (spec, known))| {
                let slot = spec.concurrency.as_ref();
                let (key, limit) = (slot.map(|slot| &slot.key), slot.map(|slot| slot.limit));
                (lane, &spec.queue, &spec.name, spec.version, key, limit, &spec.service, !known)
            })
            .collect();
        sqlx::query(sql::claim::SET_ASIDE).bind(json(&places)?).execute(&mut *self.conn).await?;
        sqlx::query(sql::claim::INSERT_ASIDE).bind(json(&lanes)?).execute(&mut *self.conn).await?;
        Ok(())
    }

    /// Returns the lanes that were set aside for an unknown name or an open breaker, of the names that the claimer knows.
    /// There can be more lanes of other names than a claim has time to read.
    pub(crate) async fn known_lanes(
        &mut self,
        queues: &[&str],
        request: &ClaimRequest,
    ) -> Result<Vec<SqliteRow>, sqlx::Error> {
        let names: Vec<_> = request.known.0.keys().collect();
        let lanes = sqlx::query(sql::claim::LIST_LANES).bind(json(&queues)?).bind(json(&names)?);
        lanes.fetch_all(&mut *self.conn).await
    }

    /// Brings back the first jobs of a lane that was set aside for an unknown name or an open breaker, if this claimer
    /// can run them. Brings back at most as many as the claim can take.
    pub(crate) async fn bring_back_runnable(
        &mut self,
        lane: &SqliteRow,
        request: &ClaimRequest,
        plan: &ClaimPlan,
    ) -> Result<(), sqlx::Error> {
        let limit = request.queues.iter().map(|demand| demand.limit).max().unwrap_or(0);
        let read = || {
            let version = number(lane.try_get(3)?)?;
            let slot: Option<String> = lane.try_get(5)?;
            let limit: Option<i64> = lane.try_get(6)?;
            let service: Option<&str> = lane.try_get(7)?;
            Ok((lane.try_get(2)?, version, slot.zip(limit.map(number).transpose()?), service))
        };
        let Some((name, version, slot, service)) = or_report("lane", read())? else {
            // The reason cannot be read. The jobs are skipped and set aside again if they are still blocked.
            return self.bring_back(lane.try_get(1)?, i64::from(limit)).await;
        };
        if !request.known.knows(name, version) {
            return Ok(());
        }
        if let Some((key, limit)) = slot {
            let limit: u64 = limit;
            if self.slots_taken(&key).await? >= limit {
                return Ok(());
            }
        }
        // A lane that also waits for the rate of its key notes until when.
        if lane.try_get::<Option<i64>, _>(4)?.is_some_and(|back| back > self.micros()) {
            return Ok(());
        }
        let limit = limit.min(plan.service_room(service));
        if limit == 0 {
            return Ok(());
        }
        self.bring_back(lane.try_get(1)?, i64::from(limit)).await
    }

    /// Brings back the first jobs of each lane of a concurrency key.
    pub(crate) async fn bring_back_slot(
        &mut self,
        key: &str,
        jobs: i64,
    ) -> Result<(), sqlx::Error> {
        let lanes = sqlx::query(sql::key::LIST_LANES_OF_SLOT).bind(key);
        for lane in lanes.fetch_all(&mut *self.conn).await? {
            self.bring_back(lane.try_get(0)?, jobs).await?;
        }
        Ok(())
    }

    pub(crate) async fn bring_back(&mut self, lane: i64, jobs: i64) -> Result<(), sqlx::Error> {
        let now = self.micros();
        let back = sqlx::query(sql::claim::BRING_BACK).bind(lane).bind(jobs).bind(now);
        back.execute(&mut *self.conn).await?;
        sqlx::query(sql::claim::DELETE_EMPTY_ASIDE).bind(lane).execute(&mut *self.conn).await?;
        Ok(())
    }
}
