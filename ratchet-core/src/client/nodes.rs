//! [`Nodes`]: the worker processes of the cluster, and what operators request of them.

use std::sync::Arc;

use ratchet_store::StoreError;
use ratchet_store::model::{
    Change, ChangeReply, NodeAction, NodeId, NodeRecord, NodeReply, NodeUpdate,
};

use super::Ratchet;
use super::acting::{Manner, store_error, unexpected};
use crate::runtime::Core;

/// Lists the nodes of the cluster and acts on them; see [`Ratchet::nodes`].
///
/// ```
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), Box<dyn std::error::Error>> {
/// for node in ratchet.nodes().list().await? {
///     if node.info.binary_version == "1.0.0" {
///         ratchet.nodes().stop(node.info.id).await?; // its supervisor starts the new version
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Nodes {
    core: Arc<Core>,
    manner: Manner,
}

impl Ratchet {
    /// Returns a handle that lists the nodes of the cluster and acts on them.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = ratchet_core::Ratchet::builder(ratchet_memory::MemoryStore::new()).build().await?;
    /// for node in ratchet.nodes().list().await? {
    ///     println!("{} alive: {}", node.info.id, node.alive);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn nodes(&self) -> Nodes {
        Nodes { core: Arc::clone(&self.core), manner: self.manner() }
    }
}

impl Nodes {
    /// Lists the nodes with a valid lease, and those that still hold jobs.
    pub async fn list(&self) -> Result<Vec<NodeRecord>, StoreError> {
        self.core.store.nodes().await
    }

    /// Makes a node quiet: it claims no more jobs, and those that it runs continue. The node sees the request with its
    /// next heartbeat. It keeps its lease and takes part in maintenance. [`resume`](Self::resume) undoes it.
    ///
    /// Returns `false` if the node is quiet or stopping already.
    ///
    /// ```
    /// # use ratchet_core::{Actor, Ratchet};
    /// # async fn maintain(ratchet: Ratchet, node: ratchet_core::NodeId) -> Result<(), ratchet_core::NodeError> {
    /// let ada = Actor::new("ada@example.com").reason("a new kernel");
    /// ratchet.acting_as(ada).nodes().quiet(node).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`NodeError::NotFound`] if no node with a valid lease has this id.
    pub async fn quiet(&self, node: NodeId) -> Result<bool, NodeError> {
        self.update("nodes.quiet", node, NodeUpdate::Request(NodeAction::Quiet)).await
    }

    /// Lets a quiet node claim jobs again. Returns `false` if the node is not quiet.
    ///
    /// # Errors
    ///
    /// Returns [`NodeError::Stopping`] if the node was requested to stop, which cannot be undone, and
    /// [`NodeError::NotFound`] if no node with a valid lease has this id.
    pub async fn resume(&self, node: NodeId) -> Result<bool, NodeError> {
        self.update("nodes.resume", node, NodeUpdate::Resume).await
    }

    /// Stops the worker of a node gracefully, as [`Worker::stop`](crate::Worker::stop) does. The node sees the request
    /// with its next heartbeat. [`Worker::stopped`](crate::Worker::stopped) says who requested it. A supervisor may
    /// start the process again.
    ///
    /// Returns `false` if the node is stopping already.
    ///
    /// # Errors
    ///
    /// Returns [`NodeError::NotFound`] if no node with a valid lease has this id.
    pub async fn stop(&self, node: NodeId) -> Result<bool, NodeError> {
        self.update("nodes.stop", node, NodeUpdate::Request(NodeAction::Stop)).await
    }

    async fn update(
        &self,
        verb: &'static str,
        node: NodeId,
        update: NodeUpdate,
    ) -> Result<bool, NodeError> {
        let change = Change::Node { node, update, actor: self.manner.actor().cloned() };
        let reply = self.core.operate(&self.manner, verb, change).await.map_err(store_error)?;
        match reply {
            ChangeReply::Node(NodeReply::Changed(_)) => Ok(true),
            ChangeReply::Node(NodeReply::NotFound) => Err(NodeError::NotFound(node)),
            ChangeReply::Node(NodeReply::Unchanged(Some(request)))
                if update == NodeUpdate::Resume && request.action == NodeAction::Stop =>
            {
                Err(NodeError::Stopping(node))
            }
            ChangeReply::Node(_) => Ok(false),
            _ => Err(unexpected().into()),
        }
    }
}

/// Why nothing was requested of a node.
///
/// ```
/// # mod ratchet { pub use ratchet_core as manage; }
/// # async fn demo(ratchet: ratchet_core::Ratchet, node: ratchet_core::NodeId) -> Result<(), ratchet_core::NodeError> {
/// use ratchet::manage::NodeError;
///
/// match ratchet.nodes().resume(node).await {
///     Ok(_) => println!("it claims jobs"),
///     Err(NodeError::Stopping(_)) => println!("it stops, start a new worker"),
///     Err(NodeError::NotFound(_)) => println!("it has left"),
///     Err(error) => return Err(error),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NodeError {
    /// No node with a valid lease has this id.
    #[error("no node with a valid lease has the id {0}; list the nodes with `ratchet nodes list`")]
    NotFound(NodeId),
    /// The node was requested to stop.
    #[error("node {0} was requested to stop, which cannot be undone; start a new worker")]
    Stopping(NodeId),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
