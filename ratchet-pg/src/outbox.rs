//! Alerts, and the outbox of deliveries to be published.

use std::collections::HashMap;
use std::time::Duration;

use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{
    Alert, Backlog, Channel, Delivery, DeliveryBody, DeliveryId, Envelope, JobId, Notice, Settled,
    Settlement,
};
use uuid::Uuid;

use crate::db;
use crate::fault::Fault;
use crate::record::text;
use crate::spec::{clean, instant, json, micros, to_u64};
use crate::store::Inner;
use crate::unreadable::{or_report, readable};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

/// The latest alert of a job name and fingerprint: stored already, or opened by this batch.
enum Latest {
    Stored { id: i64, at: i64 },
    New { index: usize },
}

/// Alerts to open, as columns.
#[derive(Default)]
struct Opened {
    job: Vec<Uuid>,
    suppressed: Vec<i64>,
    name: Vec<String>,
    fingerprint: Vec<String>,
    message: Vec<String>,
}

impl Inner {
    /// Records notices in order, each with the time of its settlement. The fast and the slow path read the clock
    /// separately.
    pub(crate) async fn record(
        &self,
        db: &mut PgConnection,
        notices: Vec<(i64, Notice)>,
        last: i64,
    ) -> Result<(), Fault> {
        let (mut alerts, mut letters) = (Vec::new(), Vec::new());
        let (mut jobs, mut outcomes) = (Vec::new(), Vec::new());
        for (now, notice) in notices {
            match notice {
                Notice::Alert { window, envelope } => alerts.push((window, envelope)),
                Notice::DeadLetter(mut envelope) => {
                    envelope.at = instant(now);
                    letters.extend(text(&envelope));
                }
                Notice::Outcome(outcome) => {
                    let job = outcome.job_id.uuid();
                    if let Some(outcome) = text(&outcome.with_commit_time(instant(now))) {
                        jobs.push(job);
                        outcomes.push(outcome);
                    }
                }
            }
        }
        if !letters.is_empty() {
            let sent = db::query(self.sql.insert_dead_letters()).bind(letters);
            sent.execute(&mut *db).await?;
        }
        if !outcomes.is_empty() {
            let sent = db::query(self.sql.insert_told_outcomes()).bind(jobs).bind(outcomes);
            sent.execute(&mut *db).await?;
        }
        if !alerts.is_empty() {
            self.record_alerts(db, alerts, last).await?;
        }
        Ok(())
    }

    /// Records the notices of the applied settlements in order, whichever path each settlement took.
    pub(crate) async fn record_applied<'a, 'b>(
        &self,
        db: &mut PgConnection,
        settled: impl Iterator<Item = (&'a Settlement, Option<&'b Settled>)>,
    ) -> Result<(), Fault> {
        let (mut last, mut notices) = (0, Vec::new());
        for (settlement, settled) in settled {
            if let Some(Settled::Applied(applied)) = settled {
                let now = applied.at.as_microsecond();
                last = now.max(last);
                notices.extend(settlement.notices.iter().map(|notice| (now, notice.clone())));
            }
        }
        if !notices.is_empty() {
            self.record(db, notices, last).await?;
            crash_point(CrashPoint::SettleNotices);
        }
        Ok(())
    }

    async fn record_alerts(
        &self,
        db: &mut PgConnection,
        alerts: Vec<(Duration, Box<Envelope>)>,
        now: i64,
    ) -> Result<(), Fault> {
        let key =
            |envelope: &Envelope| (clean(&envelope.job_name), clean(&envelope.failure.fingerprint));
        let mut keys: Vec<_> = alerts.iter().map(|(_, envelope)| key(envelope)).collect();
        keys.sort_unstable();
        keys.dedup();
        let mut latest = self.latest_alerts(db, &keys).await?;
        let (mut opened, mut more) = (Opened::default(), HashMap::<i64, i64>::new());
        for (window, envelope) in alerts {
            let key = key(&envelope);
            let open_until = |at: i64| at.saturating_add(micros(window));
            match latest.get(&key) {
                Some(Latest::Stored { id, at }) if open_until(*at) > now => {
                    *more.entry(*id).or_default() += 1;
                }
                Some(Latest::New { index }) if open_until(now) > now => {
                    opened.suppressed[*index] += 1;
                }
                _ => {
                    latest.insert(key.clone(), Latest::New { index: opened.job.len() });
                    opened.job.push(envelope.job_id.uuid());
                    opened.suppressed.push(0);
                    opened.name.push(key.0);
                    opened.fingerprint.push(key.1);
                    opened.message.push(clean(&envelope.failure.message));
                }
            }
        }
        if !opened.job.is_empty() {
            db::query(self.sql.insert_alerts())
                .bind(now)
                .bind(opened.job)
                .bind(opened.suppressed)
                .bind(opened.name)
                .bind(opened.fingerprint)
                .bind(opened.message)
                .execute(&mut *db)
                .await?;
        }
        if !more.is_empty() {
            let (ids, counts): (Vec<_>, Vec<_>) = more.into_iter().unzip();
            let counted = db::query(self.sql.suppress_alerts()).bind(ids).bind(counts);
            counted.execute(db).await?;
        }
        Ok(())
    }

    /// Returns the latest alerts and locks their keys, so that no other transaction opens one of them.
    async fn latest_alerts(
        &self,
        db: &mut PgConnection,
        keys: &[(String, String)],
    ) -> Result<HashMap<(String, String), Latest>, Fault> {
        let locks: Vec<_> = keys.iter().map(|(a, b)| format!("{a} {b}")).collect();
        db::query(self.sql.lock_alerts()).bind(locks).fetch_all(&mut *db).await?;
        let (names, prints): (Vec<_>, Vec<_>) = keys.iter().cloned().unzip();
        let rows = db::query(self.sql.select_latest_alerts()).bind(names).bind(prints);
        let mut latest = HashMap::new();
        for row in rows.fetch_all(db).await? {
            let place = usize::try_from(row.try_get::<i64, _>("place")?).unwrap_or(0);
            if let Some(key) = place.checked_sub(1).and_then(|place| keys.get(place)) {
                let stored = Latest::Stored { id: row.try_get("id")?, at: row.try_get("at")? };
                latest.insert(key.clone(), stored);
            }
        }
        Ok(latest)
    }

    pub(crate) async fn alerts(&self, limit: u32) -> Result<Vec<Alert>, Fault> {
        let rows = db::query(self.sql.select_alerts()).bind(i64::from(limit));
        let rows = rows.fetch_all(&self.pool).await?;
        Ok(readable("alert", &rows, alert)?)
    }

    pub(crate) async fn take_deliveries(
        &self,
        channel: Channel,
        limit: u32,
        hold: Duration,
    ) -> Result<Vec<Delivery>, Fault> {
        let rows = db::query(self.sql.hold_deliveries())
            .bind(channel.code())
            .bind(i64::from(limit))
            .bind(micros(hold))
            .fetch_all(&self.pool)
            .await?;
        let delivery = |row: &PgRow| {
            Ok(Delivery { id: DeliveryId(row.try_get("id")?), body: body(row, channel)? })
        };
        Ok(readable("delivery", &rows, delivery)?)
    }

    pub(crate) async fn backlogs(&self, limit: u32) -> Result<Vec<Backlog>, Fault> {
        let rows = db::query(self.sql.select_backlogs()).bind(i64::from(limit));
        let mut backlogs = Vec::new();
        for row in rows.fetch_all(&self.pool).await? {
            let Some(channel) = Channel::from_code(row.try_get::<i16, _>("channel")?) else {
                continue;
            };
            let oldest = or_report("delivery", body(&row, channel))?;
            let oldest = oldest.map(|oldest| oldest.stored_at());
            backlogs.push(Backlog::new(channel, to_u64(row.try_get("waiting")?), oldest));
        }
        Ok(backlogs)
    }

    pub(crate) async fn ack_deliveries(&self, deliveries: &[DeliveryId]) -> Result<(), Fault> {
        let ids: Vec<_> = deliveries.iter().map(|delivery| delivery.0).collect();
        db::query(self.sql.delete_deliveries()).bind(ids).execute(&self.pool).await?;
        Ok(())
    }
}

fn body(row: &PgRow, channel: Channel) -> Result<DeliveryBody, sqlx::Error> {
    Ok(match row.try_get::<Option<&str>, _>("envelope")? {
        Some(outcome) if channel == Channel::Outcomes => DeliveryBody::Outcome(json(outcome)?),
        Some(envelope) => DeliveryBody::DeadLetter(json(envelope)?),
        None => DeliveryBody::Alert(alert(row)?),
    })
}

fn alert(row: &PgRow) -> Result<Alert, sqlx::Error> {
    Ok(Alert {
        job_id: JobId::from_uuid(row.try_get("job")?),
        job_name: row.try_get("name")?,
        fingerprint: row.try_get("fingerprint")?,
        message: row.try_get("message")?,
        at: instant(row.try_get("at")?),
        suppressed: to_u64(row.try_get("suppressed")?),
    })
}
