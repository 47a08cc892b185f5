//! [`Archive`]: jobs that are kept after their retention.

use std::sync::Arc;
use std::time::Duration;

use ratchet_store::StoreError;
use ratchet_store::model::{ArchiveStatus, Change, ChangeReply, JobState};

use super::Ratchet;
use super::acting::{Manner, store_error, unexpected};
use crate::runtime::Core;

/// Describes the archive and removes jobs from it; see [`Ratchet::archive`].
///
/// ```
/// # mod ratchet { pub use ratchet_core::JobState; }
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
/// use ratchet::JobState;
///
/// println!("{} jobs are archived", ratchet.archive().status().await?.jobs());
/// let year = Duration::from_hours(24 * 365);
/// ratchet.archive().purge(JobState::Succeeded, year).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Archive {
    pub(crate) core: Arc<Core>,
    manner: Manner,
}

impl Ratchet {
    /// Returns access to the archive. Archived jobs are read like others: [`Jobs::get`](crate::Jobs::get) finds them, and
    /// [`Jobs::list`](crate::Jobs::list) does if the filter selects them.
    ///
    /// ```
    /// # use ratchet_core::{ArchivedJobs, Filter, PageRequest, Ratchet};
    /// # use ratchet_memory::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
    /// let status = ratchet.archive().status().await?;
    /// println!("{} jobs are archived", status.jobs());
    /// let of_acme = Filter::any().tenant("acme").archived(ArchivedJobs::Only);
    /// let page = ratchet.jobs().list(&of_acme, PageRequest::default()).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn archive(&self) -> Archive {
        Archive { core: Arc::clone(&self.core), manner: self.manner() }
    }
}

impl Archive {
    /// Returns what the archive contains.
    pub async fn status(&self) -> Result<ArchiveStatus, StoreError> {
        self.core.store.archive_status().await
    }

    /// Deletes archived jobs of a state that were archived at least this long ago, in several commits. Returns their number.
    /// Idempotency keys are kept.
    pub async fn purge(&self, state: JobState, age: Duration) -> Result<u64, StoreError> {
        self.purge_some(state, age, u64::MAX).await
    }

    /// Deletes like [`Self::purge`], and stops after the commit with which it has deleted at least this many jobs. A request with
    /// a time limit can then be repeated.
    pub async fn purge_some(
        &self,
        state: JobState,
        age: Duration,
        enough: u64,
    ) -> Result<u64, StoreError> {
        const BATCH: u32 = 1000;
        let mut removed = 0;
        while removed < enough {
            let change = Change::PurgeArchive { state, age, limit: BATCH };
            let reply = self.core.operate(&self.manner, "archive.purge", change).await;
            match reply.map_err(store_error)? {
                ChangeReply::ArchivePurged(0) => break,
                ChangeReply::ArchivePurged(jobs) => removed += jobs,
                _ => return Err(unexpected()),
            }
        }
        Ok(removed)
    }
}
