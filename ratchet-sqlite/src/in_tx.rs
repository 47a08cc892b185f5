//! Enqueues, cancels and reschedules jobs in a transaction of the caller, so that they commit together with the
//! caller's data.

use std::future::Future;

use jiff::Timestamp;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{
    Command, CommandError, CommandReply, Due, ErasedRows, Extend, GraphInserted, InsertError,
    Inserted, JobId, NewGraph, NewJob,
};
use ratchet_store::{InsertInTx, Submission};
use sqlx::SqliteConnection;

use crate::SqliteStore;
use crate::error::in_transaction;
use crate::session::{Effects, Session};
use crate::template::Templates;

/// Adds `.in_tx(&mut tx)` to `ratchet.enqueue(job)`, and to chains, batches and workflows, which are inserted all or
/// nothing.
///
/// The transaction must be a transaction of sqlx 0.9, which this crate exports as [`sqlx`], on a database file that a
/// [`SqliteStore`] has opened. The file may also hold tables of the application. Workers see the job within
/// milliseconds of the commit. [`SqliteStore::begin`] begins a transaction that does not fail as locked when it writes.
///
/// ```
/// use ratchet_core::{Job, Ratchet};
/// use ratchet_sqlite::{EnqueueInTx, SqliteStore, sqlx};
///
/// async fn place_order<J: Job>(
///     store: &SqliteStore,
///     ratchet: &Ratchet,
///     charge: J,
/// ) -> Result<(), Box<dyn std::error::Error>> {
///     let mut tx = store.begin().await?;
///     sqlx::query("INSERT INTO orders (total) VALUES (42)").execute(&mut *tx).await?;
///     let job = ratchet.enqueue(charge).in_tx(&mut tx).await?;
///     tx.commit().await?; // both, or neither
///     println!("job {} is on its way", job.id());
///     Ok(())
/// }
/// ```
pub trait EnqueueInTx: Submission {
    /// Enqueues in a transaction of the caller. Returns the handle of an existing job or group instead if the
    /// idempotency key was used before, or if the submit is set to return the holder of its business key.
    fn in_tx(
        self,
        tx: &mut SqliteConnection,
    ) -> impl Future<Output = Result<Self::Handle, Self::Error>> + Send {
        self.submit_in_tx::<SqliteStore>(tx)
    }
}

impl<T: Submission> EnqueueInTx for T {}

impl InsertInTx for SqliteStore {
    type Connection = SqliteConnection;

    async fn insert_in_tx(
        &self,
        tx: &mut SqliteConnection,
        jobs: &[NewJob],
    ) -> Result<Vec<Inserted>, InsertError> {
        insert(tx, jobs, self.shared.clock.now()).await
    }

    async fn insert_graph_in_tx(
        &self,
        tx: &mut SqliteConnection,
        graph: &NewGraph,
    ) -> Result<GraphInserted, InsertError> {
        insert_graph(tx, graph, self.shared.clock.now()).await
    }

    async fn add_members_in_tx(
        &self,
        tx: &mut SqliteConnection,
        extend: &Extend,
    ) -> Result<GraphInserted, InsertError> {
        add_members(tx, extend, self.shared.clock.now()).await
    }
}

impl SqliteStore {
    /// Cancels a job in a transaction of the caller. A running handler is notified with the next heartbeat of its
    /// worker.
    ///
    /// ```
    /// # use ratchet_store::model::{CommandError, JobId};
    /// # use ratchet_sqlite::SqliteStore;
    /// # async fn demo(store: &SqliteStore, tx: &mut sqlx::SqliteConnection, id: JobId) -> Result<(), CommandError> {
    /// store.cancel_in_tx(tx, id).await?;
    /// # Ok(()) }
    /// ```
    pub async fn cancel_in_tx(
        &self,
        tx: &mut SqliteConnection,
        id: JobId,
    ) -> Result<CommandReply, CommandError> {
        command(
            tx,
            &Command::Cancel(id, ratchet_store::model::CancelCause::Requested),
            self.shared.clock.now(),
        )
        .await
    }

    /// Sets the due time of a pending job in a transaction of the caller.
    ///
    /// ```
    /// # use ratchet_store::model::{CommandError, Due, JobId};
    /// # use ratchet_sqlite::SqliteStore;
    /// # async fn demo(store: &SqliteStore, tx: &mut sqlx::SqliteConnection, id: JobId) -> Result<(), CommandError> {
    /// store.reschedule_in_tx(tx, id, Due::In(std::time::Duration::from_secs(60))).await?;
    /// # Ok(()) }
    /// ```
    pub async fn reschedule_in_tx(
        &self,
        tx: &mut SqliteConnection,
        id: JobId,
        due: Due,
    ) -> Result<CommandReply, CommandError> {
        command(tx, &Command::Reschedule(id, due), self.shared.clock.now()).await
    }
}

async fn insert(
    tx: &mut SqliteConnection,
    jobs: &[NewJob],
    now: Timestamp,
) -> Result<Vec<Inserted>, InsertError> {
    let (templates, mut effects) = (Templates::default(), Effects::default());
    let mut session = session(tx, &templates, &mut effects, now);
    let inserted = session.insert(jobs).await.map_err(|error| in_transaction(&error))?;
    session.write_counts().await.map_err(|error| in_transaction(&error))?;
    crash_point(CrashPoint::InsertInTx);
    inserted
}

async fn add_members(
    tx: &mut SqliteConnection,
    extend: &Extend,
    now: Timestamp,
) -> Result<GraphInserted, InsertError> {
    let (templates, mut effects) = (Templates::default(), Effects::default());
    let mut session = session(tx, &templates, &mut effects, now);
    let inserted = session.extend(extend).await.map_err(|error| in_transaction(&error))?;
    session.write_counts().await.map_err(|error| in_transaction(&error))?;
    crash_point(CrashPoint::InsertInTx);
    inserted
}

async fn insert_graph(
    tx: &mut SqliteConnection,
    graph: &NewGraph,
    now: Timestamp,
) -> Result<GraphInserted, InsertError> {
    let (templates, mut effects) = (Templates::default(), Effects::default());
    let mut session = session(tx, &templates, &mut effects, now);
    let inserted = session.insert_graph(graph).await.map_err(|error| in_transaction(&error))?;
    session.write_counts().await.map_err(|error| in_transaction(&error))?;
    crash_point(CrashPoint::InsertInTx);
    inserted
}

async fn command(
    tx: &mut SqliteConnection,
    command: &Command,
    now: Timestamp,
) -> Result<CommandReply, CommandError> {
    let (templates, mut effects) = (Templates::default(), Effects::default());
    let mut session = session(tx, &templates, &mut effects, now);
    let reply = session.command(command).await.map_err(|error| in_transaction(&error))?;
    session.write_counts().await.map_err(|error| in_transaction(&error))?;
    reply
}

/// Creates a session on a transaction of the caller. Nothing is cached, because the transaction may roll back. No
/// wake-up is sent, because the writer detects the commit.
fn session<'a>(
    conn: &'a mut SqliteConnection,
    templates: &'a Templates,
    effects: &'a mut Effects,
    now: Timestamp,
) -> Session<'a> {
    Session {
        conn,
        now,
        templates,
        effects,
        max_skipped: usize::MAX,
        check_ids: true,
        damaged: false,
        erased: ErasedRows::default(),
    }
}
