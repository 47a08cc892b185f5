//! Nodes, their leases, leadership and orphans.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;

use super::tables::Tables;
use ratchet_store::model::{
    Actor, Declarations, Heartbeat, JobId, NodeId, NodeInfo, NodeRecord, NodeReply, NodeUpdate,
    Orphan, later,
};
use ratchet_store::rules;
use ratchet_store::rules::node::LiveNode;
use ratchet_store::{StoreError, StoreErrorKind};

/// The nodes and their leader.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    by_id: BTreeMap<NodeId, Node>,
    leader: Option<(NodeId, Timestamp)>,
    /// The fingerprint of the newest declarations of each program.
    newest: BTreeMap<String, u64>,
}

#[derive(Debug)]
struct Node {
    info: NodeInfo,
    joined_at: Timestamp,
    lease_until: Timestamp,
    /// The jobs it has claimed.
    held: BTreeSet<JobId>,
}

impl Nodes {
    /// Returns `true` if the node has joined and its lease is valid.
    pub(super) fn is_alive(&self, node: NodeId, now: Timestamp) -> bool {
        self.by_id.get(&node).is_some_and(|node| node.lease_until > now)
    }

    pub(super) fn hold(&mut self, node: NodeId, job: JobId) {
        if let Some(node) = self.by_id.get_mut(&node) {
            node.held.insert(job);
        }
    }

    pub(super) fn release(&mut self, node: NodeId, job: JobId) {
        if let Some(node) = self.by_id.get_mut(&node) {
            node.held.remove(&job);
        }
    }

    pub(super) fn try_lead(&mut self, node: NodeId, lease: Duration, now: Timestamp) -> bool {
        let vacant = match self.leader {
            Some((leader, until)) => leader == node || until <= now || !self.is_alive(leader, now),
            None => true,
        };
        let leads = vacant && self.is_alive(node, now);
        if leads {
            self.leader = Some((node, later(now, lease)));
        }
        leads
    }

    /// Returns `true` if the node leads maintenance.
    pub(super) fn leads(&self, node: NodeId, now: Timestamp) -> bool {
        self.leader.is_some_and(|(leader, until)| leader == node && until > now)
    }

    /// Returns until when a node leads.
    pub(super) fn leader_until(&self) -> Option<Timestamp> {
        self.leader.map(|(_, until)| until)
    }

    pub(super) fn try_declare(&mut self, node: NodeId, now: Timestamp) -> bool {
        let Some(this) = self.alive(now).find(|info| info.id == node) else { return false };
        let declares = this.declarations.clone();
        let has_declared =
            |other: &NodeInfo| other.id != node && other.declared && other.declarations == declares;
        let shared = self.alive(now).any(has_declared);
        if let Some(this) = self.by_id.get_mut(&node) {
            this.info.declared = true;
        }
        if !shared {
            self.newest.insert(declares.program.clone(), declares.fingerprint);
        }
        self.are_newest(&declares)
    }

    /// Returns `true` if a node of this program has a valid lease.
    pub(super) fn runs(&self, program: &str, now: Timestamp) -> bool {
        self.alive(now).any(|info| info.declarations.program == program)
    }

    pub(super) fn are_newest(&self, declarations: &Declarations) -> bool {
        self.newest.get(&declarations.program) == Some(&declarations.fingerprint)
    }

    pub(super) fn leave(&mut self, node: NodeId, now: Timestamp) {
        if let Some(node) = self.by_id.get_mut(&node) {
            node.lease_until = node.lease_until.min(now);
        }
        self.leader = self.leader.filter(|(leader, _)| *leader != node);
    }

    /// Returns the registered data of live nodes.
    pub(super) fn alive(&self, now: Timestamp) -> impl Iterator<Item = &NodeInfo> {
        self.by_id.values().filter(move |node| node.lease_until > now).map(|node| &node.info)
    }

    /// Returns what is requested of a node; `None` if it has no valid lease.
    pub(super) fn request(&self, node: NodeId, now: Timestamp) -> Option<LiveNode> {
        let node = self.by_id.get(&node).filter(|node| node.lease_until > now)?;
        Some(LiveNode { request: node.info.request.clone() })
    }

    pub(super) fn update(
        &mut self,
        node: NodeId,
        update: NodeUpdate,
        actor: Option<&Actor>,
        now: Timestamp,
    ) -> NodeReply {
        let Some(node) = self.by_id.get_mut(&node).filter(|node| node.lease_until > now) else {
            return NodeReply::NotFound;
        };
        let reply = rules::node::updated(node.info.request.clone(), update, actor, now);
        if let NodeReply::Changed(request) = &reply {
            node.info.request.clone_from(request);
        }
        reply
    }

    pub(super) fn list(&self, now: Timestamp) -> Vec<NodeRecord> {
        let record = |node: &Node| {
            let mut info = node.info.clone();
            info.declared = false;
            NodeRecord {
                info,
                joined_at: node.joined_at,
                lease_until: node.lease_until,
                alive: node.lease_until > now,
            }
        };
        let nodes = self.by_id.values();
        nodes.filter(|node| node.lease_until > now || !node.held.is_empty()).map(record).collect()
    }

    fn dead_jobs(&self, now: Timestamp) -> impl Iterator<Item = JobId> {
        let dead = self.by_id.values().filter(move |node| node.lease_until <= now);
        dead.flat_map(|node| &node.held).copied()
    }
}

impl Tables {
    pub(super) fn join(
        &mut self,
        mut info: NodeInfo,
        lease: Duration,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let id = info.id;
        let lost = self.nodes.by_id.get(&id).filter(|node| node.lease_until <= now);
        let lingers = self.keys.lingering().any(|(_, run)| run.node == id);
        if lost.is_some_and(|node| !node.held.is_empty() || lingers) {
            let why = format!("node {id} has lost its lease and must join with a new identity");
            return Err(StoreError::new(StoreErrorKind::Data, why));
        }
        self.mark_deploy(&info, now);
        self.record_catalog(&info, now);
        info.catalog = std::sync::Arc::default();
        let lease_until = later(now, lease);
        let node = self.nodes.by_id.entry(id).or_insert_with(|| Node {
            info: NodeInfo::new(id),
            joined_at: now,
            lease_until,
            held: BTreeSet::new(),
        });
        info.request = node.info.request.take().or(info.request);
        info.declared |= node.info.declared;
        node.info = info;
        node.lease_until = lease_until;
        Ok(())
    }

    pub(super) fn heartbeat(&mut self, id: NodeId, lease: Duration, now: Timestamp) -> Heartbeat {
        let node = self.nodes.by_id.get_mut(&id).filter(|node| node.lease_until > now);
        let Some(node) = node else { return Heartbeat::Lost };
        node.lease_until = later(now, lease);
        let request = node.info.request.clone();
        let of_node = self.keys.lingering().filter(|(_, run)| run.node == id && run.canceled);
        Heartbeat::Renewed { canceled: of_node.map(|(token, _)| token).collect(), request }
    }

    pub(super) fn orphans(&mut self, limit: u32, now: Timestamp) -> Vec<Orphan> {
        let lost: Vec<_> = self
            .keys
            .lingering()
            .filter(|(_, run)| !self.nodes.is_alive(run.node, now))
            .map(|(token, _)| token)
            .collect();
        for token in lost {
            self.release_holds(token);
        }
        self.nodes.by_id.retain(|_, node| node.lease_until > now || !node.held.is_empty());
        let orphan = |id| {
            let row = self.jobs.get(&id)?;
            Some(Orphan { claimed: row.claimed()?, started: row.claim?.started })
        };
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        self.nodes.dead_jobs(now).filter_map(orphan).take(limit).collect()
    }
}
