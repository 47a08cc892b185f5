//! Submit, cancel and reschedule inside the caller's own transaction.

use std::collections::BTreeSet;

use ratchet_core::model::{
    Command, CommandError, CommandReply, Due, InsertError, Inserted, JobId, NewJob, TakenKey,
};
use ratchet_core::store::Wake;
use ratchet_core::{Enqueue, Job, SubmitError};
use sqlx::{Connection, PgConnection};

use crate::command::in_tx;
use crate::error::store_error;
use crate::settle::News;
use crate::store::{Fault, PgStore};
use crate::wake::line;

/// A store within a transaction of the caller: what it does is there when that commits, and never was if it does not.
///
/// Each verb is a savepoint of its own: one that is refused leaves the transaction usable. A key that another open
/// transaction has taken is waited for until that one ends.
///
/// ```no_run
/// # use ratchet_core::{Job, Ratchet};
/// # async fn demo<J: Job>(ratchet: Ratchet, store: ratchet_pg::PgStore, pool: sqlx::PgPool, job: J) -> Result<(), Box<dyn std::error::Error>> {
/// use ratchet_pg::EnqueueInTx;
///
/// let mut tx = pool.begin().await?;
/// sqlx::query("INSERT INTO payment (id) VALUES (1)").execute(&mut *tx).await?;
/// ratchet.enqueue(job).in_tx(&store, &mut tx).await?;
/// tx.commit().await?; // The job and the payment, or neither.
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct PgTx<'a> {
    store: &'a PgStore,
    db: &'a mut PgConnection,
}

impl PgStore {
    /// This store within a transaction of the caller, on a connection to the same database.
    pub fn within<'a>(&'a self, db: &'a mut PgConnection) -> PgTx<'a> {
        PgTx { store: self, db }
    }
}

impl PgTx<'_> {
    /// Inserts jobs, all or none, as [`Store::insert`](ratchet_core::Store::insert) does.
    pub async fn insert(&mut self, jobs: Vec<NewJob>) -> Result<Vec<Inserted>, InsertError> {
        let inner = &self.store.inner;
        let inserted = async {
            let mut tx = self.db.begin().await?;
            let (answers, fresh) = inner.insert_within(&mut tx, &jobs).await?;
            notify(self.store, &mut tx, fresh.wakes()).await?;
            tx.commit().await?;
            Ok::<_, Fault>(answers)
        };
        Ok(inserted.await?)
    }

    /// Cancels a job.
    pub async fn cancel(&mut self, id: JobId) -> Result<CommandReply, CommandError> {
        self.command(in_tx(id, None)).await
    }

    /// Gives a pending job another due time.
    pub async fn reschedule(&mut self, id: JobId, due: Due) -> Result<CommandReply, CommandError> {
        self.command(in_tx(id, Some(due))).await
    }

    async fn command(&mut self, command: Command) -> Result<CommandReply, CommandError> {
        let inner = &self.store.inner;
        let done = async {
            let mut tx = self.db.begin().await?;
            let mut news = News::default();
            let reply = inner.command_within(&mut tx, &command, &mut news).await?;
            notify(self.store, &mut tx, news.wakes).await?;
            tx.commit().await?;
            Ok::<_, Fault>(reply)
        };
        Ok(done.await?)
    }
}

/// Hints that go out if and when the transaction commits.
async fn notify(store: &PgStore, db: &mut PgConnection, wakes: Vec<Wake>) -> Result<(), Fault> {
    /// No process calls itself that, so every one listens, this one too.
    const ORIGIN: &str = "tx";
    let lines: BTreeSet<_> = wakes.iter().filter_map(|wake| line(ORIGIN, wake)).collect();
    if lines.is_empty() {
        return Ok(());
    }
    let lines: Vec<_> = lines.into_iter().collect();
    let sent = sqlx::query(store.inner.sql.notify()).bind(&store.inner.channel).bind(lines);
    sent.execute(db).await?;
    Ok(())
}

/// Enqueueing inside the caller's own transaction.
pub trait EnqueueInTx {
    /// Stores the job in the caller's transaction: it is there when that commits. Answers with the job that stands for
    /// the submit; [`Ratchet::handle`](ratchet_core::Ratchet::handle) makes a handle of it.
    fn in_tx(
        self,
        store: &PgStore,
        db: &mut PgConnection,
    ) -> impl Future<Output = Result<JobId, SubmitError>> + Send;
}

impl<J: Job> EnqueueInTx for Enqueue<'_, J> {
    fn in_tx(
        self,
        store: &PgStore,
        db: &mut PgConnection,
    ) -> impl Future<Output = Result<JobId, SubmitError>> + Send {
        let job = self.into_new_job();
        async move {
            let job = job?;
            let name = job.spec.name.clone();
            let id = job.id;
            let inserted = store.within(db).insert(vec![job]).await;
            let inserted = inserted.map_err(|refused| submit_error(refused, name))?;
            Ok(inserted.first().map_or(id, |inserted| inserted.id()))
        }
    }
}

/// Says an insert error in words of the submit.
fn submit_error(error: InsertError, job: String) -> SubmitError {
    match error {
        InsertError::BusinessKeysTaken(mut taken) if taken.len() == 1 => {
            let TakenKey { key, holder, .. } = taken.remove(0);
            SubmitError::BusinessKeyTaken { job, key, holder }
        }
        InsertError::BusinessKeysTaken(taken) => SubmitError::BusinessKeysTaken(taken),
        InsertError::IdempotencyMismatch { key, original, .. } => {
            SubmitError::IdempotencyMismatch { job, key, original }
        }
        InsertError::DuplicateId(id) => SubmitError::DuplicateId(id),
        InsertError::Store(error) => SubmitError::Store(error),
        other => SubmitError::Store(store_error(sqlx::Error::Protocol(other.to_string()))),
    }
}
