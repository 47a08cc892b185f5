//! A temporary PostgreSQL server for all test processes of a run, with a clean database for each test.

// Each test file uses only a part of this module.
#![allow(dead_code, unused_imports)]

mod cutter;
mod database;
mod held;
mod pooler;
mod private_server;
mod queue_driver;
mod server;
mod settlements;

use std::sync::Arc;
use std::time::Duration;

use ratchet_conformance::{Harness, async_trait, some_rounds};
use ratchet_pg::{DatabaseRole, PgStore};
use ratchet_store::Store;

pub(crate) use cutter::{Cut, Cutter};
pub(crate) use database::Database;
pub(crate) use held::{
    Held, ended_or_waits, ended_or_waits_beside, hold, meet, meet_and_notice, start, thread_of,
};
pub(crate) use pooler::Pooler;
pub(crate) use private_server::OwnServer;
pub(crate) use queue_driver::QueueDriver;
pub(crate) use settlements::{fail, lingering, release, retry, succeed};

/// Returns a port on which no program listens.
pub(crate) fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    listener.local_addr().expect("a port").port()
}

/// A store on a clean database with an adjustable clock.
pub(crate) struct PgHarness {
    pub(crate) store: PgStore,
    pub(crate) database: Database,
    pooler: Option<Pooler>,
}

impl PgHarness {
    pub(crate) fn of(store: PgStore, database: Database) -> Self {
        Self { store, database, pooler: None }
    }

    /// Opens a store that only polls, behind a transaction pooler with fewer connections than the store has.
    pub(crate) async fn pooled() -> Self {
        let database = Database::take().await;
        let pooler = Pooler::of_transactions(&database.folder(), &database.url()).await;
        let store = PgStore::open(pooler.options()).await.expect("the store opens");
        Self { store, database, pooler: Some(pooler) }
    }
}

#[async_trait]
impl Harness for PgHarness {
    async fn fresh() -> Self {
        // `scripts/proof rounds` runs the suites once more behind a pooler.
        if std::env::var_os("RATCHET_POOLED").is_some() {
            return Self::pooled().await;
        }
        let database = Database::take().await;
        // A worker must need no other rights than these. A server of `DATABASE_URL` may not let others log in.
        let options = if std::env::var_os("DATABASE_URL").is_some() {
            database.options()
        } else {
            database.options_as(DatabaseRole::Work).await
        };
        let store = PgStore::open(options).await.expect("the store opens");
        Self::of(store, database)
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.store.clone())
    }

    async fn advance(&self, by: Duration) {
        self.database.advance(by).await;
    }

    fn rounds(&self, all: usize) -> usize {
        // Thousands of jobs take minutes on a busy machine.
        if all < 1000 && self.pooler.is_none() { all } else { some_rounds(all) }
    }
}
