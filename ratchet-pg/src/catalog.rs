//! The catalog.

use std::collections::BTreeMap;

use ratchet_store::model::{CatalogRecord, NodeInfo};
use ratchet_store::rules::catalog;
use sqlx::Row;
use sqlx::postgres::PgRow;

use crate::db;
use crate::fault::Fault;
use crate::spec::{clean, instant, json, micros, to_i32};
use crate::store::Inner;
use crate::unreadable::readable;

impl Inner {
    /// Records the entries of a node that joins.
    pub(crate) async fn record_catalog(&self, node: &NodeInfo) -> Result<(), Fault> {
        // One statement must not write a row twice.
        let mut entries = BTreeMap::new();
        for entry in node.catalog.iter() {
            let text = serde_json::to_string(entry);
            let text = text.map_err(|error| sqlx::Error::Encode(error.into()))?;
            let key = (clean(&entry.name), to_i32(entry.version), catalog::digest(entry));
            entries.insert(key, text);
        }
        if entries.is_empty() {
            return Ok(());
        }
        let (mut names, mut versions, mut digests, mut texts) = (vec![], vec![], vec![], vec![]);
        for ((name, version, digest), text) in entries {
            names.push(name);
            versions.push(version);
            digests.push(digest);
            texts.push(text);
        }
        db::query(self.sql.save_catalog())
            .bind(clean(&node.declarations.program))
            .bind(clean(&node.binary_version))
            .bind(names)
            .bind(versions)
            .bind(digests)
            .bind(texts)
            .execute(&self.pool)
            .await?;
        let delete = db::query(self.sql.delete_old_catalog()).bind(micros(catalog::KEPT));
        delete.execute(&self.pool).await?;
        Ok(())
    }

    pub(crate) async fn catalog(&self) -> Result<Vec<CatalogRecord>, Fault> {
        let rows = db::query(self.sql.list_catalog()).fetch_all(&self.pool).await?;
        Ok(readable("catalog entry", &rows, record)?)
    }
}

fn record(row: &PgRow) -> Result<CatalogRecord, sqlx::Error> {
    Ok(CatalogRecord::stored(
        row.try_get(0)?,
        row.try_get(1)?,
        row.try_get(2)?,
        json(row.try_get(3)?)?,
        instant(row.try_get(4)?),
        instant(row.try_get(5)?),
    ))
}
