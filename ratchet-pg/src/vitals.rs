//! Measurements of the database, for the doctor.

use std::collections::BTreeMap;

use ratchet_store::model::{Connections, OpenTransaction, TableRows, Vitals};
use sqlx::Row as _;

use crate::db;
use crate::fault::Fault;
use crate::spec::{duration, instant, to_u64};
use crate::store::Inner;

/// The tables, views, sequences and indexes of the newest schema. A test compares them with a migrated database.
const OBJECTS: &str = include_str!("../migrations/objects.txt");

impl Inner {
    pub(crate) async fn vitals(&self) -> Result<Vitals, Fault> {
        let mut vitals = Vitals::default();
        let found = db::query(self.sql.select_objects()).fetch_all(&self.pool).await?;
        let mut objects = BTreeMap::new();
        for row in &found {
            objects.insert(row.try_get::<String, _>("name")?, row.try_get::<bool, _>("valid")?);
        }
        let is_broken = |name: &&str| !objects.get(*name).copied().unwrap_or_default();
        vitals.missing = OBJECTS.lines().filter(is_broken).map(str::to_owned).collect();
        let server = db::query(self.sql.select_server()).fetch_one(&self.pool).await?;
        let time =
            |column| Ok::<_, sqlx::Error>(server.try_get::<Option<i64>, _>(column)?.map(instant));
        vitals.leader_until = time("leader_until")?;
        vitals.partitions_until = time("partitions_until")?;
        vitals.unsafe_commits = server.try_get("unsafe_commits")?;
        vitals.no_autovacuum = server.try_get("no_autovacuum")?;
        vitals.unencrypted = server.try_get("unencrypted")?;
        vitals.connections = Some(Connections {
            open: to_u64(server.try_get("connections")?),
            limit: to_u64(server.try_get("max_connections")?),
        });
        let oldest = db::query(self.sql.select_oldest_transaction());
        if let Some(row) = oldest.fetch_optional(&self.pool).await? {
            vitals.oldest_transaction = Some(OpenTransaction {
                age: duration(row.try_get("age")?),
                session: row.try_get("session")?,
            });
        }
        for row in db::query(self.sql.select_tables()).fetch_all(&self.pool).await? {
            vitals.tables.push(TableRows {
                table: row.try_get("name")?,
                live: to_u64(row.try_get("live")?),
                dead: to_u64(row.try_get("dead")?),
            });
        }
        Ok(vitals)
    }
}
