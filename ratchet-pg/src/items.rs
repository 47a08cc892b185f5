//! Items that runs reject, and checkpoints that they hand off to pipelines.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use ratchet_store::model::{
    Due, HandOff, HandOffContent, JobId, NewHandOff, NewReject, Reject, RejectCount, RejectFilter,
    RejectGroup, Settlement, interval_micros,
};
use uuid::Uuid;

use crate::db;
use crate::fault::{Fault, transact};
use crate::job_row::WaitingRow;
use crate::record::{due_micros, text};
use crate::spec::{clean, clean_option, instant, json, to_i64, to_u64};
use crate::store::Inner;
use crate::unreadable::readable;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::{PgConnection, Postgres, Row};

/// The rejects and hand-offs of a batch.
#[derive(Debug, Default)]
pub(crate) struct Items {
    /// Rejects by job and index. The last one wins.
    rejects: BTreeMap<(Uuid, i64), (String, i64, NewReject)>,
    /// Hand-offs in order, each key once: the job, the checkpoint, and the number of repeats.
    hand_offs: Vec<(Uuid, NewHandOff, i64)>,
    /// What full pipelines have refused.
    refused: BTreeMap<String, u64>,
}

impl Items {
    pub(crate) fn push(&mut self, settlement: &Settlement, run: &WaitingRow) {
        for item in &settlement.rejects {
            let said = (run.name.clone(), run.run, item.clone());
            self.rejects.insert((run.job, to_i64(item.index)), said);
        }
        for (pipeline, count) in &settlement.refused_hand_offs {
            *self.refused.entry(pipeline.clone()).or_default() += count;
        }
        for handed in &settlement.hand_offs {
            let same = |(_, other, _): &&mut (Uuid, NewHandOff, i64)| {
                other.pipeline == handed.pipeline && other.key == handed.key
            };
            match self.hand_offs.iter_mut().find(same) {
                Some((_, _, repeats)) => *repeats += 1,
                None => self.hand_offs.push((run.job, handed.clone(), 0)),
            }
        }
    }

    pub(crate) async fn write(
        self,
        inner: &Inner,
        db: &mut PgConnection,
        now: i64,
    ) -> Result<(), Fault> {
        if !self.rejects.is_empty() {
            let (keys, said): (Vec<_>, Vec<_>) = self.rejects.into_iter().unzip();
            let (jobs, numbers): (Vec<_>, Vec<_>) = keys.into_iter().unzip();
            let texts = |of: fn(&NewReject) -> &String| -> Vec<String> {
                said.iter().map(|(_, _, item)| clean(of(item))).collect()
            };
            let payload = |item: &NewReject| clean_option(item.payload.as_ref());
            db::query(inner.sql.upsert_rejects())
                .bind(now)
                .bind(jobs)
                .bind(numbers)
                .bind(said.iter().map(|(_, run, _)| *run).collect::<Vec<_>>())
                .bind(said.iter().map(|(name, _, _)| name.as_str()).collect::<Vec<_>>())
                .bind(texts(|item| &item.error_type))
                .bind(texts(|item| &item.fingerprint))
                .bind(texts(|item| &item.message))
                .bind(said.iter().map(|(_, _, item)| payload(item)).collect::<Vec<_>>())
                .execute(&mut *db)
                .await?;
        }
        if !self.hand_offs.is_empty() {
            let handed = &self.hand_offs;
            let of = |field: fn(&NewHandOff) -> &Option<String>| -> Vec<_> {
                handed.iter().map(|(_, it, _)| clean_option(field(it).as_ref())).collect()
            };
            let mut pipelines: Vec<_> =
                handed.iter().map(|(_, it, _)| clean(&it.pipeline)).collect();
            let locked = {
                let mut each = pipelines.clone();
                each.sort_unstable();
                each.dedup();
                each
            };
            db::query(inner.sql.lock_pipelines()).bind(locked).execute(&mut *db).await?;
            db::query(inner.sql.upsert_hand_offs())
                .bind(now)
                .bind(std::mem::take(&mut pipelines))
                .bind(handed.iter().map(|(_, it, _)| clean(&it.key)).collect::<Vec<_>>())
                .bind(handed.iter().map(|(job, _, _)| *job).collect::<Vec<_>>())
                .bind(handed.iter().map(|(_, _, repeats)| *repeats).collect::<Vec<_>>())
                .bind(handed.iter().map(|(_, it, _)| text(&it.checkpoint)).collect::<Vec<_>>())
                .bind(of(|it| &it.tenant))
                .bind(of(|it| &it.correlation_id))
                .execute(&mut *db)
                .await?;
        }
        inner.count_refusals(db, self.refused).await
    }
}

type Query<'q> = sqlx::query::Query<'q, Postgres, PgArguments>;

/// Binds the six conditions of a filter.
fn matching<'q>(query: Query<'q>, filter: &'q RejectFilter) -> Query<'q> {
    query
        .bind(filter.job.map(JobId::uuid))
        .bind(clean_option(filter.job_name.as_ref()))
        .bind(clean_option(filter.error_type.as_ref()))
        .bind(clean_option(filter.fingerprint.as_ref()))
        .bind(filter.since.map(Timestamp::as_microsecond))
        .bind(filter.before.map(Timestamp::as_microsecond))
}

impl Inner {
    pub(crate) async fn rejects(
        &self,
        filter: &RejectFilter,
        after: Option<(JobId, u64)>,
        limit: u32,
    ) -> Result<Vec<Reject>, Fault> {
        let (job, number) =
            after.map_or((Uuid::nil(), -1), |(job, index)| (job.uuid(), to_i64(index)));
        let rows = matching(db::query(self.sql.select_rejects()), filter)
            .bind(job)
            .bind(number)
            .bind(i64::from(limit))
            .fetch_all(&self.pool)
            .await?;
        Ok(readable("reject", &rows, reject)?)
    }

    pub(crate) async fn reject_groups(
        &self,
        filter: &RejectFilter,
    ) -> Result<Vec<RejectGroup>, Fault> {
        let query = matching(db::query(self.sql.count_rejects()), filter);
        let rows = query.fetch_all(&self.pool).await?;
        let group = |row: &PgRow| {
            Ok::<_, sqlx::Error>(RejectGroup {
                job_name: row.try_get("job_name")?,
                error_type: row.try_get("error_type")?,
                fingerprint: row.try_get("fingerprint")?,
                count: to_u64(row.try_get("n")?),
                oldest: instant(row.try_get("oldest")?),
                latest: instant(row.try_get("latest")?),
            })
        };
        Ok(rows.iter().map(group).collect::<Result<_, _>>()?)
    }

    pub(crate) async fn reject_counts(
        &self,
        filter: &RejectFilter,
        interval: Duration,
    ) -> Result<Vec<RejectCount>, Fault> {
        let query = matching(db::query(self.sql.count_rejects_by_interval()), filter);
        let rows = query.bind(interval_micros(interval)).fetch_all(&self.pool).await?;
        let count = |row: &PgRow| {
            Ok::<_, sqlx::Error>(RejectCount {
                job_name: row.try_get("job_name")?,
                error_type: row.try_get("error_type")?,
                fingerprint: row.try_get("fingerprint")?,
                interval: row.try_get("slot")?,
                count: to_u64(row.try_get("n")?),
            })
        };
        Ok(rows.iter().map(count).collect::<Result<_, _>>()?)
    }

    pub(crate) async fn forget_rejects(&self, rejects: &[(JobId, u64)]) -> Result<(), Fault> {
        let mut db = self.pool.acquire().await?;
        self.forget_rejects_within(&mut db, rejects).await?;
        Ok(db.done().await?)
    }

    pub(crate) async fn forget_rejects_within(
        &self,
        db: &mut PgConnection,
        rejects: &[(JobId, u64)],
    ) -> Result<(), Fault> {
        let (jobs, numbers): (Vec<_>, Vec<_>) =
            rejects.iter().map(|(job, index)| (job.uuid(), to_i64(*index))).unzip();
        let gone = db::query(self.sql.delete_rejects()).bind(jobs).bind(numbers);
        gone.execute(db).await?;
        Ok(())
    }

    pub(crate) async fn take_hand_offs(
        &self,
        pipeline: &str,
        limit: u32,
        hold: Duration,
    ) -> Result<Vec<HandOff>, Fault> {
        let rows = transact!(self, |db| {
            let now = self.now(&mut *db).await?;
            db::query(self.sql.take_hand_offs())
                .bind(clean(pipeline))
                .bind(now)
                .bind(due_micros(Due::In(hold), now))
                .bind(i64::from(limit))
                .fetch_all(&mut *db)
                .await?
        })?;
        let hand_off = |row: &PgRow| {
            let handed = NewHandOff {
                pipeline: pipeline.to_owned(),
                key: row.try_get("key")?,
                checkpoint: json(row.try_get("checkpoint")?)?,
                tenant: row.try_get("tenant")?,
                correlation_id: row.try_get("correlation_id")?,
            };
            Ok::<_, sqlx::Error>(HandOff {
                handed,
                job: JobId::from_uuid(row.try_get("job")?),
                at: instant(row.try_get("at")?),
                repeats: to_u64(row.try_get("repeats")?),
                content: HandOffContent::Plain,
            })
        };
        Ok(readable("hand-off", &rows, hand_off)?)
    }

    pub(crate) async fn finish_hand_offs(
        &self,
        pipeline: &str,
        keys: &[String],
    ) -> Result<(), Fault> {
        let keys: Vec<_> = keys.iter().map(|key| clean(key)).collect();
        let finished = db::query(self.sql.finish_hand_offs()).bind(clean(pipeline)).bind(keys);
        finished.execute(&self.pool).await?;
        Ok(())
    }
}

fn reject(row: &PgRow) -> Result<Reject, sqlx::Error> {
    Ok(Reject {
        job: JobId::from_uuid(row.try_get("job")?),
        job_name: row.try_get("job_name")?,
        run: to_u64(row.try_get("run")?),
        at: instant(row.try_get("at")?),
        item: NewReject {
            index: to_u64(row.try_get("number")?),
            error_type: row.try_get("error_type")?,
            message: row.try_get("message")?,
            fingerprint: row.try_get("fingerprint")?,
            payload: row.try_get("payload")?,
        },
    })
}
