//! The catalogue.

use jiff::Timestamp;
use ratchet_store::model::{CatalogueRecord, NodeInfo};
use ratchet_store::rules::catalogue;
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use crate::query::Look;
use crate::session::Session;
use crate::sql;
use crate::unreadable::readable;
use crate::value::{json, parse, time};

impl Session<'_> {
    /// Records the entries of a node that joins.
    pub(crate) async fn record_catalogue(&mut self, node: &NodeInfo) -> Result<(), sqlx::Error> {
        for entry in node.catalogue.iter() {
            sqlx::query(sql::catalogue::SAVE_ENTRY)
                .bind(&entry.name)
                .bind(node.declarations.program.as_str())
                .bind(i64::from(entry.version))
                .bind(catalogue::digest(entry))
                .bind(node.binary_version.as_str())
                .bind(self.micros())
                .bind(json(entry)?)
                .execute(&mut *self.conn)
                .await?;
        }
        if !node.catalogue.is_empty() {
            let kept = self.now.checked_sub(catalogue::KEPT).unwrap_or(Timestamp::MIN);
            let delete = sqlx::query(sql::catalogue::DELETE_OLD).bind(kept.as_microsecond());
            delete.execute(&mut *self.conn).await?;
        }
        Ok(())
    }
}

impl Look<'_> {
    pub(crate) async fn catalogue(&mut self) -> Result<Vec<CatalogueRecord>, sqlx::Error> {
        let rows = sqlx::query(sql::catalogue::LIST_ENTRIES).fetch_all(&mut *self.conn).await?;
        readable("catalogue entry", &rows, record)
    }
}

fn record(row: &SqliteRow) -> Result<CatalogueRecord, sqlx::Error> {
    Ok(CatalogueRecord::stored(
        row.try_get(0)?,
        row.try_get(1)?,
        row.try_get(2)?,
        parse(row.try_get(3)?)?,
        time(row.try_get(4)?)?,
        time(row.try_get(5)?)?,
    ))
}
