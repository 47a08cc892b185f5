//! Items that runs reject, and checkpoints that they hand off to pipelines.

use std::time::Duration;

use jiff::Timestamp;
use ratchet_store::model::{
    Due, HandOff, HandOffContent, JobId, JobRecord, NewHandOff, Reject, RejectCount, RejectFilter,
    RejectGroup, Settlement, interval_micros,
};
use sqlx::Row as _;
use sqlx::sqlite::{Sqlite, SqliteArguments, SqliteRow};

use crate::query::Look;
use crate::session::Session;
use crate::sql;
use crate::unreadable::{or_report, readable};
use crate::value::{bytes, in_column, job_id, json, number, parse, signed, time};

/// How long a row that cannot be read is held back before it is tried again.
pub(crate) const UNREADABLE_HELD: Duration = Duration::from_hours(1);

fn hand_off(pipeline: &str, row: &SqliteRow) -> Result<HandOff, sqlx::Error> {
    let handed = NewHandOff {
        pipeline: pipeline.to_owned(),
        key: row.try_get(1)?,
        checkpoint: in_column("checkpoint", parse(row.try_get(3)?))?,
        tenant: row.try_get(6)?,
        correlation_id: row.try_get(7)?,
    };
    Ok(HandOff {
        handed,
        job: in_column("job", job_id(row.try_get(2)?))?,
        at: in_column("at", time(row.try_get(4)?))?,
        repeats: in_column("repeats", number(row.try_get(5)?))?,
        content: HandOffContent::Plain,
    })
}

impl Session<'_> {
    /// Writes the rejects and hand-offs of a settled run.
    pub(crate) async fn keep_items(
        &mut self,
        job: &JobRecord,
        settlement: &Settlement,
    ) -> Result<(), sqlx::Error> {
        let id = bytes(job.id.uuid());
        for item in &settlement.rejects {
            let reject = Reject {
                job: job.id,
                job_name: job.spec.name.clone(),
                run: job.run,
                at: self.now,
                item: item.clone(),
            };
            sqlx::query(sql::items::INSERT_REJECT)
                .bind(id.as_slice())
                .bind(signed(item.index))
                .bind(reject.job_name.as_str())
                .bind(item.error_type.as_str())
                .bind(item.fingerprint.as_str())
                .bind(self.micros())
                .bind(json(&reject)?)
                .execute(&mut *self.conn)
                .await?;
        }
        for handed in &settlement.hand_offs {
            sqlx::query(sql::items::INSERT_HAND_OFF)
                .bind(handed.pipeline.as_str())
                .bind(handed.key.as_str())
                .bind(id.as_slice())
                .bind(json(&handed.checkpoint)?)
                .bind(self.micros())
                .bind(handed.tenant.as_deref())
                .bind(handed.correlation_id.as_deref())
                .execute(&mut *self.conn)
                .await?;
        }
        self.count_refusals(&settlement.refused_hand_offs).await
    }

    pub(crate) async fn forget_rejects(
        &mut self,
        rejects: &[(JobId, u64)],
    ) -> Result<(), sqlx::Error> {
        for (job, index) in rejects {
            sqlx::query(sql::items::DELETE_REJECT)
                .bind(bytes(job.uuid()))
                .bind(signed(*index))
                .execute(&mut *self.conn)
                .await?;
        }
        Ok(())
    }

    pub(crate) async fn take_hand_offs(
        &mut self,
        pipeline: &str,
        limit: u32,
        hold: Duration,
    ) -> Result<Vec<HandOff>, sqlx::Error> {
        let rows = sqlx::query(sql::items::LIST_HAND_OFFS)
            .bind(pipeline)
            .bind(self.micros())
            .bind(i64::from(limit))
            .fetch_all(&mut *self.conn)
            .await?;
        let (mut numbers, mut damaged, mut taken) = (Vec::<i64>::new(), Vec::new(), Vec::new());
        for row in rows {
            match or_report("hand-off", hand_off(pipeline, &row))? {
                Some(handed) => {
                    numbers.push(row.try_get(0)?);
                    taken.push(handed);
                }
                None => damaged.push(row.try_get(0)?),
            }
        }
        for (numbers, hold) in [(numbers, hold), (damaged, UNREADABLE_HELD)] {
            if !numbers.is_empty() {
                sqlx::query(sql::items::HOLD_HAND_OFFS)
                    .bind(json(&numbers)?)
                    .bind(Due::In(hold).at(self.now).as_microsecond())
                    .execute(&mut *self.conn)
                    .await?;
            }
        }
        Ok(taken)
    }

    pub(crate) async fn finish_hand_offs(
        &mut self,
        pipeline: &str,
        keys: &[String],
    ) -> Result<(), sqlx::Error> {
        let finish = sqlx::query(sql::items::FINISH_HAND_OFFS).bind(pipeline).bind(json(&keys)?);
        finish.execute(&mut *self.conn).await?;
        Ok(())
    }
}

type Query<'q> = sqlx::query::Query<'q, Sqlite, SqliteArguments>;

/// Binds the six conditions of a filter.
fn matching<'q>(query: Query<'q>, filter: &'q RejectFilter) -> Query<'q> {
    query
        .bind(filter.job.map(|job| bytes(job.uuid())))
        .bind(filter.job_name.as_deref())
        .bind(filter.error_type.as_deref())
        .bind(filter.fingerprint.as_deref())
        .bind(filter.since.map(Timestamp::as_microsecond))
        .bind(filter.before.map(Timestamp::as_microsecond))
}

impl Look<'_> {
    pub(crate) async fn rejects(
        &mut self,
        filter: &RejectFilter,
        after: Option<(JobId, u64)>,
        limit: u32,
    ) -> Result<Vec<Reject>, sqlx::Error> {
        let (job, index) =
            after.map_or((Vec::new(), -1), |(job, index)| (bytes(job.uuid()), signed(index)));
        let query = sqlx::query(sql::items::LIST_REJECTS).bind(job).bind(index);
        let rows =
            matching(query, filter).bind(i64::from(limit)).fetch_all(&mut *self.conn).await?;
        readable("reject", &rows, |row| parse(row.try_get(2)?))
    }

    pub(crate) async fn reject_groups(
        &mut self,
        filter: &RejectFilter,
    ) -> Result<Vec<RejectGroup>, sqlx::Error> {
        let query = matching(sqlx::query(sql::items::COUNT_REJECTS), filter);
        let rows = query.fetch_all(&mut *self.conn).await?;
        let group = |row: &SqliteRow| {
            Ok(RejectGroup {
                job_name: row.try_get(0)?,
                error_type: row.try_get(1)?,
                fingerprint: row.try_get(2)?,
                count: number(row.try_get(3)?)?,
                oldest: time(row.try_get(4)?)?,
                latest: time(row.try_get(5)?)?,
            })
        };
        readable("reject", &rows, group)
    }

    pub(crate) async fn reject_counts(
        &mut self,
        filter: &RejectFilter,
        interval: Duration,
    ) -> Result<Vec<RejectCount>, sqlx::Error> {
        let query = matching(sqlx::query(sql::items::COUNT_REJECTS_BY_INTERVAL), filter);
        let rows = query.bind(interval_micros(interval)).fetch_all(&mut *self.conn).await?;
        let count = |row: &SqliteRow| {
            Ok(RejectCount {
                job_name: row.try_get(0)?,
                error_type: row.try_get(1)?,
                fingerprint: row.try_get(2)?,
                interval: row.try_get(3)?,
                count: number(row.try_get(4)?)?,
            })
        };
        readable("reject", &rows, count)
    }
}
