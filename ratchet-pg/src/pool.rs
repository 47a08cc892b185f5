//! The connection pool of a store, and how operations borrow connections from it.
//!
//! Behind a transaction pooler, a server connection is assigned only for one transaction. A statement that is prepared
//! outside of a transaction may be executed on another server connection, and session settings leak to other clients.
//! Therefore every statement there runs in a transaction that brings its own settings.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream, StreamExt as _, TryStreamExt as _};
use futures_util::{FutureExt as _, TryFutureExt as _};
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgQueryResult, PgRow, PgStatement, PgTypeInfo};
use sqlx::{
    Connection as _, Either, Error, Execute, Executor, PgConnection, PgPool, Postgres, SqlStr,
    Transaction,
};
use tokio::time::Instant;

use crate::connection_cache::{CachedConnection, ConnectionCache, FRESH};
use crate::fault::Fault;
use crate::lost_connection::{LastLoss, is_lost};
use crate::unreachable::Diagnosis;

#[derive(Debug, Clone)]
pub(crate) struct Pool {
    connections: PgPool,
    /// The statement that begins a transaction. Set only behind a transaction pooler.
    begin: Option<SqlStr>,
    cache: Arc<ConnectionCache>,
    losses: Arc<LastLoss>,
    diagnosis: Arc<Diagnosis>,
}

/// The most connections kept warm: one for each exchange that a worker has in flight.
const MOST_WARM: u32 = 3;

impl Pool {
    pub(crate) fn new(connections: PgPool, begin: Option<SqlStr>, losses: Arc<LastLoss>) -> Self {
        // The listener needs a connection of its own, and the pool must always have one left to lend.
        let most = connections.options().get_max_connections().saturating_sub(3).min(MOST_WARM);
        let cache = Arc::new(ConnectionCache::new(most as usize));
        Self { connections, begin, cache, losses, diagnosis: Arc::default() }
    }

    pub(crate) fn connections(&self) -> &PgPool {
        &self.connections
    }

    /// Returns how long an operation waits for a new connection after its own was lost.
    pub(crate) fn reconnect_timeout(&self) -> Duration {
        self.connections.options().get_acquire_timeout()
    }

    /// Replaces the idle connections that do not work, because another one was lost.
    pub(crate) fn distrust(&self) {
        self.losses.note();
        self.cache.discard();
    }

    /// Checks idle connections if this fault means that a connection was lost.
    pub(crate) fn check_after(&self, fault: &Fault) {
        if let Fault::Database(error) | Fault::Uncertain(error) = fault
            && is_lost(error)
        {
            self.distrust();
        }
    }

    pub(crate) async fn begin(&self) -> Result<Transaction<'static, Postgres>, Error> {
        Transaction::begin(self.connection().await?, self.begin.clone()).await
    }

    /// Gets a connection from the pool. An error names the address of the server.
    async fn connection(&self) -> Result<PoolConnection<Postgres>, Error> {
        match self.connections.acquire().await {
            Ok(connection) => Ok(connection),
            Err(error) => Err(self.diagnosis.explain(&self.connections, error).await),
        }
    }

    /// Borrows a connection for a few statements. After a write, the caller must call [`done`](Lent::done).
    pub(crate) async fn acquire(&self) -> Result<Lent, Error> {
        match &self.begin {
            Some(_) => Ok(Lent::Pinned(self.begin().await?)),
            None => self.lend().await,
        }
    }

    async fn lend(&self) -> Result<Lent, Error> {
        let cache = Arc::clone(&self.cache);
        let _waits = match self.cache.take() {
            Err(waits) => waits,
            Ok(CachedConnection { mut db, since, rests }) => {
                if rests.elapsed() > FRESH
                    && let Err(error) = db.ping().await
                {
                    tracing::debug!(%error, "a connection that has rested is dead");
                    // Other warm connections may be dead as well. The pool opens new ones.
                    drop(db.detach());
                    return Box::pin(self.lend()).await;
                }
                return Ok(Lent::Free { db, since, cache });
            }
        };
        Ok(Lent::Free { db: self.connection().await?, since: Instant::now(), cache })
    }

    /// Returns whether every statement runs in a transaction.
    pub(crate) fn is_pinned(&self) -> bool {
        self.begin.is_some()
    }

    pub(crate) fn size(&self) -> u32 {
        self.connections.size()
    }

    pub(crate) async fn close(&self) {
        self.cache.close();
        self.connections.close().await;
    }
}

/// A connection borrowed for a few statements.
#[derive(Debug)]
pub(crate) enum Lent {
    /// Each statement commits by itself. `since` is when the pool last lent this connection.
    Free { db: PoolConnection<Postgres>, since: Instant, cache: Arc<ConnectionCache> },
    /// All statements commit together in [`done`](Lent::done).
    Pinned(Transaction<'static, Postgres>),
}

impl Lent {
    /// Commits the writes and keeps the connection for the next operation. If a connection is dropped instead, the pool
    /// checks it.
    pub(crate) async fn done(self) -> Result<(), Error> {
        match self {
            Self::Free { db, since, cache } => {
                cache.keep(db, since);
                Ok(())
            }
            Self::Pinned(tx) => tx.commit().await,
        }
    }
}

impl Deref for Lent {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        match self {
            Self::Free { db, .. } => db,
            Self::Pinned(tx) => tx,
        }
    }
}

impl DerefMut for Lent {
    fn deref_mut(&mut self) -> &mut PgConnection {
        match self {
            Self::Free { db, .. } => db,
            Self::Pinned(tx) => tx,
        }
    }
}

/// Executes a single statement.
impl<'p> Executor<'p> for &'p Pool {
    type Database = Postgres;

    fn fetch_many<'e, 'q: 'e, E>(
        self,
        query: E,
    ) -> BoxStream<'e, Result<Either<PgQueryResult, PgRow>, Error>>
    where
        'p: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        // No row is returned before the commit.
        let all = async move {
            if self.begin.is_none() {
                let mut db = self.connection().await?;
                let all: Vec<_> = db.fetch_many(query).try_collect().await?;
                return Ok(stream::iter(all.into_iter().map(Ok)));
            }
            let mut tx = self.begin().await?;
            let all: Vec<_> = tx.fetch_many(query).try_collect().await?;
            tx.commit().await?;
            Ok(stream::iter(all.into_iter().map(Ok)))
        };
        all.try_flatten_stream().boxed()
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, Result<Option<PgRow>, Error>>
    where
        'p: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        let one = async move {
            if self.begin.is_none() {
                return self.connection().await?.fetch_optional(query).await;
            }
            let mut tx = self.begin().await?;
            let row = tx.fetch_optional(query).await?;
            tx.commit().await?;
            Ok(row)
        };
        one.boxed()
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &'e [PgTypeInfo],
    ) -> BoxFuture<'e, Result<PgStatement, Error>>
    where
        'p: 'e,
    {
        self.connections.prepare_with(sql, parameters)
    }
}
