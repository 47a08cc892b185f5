//! A store in a temporary directory, with a clock that the tests move.

use std::sync::Arc;
use std::time::Duration;

use ratchet_conformance::{Harness, async_trait, some_rounds};
use ratchet_core::VirtualClock;
use ratchet_sqlite::{SqliteStore, Synchronous};
use ratchet_store::Store;
use tempfile::TempDir;

pub(crate) struct SqliteHarness {
    store: SqliteStore,
    clock: VirtualClock,
    _folder: TempDir,
}

#[async_trait]
impl Harness for SqliteHarness {
    async fn fresh() -> Self {
        Self::with_max_skipped(64).await
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.store.clone())
    }

    async fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }

    fn rounds(&self, all: usize) -> usize {
        // Each job is at least two commits, and a debug build is slow.
        if all < 1000 { all } else { some_rounds(all) }
    }
}

impl SqliteHarness {
    /// Opens a store that sets jobs aside after it has skipped this many.
    pub(crate) async fn with_max_skipped(jobs: usize) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let clock = VirtualClock::new();
        let store = SqliteStore::options(folder.path().join("jobs.db"))
            // These tests do not simulate a power loss.
            .synchronous(Synchronous::Normal)
            .clock(Arc::new(clock.clone()))
            .max_skipped(jobs)
            .open()
            .await
            .expect("a store opens");
        Self { store, clock, _folder: folder }
    }
}
