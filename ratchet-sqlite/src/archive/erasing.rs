//! Deletes archived jobs for an erasure.

use std::sync::Arc;

use ratchet_store::StoreError;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{
    AuditNote, Change, ChangeError, Changed, ErasedRows, ErasurePhase, JobId, OperationFilter,
    OperationRecord, OperationState, OperationUpdate,
};
use ratchet_store::rules::{erasure, operation};
use sqlx::Row as _;

use super::moving::{forget, in_transaction};
use crate::SqliteStore;
use crate::erasure::erased;
use crate::sql;
use crate::value::bytes;
use crate::verb::{EraseBelongings, OperateErasure, Scrub};

impl SqliteStore {
    /// Applies a change of an operation. The last two phases of an erasure also change what no commit covers: the
    /// archive, and the free space of both files. They are changed before the page is committed.
    pub(crate) async fn operate_operation(
        &self,
        change: Change,
        note: Option<AuditNote>,
    ) -> Result<Result<Changed, ChangeError>, StoreError> {
        let mut deleted = ErasedRows::default();
        if let Change::Operation(OperationUpdate::Page { id, version, jobs, .. }) = &change {
            let found = self.find_operations(OperationFilter::one(*id), 1).await?.pop();
            let current =
                found.filter(|it| operation::is_current(it, *version, OperationState::Running));
            match current.as_ref().and_then(|it| Some((it, erasure::phase(it)?))) {
                Some((stored, ErasurePhase::Archive)) => {
                    deleted = self.erase_archived(stored, jobs).await?;
                }
                Some((_, ErasurePhase::Scrub)) => self.scrub().await?,
                _ => {}
            }
        }
        self.write(OperateErasure { change, note, erased: deleted }).await
    }

    /// Deletes archived jobs that an erasure selects, and before them what belongs to them in the file of the jobs.
    async fn erase_archived(
        &self,
        stored: &OperationRecord,
        jobs: &[JobId],
    ) -> Result<ErasedRows, StoreError> {
        let archive = Arc::clone(&self.shared.archive);
        let mut open = archive.open.lock().await;
        if jobs.is_empty() || (open.is_none() && !archive.path.exists()) {
            return Ok(ErasedRows::default());
        }
        let opened = archive.ensure(self, &mut open).await?;
        opened.files.check().map_err(StoreError::from)?;
        let fault = |error: sqlx::Error| archive.fault(&error);
        let (mut seqs, mut belongings) = (Vec::<i64>::new(), Vec::new());
        for id in jobs {
            let job = self.look(&mut opened.conn).get(*id).await.map_err(fault)?;
            let Some(job) = job.filter(|row| erasure::selects(stored, &row.job)) else { continue };
            let seq = sqlx::query(sql::archive::FIND_ARCHIVED).bind(bytes(id.uuid()));
            let seq = seq.fetch_optional(&mut opened.conn).await.map_err(fault)?;
            seqs.extend(seq.map(|row| row.try_get::<i64, _>(0)).transpose().map_err(fault)?);
            belongings.push(erased(&job.job));
        }
        let mut erased = self.write(EraseBelongings { jobs: belongings }).await?;
        crash_point(CrashPoint::PurgeRemoved);
        let forgotten = in_transaction(&mut opened.conn, async |conn| forget(conn, &seqs).await);
        forgotten.await.map_err(fault)?;
        erased.archived = seqs.len() as u64;
        Ok(erased)
    }

    /// Overwrites what was deleted: rebuilds both files, and empties their logs.
    async fn scrub(&self) -> Result<(), StoreError> {
        self.write(Scrub {}).await?;
        let archive = Arc::clone(&self.shared.archive);
        let mut open = archive.open.lock().await;
        if open.is_some() || archive.path.exists() {
            let opened = archive.ensure(self, &mut open).await?;
            opened.files.check().map_err(StoreError::from)?;
            crate::scrub::scrub(&mut opened.conn).await.map_err(|error| archive.fault(&error))?;
        }
        Ok(())
    }
}
