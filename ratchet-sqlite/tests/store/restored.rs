//! A database that was restored from a backup.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ratchet_conformance::{Harness, async_trait, restored};
use ratchet_core::VirtualClock;
use ratchet_sqlite::{SqliteStore, Synchronous};
use ratchet_store::Store;

struct File {
    store: SqliteStore,
    clock: VirtualClock,
}

impl File {
    async fn open(path: &Path, clock: VirtualClock) -> Arc<Self> {
        let options = SqliteStore::options(path).synchronous(Synchronous::Normal);
        let store = options.clock(Arc::new(clock.clone())).open().await.expect("opens");
        Arc::new(Self { store, clock })
    }
}

#[async_trait]
impl Harness for File {
    async fn fresh() -> Self {
        unreachable!("the test opens the files")
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.store.clone())
    }

    async fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }
}

// spec: A-04
#[tokio::test]
async fn a_04_a_restored_backup_runs_what_ran_and_fires_what_is_due() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, copy) = (folder.path().join("jobs.db"), folder.path().join("backup.db"));
    let clock = VirtualClock::new();
    let file = File::open(&path, clock.clone()).await;
    let mut original = restored::before(file.clone()).await;
    file.store.backup_to(&copy).await.expect("copies");
    let now = file.store.now().await.expect("reads");
    restored::after(file, &mut original).await;
    // The clock of the restored store continues from the backup.
    let restored_clock = VirtualClock::new();
    let restored = File::open(&copy, restored_clock.clone()).await;
    let behind = now.duration_since(restored.store.now().await.expect("reads"));
    restored_clock.advance(Duration::try_from(behind).unwrap_or_default());
    restored::check(restored, &original).await;
}
