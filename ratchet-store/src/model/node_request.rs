//! What an operator requests of a node. The node sees it with its next heartbeat.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Actor;

/// What a node must do.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::{NodeAction, NodeRecord};
///
/// fn state(node: &NodeRecord) -> &'static str {
///     match &node.info.request {
///         _ if !node.alive => "lost",
///         Some(request) => request.action.state(),
///         None => "running",
///     }
/// }
/// assert_eq!(NodeAction::Quiet.state(), "quiet");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NodeAction {
    /// Claim no jobs. Jobs that are running continue.
    Quiet,
    /// Stop gracefully, as after a signal.
    Stop,
}

impl NodeAction {
    /// Returns the state of a node that does this: `quiet` or `stopping`.
    pub const fn state(self) -> &'static str {
        match self {
            Self::Quiet => "quiet",
            Self::Stop => "stopping",
        }
    }
}

/// What an operator has requested of a node, with who and when.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::{Actor, NodeAction, NodeRequest};
///
/// let ada = Actor::new("ada").via("cli").reason("a new kernel");
/// let request = NodeRequest::new(NodeAction::Stop, Some(ada), "2026-11-17T12:00:00Z".parse()?);
/// assert_eq!(request.to_string(), "ada (cli), reason: a new kernel");
/// # Ok::<_, jiff::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NodeRequest {
    /// What the node must do.
    pub action: NodeAction,
    /// Who requested it, and why; `None` if that was not recorded.
    pub actor: Option<Actor>,
    /// When it was requested.
    pub at: Timestamp,
}

impl NodeRequest {
    /// Creates a request.
    pub fn new(action: NodeAction, actor: Option<Actor>, at: Timestamp) -> Self {
        Self { action, actor, at }
    }
}

/// Names the operator and the reason, such as `ada (cli), because of a new kernel`.
impl fmt::Display for NodeRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(actor) = &self.actor else { return f.write_str("an operator") };
        write!(f, "{actor}")?;
        match &actor.reason {
            Some(reason) => write!(f, ", reason: {reason}"),
            None => Ok(()),
        }
    }
}

/// A change of what a node must do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NodeUpdate {
    /// Requests an action.
    Request(NodeAction),
    /// Withdraws the request to be quiet.
    Resume,
}

/// The reply to a [`NodeUpdate`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NodeReply {
    /// The request of the node has changed to this.
    Changed(Option<NodeRequest>),
    /// The request of the node remains this.
    Unchanged(Option<NodeRequest>),
    /// No node with a valid lease has this id.
    NotFound,
}
