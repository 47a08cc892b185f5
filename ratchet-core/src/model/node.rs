//! Worker processes and their leases.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::{KnownJobs, NodeId, Token};

/// What a node tells of itself when it joins.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeInfo {
    /// Its identity.
    pub id: NodeId,
    /// The host it runs on.
    pub host: String,
    /// Its process.
    pub pid: u32,
    /// The version of the program.
    pub binary_version: String,
    /// The queues it serves.
    pub queues: BTreeSet<String>,
    /// The jobs it knows.
    pub known: Arc<KnownJobs>,
}

impl NodeInfo {
    /// A node that serves and knows nothing yet.
    pub fn new(id: NodeId) -> Self {
        Self {
            id,
            host: String::new(),
            pid: 0,
            binary_version: String::new(),
            queues: BTreeSet::new(),
            known: Arc::default(),
        }
    }
}

/// A node as the store knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeRecord {
    /// What it told of itself.
    pub info: NodeInfo,
    /// When it joined.
    pub joined_at: Timestamp,
    /// When its lease runs out, or ran out.
    pub lease_until: Timestamp,
    /// Whether the lease still holds.
    pub alive: bool,
}

/// The answer to a heartbeat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heartbeat {
    /// The lease is renewed.
    Renewed {
        /// Runs of this node that were canceled and have not been let go.
        canceled: Vec<Token>,
    },
    /// The lease ran out before this heartbeat. It is never renewed: the node must stop what it runs and join anew.
    Lost,
}
