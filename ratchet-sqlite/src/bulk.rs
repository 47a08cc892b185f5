//! Bulk operations.

use jiff::Timestamp;
use ratchet_store::model::{
    ChangeError, JobId, OperationFilter, OperationId, OperationPage, OperationRecord,
    OperationReply, OperationState, OperationUpdate,
};
use ratchet_store::rules::{erasure, operation};
use sqlx::{Row as _, SqliteConnection};

use crate::query::Look;
use crate::session::Session;
use crate::sql;
use crate::unreadable::readable;
use crate::value::{bytes, json, parse};

impl Session<'_> {
    pub(crate) async fn update_operation(
        &mut self,
        update: &OperationUpdate,
    ) -> Result<Result<OperationReply, ChangeError>, sqlx::Error> {
        let stored = find(self.conn, update.id()).await?;
        let mut page = None;
        if let OperationUpdate::Page { version, jobs, .. } = update
            && let Some(stored) = &stored
            && operation::is_current(stored, *version, OperationState::Running)
        {
            page = Some(match erasure::phase(stored) {
                Some(phase) => self.erase(stored, phase, jobs).await?,
                None => self.visit(stored, jobs).await?,
            });
        }
        let reply = match operation::updated(stored, update, page, self.now) {
            Ok(reply) => reply,
            Err(refused) => return Ok(Err(refused.into())),
        };
        if let OperationUpdate::Start(_) = update {
            let kept = self.now.checked_sub(operation::KEPT).unwrap_or(Timestamp::MIN);
            let delete = sqlx::query(sql::operation::DELETE_OLD).bind(kept.as_microsecond());
            delete.execute(&mut *self.conn).await?;
        }
        if reply.applied {
            let record = &reply.operation;
            sqlx::query(sql::operation::SAVE_OPERATION)
                .bind(bytes(record.id.uuid()))
                .bind(record.ended_at.map(Timestamp::as_microsecond))
                .bind(json(record)?)
                .execute(&mut *self.conn)
                .await?;
        }
        Ok(Ok(reply))
    }

    async fn visit(
        &mut self,
        stored: &OperationRecord,
        jobs: &[JobId],
    ) -> Result<OperationPage, sqlx::Error> {
        let mut page = OperationPage::default();
        for id in jobs {
            let Some(row) = self.load(*id).await? else { continue };
            if let Some(command) = operation::command(stored, &row.job) {
                let answer = self.command(&command).await?;
                // An error undoes the whole page.
                operation::add(&mut page, *id, answer)
                    .map_err(|error| sqlx::Error::Protocol(error.to_string()))?;
            }
        }
        Ok(page)
    }

    pub(crate) async fn find_operation(
        &mut self,
        id: OperationId,
    ) -> Result<Option<OperationRecord>, sqlx::Error> {
        find(self.conn, id).await
    }
}

impl Look<'_> {
    pub(crate) async fn operations(
        &mut self,
        filter: OperationFilter,
        limit: u32,
    ) -> Result<Vec<OperationRecord>, sqlx::Error> {
        if let Some(id) = filter.id {
            let found = find(self.conn, id).await?.filter(|one| filter.matches(one));
            return Ok(found.into_iter().take(usize::try_from(limit).unwrap_or(1)).collect());
        }
        let statement = match filter.active {
            true => sql::operation::LIST_ACTIVE,
            false => sql::operation::LIST_OPERATIONS,
        };
        let rows = sqlx::query(statement).bind(i64::from(limit)).fetch_all(&mut *self.conn).await?;
        readable("operation", &rows, |row| parse(row.try_get(0)?))
    }
}

async fn find(
    conn: &mut SqliteConnection,
    id: OperationId,
) -> Result<Option<OperationRecord>, sqlx::Error> {
    let row = sqlx::query(sql::operation::GET_OPERATION).bind(bytes(id.uuid()));
    row.fetch_optional(conn).await?.map(|row| parse(row.try_get(0)?)).transpose()
}
