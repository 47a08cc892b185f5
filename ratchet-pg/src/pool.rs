//! The connection pool of a store, and how operations borrow connections from it.
//!
//! Behind a transaction pooler, a server connection is assigned only for one transaction. A statement that is prepared
//! outside of a transaction may be executed on another server connection, and session settings leak to other clients.
//! Therefore every statement there runs in a transaction that brings its own settings.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

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

#[derive(Debug, Clone)]
pub(crate) struct Pool {
    connections: PgPool,
    /// The statement that begins a transaction. Set only behind a transaction pooler.
    begin: Option<SqlStr>,
    cache: Arc<ConnectionCache>,
}

/// The most connections kept warm: one for each exchange that a worker has in flight.
const MOST_WARM: u32 = 3;

impl Pool {
    pub(crate) fn new(connections: PgPool, begin: Option<SqlStr>) -> Self {
        // The listener needs a connection of its own, and the pool must always have one left to lend.
        let most = connections.options().get_max_connections().saturating_sub(3).min(MOST_WARM);
        Self { connections, begin, cache: Arc::new(ConnectionCache::new(most as usize)) }
    }

    pub(crate) async fn begin(&self) -> Result<Transaction<'static, Postgres>, Error> {
        match &self.begin {
            Some(begin) => self.connections.begin_with(begin.clone()).await,
            None => self.connections.begin().await,
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
        Ok(Lent::Free { db: self.connections.acquire().await?, since: Instant::now(), cache })
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
        if self.begin.is_none() {
            return self.connections.fetch_many(query);
        }
        // No row is returned before the commit.
        let all = async move {
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
        if self.begin.is_none() {
            return self.connections.fetch_optional(query);
        }
        let one = async move {
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
