//! [`Nodes`]: the worker processes of the cluster.

use std::sync::Arc;

use ratchet_store::StoreError;
use ratchet_store::model::NodeRecord;

use super::Ratchet;
use crate::runtime::Core;

/// Lists the nodes of the cluster; see [`Ratchet::nodes`].
#[derive(Debug, Clone)]
pub struct Nodes {
    core: Arc<Core>,
}

impl Ratchet {
    /// Returns a handle that lists the nodes of the cluster.
    pub fn nodes(&self) -> Nodes {
        Nodes { core: Arc::clone(&self.core) }
    }
}

impl Nodes {
    /// Lists the nodes with a valid lease, and those that still hold jobs.
    pub async fn list(&self) -> Result<Vec<NodeRecord>, StoreError> {
        self.core.store.nodes().await
    }
}
