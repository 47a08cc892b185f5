//! Measurements of the database file, for the doctor.

use std::collections::BTreeSet;

use ratchet_store::model::{FileSizes, Vitals};
use sqlx::Row as _;

use crate::query::Look;
use crate::sql;
use crate::unreadable::or_report;
use crate::value::time;

/// The tables, views and indexes of the newest schema. A test compares them with a migrated file.
const OBJECTS: &str = include_str!("../migrations/objects.txt");

/// How many damaged pages are named.
const NAMED: &str = "PRAGMA quick_check(10)";

impl Look<'_> {
    /// Measures the file, whose log has `log` bytes. With `thorough`, every page is read.
    pub(crate) async fn vitals(&mut self, log: u64, thorough: bool) -> Result<Vitals, sqlx::Error> {
        let mut vitals = Vitals::default();
        let objects = sqlx::query(sql::schema::LIST_OBJECTS).fetch_all(&mut *self.conn).await?;
        let objects: BTreeSet<String> =
            objects.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
        let is_missing = |name: &&str| !objects.contains(*name);
        vitals.missing = OBJECTS.lines().filter(is_missing).map(str::to_owned).collect();
        let leader = sqlx::query(sql::node::GET_LEADER).fetch_optional(&mut *self.conn).await?;
        if let Some(row) = leader {
            vitals.leader_until = or_report("leader", time(row.try_get(0)?))?;
        }
        if self.pragma("PRAGMA synchronous").await? < 2 {
            vitals.unsafe_commits = Some("synchronous = NORMAL".to_owned());
        }
        let page = self.pragma("PRAGMA page_size").await?;
        vitals.file = Some(FileSizes {
            total: self.pragma("PRAGMA page_count").await?.saturating_mul(page),
            free: self.pragma("PRAGMA freelist_count").await?.saturating_mul(page),
            log,
        });
        if thorough {
            let rows = sqlx::query(NAMED).fetch_all(&mut *self.conn).await?;
            let lines: Vec<String> =
                rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
            vitals.damage = lines.into_iter().filter(|line| line != "ok").collect();
        }
        Ok(vitals)
    }

    pub(crate) async fn pragma(&mut self, pragma: &'static str) -> Result<u64, sqlx::Error> {
        let row = sqlx::query(pragma).fetch_one(&mut *self.conn).await?;
        Ok(row.try_get::<i64, _>(0)?.unsigned_abs())
    }
}
