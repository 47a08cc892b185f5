//! Jobs that operators have submitted in place of others, with edited arguments.

use ratchet_store::model::{ChangeError, CommandError, Inserted, JobId, NewJob, Succession};
use ratchet_store::rules::successor;
use ratchet_store::{StoreError, StoreErrorKind};
use sqlx::{Row as _, SqliteConnection};

use crate::query::Look;
use crate::session::Session;
use crate::sql;
use crate::unreadable::refusal;
use crate::value::{bytes, job_id};

impl Session<'_> {
    /// Submits a job in place of one that has ended.
    pub(crate) async fn submit_successor(
        &mut self,
        original: JobId,
        version: Option<u64>,
        job: &NewJob,
    ) -> Result<Result<(), ChangeError>, sqlx::Error> {
        let Some(row) = self.load(original).await? else {
            let error = match self.find_unreadable(original).await? {
                Some((_, column, why)) => refusal(original, &column, &why).into(),
                None => CommandError::NotFound(original),
            };
            return Ok(Err(error.into()));
        };
        let links = succession(self.conn, original).await?;
        if let Err(refused) = successor::check(&row.job, version, links.successor) {
            return Ok(Err(refused.into()));
        }
        match self.insert(std::slice::from_ref(job)).await? {
            Ok(answers) if answers.as_slice() == [Inserted::Created(job.id)] => {}
            Ok(_) => {
                let why = "a successor must be a new job, without an idempotency key";
                return Ok(Err(StoreError::new(StoreErrorKind::Data, why).into()));
            }
            Err(refused) => return Ok(Err(refused.into())),
        }
        sqlx::query(sql::successor::INSERT_SUCCESSOR)
            .bind(bytes(original.uuid()))
            .bind(bytes(job.id.uuid()))
            .execute(&mut *self.conn)
            .await?;
        Ok(Ok(()))
    }

    /// Checks that a failed job has no successor, before it is retried.
    pub(crate) async fn check_successor(
        &mut self,
        id: JobId,
    ) -> Result<Result<(), CommandError>, sqlx::Error> {
        let links = succession(self.conn, id).await?;
        Ok(successor::check_retry(id, links.successor))
    }
}

impl Look<'_> {
    pub(crate) async fn succession(&mut self, id: JobId) -> Result<Succession, sqlx::Error> {
        succession(self.conn, id).await
    }
}

async fn succession(conn: &mut SqliteConnection, id: JobId) -> Result<Succession, sqlx::Error> {
    let found = sqlx::query(sql::successor::GET_SUCCESSION).bind(bytes(id.uuid()));
    let row = found.fetch_one(conn).await?;
    let job = |column| row.try_get::<Option<&[u8]>, _>(column)?.map(job_id).transpose();
    Ok(Succession::new(job("successor_of")?, job("successor")?))
}
