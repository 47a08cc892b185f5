//! Pipelines that a job accepts, and the admission of their hand-offs.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use ratchet_store::StoreErrorKind;
use ratchet_store::model::{
    Acceptor, Declarations, HandOffAdmission, HandOffStats, InsertError, JobId, LATENCY_SAMPLE,
    NewAdmission, NewJob, PipelineRecord,
};
use ratchet_store::{StoreError, rules};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};
use uuid::Uuid;

use crate::db;
use crate::fault::{Fault, transact};
use crate::insert::Fresh;
use crate::spec::{clean, duration, instant, to_i64, to_u64};
use crate::store::Inner;
use crate::unreadable::readable;

impl Inner {
    pub(crate) async fn declare_pipelines(
        &self,
        declarations: &Declarations,
        acceptors: &[Acceptor],
    ) -> Result<Vec<String>, Fault> {
        // In order, so that two programs lock rows in the same order.
        let mut acceptors: Vec<_> = acceptors.iter().collect();
        acceptors.sort_by(|a, b| a.pipeline.cmp(&b.pipeline));
        let names: Vec<_> = acceptors.iter().map(|acceptor| clean(&acceptor.pipeline)).collect();
        let program = clean(&declarations.program);
        transact!(repeatable self, |db| {
            let mut refused = Vec::new();
            if self.lock_newest(db, Some(declarations)).await? {
                let now = self.now(&mut *db).await?;
                let dropped = db::query(self.sql.delete_pipelines()).bind(program.clone());
                dropped.bind(names.clone()).execute(&mut *db).await?;
                for acceptor in &acceptors {
                    let accepted = db::query(self.sql.upsert_pipeline())
                        .bind(clean(&acceptor.pipeline))
                        .bind(program.clone())
                        .bind(clean(&acceptor.job))
                        .bind(acceptor.backlog_limit.map(i64::from))
                        .bind(now)
                        .fetch_optional(&mut *db)
                        .await?;
                    if accepted.is_none() {
                        refused.push(acceptor.pipeline.clone());
                    }
                }
            }
            refused
        })
    }

    /// Counts what full pipelines have refused.
    pub(crate) async fn count_refusals(
        &self,
        db: &mut PgConnection,
        refused: BTreeMap<String, u64>,
    ) -> Result<(), Fault> {
        if refused.is_empty() {
            return Ok(());
        }
        let (names, counts): (Vec<_>, Vec<_>) =
            refused.iter().map(|(name, count)| (clean(name), to_i64(*count))).unzip();
        db::query(self.sql.count_refusals()).bind(names).bind(counts).execute(db).await?;
        Ok(())
    }

    pub(crate) async fn pipelines(
        &self,
        pipeline: Option<&str>,
    ) -> Result<Vec<PipelineRecord>, Fault> {
        let rows = db::query(self.sql.select_pipelines()).bind(pipeline.map(clean));
        let rows = rows.fetch_all(&self.pool).await?;
        let record = |row: &PgRow| {
            let limit: Option<i64> = row.try_get("backlog_limit")?;
            let acceptor = Acceptor {
                pipeline: row.try_get("name")?,
                job: row.try_get("job")?,
                backlog_limit: limit.map(|limit| u32::try_from(limit).unwrap_or(u32::MAX)),
            };
            let (backlog, refusals) =
                (to_u64(row.try_get("backlog")?), to_u64(row.try_get("refusals")?));
            let program = row.try_get("program")?;
            Ok::<_, sqlx::Error>(PipelineRecord::stored(acceptor, program, backlog, refusals))
        };
        Ok(readable("pipeline", &rows, record)?)
    }

    pub(crate) async fn admit_hand_offs(
        &self,
        pipeline: &str,
        admissions: &[NewAdmission],
    ) -> Result<Vec<bool>, Fault> {
        rules::admission::check(pipeline, admissions).map_err(Fault::Store)?;
        let (answers, fresh) =
            transact!(repeatable self, |db| self.admit_within(db, pipeline, admissions).await?)?;
        if let Some(fresh) = fresh {
            self.announce(&fresh);
        }
        Ok(answers)
    }

    async fn admit_within(
        &self,
        db: &mut PgConnection,
        pipeline: &str,
        admissions: &[NewAdmission],
    ) -> Result<(Vec<bool>, Option<Fresh>), Fault> {
        let name = clean(pipeline);
        // Settlements that hand off take this lock before the rows, so the order of the rows does not matter.
        db::query(self.sql.lock_pipelines()).bind(vec![name.clone()]).execute(&mut *db).await?;
        let keys: Vec<_> = admissions.iter().map(|admission| clean(&admission.key)).collect();
        let rows = db::query(self.sql.lock_hand_offs()).bind(name.clone()).bind(keys.clone());
        let mut waiting = HashMap::new();
        for row in rows.fetch_all(&mut *db).await? {
            let key: String = row.try_get("key")?;
            waiting.insert(key, (row.try_get::<Uuid, _>("job")?, row.try_get::<i64, _>("at")?));
        }
        let (mut jobs, mut taken) = (Vec::<NewJob>::new(), Vec::new());
        let (mut by, mut handed_at) = (Vec::new(), Vec::new());
        for (key, admission) in keys.iter().zip(admissions) {
            // The first of two admissions with one key counts.
            let Some((job, at)) = waiting.remove(key) else { continue };
            jobs.push(admission.job.clone());
            taken.push(key.clone());
            by.push(job);
            handed_at.push(at);
        }
        let mut fresh = None;
        if !jobs.is_empty() {
            let now = self.now(&mut *db).await?;
            let (_, inserted) = self.insert_within(db, &jobs).await.map_err(refused)?;
            fresh = Some(inserted);
            let done = db::query(self.sql.finish_hand_offs()).bind(name.clone());
            done.bind(taken.clone()).execute(&mut *db).await?;
            db::query(self.sql.insert_admissions())
                .bind(name.clone())
                .bind(now)
                .bind(jobs.iter().map(|job| job.id.uuid()).collect::<Vec<_>>())
                .bind(taken)
                .bind(by)
                .bind(handed_at)
                .execute(&mut *db)
                .await?;
        }
        let ids = admissions.iter().map(|admission| admission.job.id.uuid()).collect();
        let made = self.admissions(db, ids).await?;
        let is_made = |(key, admission): (&String, &NewAdmission)| {
            made.get(&admission.job.id).is_some_and(|it| it.pipeline == name && it.key == *key)
        };
        let answers = keys.iter().zip(admissions).map(is_made).collect();
        db::query(self.sql.close_admissions()).bind(name.clone()).execute(&mut *db).await?;
        Ok((answers, fresh))
    }

    async fn admissions(
        &self,
        db: &mut PgConnection,
        jobs: Vec<Uuid>,
    ) -> Result<HashMap<JobId, HandOffAdmission>, Fault> {
        let mut found = HashMap::new();
        if jobs.is_empty() {
            return Ok(found);
        }
        let rows = db::query(self.sql.select_admissions()).bind(jobs).fetch_all(db).await?;
        let read = |row: &PgRow| {
            let admission = HandOffAdmission {
                pipeline: row.try_get("pipeline")?,
                key: row.try_get("key")?,
                from: JobId::from_uuid(row.try_get("handed_by")?),
                handed_at: instant(row.try_get("handed_at")?),
                admitted_at: instant(row.try_get("at")?),
            };
            Ok::<_, sqlx::Error>((JobId::from_uuid(row.try_get("job")?), admission))
        };
        found.extend(readable("admission", &rows, read)?);
        Ok(found)
    }

    pub(crate) async fn admission(&self, job: JobId) -> Result<Option<HandOffAdmission>, Fault> {
        let mut db = self.pool.acquire().await?;
        let mut found = self.admissions(&mut db, vec![job.uuid()]).await?;
        db.done().await?;
        Ok(found.remove(&job))
    }

    pub(crate) async fn hand_off_stats(&self, pipeline: &str) -> Result<HandOffStats, Fault> {
        let name = clean(pipeline);
        let row = db::query(self.sql.count_hand_offs()).bind(name.clone());
        let row = row.fetch_one(&self.pool).await?;
        let admitted = db::query(self.sql.count_admissions()).bind(name.clone());
        let admitted = admitted.fetch_one(&self.pool).await?;
        let latencies = db::query_scalar::<_, i64>(self.sql.select_latencies()).bind(name);
        let latencies = latencies.bind(to_i64(LATENCY_SAMPLE as u64)).fetch_all(&self.pool).await?;
        let latencies: Vec<_> = latencies.into_iter().map(duration).collect();
        let now: i64 = row.try_get("now")?;
        let oldest: [Option<i64>; 2] = [row.try_get("oldest")?, admitted.try_get("oldest")?];
        let oldest = oldest.into_iter().flatten().min();
        let lag = oldest.map_or(Duration::ZERO, |at| duration(now.saturating_sub(at)));
        let open = to_u64(admitted.try_get("open")?);
        let backlog = to_u64(row.try_get("backlog")?).saturating_add(open);
        let finished = to_u64(row.try_get("finished")?).saturating_sub(open);
        let stats = HandOffStats::new(backlog, lag, finished, to_u64(row.try_get("repeats")?));
        Ok(stats.with_admissions(to_u64(admitted.try_get("admitted")?), &latencies))
    }
}

/// A refused insert is an error of the caller, who must not admit such jobs.
fn refused(fault: Fault) -> Fault {
    match fault {
        Fault::Insert(InsertError::Store(error)) => Fault::Store(error),
        Fault::Insert(refused) => {
            Fault::Store(StoreError::new(StoreErrorKind::Data, refused.to_string()))
        }
        fault => fault,
    }
}
