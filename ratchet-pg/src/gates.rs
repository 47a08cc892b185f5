//! The stored rules of queues and the stored circuit breakers. What they mean is defined by `ratchet_store::rules`.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use ratchet_store::Wake;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{
    Breaker, BreakerChange, BreakerRecord, BreakerSettings, BreakerState, BreakerUpdate,
    ClaimRequest, JobId, QueueRecord, QueueRules, QueueUpdate, Settled, Settlement,
};
use ratchet_store::rules::{ClaimContext, ClaimPlan};
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::db;
use crate::fault::{Fault, exactly, transact};
use crate::spec::{clean, instant, to_u64};
use crate::store::Inner;
use crate::unreadable::{or_report, readable};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

impl Inner {
    /// Reads and locks the rules and breakers that apply to a claim.
    pub(crate) async fn claim_plan(
        &self,
        db: &mut PgConnection,
        request: &ClaimRequest,
        now: i64,
    ) -> Result<ClaimPlan, Fault> {
        let mut plan = ClaimPlan::new(&request.queues, request.suspects, instant(now));
        let wanted: Vec<_> = request.queues.iter().map(|demand| clean(&demand.queue)).collect();
        let rows = db::query(self.sql.lock_rules()).bind(wanted).fetch_all(&mut *db).await?;
        let rules = rows.iter().map(rules).collect::<Result<Vec<_>, _>>()?;
        let running =
            self.running(db, rules.iter().map(|(queue, _)| queue.clone()).collect()).await?;
        for (queue, rules) in rules {
            plan.set_rules(&queue, rules, running.get(&queue).copied().unwrap_or(0));
        }
        for row in db::query(self.sql.lock_open_breakers()).fetch_all(&mut *db).await? {
            let read = or_report("breaker", named::<Breaker>(&row))?;
            let Some((service, breaker)) = read else { continue };
            let probing = self.probing(db, &service, &breaker).await?;
            plan.set_breaker(service, breaker, probing);
        }
        Ok(plan)
    }

    /// Returns the number of running jobs per queue.
    async fn running(
        &self,
        db: &mut PgConnection,
        queues: Vec<String>,
    ) -> Result<HashMap<String, u64>, Fault> {
        if queues.is_empty() {
            return Ok(HashMap::new());
        }
        let rows = db::query(self.sql.count_runs()).bind(queues).fetch_all(db).await?;
        let count = |row: &PgRow| Ok((row.try_get(0)?, row.try_get::<i64, _>(1)?.unsigned_abs()));
        Ok(rows.iter().map(count).collect::<Result<_, sqlx::Error>>()?)
    }

    /// Returns the number of running probes for the current opening of a breaker.
    async fn probing(
        &self,
        db: &mut PgConnection,
        service: &str,
        breaker: &Breaker,
    ) -> Result<u64, Fault> {
        let key = probe_key(service, breaker.opening());
        let probes: i64 = db::query_scalar(self.sql.count_probes()).bind(key).fetch_one(db).await?;
        Ok(to_u64(probes))
    }

    pub(crate) async fn update_queue(
        &self,
        queue: &str,
        order: QueueUpdate,
    ) -> Result<bool, Fault> {
        let queue = clean(queue);
        let mut changed = false;
        transact!(repeatable self, |db| {
            // If an earlier try was committed, this one changes nothing.
            changed |= self.update_queue_within(db, &queue, &order).await?;
            crash_point(CrashPoint::CommandDone);
        })?;
        if changed {
            self.unblocked();
        }
        Ok(changed)
    }

    pub(crate) async fn update_queue_within(
        &self,
        db: &mut PgConnection,
        queue: &str,
        order: &QueueUpdate,
    ) -> Result<bool, Fault> {
        if !self.lock_newest(db, order.declarations()).await? {
            return Ok(false);
        }
        let fresh = json(&QueueRules::default())?;
        let insert = db::query(self.sql.insert_rules()).bind(queue).bind(fresh);
        insert.execute(&mut *db).await?;
        let locked = db::query(self.sql.lock_rules()).bind(vec![queue.to_owned()]);
        // If the row was deleted in between, the transaction is retried and inserts it again.
        let row = locked.fetch_optional(&mut *db).await?.ok_or(Fault::Conflict)?;
        let (_, mut rules) = rules(&row)?;
        let before = rules.limits.rate_per_key;
        let changed = rules.apply(order.clone());
        self.save_rules(db, queue, &rules).await?;
        let rate = rules.limits.rate_per_key;
        if rate != before {
            self.change_key_rate(db, queue, rate).await?;
        }
        Ok(changed)
    }

    /// Returns the rules of a queue, locked, which are the default if none are stored.
    pub(crate) async fn rules_within(
        &self,
        db: &mut PgConnection,
        queue: &str,
    ) -> Result<QueueRules, Fault> {
        let stored = db::query(self.sql.lock_rules()).bind(vec![queue.to_owned()]);
        let stored = stored.fetch_optional(db).await?;
        Ok(stored.as_ref().map(rules).transpose()?.map(|(_, rules)| rules).unwrap_or_default())
    }

    /// Returns the breaker of a service, or `None` if there is none or it cannot be read.
    pub(crate) async fn breaker_within(
        &self,
        db: &mut PgConnection,
        service: &str,
    ) -> Result<Option<BreakerRecord>, Fault> {
        let now = instant(self.now(&mut *db).await?);
        let row = db::query(self.sql.select_breakers()).bind(Some(service));
        let row = row.fetch_optional(db).await?;
        let read = row.map(|row| named::<Breaker>(&row)).transpose();
        let record = |(service, breaker): (String, Breaker)| {
            let state = breaker.state(now);
            BreakerRecord { service, breaker, state }
        };
        Ok(or_report("breaker", read)?.flatten().map(record))
    }

    pub(crate) async fn save_rules(
        &self,
        db: &mut PgConnection,
        queue: &str,
        rules: &QueueRules,
    ) -> Result<(), Fault> {
        let query = if rules.is_empty() {
            db::query(self.sql.delete_rules()).bind(queue)
        } else {
            let limited = rules.limits.concurrency.is_some();
            db::query(self.sql.update_rules()).bind(queue).bind(limited).bind(json(rules)?)
        };
        exactly(1, &query.execute(db).await?)
    }

    /// Adds the call results of the applied runs of a batch to the breakers, in order. Returns whether a breaker has
    /// closed.
    pub(crate) async fn count_samples(
        &self,
        db: &mut PgConnection,
        settlements: &[&Settlement],
        settled: &mut [Option<&mut Settled>],
    ) -> Result<bool, Fault> {
        let applied = |settled: &Option<&mut Settled>| matches!(settled, Some(Settled::Applied(_)));
        let samples = settlements.iter().zip(settled.iter());
        let samples = samples
            .filter_map(|(asked, settled)| asked.sample.as_ref().filter(|_| applied(settled)));
        let settings: BTreeMap<String, BreakerSettings> =
            samples.map(|sample| (clean(&sample.service), sample.settings)).collect();
        if settings.is_empty() {
            return Ok(false);
        }
        let now = instant(self.now(&mut *db).await?);
        let stored = self.lock_breakers(db, settings, now).await?;
        let mut breakers = stored.clone();
        let mut closed = false;
        for (settlement, settled) in settlements.iter().zip(settled) {
            if let (Some(sample), Some(Settled::Applied(applied))) = (&settlement.sample, settled)
                && let Some(breaker) = breakers.get_mut(&clean(&sample.service))
            {
                applied.breaker = breaker.count(sample, now);
                closed |= applied.breaker == Some(BreakerChange::Closed);
            }
        }
        for (service, breaker) in breakers {
            // Another good result does not change a window that is full of good results.
            if stored.get(&service) != Some(&breaker) {
                self.save_breaker(db, &service, &breaker, now).await?;
            }
        }
        Ok(closed)
    }

    async fn lock_breakers(
        &self,
        db: &mut PgConnection,
        settings: BTreeMap<String, BreakerSettings>,
        now: Timestamp,
    ) -> Result<BTreeMap<String, Breaker>, Fault> {
        let services: Vec<_> = settings.keys().cloned().collect();
        loop {
            let locked = db::query(self.sql.lock_breakers()).bind(&services);
            let rows = locked.fetch_all(&mut *db).await?;
            // A breaker that cannot be read is replaced by a new one.
            let fresh = |row: &PgRow| {
                let service: String = row.try_get(0)?;
                let read = or_report("breaker", named::<Breaker>(row))?;
                let settings = settings.get(&service).copied().unwrap_or_default();
                let breaker = read.map_or_else(|| Breaker::new(settings, now), |(_, it)| it);
                Ok((service, breaker))
            };
            let breakers =
                rows.iter().map(fresh).collect::<Result<BTreeMap<_, _>, sqlx::Error>>()?;
            let missing = |(service, _): &(&String, _)| !breakers.contains_key(*service);
            let missing: Vec<_> = settings.iter().filter(missing).collect();
            if missing.is_empty() {
                return Ok(breakers);
            }
            for (service, settings) in missing {
                let fresh = json(&Breaker::new(*settings, now))?;
                let insert = db::query(self.sql.insert_breaker()).bind(service).bind(fresh);
                insert.execute(&mut *db).await?;
            }
        }
    }

    pub(crate) async fn update_breaker(
        &self,
        service: &str,
        order: BreakerUpdate,
    ) -> Result<Option<BreakerChange>, Fault> {
        let service = clean(service);
        let change = transact!(self, |db| {
            let change = self.update_breaker_within(db, &service, &order).await?;
            crash_point(CrashPoint::CommandDone);
            change
        })?;
        if change == Some(BreakerChange::Closed) {
            self.unblocked();
        }
        Ok(change)
    }

    pub(crate) async fn update_breaker_within(
        &self,
        db: &mut PgConnection,
        service: &str,
        order: &BreakerUpdate,
    ) -> Result<Option<BreakerChange>, Fault> {
        let now = instant(self.now(&mut *db).await?);
        let settings = BTreeMap::from([(service.to_owned(), BreakerSettings::default())]);
        let mut change = None;
        if self.lock_newest(db, order.declarations()).await? {
            for (service, mut breaker) in self.lock_breakers(db, settings, now).await? {
                change = breaker.apply(order.clone(), now);
                self.save_breaker(db, &service, &breaker, now).await?;
            }
        }
        Ok(change)
    }

    async fn save_breaker(
        &self,
        db: &mut PgConnection,
        service: &str,
        breaker: &Breaker,
        now: Timestamp,
    ) -> Result<(), Fault> {
        let until = match breaker.state(now) {
            BreakerState::Open { until } => until,
            // It may be probed at any time.
            BreakerState::HalfOpen { .. } => Some(now),
            BreakerState::Closed => None,
        };
        let saved = db::query(self.sql.update_breaker())
            .bind(service)
            .bind(breaker.is_closed())
            .bind(until.map(Timestamp::as_microsecond))
            .bind(json(breaker)?)
            .execute(db)
            .await?;
        exactly(1, &saved)
    }

    /// Wakes all workers, because a gate that held jobs back has opened.
    pub(crate) fn unblocked(&self) {
        self.bounds.clear();
        self.wakes.send([Wake::Unblocked]);
    }

    pub(crate) async fn queues(&self) -> Result<Vec<QueueRecord>, Fault> {
        let mut db = self.pool.acquire().await?;
        let now = instant(self.now(&mut db).await?);
        let rows = db::query(self.sql.select_rules()).bind(None::<String>);
        let rows = rows.fetch_all(&mut *db).await?;
        let rules = rows.iter().map(rules).collect::<Result<Vec<_>, _>>()?;
        let queues = rules.iter().map(|(queue, _)| queue.clone()).collect();
        let running = self.running(&mut db, queues).await?;
        let rated = rules.iter().filter(|(_, rules)| rules.limits.rate_per_key.is_some());
        let rated = rated.map(|(queue, _)| queue.clone()).collect();
        let full = self.full_keys(&mut db, rated, now).await?;
        let record = |(queue, rules): (String, QueueRules)| {
            let running = running.get(&queue).copied().unwrap_or(0);
            let full_keys = full.get(&queue).copied().unwrap_or(0);
            let gate = rules.gate(running, now);
            QueueRecord { queue, rules, running, gate, full_keys }
        };
        Ok(rules.into_iter().map(record).collect())
    }

    pub(crate) async fn breakers(&self) -> Result<Vec<BreakerRecord>, Fault> {
        let mut db = self.pool.acquire().await?;
        let now = instant(self.now(&mut db).await?);
        let rows = db::query(self.sql.select_breakers()).bind(None::<String>);
        let record = |row: &PgRow| {
            let (service, breaker): (String, Breaker) = named(row)?;
            let state = breaker.state(now);
            Ok(BreakerRecord { service, breaker, state })
        };
        Ok(readable("breaker", &rows.fetch_all(&mut *db).await?, record)?)
    }

    pub(crate) async fn claim_context(&self, id: JobId) -> Result<Option<ClaimContext>, Fault> {
        let Some(job) = self.get(id).await? else { return Ok(None) };
        let nodes = self.nodes().await?;
        let mut db = self.pool.acquire().await?;
        let spec = std::sync::Arc::clone(&job.spec);
        let mut around = ClaimContext::new(job, instant(self.now(&mut db).await?));
        around.nodes = nodes;
        let stored = db::query(self.sql.select_rules()).bind(Some(clean(&spec.queue)));
        if let Some(row) = stored.fetch_optional(&mut *db).await? {
            around.rules = rules(&row)?.1;
        }
        let running = self.running(&mut db, vec![clean(&spec.queue)]).await?;
        around.running = running.values().sum();
        if let Some(key) = &spec.concurrency {
            let holders = db::query_scalar::<_, Uuid>(self.sql.select_holders());
            let holders = holders.bind(clean(&key.key)).fetch_all(&mut *db).await?;
            around.holders = holders.into_iter().map(JobId::from_uuid).collect();
            if around.rules.limits.rate_per_key.is_some() {
                let (queue, key) = (clean(&spec.queue), clean(&key.key));
                let mut states =
                    self.key_rates(&mut db, &queue, std::slice::from_ref(&key)).await?;
                around.key_rate = states.remove(&key).unwrap_or_default();
            }
        }
        if let Some(service) = &spec.service {
            let breaker = db::query(self.sql.select_breakers()).bind(Some(clean(service)));
            let row = breaker.fetch_optional(&mut *db).await?;
            let read = row.map(|row| named::<Breaker>(&row)).transpose();
            if let Some((service, breaker)) = or_report("breaker", read)?.flatten() {
                around.probing = self.probing(&mut db, &service, &breaker).await?;
                around.breaker = Some(breaker);
            }
        }
        Ok(Some(around))
    }
}

/// Returns the slot key that a probe holds.
pub(crate) fn probe_key(service: &str, opening: u64) -> String {
    format!("probe {service}/{opening}")
}

/// Reads a row of a name and a JSON value.
fn named<T: DeserializeOwned>(row: &PgRow) -> Result<(String, T), sqlx::Error> {
    let value = serde_json::from_str(row.try_get(1)?);
    Ok((row.try_get(0)?, value.map_err(|error| sqlx::Error::Decode(Box::new(error)))?))
}

/// Reads a queue and its rules. If the rules cannot be read, the queue counts as paused until an operator sets new
/// ones, because running its jobs without their limits could do harm.
fn rules(row: &PgRow) -> Result<(String, QueueRules), sqlx::Error> {
    let mut paused = QueueRules::default();
    paused.paused = true;
    Ok(match or_report("queue", named(row))? {
        Some(named) => named,
        None => (row.try_get(0)?, paused),
    })
}

fn json<T: Serialize>(value: &T) -> Result<String, Fault> {
    Ok(serde_json::to_string(value).map_err(|error| sqlx::Error::Encode(Box::new(error)))?)
}
