//! [`Groups`]: queries about stored chains, batches and workflows.

use std::sync::Arc;

use ratchet_store::StoreError;
use ratchet_store::model::{GroupFilter, GroupId, GroupRecord};

use crate::client::Ratchet;
use crate::runtime::Core;

/// Lists chains, batches and workflows; see [`Ratchet::groups`].
///
/// ```
/// # mod ratchet { pub use ratchet_core as graph; pub use ratchet_store::model; }
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), ratchet_core::StoreError> {
/// use ratchet::graph::GroupFilter;
/// use ratchet::model::GroupState;
///
/// let failed = GroupFilter::any().name("import").state(GroupState::Failed);
/// let newest = ratchet.groups().list(&failed, None, 20).await?;
/// let older = ratchet.groups().list(&failed, newest.last().map(|group| group.id), 20).await?;
/// # drop(older); Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Groups {
    core: Arc<Core>,
}

impl Ratchet {
    /// Returns a handle that lists chains, batches and workflows. [`Ratchet::group`] controls one of them.
    ///
    /// ```
    /// # mod ratchet { pub use ratchet_core as graph; }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = ratchet_core::Ratchet::builder(ratchet_memory::MemoryStore::new()).build().await?;
    /// use ratchet::graph::GroupFilter;
    ///
    /// for group in ratchet.groups().list(&GroupFilter::default(), None, 20).await? {
    ///     println!("{} {}: {} of {}", group.id, group.name, group.counts.succeeded, group.counts.total);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn groups(&self) -> Groups {
        Groups { core: Arc::clone(&self.core) }
    }
}

impl Groups {
    /// Lists groups that match a filter, newest first: at most `limit`, and only those older than `before`.
    pub async fn list(
        &self,
        filter: &GroupFilter,
        before: Option<GroupId>,
        limit: u32,
    ) -> Result<Vec<GroupRecord>, StoreError> {
        self.core.store.groups(filter, before, limit).await
    }
}
