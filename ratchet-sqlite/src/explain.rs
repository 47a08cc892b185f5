//! Reads the claim context of a job, and lists queue rules and breakers.

use jiff::Timestamp;
use ratchet_store::model::{Breaker, BreakerRecord, JobId, QueueRecord};
use ratchet_store::rules::ClaimContext;
use sqlx::Row as _;

use crate::gates::{breaker, probes, rules_or_paused, runs};
use crate::key_rates::{full_keys, key_rate};
use crate::query::Look;
use crate::sql;
use crate::unreadable::{or_report, readable};
use crate::value::{job_id, parse, time};

impl Look<'_> {
    pub(crate) async fn queues(&mut self) -> Result<Vec<QueueRecord>, sqlx::Error> {
        let now = self.instant()?;
        let mut queues = Vec::new();
        for row in sqlx::query(sql::gate::LIST_RULES).fetch_all(&mut *self.conn).await? {
            let Some(queue) = or_report::<String>("rules", row.try_get(0))? else { continue };
            let rules = rules_or_paused(&queue, row.try_get(1));
            let running = runs(self.conn, &queue).await?;
            let gate = rules.gate(running, now);
            let full_keys = match rules.limits.rate_per_key {
                Some(_) => full_keys(self.conn, &queue, self.now).await?,
                None => 0,
            };
            queues.push(QueueRecord { queue, rules, running, gate, full_keys });
        }
        Ok(queues)
    }

    pub(crate) async fn breakers(&mut self) -> Result<Vec<BreakerRecord>, sqlx::Error> {
        let now = self.instant()?;
        let rows = sqlx::query(sql::gate::LIST_BREAKERS).fetch_all(&mut *self.conn).await?;
        let record = |row: &sqlx::sqlite::SqliteRow| {
            let breaker: Breaker = parse(row.try_get(1)?)?;
            let state = breaker.state(now);
            Ok(BreakerRecord { service: row.try_get(0)?, breaker, state })
        };
        readable("breaker", &rows, record)
    }

    pub(crate) async fn claim_context(
        &mut self,
        id: JobId,
    ) -> Result<Option<ClaimContext>, sqlx::Error> {
        let Some(row) = self.get(id).await? else { return Ok(None) };
        let spec = std::sync::Arc::clone(&row.job.spec);
        let mut around = ClaimContext::new(row.job, self.instant()?);
        let rules = sqlx::query(sql::gate::GET_RULES).bind(spec.queue.as_str());
        let rules = rules.fetch_optional(&mut *self.conn).await?;
        let rules = rules.map(|row| rules_or_paused(&spec.queue, row.try_get(0)));
        around.rules = rules.unwrap_or_default();
        around.running = runs(self.conn, &spec.queue).await?;
        if let Some(key) = &spec.concurrency {
            let holders = sqlx::query(sql::gate::LIST_HOLDERS).bind(key.key.as_str());
            let holders = holders.fetch_all(&mut *self.conn).await?;
            let holder = |row: &sqlx::sqlite::SqliteRow| job_id(row.try_get(0)?);
            around.holders = readable("holder of a concurrency key", &holders, holder)?;
            around.holders.sort_unstable();
            if around.rules.limits.rate_per_key.is_some() {
                around.key_rate = key_rate(self.conn, &spec.queue, &key.key).await?;
            }
        }
        if let Some(service) = &spec.service {
            around.breaker = breaker(self.conn, service).await?;
            if let Some(breaker) = &around.breaker {
                around.probing = probes(self.conn, service, breaker).await?;
            }
        }
        around.nodes = self.nodes().await?;
        Ok(Some(around))
    }

    fn instant(&self) -> Result<Timestamp, sqlx::Error> {
        time(self.now)
    }
}
