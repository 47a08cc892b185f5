//! What holds jobs back: rules of queues, breakers of services. The conditions themselves are the model's.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use jiff::Timestamp;
use ratchet_core::crash::{CrashPoint, crash_point};
use ratchet_core::model::{
    Admission, Breaker, BreakerChange, BreakerOrder, BreakerSettings, QueueOrder, QueueRules,
    Settled, Settlement,
};
use ratchet_core::store::Wake;
use sqlx::Row as _;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use crate::session::Session;
use crate::sql;
use crate::unreadable::or_report;
use crate::value::{json, parse};

/// What holds back the jobs of one claim.
#[derive(Debug, Default)]
pub(crate) struct Gates {
    /// Rules by queue, and how many of its jobs run.
    queues: HashMap<String, (QueueRules, u64)>,
    /// Breakers that are not closed, and how many probes are out.
    services: HashMap<String, (Breaker, u64)>,
}

/// How a job may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pass {
    /// Not now.
    No,
    /// Like any other.
    Free,
    /// As a probe of this opening.
    Probe(u64),
}

impl Gates {
    /// How many jobs of a queue may be claimed.
    pub(crate) fn most(&self, queue: &str, now: Timestamp) -> u32 {
        self.queues.get(queue).map_or(u32::MAX, |(rules, running)| rules.gate(*running, now).most())
    }

    /// How a job of a service may run.
    pub(crate) fn pass(&self, service: Option<&str>, now: Timestamp) -> Pass {
        match self.admits(service, now) {
            Admission::All => Pass::Free,
            Admission::Probes { left: 1.., opening } => Pass::Probe(opening),
            Admission::Probes { left: 0, .. } | Admission::Nothing { .. } => Pass::No,
        }
    }

    /// How many jobs of a service may be claimed.
    pub(crate) fn limit(&self, service: Option<&str>, now: Timestamp) -> u32 {
        match self.admits(service, now) {
            Admission::All => u32::MAX,
            Admission::Probes { left, .. } => left,
            Admission::Nothing { .. } => 0,
        }
    }

    fn admits(&self, service: Option<&str>, now: Timestamp) -> Admission {
        let breaker = service.and_then(|service| self.services.get(service));
        breaker.map_or(Admission::All, |(breaker, probing)| breaker.admits(*probing, now))
    }

    /// A probe goes out.
    pub(crate) fn probe(&mut self, service: Option<&str>) {
        if let Some((_, probing)) = service.and_then(|service| self.services.get_mut(service)) {
            *probing += 1;
        }
    }

    /// Jobs of a queue were claimed. Answers with its rules if they have changed.
    fn claimed(&mut self, queue: &str, jobs: u32, now: Timestamp) -> Option<&QueueRules> {
        let (rules, running) = self.queues.get_mut(queue)?;
        *running += u64::from(jobs);
        let before = rules.clone();
        rules.claimed(jobs, now);
        (*rules != before).then_some(rules)
    }

    /// How long until something that holds jobs back opens by itself.
    pub(crate) fn opens_in(&self, now: Timestamp) -> Option<Duration> {
        let queues = self.queues.values();
        let rates = queues.filter_map(|(rules, running)| rules.gate(*running, now).until());
        let breakers = self.services.values().filter_map(|(breaker, probing)| {
            match breaker.admits(*probing, now) {
                Admission::Nothing { until } => until,
                Admission::All | Admission::Probes { .. } => None,
            }
        });
        rates.chain(breakers).min()?.duration_since(now).try_into().ok()
    }
}

impl Session<'_> {
    /// Reads the rules of a queue from a survey.
    pub(crate) async fn read_rules(
        &mut self,
        row: &SqliteRow,
        gates: &mut Gates,
    ) -> Result<(), sqlx::Error> {
        let queue: String = row.try_get(2)?;
        let running = runs(self.conn, &queue).await?;
        let rules = rules_or_paused(&queue, row.try_get(5));
        gates.queues.insert(queue, (rules, running));
        Ok(())
    }

    /// Reads a breaker from a survey.
    pub(crate) async fn read_breaker(
        &mut self,
        row: &SqliteRow,
        gates: &mut Gates,
    ) -> Result<(), sqlx::Error> {
        let read = || Ok((row.try_get::<String, _>(2)?, parse::<Breaker>(row.try_get(5)?)?));
        // As if it were closed; the next outcome replaces it.
        let Some((service, breaker)) = or_report("breaker", read())? else { return Ok(()) };
        let probing = probes(self.conn, &service, &breaker).await?;
        gates.services.insert(service, (breaker, probing));
        Ok(())
    }

    /// Jobs were claimed: what counts against rates is written.
    pub(crate) async fn spend(
        &mut self,
        claimed: &BTreeMap<String, u32>,
        gates: &mut Gates,
    ) -> Result<(), sqlx::Error> {
        for (queue, jobs) in claimed {
            if let Some(rules) = gates.claimed(queue, *jobs, self.now) {
                self.save_rules(queue, rules).await?;
            }
        }
        Ok(())
    }

    pub(crate) async fn order_queue(
        &mut self,
        queue: &str,
        order: QueueOrder,
    ) -> Result<bool, sqlx::Error> {
        let row = sqlx::query(sql::gate::GET_RULES).bind(queue);
        let row = row.fetch_optional(&mut *self.conn).await?;
        let stored = row.map(|row| rules_or_paused(queue, row.try_get(0)));
        let mut rules = stored.unwrap_or_default();
        if !rules.obey(order) {
            return Ok(false);
        }
        self.save_rules(queue, &rules).await?;
        crash_point(CrashPoint::CommandDone);
        self.effects.wakes.push(Wake::Unblocked);
        Ok(true)
    }

    async fn save_rules(&mut self, queue: &str, rules: &QueueRules) -> Result<(), sqlx::Error> {
        let query = if rules.is_empty() {
            sqlx::query(sql::gate::DELETE_RULES).bind(queue)
        } else {
            let limited = rules.limits.concurrency.is_some();
            sqlx::query(sql::gate::SAVE_RULES).bind(queue).bind(limited).bind(json(rules)?)
        };
        query.execute(&mut *self.conn).await?;
        Ok(())
    }

    /// The end of a run makes room in queues that limit their runs.
    pub(crate) async fn wake_limited(&mut self) -> Result<(), sqlx::Error> {
        for row in sqlx::query(sql::gate::LIST_LIMITED).fetch_all(&mut *self.conn).await? {
            self.effects.wake_queue(row.try_get(0)?);
        }
        Ok(())
    }

    /// Counts what the applied runs of a batch say of their services, in order.
    pub(crate) async fn count_votes(
        &mut self,
        settlements: &[Settlement],
        settled: &mut [Settled],
    ) -> Result<(), sqlx::Error> {
        let mut breakers: BTreeMap<&str, (Breaker, Option<Breaker>)> = BTreeMap::new();
        for (settlement, settled) in settlements.iter().zip(settled) {
            let (Some(vote), Settled::Applied(applied)) = (&settlement.vote, settled) else {
                continue;
            };
            let service = vote.service.as_str();
            if !breakers.contains_key(service) {
                let stored = breaker(self.conn, service).await?;
                let fresh = || Breaker::new(vote.settings, self.now);
                breakers.insert(service, (stored.clone().unwrap_or_else(fresh), stored));
            }
            if let Some((breaker, _)) = breakers.get_mut(service) {
                applied.breaker = breaker.count(vote, self.now);
                self.wake_if_closed(applied.breaker);
            }
        }
        for (service, (breaker, stored)) in breakers {
            // A window full of good outcomes does not change by another.
            if stored.as_ref() != Some(&breaker) {
                self.save_breaker(service, &breaker).await?;
            }
        }
        Ok(())
    }

    pub(crate) async fn order_breaker(
        &mut self,
        service: &str,
        order: BreakerOrder,
    ) -> Result<Option<BreakerChange>, sqlx::Error> {
        let stored = breaker(self.conn, service).await?;
        let fresh = || Breaker::new(BreakerSettings::default(), self.now);
        let mut breaker = stored.unwrap_or_else(fresh);
        let change = breaker.obey(order, self.now);
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

/// The stored breaker of a service.
pub(crate) async fn breaker(
    conn: &mut SqliteConnection,
    service: &str,
) -> Result<Option<Breaker>, sqlx::Error> {
    let row = sqlx::query(sql::gate::GET_BREAKER).bind(service).fetch_optional(conn).await?;
    let read = row.map(|row| row.try_get(0).and_then(parse)).transpose();
    Ok(or_report("breaker", read)?.flatten())
}

/// The rules of a queue. If they cannot be read nobody knows what they forbid, so the queue is paused: that concerns its own jobs
/// only, and ends when somebody resumes it.
pub(crate) fn rules_or_paused(queue: &str, stored: Result<&str, sqlx::Error>) -> QueueRules {
    stored.and_then(parse).unwrap_or_else(|error| {
        tracing::error!(queue, %error, "the rules of a queue cannot be read; it is paused until it is resumed");
        let mut rules = QueueRules::default();
        rules.obey(QueueOrder::Pause);
        rules
    })
}

/// How many probes of the breaker's present opening are out.
pub(crate) async fn probes(
    conn: &mut SqliteConnection,
    service: &str,
    breaker: &Breaker,
) -> Result<u64, sqlx::Error> {
    let probe = probe_name(service, breaker.opening());
    let row = sqlx::query(sql::gate::COUNT_PROBES).bind(probe).fetch_one(conn).await?;
    Ok(row.try_get::<i64, _>(0)?.unsigned_abs())
}

/// How many jobs of a queue run.
pub(crate) async fn runs(conn: &mut SqliteConnection, queue: &str) -> Result<u64, sqlx::Error> {
    let row = sqlx::query(sql::gate::COUNT_RUNS).bind(queue).fetch_one(conn).await?;
    Ok(row.try_get::<i64, _>(0)?.unsigned_abs())
}

/// What the row of a probe says.
pub(crate) fn probe_name(service: &str, opening: u64) -> String {
    format!("{service}/{opening}")
}
