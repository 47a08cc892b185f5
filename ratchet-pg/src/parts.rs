//! Ranges of ids: made ahead of time, dropped when nothing of them is needed any more.

use std::time::Duration;

use ratchet_core::store::StoreError;
use sqlx::PgConnection;

use crate::error::store_error;
use crate::spec::micros;
use crate::sql::Sql;

/// How many ranges there are beyond the current one. Maintenance looks every minute; this is for when nobody does.
const AHEAD: u32 = 2;

/// Makes what is missing of the next ranges.
pub(crate) async fn make(
    db: &mut PgConnection,
    sql: &Sql,
    range: Duration,
) -> Result<(), StoreError> {
    let made: Result<i32, _> = sqlx::query_scalar(sql.make_parts())
        .bind(micros(range))
        .bind(micros(range * AHEAD))
        .fetch_one(db)
        .await;
    match made {
        Ok(0) => Ok(()),
        Ok(made) => {
            tracing::debug!(made, "ranges of ids were made");
            Ok(())
        }
        // Jobs of a range that is missing go to the rest, so this can wait.
        Err(error) if error.as_database_error().is_some() => {
            tracing::warn!(%error, "ranges of ids could not be made; it is tried again");
            Ok(())
        }
        Err(error) => Err(store_error(error)),
    }
}
