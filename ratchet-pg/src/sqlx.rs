//! `sqlx` as this crate uses it: the same names, but a statement is one of [`Sql`](crate::sql::Sql), and says itself whether
//! connections keep it prepared. Behind a transaction pooler they must not: the next transaction may meet another server.

pub(crate) use ::sqlx::*;

use ::sqlx::database::HasStatementCache;
use ::sqlx::query::{Query, QueryScalar};
use ratchet_core::crash::statement_point;

use crate::sql::Statement;

/// Like `sqlx::query`.
pub(crate) fn query<'q, DB>(statement: Statement) -> Query<'q, DB, DB::Arguments>
where
    DB: Database + HasStatementCache,
{
    let Statement { name, text, keep } = statement;
    statement_point(name);
    ::sqlx::query(text).persistent(keep)
}

/// Like `sqlx::query_scalar`.
pub(crate) fn query_scalar<'q, DB, O>(statement: Statement) -> QueryScalar<'q, DB, O, DB::Arguments>
where
    DB: Database + HasStatementCache,
    (O,): for<'r> FromRow<'r, DB::Row>,
{
    let Statement { name, text, keep } = statement;
    statement_point(name);
    ::sqlx::query_scalar(text).persistent(keep)
}
