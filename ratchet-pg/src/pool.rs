//! Where connections come from.
//!
//! Behind a transaction pooler a connection is one only for as long as a transaction: what is prepared outside of one may be
//! bound on another server, and what is set stays with a stranger. There everything runs in a transaction that brings its
//! settings along, whoever asks and for however little.

use std::ops::{Deref, DerefMut};

use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream, StreamExt as _, TryStreamExt as _};
use futures_util::{FutureExt as _, TryFutureExt as _};
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgQueryResult, PgRow, PgStatement, PgTypeInfo};
use sqlx::{Either, Error, Execute, Executor, PgConnection, PgPool, Postgres, SqlStr, Transaction};

/// The connections of a store.
#[derive(Debug, Clone)]
pub(crate) struct Pool {
    pool: PgPool,
    /// Behind a pooler: how a transaction begins.
    begin: Option<SqlStr>,
}

impl Pool {
    pub(crate) fn new(pool: PgPool, begin: Option<SqlStr>) -> Self {
        Self { pool, begin }
    }

    pub(crate) async fn begin(&self) -> Result<Transaction<'static, Postgres>, Error> {
        match &self.begin {
            Some(begin) => self.pool.begin_with(begin.clone()).await,
            None => self.pool.begin().await,
        }
    }

    /// A connection for a few statements. Whoever writes says when it is [done](Lent::done).
    pub(crate) async fn acquire(&self) -> Result<Lent, Error> {
        match &self.begin {
            Some(_) => Ok(Lent::Pinned(self.begin().await?)),
            None => Ok(Lent::Free(self.pool.acquire().await?)),
        }
    }

    pub(crate) fn size(&self) -> u32 {
        self.pool.size()
    }

    pub(crate) async fn close(&self) {
        self.pool.close().await;
    }
}

/// A connection that is lent for a few statements.
#[derive(Debug)]
pub(crate) enum Lent {
    /// Each statement commits by itself.
    Free(PoolConnection<Postgres>),
    /// All of them together, when done.
    Pinned(Transaction<'static, Postgres>),
}

impl Lent {
    /// What was written is to stay.
    pub(crate) async fn done(self) -> Result<(), Error> {
        match self {
            Self::Free(_) => Ok(()),
            Self::Pinned(tx) => tx.commit().await,
        }
    }
}

impl Deref for Lent {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        match self {
            Self::Free(db) => db,
            Self::Pinned(tx) => tx,
        }
    }
}

impl DerefMut for Lent {
    fn deref_mut(&mut self) -> &mut PgConnection {
        match self {
            Self::Free(db) => db,
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
            return self.pool.fetch_many(query);
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
            return self.pool.fetch_optional(query);
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
        self.pool.prepare_with(sql, parameters)
    }
}
