//! Alerts, and the outbox of deliveries to be published.

use std::time::Duration;

use ratchet_store::model::{
    Alert, Backlog, Channel, Delivery, DeliveryBody, DeliveryId, Due, Envelope, JobId, Notice,
};
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use crate::items::UNREADABLE_HELD;
use crate::query::Look;
use crate::session::Session;
use crate::sql;
use crate::unreadable::or_report;
use crate::value::{bytes, job_id, json, number, parse, time};

impl Session<'_> {
    pub(crate) async fn record(&mut self, notices: &[Notice]) -> Result<(), sqlx::Error> {
        for notice in notices {
            match notice {
                Notice::Alert { window, envelope } => self.alert(*window, envelope).await?,
                Notice::DeadLetter(envelope) => {
                    let mut envelope = envelope.clone();
                    envelope.at = self.now;
                    let envelope = Some(json(&envelope)?);
                    self.deliver(Channel::DeadLetters, None, envelope, None).await?;
                }
                Notice::Outcome(outcome) => {
                    let job = Some(outcome.job_id);
                    let outcome = Some(json(&outcome.clone().with_commit_time(self.now))?);
                    self.deliver(Channel::Outcomes, None, outcome, job).await?;
                }
            }
        }
        Ok(())
    }

    async fn alert(&mut self, window: Duration, envelope: &Envelope) -> Result<(), sqlx::Error> {
        let fingerprint = envelope.failure.fingerprint.as_str();
        let latest = sqlx::query(sql::outbox::GET_LATEST_ALERT)
            .bind(envelope.job_name.as_str())
            .bind(fingerprint)
            .fetch_optional(&mut *self.conn)
            .await?;
        if let Some(latest) = latest
            && Due::In(window).at(time(latest.try_get(1)?)?) > self.now
        {
            sqlx::query(sql::outbox::SUPPRESS_ALERT)
                .bind(latest.try_get::<i64, _>(0)?)
                .execute(&mut *self.conn)
                .await?;
            return Ok(());
        }
        let alert = sqlx::query(sql::outbox::INSERT_ALERT)
            .bind(bytes(envelope.job_id.uuid()))
            .bind(envelope.job_name.as_str())
            .bind(fingerprint)
            .bind(envelope.failure.message.as_str())
            .bind(self.micros())
            .execute(&mut *self.conn)
            .await?;
        self.deliver(Channel::Alerts, Some(alert.last_insert_rowid()), None, None).await
    }

    async fn deliver(
        &mut self,
        channel: Channel,
        alert: Option<i64>,
        body: Option<String>,
        in_line: Option<JobId>,
    ) -> Result<(), sqlx::Error> {
        sqlx::query(sql::outbox::INSERT_DELIVERY)
            .bind(channel.code())
            .bind(alert)
            .bind(body)
            .bind(in_line.map(|job| bytes(job.uuid())))
            .execute(&mut *self.conn)
            .await?;
        Ok(())
    }

    pub(crate) async fn hand_out(
        &mut self,
        channel: Channel,
        limit: u32,
        hold: Duration,
    ) -> Result<Vec<Delivery>, sqlx::Error> {
        let rows = sqlx::query(sql::outbox::LIST_DELIVERIES)
            .bind(channel.code())
            .bind(self.micros())
            .bind(i64::from(limit))
            .fetch_all(&mut *self.conn)
            .await?;
        let (mut deliveries, mut damaged) = (Vec::with_capacity(rows.len()), Vec::new());
        for row in &rows {
            match or_report("delivery", delivery(row, channel))? {
                Some(delivery) => deliveries.push(delivery),
                None => damaged.push(row.try_get(0)?),
            }
        }
        let numbers = deliveries.iter().map(|delivery| delivery.id.0).collect();
        for (numbers, hold) in [(numbers, hold), (damaged, UNREADABLE_HELD)] {
            let numbers: Vec<i64> = numbers;
            if !numbers.is_empty() {
                sqlx::query(sql::outbox::HOLD_DELIVERIES)
                    .bind(json(&numbers)?)
                    .bind(Due::In(hold).at(self.now).as_microsecond())
                    .execute(&mut *self.conn)
                    .await?;
            }
        }
        Ok(deliveries)
    }

    pub(crate) async fn ack_deliveries(
        &mut self,
        deliveries: &[DeliveryId],
    ) -> Result<(), sqlx::Error> {
        let numbers: Vec<_> = deliveries.iter().map(|delivery| delivery.0).collect();
        sqlx::query(sql::outbox::DELETE_DELIVERIES)
            .bind(json(&numbers)?)
            .execute(&mut *self.conn)
            .await?;
        Ok(())
    }
}

impl Look<'_> {
    pub(crate) async fn backlogs(&mut self, limit: u32) -> Result<Vec<Backlog>, sqlx::Error> {
        let rows = sqlx::query(sql::outbox::LIST_BACKLOGS).bind(i64::from(limit));
        let mut backlogs = Vec::new();
        for row in rows.fetch_all(&mut *self.conn).await? {
            let Some(channel) = Channel::from_code(row.try_get::<i64, _>(0)?) else { continue };
            let oldest = or_report("delivery", body(&row, channel))?;
            let oldest = oldest.map(|oldest| oldest.stored_at());
            backlogs.push(Backlog::new(channel, number(row.try_get(8)?)?, oldest));
        }
        Ok(backlogs)
    }
}

fn delivery(row: &SqliteRow, channel: Channel) -> Result<Delivery, sqlx::Error> {
    Ok(Delivery { id: DeliveryId(row.try_get(0)?), body: body(row, channel)? })
}

fn body(row: &SqliteRow, channel: Channel) -> Result<DeliveryBody, sqlx::Error> {
    Ok(match row.try_get::<Option<&str>, _>(1)? {
        Some(outcome) if channel == Channel::Outcomes => DeliveryBody::Outcome(parse(outcome)?),
        Some(envelope) => DeliveryBody::DeadLetter(parse(envelope)?),
        None => DeliveryBody::Alert(alert(row, 2)?),
    })
}

/// Reads an alert from the columns of `ratchet_alert`, which start after the first `skip` columns.
pub(crate) fn alert(row: &SqliteRow, skip: usize) -> Result<Alert, sqlx::Error> {
    Ok(Alert {
        job_id: job_id(row.try_get(skip)?)?,
        job_name: row.try_get(skip + 1)?,
        fingerprint: row.try_get(skip + 2)?,
        message: row.try_get(skip + 3)?,
        at: time(row.try_get(skip + 4)?)?,
        suppressed: number(row.try_get(skip + 5)?)?,
    })
}
