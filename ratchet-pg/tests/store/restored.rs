//! A database that was restored from a backup.

use std::sync::Arc;
use std::time::Duration;

use ratchet_conformance::{Harness, async_trait, restored};
use ratchet_pg::PgStore;
use ratchet_pg::sqlx::{self, PgPool};
use ratchet_store::Store;

use crate::support::Database;

/// A store, and connections to its database.
struct Server {
    store: PgStore,
    pool: PgPool,
}

impl Server {
    async fn open(url: &str) -> Arc<Self> {
        let store = PgStore::connect(url).await.expect("opens");
        Arc::new(Self { store, pool: PgPool::connect(url).await.expect("connects") })
    }

    async fn close(&self) {
        self.store.close().await;
        self.pool.close().await;
    }
}

#[async_trait]
impl Harness for Server {
    async fn fresh() -> Self {
        unreachable!("the test opens the databases")
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.store.clone())
    }

    async fn advance(&self, by: Duration) {
        let micros = i64::try_from(by.as_micros()).expect("a test passes no ages");
        sqlx::query("SELECT setval('test_clock', (SELECT last_value FROM test_clock) + $1)")
            .bind(micros)
            .execute(&self.pool)
            .await
            .expect("the clock moves");
    }
}

// spec: A-04
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_04_a_restored_database_runs_what_ran_and_fires_what_is_due() {
    let database = Database::take().await;
    let server = Server::open(&database.url()).await;
    let mut original = restored::before(server.clone()).await;
    server.close().await;
    database.pool.close().await;
    let copy = database.copy().await;
    let server = Server::open(&database.url()).await;
    restored::after(server.clone(), &mut original).await;
    server.close().await;
    let restored = Server::open(&copy).await;
    restored::check(restored.clone(), &original).await;
    restored.close().await;
    database.drop_copy().await;
}
