//! [`Ratchet::rejects`]: the items that jobs have rejected.

mod trends;

use std::sync::Arc;
use std::time::Duration;

use super::Ratchet;
use super::acting::{Manner, store_error};
use crate::runtime::Core;
use ratchet_store::StoreError;
use ratchet_store::model::{Change, JobId, Reject, RejectFilter, RejectGroup};
use trends::RejectSpan;

pub use trends::{RejectTrend, RejectTrends};

impl Ratchet {
    /// Returns access to the items that jobs have rejected.
    pub fn rejects(&self) -> Rejects {
        Rejects { core: Arc::clone(&self.core), manner: self.manner() }
    }
}

/// Items that jobs have rejected with `ctx.reject_item(…)`.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let ratchet = ratchet_core::Ratchet::builder(ratchet_memory::MemoryStore::new()).build().await?;
/// use ratchet::model::RejectFilter;
///
/// for group in ratchet.rejects().groups(&RejectFilter::any()).await? {
///     println!("{} of {}: {}", group.count, group.job_name, group.error_type);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Rejects {
    core: Arc<Core>,
    manner: Manner,
}

impl Rejects {
    /// Lists rejects that match a filter, ordered by job and index: at most `limit`, starting after `after`.
    pub async fn list(
        &self,
        filter: &RejectFilter,
        after: Option<(JobId, u64)>,
        limit: u32,
    ) -> Result<Vec<Reject>, StoreError> {
        self.core.store.rejects(filter, after, limit).await
    }

    /// Counts rejects by job name, error type and fingerprint.
    pub async fn groups(&self, filter: &RejectFilter) -> Result<Vec<RejectGroup>, StoreError> {
        self.core.store.reject_groups(filter).await
    }

    /// Returns how many of the stored items were rejected in each interval of the time up to now, and how the backlog grew,
    /// for each job name, error type and fingerprint. The length of the intervals follows from `last`: there are at most 60.
    ///
    /// Items that were [deleted](Self::forget) since are not counted. The metric `ratchet.rejects` counts all of them.
    ///
    /// ```
    /// # mod ratchet { pub use ratchet_store::model; }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = ratchet_core::Ratchet::builder(ratchet_memory::MemoryStore::new()).build().await?;
    /// use std::time::Duration;
    ///
    /// use ratchet::model::RejectFilter;
    ///
    /// let filter = RejectFilter::any().job_name("import");
    /// let trends = ratchet.rejects().trends(&filter, Duration::from_hours(24)).await?;
    /// for trend in &trends.groups {
    ///     println!("{}: {:?} per {:?}", trend.error_type, trend.rejected, trends.interval);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn trends(
        &self,
        filter: &RejectFilter,
        last: Duration,
    ) -> Result<RejectTrends, StoreError> {
        let store = &self.core.store;
        let span = RejectSpan::new(store.now().await?, last);
        let counts = store.reject_counts(&span.inside(filter), span.interval).await?;
        let earlier = store.reject_groups(&span.earlier(filter)).await?;
        Ok(span.trends(earlier, counts))
    }

    /// Deletes rejects that have been handled.
    pub async fn forget(&self, rejects: &[Reject]) -> Result<(), StoreError> {
        let keys: Vec<_> = rejects.iter().map(|reject| (reject.job, reject.item.index)).collect();
        if self.manner.is_special() {
            let change = Change::ForgetRejects(keys);
            let reply = self.core.operate(&self.manner, "rejects.forget", change).await;
            return reply.map(drop).map_err(store_error);
        }
        self.core.store.forget_rejects(&keys).await
    }
}
