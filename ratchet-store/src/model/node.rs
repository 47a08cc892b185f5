//! Worker nodes, their leases and heartbeats.

use serde::Serialize;
use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::{CatalogEntry, KnownJobs, NodeId, NodeRequest, Token};

/// The data that a node registers when it joins.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NodeInfo {
    /// The id of the node.
    pub id: NodeId,
    /// The name of the host it runs on.
    pub host: String,
    /// Its process id.
    pub pid: u32,
    /// The version of the application.
    pub binary_version: String,
    /// What the program declares in its code.
    pub declarations: Declarations,
    /// The queues it claims from.
    pub queues: BTreeSet<String>,
    /// The jobs it can run.
    pub known: Arc<KnownJobs>,
    /// What the node records in the catalog when it joins. Nodes that are read have none.
    #[serde(skip)]
    pub catalog: Arc<Vec<CatalogEntry>>,
    /// Whether the node has called [`Store::try_declare`](crate::Store::try_declare) under a former id. Nodes that are read
    /// have not.
    #[serde(skip)]
    pub declared: bool,
    /// What an operator has requested of the node. A node that joins again under a new id brings its request with it.
    pub request: Option<NodeRequest>,
}

impl NodeInfo {
    /// Creates the data of a node without queues and jobs.
    pub fn new(id: NodeId) -> Self {
        Self {
            id,
            host: String::new(),
            pid: 0,
            binary_version: String::new(),
            declarations: Declarations::default(),
            queues: BTreeSet::new(),
            known: Arc::default(),
            catalog: Arc::default(),
            declared: false,
            request: None,
        }
    }
}

/// Identifies what one build of a program declares in its code, for example the schedules of its recurring jobs.
///
/// Two builds with equal declarations have the same fingerprint. Fingerprints have no order: the newest declarations of
/// a program are those that started last, see [`Store::try_declare`](crate::Store::try_declare).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize)]
pub struct Declarations {
    /// The name of the program.
    pub program: String,
    /// A fingerprint of everything that it declares.
    pub fingerprint: u64,
}

/// The stored state of a node.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::NodeRecord;
///
/// fn show(node: &NodeRecord) {
///     let lease = if node.alive { "expires" } else { "expired" };
///     println!("{} on {}: version {}", node.info.id, node.info.host, node.info.binary_version);
///     println!("its lease {lease} at {}", node.lease_until);
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeRecord {
    /// The data registered by the node.
    pub info: NodeInfo,
    /// When the node joined.
    pub joined_at: Timestamp,
    /// When the lease expires or expired.
    pub lease_until: Timestamp,
    /// Whether the lease is still valid.
    pub alive: bool,
}

/// The reply to a heartbeat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heartbeat {
    /// The lease was renewed.
    Renewed {
        /// Runs of this node that were canceled and still hold their slots.
        canceled: Vec<Token>,
        /// What an operator requests of the node.
        request: Option<NodeRequest>,
    },
    /// The lease had expired before the heartbeat and cannot be renewed. The node must stop its runs and join again
    /// under a new id.
    Lost,
}
