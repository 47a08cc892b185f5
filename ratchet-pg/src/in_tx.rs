//! Enqueues, cancels and reschedules jobs in a transaction of the caller, so that they commit together with the
//! caller's data.

use std::collections::BTreeSet;
use std::future::Future;

use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{
    CancelCause, Command, CommandError, CommandReply, Due, Extend, GraphInserted, InsertError,
    Inserted, JobId, NewGraph, NewJob,
};
use ratchet_store::{InsertInTx, Submission};

use crate::db;
use crate::fault::{Fault, TRIES};
use crate::insert::Stored;
use crate::settle::PostCommit;
use crate::store::PgStore;
use crate::wake::{Hint, line};
use sqlx::{Connection, PgConnection};

/// Adds `.in_tx(&mut tx)` to `ratchet.enqueue(job)`, and to chains, batches and workflows, which are inserted all or
/// nothing.
///
/// The transaction must be a transaction of sqlx 0.9, which this crate exports as [`sqlx`], on the database of the
/// runtime's [`PgStore`], which may also hold tables of the application. It is never repeated by the store. Workers are notified when it commits. If a submit is refused, the transaction stays
/// usable. If another open transaction has taken a key, the submit waits until that transaction ends.
///
/// ```no_run
/// use ratchet_core::{Job, Ratchet};
/// use ratchet_pg::EnqueueInTx;
///
/// async fn place_order<J: Job>(
///     pool: &sqlx::PgPool,
///     ratchet: &Ratchet,
///     charge: J,
/// ) -> Result<(), Box<dyn std::error::Error>> {
///     let mut tx = pool.begin().await?;
///     sqlx::query("INSERT INTO orders (total) VALUES (42)").execute(&mut *tx).await?;
///     let job = ratchet.enqueue(charge).in_tx(&mut tx).await?;
///     tx.commit().await?; // both, or neither
///     println!("job {} is on its way", job.id());
///     Ok(())
/// }
/// ```
///
/// A chain, batch or workflow is inserted in the same way:
///
/// ```no_run
/// use ratchet_core::{FirstStep, StepAfter, Ratchet, SubmitError};
/// use ratchet_pg::EnqueueInTx;
///
/// async fn begin<A: FirstStep, B: StepAfter<A::Output>>(
///     tx: &mut sqlx::PgConnection,
///     ratchet: &Ratchet,
///     (charge, ship): (A, B),
/// ) -> Result<(), SubmitError> {
///     let order = ratchet.chain(charge).then(ship).in_tx(tx).await?;
///     println!("chain {} begins with the commit", order.id());
///     Ok(())
/// }
/// ```
pub trait EnqueueInTx: Submission {
    /// Enqueues in a transaction of the caller. Returns the handle of an existing job or group instead if the
    /// idempotency key was used before, or if the submit is set to return the holder of its business key.
    fn in_tx(
        self,
        tx: &mut PgConnection,
    ) -> impl Future<Output = Result<Self::Handle, Self::Error>> + Send {
        self.submit_in_tx::<PgStore>(tx)
    }
}

impl<T: Submission> EnqueueInTx for T {}

/// Runs a part of the caller's transaction in a savepoint, and retries it after a conflict. The body may return early
/// with `?`, which leaves the transaction usable.
macro_rules! part {
    ($tx:expr, |$part:ident| $body:expr) => {{
        let mut tries = 0;
        loop {
            let attempt = async {
                let mut savepoint = $tx.begin().await?;
                let $part: &mut PgConnection = &mut savepoint;
                let answer = $body;
                savepoint.commit().await?;
                Ok::<_, Fault>(answer)
            };
            match attempt.await {
                Err(Fault::Conflict) if tries < TRIES => tries += 1,
                answer => break answer,
            }
        }
    }};
}

impl InsertInTx for PgStore {
    type Connection = PgConnection;

    async fn insert_in_tx(
        &self,
        tx: &mut PgConnection,
        jobs: &[NewJob],
    ) -> Result<Vec<Inserted>, InsertError> {
        self.inner.check_ids(jobs)?;
        let inserted = part!(tx, |part| {
            let (answers, fresh) = self.inner.insert_within(part, jobs).await?;
            notify(self, part, fresh.hints()).await?;
            answers
        });
        crash_point(CrashPoint::InsertInTx);
        Ok(inserted?)
    }

    async fn insert_graph_in_tx(
        &self,
        tx: &mut PgConnection,
        graph: &NewGraph,
    ) -> Result<GraphInserted, InsertError> {
        self.inner.check_ids(&graph.jobs)?;
        let inserted = part!(tx, |part| {
            let (inserted, post_commit) =
                self.inner.insert_graph_within(part, graph, Stored::default()).await?;
            notify(self, part, post_commit.hints).await?;
            inserted
        });
        crash_point(CrashPoint::InsertInTx);
        Ok(inserted?)
    }

    async fn add_members_in_tx(
        &self,
        tx: &mut PgConnection,
        extend: &Extend,
    ) -> Result<GraphInserted, InsertError> {
        self.inner.check_ids(&extend.jobs)?;
        let inserted = part!(tx, |part| {
            let ids = Stored::default().ids;
            let (inserted, post_commit, _) = self.inner.extend_within(part, extend, ids).await?;
            notify(self, part, post_commit.hints).await?;
            inserted
        });
        crash_point(CrashPoint::InsertInTx);
        Ok(inserted?)
    }
}

impl PgStore {
    /// Cancels a job in a transaction of the caller. A running handler is notified when the transaction commits.
    ///
    /// ```no_run
    /// # use ratchet_store::model::{CommandError, JobId};
    /// # use ratchet_pg::PgStore;
    /// # async fn demo(store: &PgStore, tx: &mut sqlx::PgConnection, id: JobId) -> Result<(), CommandError> {
    /// store.cancel_in_tx(tx, id).await?;
    /// # Ok(()) }
    /// ```
    pub async fn cancel_in_tx(
        &self,
        tx: &mut PgConnection,
        id: JobId,
    ) -> Result<CommandReply, CommandError> {
        self.command_in_tx(tx, Command::Cancel(id, CancelCause::Requested)).await
    }

    /// Sets the due time of a pending job in a transaction of the caller.
    ///
    /// ```no_run
    /// # use ratchet_store::model::{CommandError, Due, JobId};
    /// # use ratchet_pg::PgStore;
    /// # async fn demo(store: &PgStore, tx: &mut sqlx::PgConnection, id: JobId) -> Result<(), CommandError> {
    /// store.reschedule_in_tx(tx, id, Due::In(std::time::Duration::from_secs(60))).await?;
    /// # Ok(()) }
    /// ```
    pub async fn reschedule_in_tx(
        &self,
        tx: &mut PgConnection,
        id: JobId,
        due: Due,
    ) -> Result<CommandReply, CommandError> {
        self.command_in_tx(tx, Command::Reschedule(id, due)).await
    }

    async fn command_in_tx(
        &self,
        tx: &mut PgConnection,
        command: Command,
    ) -> Result<CommandReply, CommandError> {
        let done = part!(tx, |part| {
            let mut post_commit = PostCommit::default();
            let reply = self.inner.command_within(part, &command, &mut post_commit).await?;
            notify(self, part, post_commit.hints).await?;
            reply
        });
        Ok(done?)
    }
}

/// Sends hints that are delivered when the transaction commits.
async fn notify(store: &PgStore, db: &mut PgConnection, hints: Vec<Hint>) -> Result<(), Fault> {
    /// No process has this origin, so all processes accept the hints, including this one.
    const ORIGIN: &str = "tx";
    let lines: BTreeSet<_> = hints.iter().filter_map(|hint| line(ORIGIN, hint)).collect();
    if lines.is_empty() {
        return Ok(());
    }
    let lines: Vec<_> = lines.into_iter().collect();
    let sent = db::query(store.inner.sql.notify()).bind(&store.inner.channel).bind(lines);
    sent.execute(db).await?;
    Ok(())
}
