//! [`Ledger`]: the idempotency keys that were used.

use std::sync::Arc;
use std::time::Duration;

use ratchet_store::StoreError;
use ratchet_store::model::{Change, ChangeReply, KeyKind, PurgeKeys};

use super::Ratchet;
use super::acting::{Manner, store_error, unexpected};
use crate::runtime::Core;

/// Deletes idempotency keys; see [`Ratchet::ledger`].
///
/// ```
/// # mod ratchet { pub use ratchet_core as manage; }
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
/// use ratchet::manage::KeyKind;
///
/// let year = Duration::from_hours(24 * 365);
/// let imports = KeyKind::Clear { tenant: None, prefix: "import:".to_owned() };
/// let deleted = ratchet.ledger().purge(imports, year).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Ledger {
    core: Arc<Core>,
    manner: Manner,
}

impl Ratchet {
    /// Returns access to the ledger: the idempotency keys that were used. Keys without a lifetime are kept permanently, also
    /// after their jobs were deleted.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use ratchet_core::{KeyKind, Ratchet};
    /// # use ratchet_memory::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
    /// let year = Duration::from_hours(24 * 365);
    /// let digests = ratchet.ledger().purge(KeyKind::Erased, year).await?;
    /// assert_eq!(digests, 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn ledger(&self) -> Ledger {
        Ledger { core: Arc::clone(&self.core), manner: self.manner() }
    }
}

impl Ledger {
    /// Deletes idempotency keys that were used at least this long ago, in several commits. Returns their number. A later
    /// submit with one of them creates a job.
    pub async fn purge(&self, kind: KeyKind, age: Duration) -> Result<u64, StoreError> {
        self.purge_some(kind, age, u64::MAX).await
    }

    /// Deletes like [`Self::purge`], and stops after the commit with which it has deleted at least this many keys. A request
    /// with a time limit can then be repeated.
    pub async fn purge_some(
        &self,
        kind: KeyKind,
        age: Duration,
        enough: u64,
    ) -> Result<u64, StoreError> {
        const BATCH: u32 = 1000;
        let mut removed = 0;
        while removed < enough {
            let change = Change::PurgeKeys(PurgeKeys::new(kind.clone(), age, BATCH));
            let reply = self.core.operate(&self.manner, "ledger.purge", change).await;
            match reply.map_err(store_error)? {
                ChangeReply::KeysPurged(0) => break,
                ChangeReply::KeysPurged(keys) => removed += keys,
                _ => return Err(unexpected()),
            }
        }
        Ok(removed)
    }
}
