//! The rules of requests to nodes: which request replaces which.

use jiff::Timestamp;

use crate::model::{Actor, NodeAction, NodeReply, NodeRequest, NodeUpdate};

/// A node with a valid lease, as far as requests are concerned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LiveNode {
    /// What is requested of it.
    pub request: Option<NodeRequest>,
}

/// Returns the reply to an update of a live node with this request. A stop cannot be withdrawn, because the node may
/// have begun to stop.
pub fn updated(
    present: Option<NodeRequest>,
    update: NodeUpdate,
    actor: Option<&Actor>,
    now: Timestamp,
) -> NodeReply {
    let action = present.as_ref().map(|request| request.action);
    let new = |action| NodeReply::Changed(Some(NodeRequest::new(action, actor.cloned(), now)));
    match (action, update) {
        (None, NodeUpdate::Request(action)) => new(action),
        (Some(NodeAction::Quiet), NodeUpdate::Request(NodeAction::Stop)) => new(NodeAction::Stop),
        (Some(NodeAction::Quiet), NodeUpdate::Resume) => NodeReply::Changed(None),
        (None, NodeUpdate::Resume) | (Some(_), _) => NodeReply::Unchanged(present),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o_01_a_stop_is_final() {
        let now = Timestamp::UNIX_EPOCH;
        let request = |action| Some(NodeRequest::new(action, None, now));
        let quiet = || request(NodeAction::Quiet);
        let stop = || request(NodeAction::Stop);
        let ask = NodeUpdate::Request;
        for (present, update, reply) in [
            (None, ask(NodeAction::Quiet), NodeReply::Changed(quiet())),
            (None, ask(NodeAction::Stop), NodeReply::Changed(stop())),
            (None, NodeUpdate::Resume, NodeReply::Unchanged(None)),
            (quiet(), ask(NodeAction::Quiet), NodeReply::Unchanged(quiet())),
            (quiet(), ask(NodeAction::Stop), NodeReply::Changed(stop())),
            (quiet(), NodeUpdate::Resume, NodeReply::Changed(None)),
            (stop(), ask(NodeAction::Quiet), NodeReply::Unchanged(stop())),
            (stop(), ask(NodeAction::Stop), NodeReply::Unchanged(stop())),
            (stop(), NodeUpdate::Resume, NodeReply::Unchanged(stop())),
        ] {
            assert_eq!(
                updated(present.clone(), update, None, now),
                reply,
                "{present:?} {update:?}"
            );
        }
    }
}
