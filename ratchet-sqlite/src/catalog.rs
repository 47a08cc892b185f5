//! The catalog.

use jiff::Timestamp;
use ratchet_store::model::{CatalogRecord, NodeInfo};
use ratchet_store::rules::catalog;
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use crate::query::Look;
use crate::session::Session;
use crate::sql;
use crate::unreadable::readable;
use crate::value::{json, parse, time};

impl Session<'_> {
    /// Records the entries of a node that joins.
    pub(crate) async fn record_catalog(&mut self, node: &NodeInfo) -> Result<(), sqlx::Error> {
        for entry in node.catalog.iter() {
            sqlx::query(sql::catalog::SAVE_ENTRY)
                .bind(&entry.name)
                .bind(node.declarations.program.as_str())
                .bind(i64::from(entry.version))
                .bind(catalog::digest(entry))
                .bind(node.binary_version.as_str())
                .bind(self.micros())
                .bind(json(entry)?)
                .execute(&mut *self.conn)
                .await?;
        }
        if !node.catalog.is_empty() {
            let kept = self.now.checked_sub(catalog::KEPT).unwrap_or(Timestamp::MIN);
            let delete = sqlx::query(sql::catalog::DELETE_OLD).bind(kept.as_microsecond());
            delete.execute(&mut *self.conn).await?;
        }
        Ok(())
    }
}

impl Look<'_> {
    pub(crate) async fn catalog(&mut self) -> Result<Vec<CatalogRecord>, sqlx::Error> {
        let rows = sqlx::query(sql::catalog::LIST_ENTRIES).fetch_all(&mut *self.conn).await?;
        readable("catalog entry", &rows, record)
    }
}

fn record(row: &SqliteRow) -> Result<CatalogRecord, sqlx::Error> {
    Ok(CatalogRecord::stored(
        row.try_get(0)?,
        row.try_get(1)?,
        row.try_get(2)?,
        parse(row.try_get(3)?)?,
        time(row.try_get(4)?)?,
        time(row.try_get(5)?)?,
    ))
}
