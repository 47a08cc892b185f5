//! A store with a pool of the application on the same file, for transactions of the caller.

use std::time::Duration;

pub(crate) use ratchet_sqlite::EnqueueInTx;

use crate::jobs::{Greet, Shout};
use ratchet_core::{Job as _, Ratchet};
use ratchet_sqlite::SqliteStore;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};
use sqlx::{Sqlite, Transaction};

/// The poll interval. It is long, so that a worker must find the jobs by the wake-up after the commit.
const HOUR: Duration = Duration::from_hours(1);

pub(crate) struct Shop {
    pub(crate) store: SqliteStore,
    pub(crate) ratchet: Ratchet,
    pool: SqlitePool,
    _folder: tempfile::TempDir,
}

pub(crate) async fn shop() -> Shop {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("shop.db");
    let store = SqliteStore::options(&path).open().await.expect("opens");
    let builder = Ratchet::builder(store.clone()).jobs([Greet::JOB, Shout::JOB]);
    let builder = builder.config(|config| config.poll_interval = (HOUR, HOUR));
    let ratchet = builder.build().await.expect("builds");
    let pool = SqlitePool::connect_with(SqliteConnectOptions::new().filename(path)).await;
    Shop { store, ratchet, pool: pool.expect("connects"), _folder: folder }
}

impl Shop {
    pub(crate) async fn begin(&self) -> Transaction<'static, Sqlite> {
        self.pool.begin_with("BEGIN IMMEDIATE").await.expect("begins")
    }
}
