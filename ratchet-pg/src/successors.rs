//! Jobs that operators have submitted in place of others, with edited arguments.

use ratchet_store::model::{CommandError, Inserted, JobId, NewJob, Succession};
use ratchet_store::rules::successor;
use ratchet_store::{StoreError, StoreErrorKind};
use sqlx::{PgConnection, Row as _};
use uuid::Uuid;

use crate::db;
use crate::fault::{Fault, exactly};
use crate::insert::Fresh;
use crate::store::Inner;

impl Inner {
    pub(crate) async fn succession(&self, id: JobId) -> Result<Succession, Fault> {
        let mut db = self.pool.acquire().await?;
        let succession = self.succession_within(&mut db, id).await?;
        db.done().await?;
        Ok(succession)
    }

    pub(crate) async fn succession_within(
        &self,
        db: &mut PgConnection,
        id: JobId,
    ) -> Result<Succession, Fault> {
        let row = db::query(self.sql.select_succession()).bind(id.uuid()).fetch_one(db).await?;
        let job = |uuid: Option<Uuid>| uuid.map(JobId::from_uuid);
        Ok(Succession::new(job(row.try_get("successor_of")?), job(row.try_get("successor")?)))
    }

    /// Submits a job in place of one that has ended. Keys are taken before the outcome of the original is locked, in the
    /// order of a retry, so the original is checked before and after.
    pub(crate) async fn submit_successor_within(
        &self,
        db: &mut PgConnection,
        original: JobId,
        version: Option<u64>,
        job: &NewJob,
    ) -> Result<Fresh, Fault> {
        self.check_original(db, original, version).await?;
        let inserted = self.insert_within(db, std::slice::from_ref(job)).await;
        let (answers, fresh) = match inserted {
            Ok(inserted) => inserted,
            // Another operator may have been faster, and the first successor holds the key.
            Err(fault @ Fault::Insert(_)) => {
                self.check_original(db, original, version).await?;
                return Err(fault);
            }
            Err(fault) => return Err(fault),
        };
        if answers.as_slice() != [Inserted::Created(job.id)] {
            let why = "a successor must be a new job, without an idempotency key";
            return Err(Fault::Store(StoreError::new(StoreErrorKind::Data, why)));
        }
        db::query(self.sql.lock_original()).bind(original.uuid()).fetch_optional(&mut *db).await?;
        self.check_original(db, original, version).await?;
        let link = db::query(self.sql.insert_successor()).bind(original.uuid());
        // Without a row, another operator was faster. The next try reports its successor.
        exactly(1, &link.bind(job.id.uuid()).execute(db).await?)?;
        Ok(fresh)
    }

    async fn check_original(
        &self,
        db: &mut PgConnection,
        id: JobId,
        version: Option<u64>,
    ) -> Result<(), Fault> {
        let (mut jobs, unread) = self.read_jobs(db, vec![id.uuid()]).await?;
        let Some(job) = jobs.pop() else {
            let refusal = unread.first().map(|unread| Fault::Store(unread.refusal()));
            self.noted.note(unread);
            return Err(refusal.unwrap_or(Fault::Command(CommandError::NotFound(id))));
        };
        let links = self.succession_within(db, id).await?;
        successor::check(&job, version, links.successor).map_err(Fault::Command)
    }

    /// Checks that a failed job has no successor, before it is retried.
    pub(crate) async fn check_successor(
        &self,
        db: &mut PgConnection,
        id: JobId,
    ) -> Result<(), Fault> {
        let links = self.succession_within(db, id).await?;
        successor::check_retry(id, links.successor).map_err(Fault::Command)
    }
}
