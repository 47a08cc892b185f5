//! A throwaway PostgreSQL for all test processes of a run, and a clean database for each test.

// Each test file uses what it needs.
#![allow(dead_code, unused_imports)]

mod database;
mod own;
mod server;

use std::sync::Arc;
use std::time::Duration;

use ratchet_conformance::{Harness, async_trait};
use ratchet_core::store::Store;
use ratchet_pg::{PgOptions, PgStore};

pub(crate) use database::Database;
pub(crate) use own::{OwnServer, Pooler};

/// A store on a clean database, on a clock that can be moved.
pub(crate) struct PgHarness {
    pub(crate) store: PgStore,
    pub(crate) database: Database,
}

#[async_trait]
impl Harness for PgHarness {
    async fn fresh() -> Self {
        let database = Database::take().await;
        let store = PgStore::open(database.options()).await.expect("the store opens");
        Self { store, database }
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.store.clone())
    }

    async fn advance(&self, by: Duration) {
        self.database.advance(by).await;
    }
}

/// A store that only polls, as behind a transaction pooler.
pub(crate) struct PollHarness(PgHarness);

#[async_trait]
impl Harness for PollHarness {
    async fn fresh() -> Self {
        let database = Database::take().await;
        let options: PgOptions = database.options().poll_only();
        let store = PgStore::open(options).await.expect("the store opens");
        Self(PgHarness { store, database })
    }

    fn store(&self) -> Arc<dyn Store> {
        self.0.store()
    }

    async fn advance(&self, by: Duration) {
        self.0.advance(by).await;
    }

    fn sends_wakes(&self) -> bool {
        // Hints within the process still arrive.
        true
    }
}
