//! Jobs that a claim could not run are set aside, by lane, so that the claims after it do not pass over them again.
//!
//! All jobs of a lane share queue, name, version, service and concurrency key: what holds up one holds up all. A lane whose
//! name was unknown is brought back by the first claim that knows it, a lane whose breaker was open by the first claim that
//! it admits, a lane whose key was at its limit by the run that lets go of a slot. Jobs that have crashed their worker are never set aside: they wait for other reasons than their lane.

use std::collections::HashMap;

use ratchet_core::model::{ClaimRequest, JobSpec};
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use crate::gates::Gates;
use crate::session::Session;
use crate::sql;
use crate::unreadable::or_report;
use crate::value::{json, lane, number};

impl Session<'_> {
    /// Takes jobs out of the line: their seq, what they are, and whether the claimer knew their name.
    pub(crate) async fn set_aside(
        &mut self,
        jobs: Vec<(i64, &JobSpec, bool)>,
    ) -> Result<(), sqlx::Error> {
        let mut lanes: HashMap<i64, (&JobSpec, bool, Vec<i64>)> = HashMap::new();
        for (seq, spec, known) in jobs {
            lanes.entry(lane(spec)).or_insert((spec, known, Vec::new())).2.push(seq);
        }
        for (lane, (spec, known, jobs)) in lanes {
            let slot = spec.concurrency.as_ref();
            sqlx::query(sql::claim::SET_ASIDE)
                .bind(json(&jobs)?)
                .bind(lane)
                .execute(&mut *self.conn)
                .await?;
            sqlx::query(sql::claim::INSERT_ASIDE)
                .bind(lane)
                .bind(spec.queue.as_str())
                .bind(spec.name.as_str())
                .bind(i64::from(spec.version))
                .bind(slot.map(|slot| slot.key.as_str()))
                .bind(slot.map(|slot| i64::from(slot.limit)))
                .bind(spec.service.as_deref())
                .bind(!known)
                .execute(&mut *self.conn)
                .await?;
        }
        Ok(())
    }

    /// Brings back the first jobs of a lane that was unknown to another claimer or held back by a breaker, if this one can
    /// run them: as many as it could take.
    pub(crate) async fn bring_back_runnable(
        &mut self,
        lane: &SqliteRow,
        request: &ClaimRequest,
        gates: &Gates,
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
            // Whatever held them back cannot be told: they are passed over again, and set aside again.
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
        let limit = limit.min(gates.limit(service, self.now));
        if limit == 0 {
            return Ok(());
        }
        self.bring_back(lane.try_get(1)?, i64::from(limit)).await
    }

    /// Brings back the first jobs of every lane of a concurrency key.
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

    async fn bring_back(&mut self, lane: i64, jobs: i64) -> Result<(), sqlx::Error> {
        sqlx::query(sql::claim::BRING_BACK).bind(lane).bind(jobs).execute(&mut *self.conn).await?;
        sqlx::query(sql::claim::DELETE_EMPTY_ASIDE).bind(lane).execute(&mut *self.conn).await?;
        Ok(())
    }
}
