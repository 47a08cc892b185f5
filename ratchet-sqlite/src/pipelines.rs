//! Pipelines that a job accepts, and the admission of their hand-offs.

use std::time::Duration;

use ratchet_store::model::{
    Acceptor, Declarations, HandOffAdmission, HandOffStats, Inserted, JobId, LATENCY_SAMPLE,
    NewAdmission, PipelineRecord,
};
use ratchet_store::rules;
use ratchet_store::{StoreError, StoreErrorKind};
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use crate::query::Look;
use crate::session::Session;
use crate::sql;
use crate::unreadable::readable;
use crate::value::{bytes, in_column, job_id, json, number, signed, time};

fn record(row: &SqliteRow) -> Result<PipelineRecord, sqlx::Error> {
    let limit: Option<i64> = row.try_get(3)?;
    let acceptor = Acceptor {
        pipeline: row.try_get(0)?,
        job: row.try_get(2)?,
        backlog_limit: limit.map(|limit| u32::try_from(limit).unwrap_or(u32::MAX)),
    };
    let refusals = number(row.try_get(4)?)?;
    Ok(PipelineRecord::stored(acceptor, row.try_get(1)?, number(row.try_get(5)?)?, refusals))
}

fn admission(row: &SqliteRow) -> Result<HandOffAdmission, sqlx::Error> {
    Ok(HandOffAdmission {
        pipeline: row.try_get(0)?,
        key: row.try_get(1)?,
        from: in_column("handed_by", job_id(row.try_get(2)?))?,
        handed_at: in_column("handed_at", time(row.try_get(3)?))?,
        admitted_at: in_column("at", time(row.try_get(4)?))?,
    })
}

impl Session<'_> {
    pub(crate) async fn declare_pipelines(
        &mut self,
        declarations: &Declarations,
        acceptors: &[Acceptor],
    ) -> Result<Vec<String>, sqlx::Error> {
        if !self.are_newest(Some(declarations)).await? {
            return Ok(Vec::new());
        }
        let program = declarations.program.as_str();
        let names: Vec<_> = acceptors.iter().map(|acceptor| acceptor.pipeline.as_str()).collect();
        let dropped =
            sqlx::query(sql::pipeline::DELETE_PIPELINES).bind(program).bind(json(&names)?);
        dropped.execute(&mut *self.conn).await?;
        let mut refused = Vec::new();
        for acceptor in acceptors {
            let saved = sqlx::query(sql::pipeline::SAVE_PIPELINE)
                .bind(acceptor.pipeline.as_str())
                .bind(program)
                .bind(acceptor.job.as_str())
                .bind(acceptor.backlog_limit.map(i64::from))
                .bind(self.micros())
                .fetch_optional(&mut *self.conn)
                .await?;
            if saved.is_none() {
                refused.push(acceptor.pipeline.clone());
            }
        }
        Ok(refused)
    }

    /// Counts what full pipelines have refused.
    pub(crate) async fn count_refusals(
        &mut self,
        refused: &[(String, u64)],
    ) -> Result<(), sqlx::Error> {
        for (pipeline, count) in refused {
            let counted = sqlx::query(sql::pipeline::COUNT_REFUSALS);
            counted.bind(pipeline.as_str()).bind(signed(*count)).execute(&mut *self.conn).await?;
        }
        Ok(())
    }

    pub(crate) async fn admit_hand_offs(
        &mut self,
        pipeline: &str,
        admissions: &[NewAdmission],
    ) -> Result<Result<Vec<bool>, StoreError>, sqlx::Error> {
        if let Err(refused) = rules::admission::check(pipeline, admissions) {
            return Ok(Err(refused));
        }
        let mut answers = Vec::with_capacity(admissions.len());
        for NewAdmission { key, job } in admissions {
            let found = sqlx::query(sql::pipeline::FIND_WAITING).bind(pipeline).bind(key.as_str());
            if let Some(row) = found.fetch_optional(&mut *self.conn).await? {
                let (by, at): (Vec<u8>, i64) = (row.try_get(0)?, row.try_get(1)?);
                match self.insert(std::slice::from_ref(job)).await? {
                    Ok(answers) if answers.as_slice() == [Inserted::Created(job.id)] => {}
                    Ok(_) => return Ok(Err(exists(job.id))),
                    Err(refused) => {
                        let why = refused.to_string();
                        return Ok(Err(StoreError::new(StoreErrorKind::Data, why)));
                    }
                }
                sqlx::query(sql::pipeline::INSERT_ADMISSION)
                    .bind(bytes(job.id.uuid()))
                    .bind(pipeline)
                    .bind(key.as_str())
                    .bind(by)
                    .bind(at)
                    .bind(self.micros())
                    .execute(&mut *self.conn)
                    .await?;
                self.finish_hand_offs(pipeline, std::slice::from_ref(key)).await?;
            }
            let made = sqlx::query(sql::pipeline::GET_ADMISSION).bind(bytes(job.id.uuid()));
            let made = made.fetch_optional(&mut *self.conn).await?;
            let is_this = |row: SqliteRow| {
                Ok::<_, sqlx::Error>(
                    row.try_get::<&str, _>(0)? == pipeline && row.try_get::<&str, _>(1)? == key,
                )
            };
            answers.push(made.map(is_this).transpose()?.unwrap_or(false));
        }
        let close = sqlx::query(sql::pipeline::CLOSE_ADMISSIONS).bind(pipeline);
        close.execute(&mut *self.conn).await?;
        Ok(Ok(answers))
    }
}

fn exists(job: JobId) -> StoreError {
    let why = format!("job {job} of an admission exists already, and was not admitted");
    StoreError::new(StoreErrorKind::Data, why)
}

impl Look<'_> {
    pub(crate) async fn pipelines(
        &mut self,
        pipeline: Option<&str>,
    ) -> Result<Vec<PipelineRecord>, sqlx::Error> {
        let rows = sqlx::query(sql::pipeline::LIST_PIPELINES).bind(pipeline);
        let rows = rows.fetch_all(&mut *self.conn).await?;
        readable("pipeline", &rows, record)
    }

    pub(crate) async fn admission(
        &mut self,
        job: JobId,
    ) -> Result<Option<HandOffAdmission>, sqlx::Error> {
        let rows = sqlx::query(sql::pipeline::GET_ADMISSION).bind(bytes(job.uuid()));
        let rows = rows.fetch_all(&mut *self.conn).await?;
        Ok(readable("admission", &rows, admission)?.pop())
    }

    pub(crate) async fn hand_off_stats(
        &mut self,
        pipeline: &str,
    ) -> Result<HandOffStats, sqlx::Error> {
        let row = sqlx::query(sql::items::COUNT_HAND_OFFS).bind(pipeline);
        let row = row.fetch_one(&mut *self.conn).await?;
        let admitted = sqlx::query(sql::pipeline::COUNT_ADMISSIONS).bind(pipeline);
        let admitted = admitted.fetch_one(&mut *self.conn).await?;
        let latencies = sqlx::query_scalar::<_, i64>(sql::pipeline::LIST_LATENCIES).bind(pipeline);
        let latencies = latencies.bind(i64::try_from(LATENCY_SAMPLE).unwrap_or(i64::MAX));
        let latencies = latencies.fetch_all(&mut *self.conn).await?;
        let latencies: Vec<_> = latencies.into_iter().map(micros).collect();
        let oldest: [Option<i64>; 2] = [row.try_get(1)?, admitted.try_get(2)?];
        let oldest = oldest.into_iter().flatten().min();
        let lag = oldest.map_or(0, |at| self.now.saturating_sub(at));
        let open: u64 = number(admitted.try_get(1)?)?;
        let backlog = number::<u64>(row.try_get(0)?)?.saturating_add(open);
        let finished = number::<u64>(row.try_get(2)?)?.saturating_sub(open);
        let stats = HandOffStats::new(backlog, micros(lag), finished, number(row.try_get(3)?)?);
        Ok(stats.with_admissions(number(admitted.try_get(0)?)?, &latencies))
    }
}

fn micros(micros: i64) -> Duration {
    Duration::from_micros(micros.max(0).unsigned_abs())
}
