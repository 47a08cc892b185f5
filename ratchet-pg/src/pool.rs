//! Where connections come from.
//!
//! Behind a transaction pooler a connection is one only for as long as a transaction: what is prepared outside of one may be
//! bound on another server, and what is set stays with a stranger. There everything runs in a transaction that brings its
//! settings along, whoever asks and for however little.

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

use crate::warm::{FRESH, Kept, Warm};

/// The connections of a store.
#[derive(Debug, Clone)]
pub(crate) struct Pool {
    connections: PgPool,
    /// Behind a pooler: how a transaction begins.
    begin: Option<SqlStr>,
    warm: Arc<Warm>,
}

/// The most connections that are kept warm: as many as exchanges of one worker are in the air.
const MOST_WARM: u32 = 3;

impl Pool {
    pub(crate) fn new(connections: PgPool, begin: Option<SqlStr>) -> Self {
        // The listener has one for itself, and whoever goes to the pool must find one in the end.
        let most = connections.options().get_max_connections().saturating_sub(3).min(MOST_WARM);
        Self { connections, begin, warm: Arc::new(Warm::new(most as usize)) }
    }

    pub(crate) async fn begin(&self) -> Result<Transaction<'static, Postgres>, Error> {
        match &self.begin {
            Some(begin) => self.connections.begin_with(begin.clone()).await,
            None => self.connections.begin().await,
        }
    }

    /// A connection for a few statements. Whoever writes says when it is [done](Lent::done).
    pub(crate) async fn acquire(&self) -> Result<Lent, Error> {
        match &self.begin {
            Some(_) => Ok(Lent::Pinned(self.begin().await?)),
            None => self.lend().await,
        }
    }

    async fn lend(&self) -> Result<Lent, Error> {
        let warm = Arc::clone(&self.warm);
        let _waits = match self.warm.take() {
            Err(waits) => waits,
            Ok(Kept { mut db, since, rests }) => {
                if rests.elapsed() > FRESH
                    && let Err(error) = db.ping().await
                {
                    tracing::debug!(%error, "a connection that has rested is dead");
                    // Others may be as well; the pool opens new ones.
                    drop(db.detach());
                    return Box::pin(self.lend()).await;
                }
                return Ok(Lent::Free { db, since, warm });
            }
        };
        Ok(Lent::Free { db: self.connections.acquire().await?, since: Instant::now(), warm })
    }

    pub(crate) fn size(&self) -> u32 {
        self.connections.size()
    }

    pub(crate) async fn close(&self) {
        self.warm.close();
        self.connections.close().await;
    }
}

/// A connection that is lent for a few statements.
#[derive(Debug)]
pub(crate) enum Lent {
    /// Each statement commits by itself. With the time since when the pool has not seen it.
    Free { db: PoolConnection<Postgres>, since: Instant, warm: Arc<Warm> },
    /// All of them together, when done.
    Pinned(Transaction<'static, Postgres>),
}

impl Lent {
    /// What was written is to stay, and the connection is in order. One that is dropped instead is looked at by the pool.
    pub(crate) async fn done(self) -> Result<(), Error> {
        match self {
            Self::Free { db, since, warm } => {
                warm.keep(db, since);
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

/// A statement alone.
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
        // Nothing is told before it is committed.
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
