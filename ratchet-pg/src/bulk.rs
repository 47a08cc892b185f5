//! Bulk operations. The row of an operation is locked first, so that its pages follow one another.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use ratchet_store::model::{
    JobId, JobRecord, OperationFilter, OperationId, OperationPage, OperationRecord, OperationReply,
    OperationState, OperationUpdate,
};
use ratchet_store::rules::{erasure, operation};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

use crate::command::LOOKS;
use crate::db;
use crate::fault::{Fault, exactly};
use crate::settle::PostCommit;
use crate::spec::{instant, json};
use crate::store::Inner;
use crate::unreadable::readable;

impl Inner {
    pub(crate) async fn update_operation_within(
        &self,
        db: &mut PgConnection,
        update: &OperationUpdate,
        post_commit: &mut PostCommit,
    ) -> Result<OperationReply, Fault> {
        let stored = self.operation_within(db, update.id()).await?;
        let is_new = stored.is_none();
        let mut page = None;
        if let OperationUpdate::Page { version, jobs, .. } = update
            && let Some(stored) = &stored
            && operation::is_current(stored, *version, OperationState::Running)
        {
            page = Some(match erasure::phase(stored) {
                Some(phase) => self.erase(db, stored, phase, jobs, post_commit).await?,
                None => self.visit(db, stored, jobs, post_commit).await?,
            });
        }
        let now = instant(self.now(&mut *db).await?);
        let reply = operation::updated(stored, update, page, now).map_err(Fault::Command)?;
        if is_new {
            let kept = now.checked_sub(operation::KEPT).unwrap_or(Timestamp::MIN);
            let delete = db::query(self.sql.delete_old_operations()).bind(kept.as_microsecond());
            delete.execute(&mut *db).await?;
        }
        if reply.applied {
            let statement = match is_new {
                true => self.sql.insert_operation(),
                false => self.sql.update_operation(),
            };
            let written = &reply.operation;
            let text = serde_json::to_string(written)
                .map_err(|error| sqlx::Error::Encode(error.into()))?;
            let save = db::query(statement)
                .bind(written.id.uuid())
                .bind(written.ended_at.map(Timestamp::as_microsecond))
                .bind(text);
            exactly(1, &save.execute(db).await?)?;
        }
        Ok(reply)
    }

    /// Applies the command of the operation to each job that it selects.
    async fn visit(
        &self,
        db: &mut PgConnection,
        stored: &OperationRecord,
        jobs: &[JobId],
        post_commit: &mut PostCommit,
    ) -> Result<OperationPage, Fault> {
        let ids: Vec<_> = jobs.iter().map(|id| id.uuid()).collect();
        self.lock_graphs(db, ids.clone(), BTreeSet::new()).await?;
        let records = self.jobs(db, ids).await?;
        let mut records: BTreeMap<_, _> = records.into_iter().map(|job| (job.id, job)).collect();
        let mut page = OperationPage::default();
        for id in jobs {
            if let Some(job) = records.remove(id) {
                self.visit_job(db, stored, job, &mut page, post_commit).await?;
            }
        }
        Ok(page)
    }

    pub(crate) async fn visit_job(
        &self,
        db: &mut PgConnection,
        stored: &OperationRecord,
        mut job: JobRecord,
        page: &mut OperationPage,
        post_commit: &mut PostCommit,
    ) -> Result<(), Fault> {
        for _ in 0..LOOKS {
            let Some(command) = operation::command(stored, &job) else { return Ok(()) };
            let answer = match self.command_on(db, &command, &job, post_commit).await {
                Ok(Some(reply)) => Ok(reply),
                Err(Fault::Command(refused)) => Err(refused),
                Err(fault) => return Err(fault),
                // Another process moved the job first. The operation may not select it anymore.
                Ok(None) => {
                    let Some(moved) = self.jobs(db, vec![job.id.uuid()]).await?.pop() else {
                        return Ok(());
                    };
                    job = moved;
                    continue;
                }
            };
            return operation::add(page, job.id, answer).map_err(Fault::Command);
        }
        Err(Fault::Conflict)
    }

    /// Returns an operation, locked, so that the audit trail describes the state from which it is changed.
    pub(crate) async fn operation_within(
        &self,
        db: &mut PgConnection,
        id: OperationId,
    ) -> Result<Option<OperationRecord>, Fault> {
        let row = db::query(self.sql.lock_operation()).bind(id.uuid());
        Ok(row.fetch_optional(db).await?.as_ref().map(record).transpose()?)
    }

    pub(crate) async fn operations(
        &self,
        filter: OperationFilter,
        limit: u32,
    ) -> Result<Vec<OperationRecord>, Fault> {
        let query = match (filter.id, filter.active) {
            (Some(id), _) => db::query(self.sql.select_operation()).bind(id.uuid()),
            (None, true) => db::query(self.sql.list_active_operations()).bind(i64::from(limit)),
            (None, false) => db::query(self.sql.list_operations()).bind(i64::from(limit)),
        };
        let rows = query.fetch_all(&self.pool).await?;
        let mut found = readable("operation", &rows, record)?;
        found.retain(|one| filter.matches(one));
        found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(found)
    }
}

fn record(row: &PgRow) -> Result<OperationRecord, sqlx::Error> {
    json(row.try_get("record")?)
}
