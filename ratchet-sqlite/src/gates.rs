//! The stored rules of queues and the stored circuit breakers. What they mean is defined by `ratchet_store::rules`.

use std::collections::BTreeMap;

use ratchet_store::Wake;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{
    Breaker, BreakerChange, BreakerSettings, BreakerUpdate, QueueRules, QueueUpdate, Settled,
    Settlement,
};
use ratchet_store::rules::ClaimPlan;
use sqlx::Row as _;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use crate::session::Session;
use crate::sql;
use crate::unreadable::or_report;
use crate::value::{json, parse};

impl Session<'_> {
    /// Reads the rules of a queue from a row of the survey.
    pub(crate) async fn read_rules(
        &mut self,
        row: &SqliteRow,
        plan: &mut ClaimPlan,
    ) -> Result<(), sqlx::Error> {
        let queue: String = row.try_get(2)?;
        let running = runs(self.conn, &queue).await?;
        let rules = rules_or_paused(&queue, row.try_get(5));
        plan.set_rules(&queue, rules, running);
        Ok(())
    }

    /// Reads a breaker from a row of the survey.
    pub(crate) async fn read_breaker(
        &mut self,
        row: &SqliteRow,
        plan: &mut ClaimPlan,
    ) -> Result<(), sqlx::Error> {
        let read = || Ok((row.try_get::<String, _>(2)?, parse::<Breaker>(row.try_get(5)?)?));
        // Treated as closed. The next call result replaces it.
        let Some((service, breaker)) = or_report("breaker", read())? else { return Ok(()) };
        let probing = probes(self.conn, &service, &breaker).await?;
        plan.set_breaker(service, breaker, probing);
        Ok(())
    }

    pub(crate) async fn update_queue(
        &mut self,
        queue: &str,
        order: QueueUpdate,
    ) -> Result<bool, sqlx::Error> {
        if !self.are_newest(order.declarations()).await? {
            return Ok(false);
        }
        let mut rules = rules(self.conn, queue).await?.unwrap_or_default();
        let before = rules.limits.rate_per_key;
        if !rules.apply(order) {
            return Ok(false);
        }
        self.save_rules(queue, &rules).await?;
        let rate = rules.limits.rate_per_key;
        if rate != before {
            self.change_key_rate(queue, rate).await?;
        }
        crash_point(CrashPoint::CommandDone);
        self.effects.wakes.push(Wake::Unblocked);
        Ok(true)
    }

    pub(crate) async fn save_rules(
        &mut self,
        queue: &str,
        rules: &QueueRules,
    ) -> Result<(), sqlx::Error> {
        let query = if rules.is_empty() {
            sqlx::query(sql::gate::DELETE_RULES).bind(queue)
        } else {
            let limited = rules.limits.concurrency.is_some();
            sqlx::query(sql::gate::SAVE_RULES).bind(queue).bind(limited).bind(json(rules)?)
        };
        query.execute(&mut *self.conn).await?;
        Ok(())
    }

    /// Wakes the queues with a concurrency limit, because a run has ended.
    pub(crate) async fn wake_limited(&mut self) -> Result<(), sqlx::Error> {
        for row in sqlx::query(sql::gate::LIST_LIMITED).fetch_all(&mut *self.conn).await? {
            self.effects.wake_queue(row.try_get(0)?);
        }
        Ok(())
    }

    /// Adds the call results of the applied runs of a batch to the breakers, in order.
    pub(crate) async fn count_samples(
        &mut self,
        settlements: &[Settlement],
        settled: &mut [Settled],
    ) -> Result<(), sqlx::Error> {
        let mut breakers: BTreeMap<&str, (Breaker, Option<Breaker>)> = BTreeMap::new();
        for (settlement, settled) in settlements.iter().zip(settled) {
            let (Some(sample), Settled::Applied(applied)) = (&settlement.sample, settled) else {
                continue;
            };
            let service = sample.service.as_str();
            if !breakers.contains_key(service) {
                let stored = breaker(self.conn, service).await?;
                let fresh = || Breaker::new(sample.settings, self.now);
                breakers.insert(service, (stored.clone().unwrap_or_else(fresh), stored));
            }
            if let Some((breaker, _)) = breakers.get_mut(service) {
                applied.breaker = breaker.count(sample, self.now);
                self.wake_if_closed(applied.breaker);
            }
        }
        for (service, (breaker, stored)) in breakers {
            // Another good result does not change a window that is full of good results.
            if stored.as_ref() != Some(&breaker) {
                self.save_breaker(service, &breaker).await?;
            }
        }
        Ok(())
    }

    pub(crate) async fn update_breaker(
        &mut self,
        service: &str,
        order: BreakerUpdate,
    ) -> Result<Option<BreakerChange>, sqlx::Error> {
        if !self.are_newest(order.declarations()).await? {
            return Ok(None);
        }
        let stored = breaker(self.conn, service).await?;
        let fresh = || Breaker::new(BreakerSettings::default(), self.now);
        let mut breaker = stored.unwrap_or_else(fresh);
        let change = breaker.apply(order, self.now);
        self.save_breaker(service, &breaker).await?;
        crash_point(CrashPoint::CommandDone);
        self.wake_if_closed(change);
        Ok(change)
    }

    async fn save_breaker(&mut self, service: &str, breaker: &Breaker) -> Result<(), sqlx::Error> {
        sqlx::query(sql::gate::SAVE_BREAKER)
            .bind(service)
            .bind(breaker.is_closed())
            .bind(json(breaker)?)
            .execute(&mut *self.conn)
            .await?;
        Ok(())
    }

    fn wake_if_closed(&mut self, change: Option<BreakerChange>) {
        if change == Some(BreakerChange::Closed) {
            self.effects.wakes.push(Wake::Unblocked);
        }
    }
}

/// Returns the stored rules of a queue, or `None` if there are none.
pub(crate) async fn rules(
    conn: &mut SqliteConnection,
    queue: &str,
) -> Result<Option<QueueRules>, sqlx::Error> {
    let row = sqlx::query(sql::gate::GET_RULES).bind(queue).fetch_optional(conn).await?;
    Ok(row.map(|row| rules_or_paused(queue, row.try_get(0))))
}

/// Returns the stored breaker of a service, or `None` if there is none or it cannot be read.
pub(crate) async fn breaker(
    conn: &mut SqliteConnection,
    service: &str,
) -> Result<Option<Breaker>, sqlx::Error> {
    let row = sqlx::query(sql::gate::GET_BREAKER).bind(service).fetch_optional(conn).await?;
    let read = row.map(|row| row.try_get(0).and_then(parse)).transpose();
    Ok(or_report("breaker", read)?.flatten())
}

/// Parses the rules of a queue. If they cannot be read, the queue counts as paused until it is resumed, because its
/// limits are unknown. Only jobs of this queue are affected.
pub(crate) fn rules_or_paused(queue: &str, stored: Result<&str, sqlx::Error>) -> QueueRules {
    stored.and_then(parse).unwrap_or_else(|error| {
        tracing::error!(queue, %error, "the rules of a queue cannot be read; it is paused until it is resumed");
        let mut rules = QueueRules::default();
        rules.apply(QueueUpdate::Pause);
        rules
    })
}

/// Returns the number of running probes for the current opening of a breaker.
pub(crate) async fn probes(
    conn: &mut SqliteConnection,
    service: &str,
    breaker: &Breaker,
) -> Result<u64, sqlx::Error> {
    let probe = probe_name(service, breaker.opening());
    let row = sqlx::query(sql::gate::COUNT_PROBES).bind(probe).fetch_one(conn).await?;
    Ok(row.try_get::<i64, _>(0)?.unsigned_abs())
}

/// Returns the number of running jobs of a queue.
pub(crate) async fn runs(conn: &mut SqliteConnection, queue: &str) -> Result<u64, sqlx::Error> {
    let row = sqlx::query(sql::gate::COUNT_RUNS).bind(queue).fetch_one(conn).await?;
    Ok(row.try_get::<i64, _>(0)?.unsigned_abs())
}

/// Returns the value of the `probe` column for a probe.
pub(crate) fn probe_name(service: &str, opening: u64) -> String {
    format!("{service}/{opening}")
}
