//! Turns a store with jobs into one of the previous schema version.
//!
//! The latest migration only adds objects, so they are removed again.

use sqlx::{Connection as _, PgConnection};

use crate::Problem;
use crate::address::Kind;
use crate::submit::sqlite;

const SQLITE: &str = "
    DROP INDEX ratchet_job_grp;
    ALTER TABLE ratchet_job DROP COLUMN grp;
    ALTER TABLE ratchet_job DROP COLUMN linked;
    ALTER TABLE ratchet_job DROP COLUMN wait;
    ALTER TABLE ratchet_job DROP COLUMN root_cause;
    DROP TABLE ratchet_group;
    DROP TABLE ratchet_edge;
    DROP TABLE ratchet_schedule;
    DROP TABLE ratchet_reject;
    DROP TABLE ratchet_hand_off;
    DELETE FROM ratchet_schema WHERE version >= 2;
";

const PG: &str = "
    ALTER TABLE ratchet.ready DROP COLUMN judges;
    ALTER TABLE ratchet.scheduled DROP COLUMN judges;
    ALTER TABLE ratchet.blocked DROP COLUMN judges;
    ALTER TABLE ratchet.paused DROP COLUMN judges;
    DROP TABLE ratchet.graph, ratchet.member, ratchet.job_group, ratchet.edge, ratchet.schedule,
        ratchet.reject, ratchet.hand_off;
    DROP FUNCTION ratchet.drop_part(bigint, integer);
    DELETE FROM ratchet.migration WHERE version >= 4;
";

/// Reverts the latest migration.
pub async fn make_older(address: &str) -> Result<(), Problem> {
    match Kind::of(address) {
        Kind::Sqlite => {
            let mut db = sqlite(address).await?;
            sqlx::raw_sql(SQLITE).execute(&mut db).await?;
            Ok(db.close().await?)
        }
        Kind::Pg => {
            let mut db = PgConnection::connect(address).await?;
            sqlx::raw_sql(PG).execute(&mut db).await?;
            Ok(db.close().await?)
        }
    }
}
