//! Query functions that take a [`Statement`] of [`Sql`](crate::sql::Sql). The statement decides whether it stays prepared
//! on a connection. Behind a transaction pooler it must not, because the next transaction may use another server
//! connection.

use ratchet_store::env::crash::statement_point;
use sqlx::database::HasStatementCache;
use sqlx::query::{Query, QueryScalar};
use sqlx::{Database, FromRow};

use crate::sql::Statement;

/// Like `sqlx::query`, for a [`Statement`].
pub(crate) fn query<'q, DB>(statement: Statement) -> Query<'q, DB, DB::Arguments>
where
    DB: Database + HasStatementCache,
{
    let Statement { name, text, keep } = statement;
    statement_point(name);
    sqlx::query(text).persistent(keep)
}

/// Like `sqlx::query_scalar`, for a [`Statement`].
pub(crate) fn query_scalar<'q, DB, O>(statement: Statement) -> QueryScalar<'q, DB, O, DB::Arguments>
where
    DB: Database + HasStatementCache,
    (O,): for<'r> FromRow<'r, DB::Row>,
{
    let Statement { name, text, keep } = statement;
    statement_point(name);
    sqlx::query_scalar(text).persistent(keep)
}
