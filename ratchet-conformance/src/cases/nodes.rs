//! Nodes: leases, heartbeats and leadership.

use ratchet_store::StoreErrorKind;
use ratchet_store::model::{
    Actor, AuditFilter, AuditNote, Change, ChangeReply, Declarations, Heartbeat, NodeAction,
    NodeId, NodeRecord, NodeReply, NodeRequest, NodeUpdate,
};

use crate::World;
use crate::fixture::{JobExt, Node, RunExt, hours, secs};

const LEASE: std::time::Duration = secs(15);

async fn nodes(world: &World) -> Vec<NodeRecord> {
    world.store.nodes().await.expect("nodes are listed")
}

pub async fn p_01_heartbeat_renews_the_lease(world: &World) {
    let node = world.mortal(LEASE).await;
    world.pass(secs(10)).await;
    assert_eq!(
        node.heartbeat(LEASE).await,
        Heartbeat::Renewed { canceled: Vec::new(), request: None }
    );
    world.pass(secs(10)).await;
    assert!(nodes(world).await[0].alive);
    world.pass(secs(5)).await;
    assert!(nodes(world).await.is_empty());
}

async fn request_of(world: &World, node: NodeId, update: NodeUpdate) -> NodeReply {
    let actor = Actor::new("ada").reason("a new kernel");
    let note = AuditNote::new(actor.clone(), "nodes.update");
    let change = Change::Node { node, update, actor: Some(actor) };
    match world.store.operate(change, Some(note)).await.expect("operates").reply {
        ChangeReply::Node(reply) => reply,
        other => panic!("{other:?} is no reply to a request"),
    }
}

pub async fn o_01_a_request_reaches_its_node(world: &World) {
    let (node, other) = (world.mortal(LEASE).await, world.mortal(LEASE).await);
    let quiet = NodeUpdate::Request(NodeAction::Quiet);
    let NodeReply::Changed(Some(request)) = request_of(world, node.info().id, quiet).await else {
        panic!("the request is new")
    };
    assert_eq!(
        (request.action, request.to_string().as_str()),
        (NodeAction::Quiet, "ada (code), reason: a new kernel")
    );
    let heard = |request| Heartbeat::Renewed { canceled: Vec::new(), request };
    assert_eq!(node.heartbeat(LEASE).await, heard(Some(request.clone())));
    assert_eq!(other.heartbeat(LEASE).await, heard(None));
    let listed: Vec<Option<NodeRequest>> =
        nodes(world).await.into_iter().map(|node| node.info.request).collect();
    assert!(listed.contains(&Some(request.clone())) && listed.contains(&None), "{listed:?}");
    assert_eq!(
        request_of(world, node.info().id, quiet).await,
        NodeReply::Unchanged(Some(request.clone()))
    );
    // Joining again does not forget it.
    node.join(LEASE).await;
    assert_eq!(node.heartbeat(LEASE).await, heard(Some(request)));
    assert_eq!(
        request_of(world, node.info().id, NodeUpdate::Resume).await,
        NodeReply::Changed(None)
    );
    assert_eq!(node.heartbeat(LEASE).await, heard(None));
    let target = format!("node {}", node.info().id);
    let filter = AuditFilter { target: Some(target), ..AuditFilter::default() };
    let trail = world.store.audit(&filter, None, true, 10).await.expect("reads");
    let changes: Vec<_> =
        trail.iter().map(|it| (it.before.as_deref(), it.after.as_deref())).collect();
    let (none, some) = (Some(r#"{"request":null}"#), Some(r#"{"request":"quiet"}"#));
    assert_eq!(
        changes,
        [(none, some), (some, none)],
        "a request that changes nothing is not recorded"
    );
}

pub async fn o_01_a_node_brings_its_request_to_its_new_identity(world: &World) {
    let mut info = world.stranger().info();
    info.request = Some(NodeRequest::new(NodeAction::Quiet, None, world.now().await));
    world.store.join(info.clone(), LEASE).await.expect("joins");
    assert_eq!(nodes(world).await[0].info.request, info.request);
}

pub async fn o_01_only_a_live_node_can_be_requested(world: &World) {
    let node = world.mortal(LEASE).await;
    world.pass(LEASE).await;
    let stop = NodeUpdate::Request(NodeAction::Stop);
    for id in [node.info().id, world.stranger().info().id] {
        assert_eq!(request_of(world, id, stop).await, NodeReply::NotFound);
    }
}

pub async fn p_03_lost_lease_is_never_renewed(world: &World) {
    let node = world.mortal(LEASE).await;
    world.pass(LEASE).await;
    assert_eq!(node.heartbeat(LEASE).await, Heartbeat::Lost);
    assert_eq!(node.heartbeat(LEASE).await, Heartbeat::Lost);
    world.submit(world.job()).await;
    assert!(node.claim(1).await.is_empty());
}

pub async fn p_03_heartbeat_of_a_stranger_is_lost(world: &World) {
    assert_eq!(world.stranger().heartbeat(LEASE).await, Heartbeat::Lost);
}

pub async fn p_03_heartbeat_after_leaving_is_lost(world: &World) {
    let node = world.mortal(LEASE).await;
    node.leave().await;
    assert_eq!(node.heartbeat(LEASE).await, Heartbeat::Lost);
}

pub async fn p_03_lost_identity_cannot_join_while_it_holds_jobs(world: &World) {
    let node = world.mortal(LEASE).await;
    world.run_on(&node, world.job()).await;
    world.pass(LEASE).await;
    let refused = world.store.join(node.info(), LEASE).await.expect_err("its job would strand");
    assert_eq!(refused.kind(), StoreErrorKind::Data);
    assert_eq!(world.orphans().await.len(), 1);
}

pub async fn p_01_joining_twice_is_harmless(world: &World) {
    let node = world.mortal(LEASE).await;
    let run = world.run_on(&node, world.job()).await;
    node.join(LEASE).await;
    assert_eq!(nodes(world).await.len(), 1);
    world.apply(run.succeed()).await;
}

pub async fn c_04_nodes_tell_of_themselves(world: &World) {
    let node = world.stranger().serving(&["a", "b"]);
    let before = world.now().await;
    node.join(LEASE).await;
    let listed = nodes(world).await;
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].info, node.info());
    assert!(listed[0].alive && listed[0].joined_at >= before);
    assert_eq!(listed[0].lease_until, listed[0].joined_at + LEASE);
}

pub async fn p_01_dead_node_is_listed_while_it_holds_jobs(world: &World) {
    let node = world.mortal(LEASE).await;
    let run = world.run_on(&node, world.job()).await;
    world.pass(LEASE).await;
    let listed = nodes(world).await;
    assert_eq!((listed.len(), listed[0].alive), (1, false));
    world.apply(run.rescue(1)).await;
    assert!(nodes(world).await.is_empty());
}

/// Returns the names that no node knows, with their numbers.
async fn unknown(world: &World) -> Vec<(String, u64)> {
    let unknown = world.store.unknown_jobs().await.expect("unknown jobs are listed");
    unknown.into_iter().map(|unknown| (unknown.name, unknown.waiting)).collect()
}

pub async fn e_10_the_oldest_unknown_job_is_told(world: &World) {
    world.submit(world.job()).await;
    world.pass(hours(1)).await;
    let second = world.submit(world.job().version(2)).await;
    world.pass(hours(1)).await;
    world.submit(world.job().version(3)).await;
    world.node().await;
    let unknown = world.store.unknown_jobs().await.expect("unknown jobs are listed");
    let oldest = world.get(second).await.queued_at;
    let reported: Vec<_> = unknown.iter().map(|it| (it.waiting, it.oldest)).collect();
    assert_eq!(reported, [(2, oldest)], "the oldest one is of a version that a node knows");
}

pub async fn e_10_jobs_nobody_knows_are_told(world: &World) {
    world.submit_all(vec![world.job().named("b"), world.job().named("a"), world.job()]).await;
    world.submit(world.job().named("b").due_in(hours(1))).await;
    world.node().await;
    assert_eq!(unknown(world).await, [("a".to_owned(), 1), ("b".to_owned(), 2)]);
}

pub async fn e_10_newer_version_is_unknown(world: &World) {
    world.submit(world.job().version(2)).await;
    world.node().await;
    assert_eq!(unknown(world).await, [("mail".to_owned(), 1)]);
}

pub async fn e_10_only_live_nodes_know(world: &World) {
    world.submit(world.job()).await;
    world.mortal(LEASE).await;
    assert!(unknown(world).await.is_empty());
    world.pass(LEASE).await;
    assert_eq!(unknown(world).await, [("mail".to_owned(), 1)]);
}

pub async fn e_10_only_waiting_jobs_are_told(world: &World) {
    let paused = world.submit(world.job()).await;
    world.pause(paused).await;
    world.canceled(world.job()).await;
    assert!(unknown(world).await.is_empty());
}

pub async fn a_03_one_node_leads_at_a_time(world: &World) {
    let (a, b) = (world.node().await, world.node().await);
    assert!(a.try_lead(LEASE).await);
    assert!(!b.try_lead(LEASE).await);
    assert!(a.try_lead(LEASE).await);
}

pub async fn a_03_leader_renews_its_lease(world: &World) {
    let (a, b) = (world.node().await, world.node().await);
    assert!(a.try_lead(LEASE).await);
    world.pass(secs(10)).await;
    assert!(a.try_lead(LEASE).await);
    world.pass(secs(10)).await;
    assert!(!b.try_lead(LEASE).await);
}

pub async fn a_03_leadership_moves_when_the_leader_is_silent(world: &World) {
    let (a, b) = (world.node().await, world.node().await);
    assert!(a.try_lead(LEASE).await);
    world.pass(LEASE).await;
    assert!(b.try_lead(LEASE).await);
    assert!(!a.try_lead(LEASE).await);
}

pub async fn a_03_a_leader_that_lost_its_lease_is_replaced_at_once(world: &World) {
    let (dead, other) = (world.mortal(secs(5)).await, world.node().await);
    assert!(dead.try_lead(LEASE).await);
    world.pass(secs(4)).await;
    assert!(!other.try_lead(LEASE).await);
    world.pass(secs(1)).await;
    assert!(other.try_lead(LEASE).await);
}

pub async fn a_03_node_without_a_lease_does_not_lead(world: &World) {
    let (left, silent, stranger) =
        (world.node().await, world.mortal(secs(5)).await, world.stranger());
    left.leave().await;
    world.pass(secs(5)).await;
    for node in [&left, &silent, &stranger] {
        assert!(!node.try_lead(LEASE).await);
    }
    assert!(world.node().await.try_lead(LEASE).await, "the leadership is vacant");
}

pub async fn a_03_leaving_leader_hands_over(world: &World) {
    let (a, b) = (world.node().await, world.node().await);
    assert!(a.try_lead(LEASE).await);
    a.leave().await;
    assert!(b.try_lead(LEASE).await);
}

/// Joins a node of the program `shop` whose declarations have this fingerprint.
async fn version(world: &World, fingerprint: u64) -> Node {
    version_of(world, "shop", fingerprint).await
}

/// Joins a node of a program whose declarations have this fingerprint.
pub(crate) async fn version_of(world: &World, program: &str, fingerprint: u64) -> Node {
    let mut node = world.stranger();
    node.declarations = Declarations { program: program.to_owned(), fingerprint };
    node.join(LEASE).await;
    node
}

pub async fn t_06_the_version_that_started_last_declares(world: &World) {
    let old = version(world, 1).await;
    assert!(old.try_declare().await, "it is the only one");
    let new = version(world, u64::MAX).await;
    assert!(new.try_declare().await, "no other node has this version");
    let restarted = version(world, 1).await;
    assert!(
        !restarted.try_declare().await,
        "its version was running before the newest one started"
    );
    assert!(new.try_declare().await);
    assert!(
        version(world, u64::MAX).await.try_declare().await,
        "another node of the newest version"
    );
}

pub async fn t_06_a_node_that_has_not_declared_does_not_keep_others_from_it(world: &World) {
    let old = version(world, 1).await;
    assert!(old.try_declare().await, "it is the only one");
    // Two nodes of a new version start at the same time, or the first one dies before it declares.
    let (first, second) = (version(world, 2).await, version(world, 2).await);
    assert!(second.try_declare().await, "the first one has not declared");
    assert!(first.try_declare().await, "its declarations are the newest now");
    // A node that joins again under another id has declared under the former one.
    let mut again = world.stranger();
    again.declarations = old.declarations.clone();
    old.leave().await;
    let mut info = again.info();
    info.declared = true;
    world.store.join(info, LEASE).await.expect("joins");
    assert!(!version(world, 1).await.try_declare().await, "its version was running before");
}

pub async fn t_06_a_version_that_is_rolled_back_to_declares_again(world: &World) {
    let (old, new) = (version(world, 1).await, version(world, 2).await);
    assert!(old.try_declare().await && new.try_declare().await);
    old.leave().await;
    assert!(version(world, 1).await.try_declare().await, "no live node had the older version");
    assert!(!version(world, 2).await.try_declare().await, "it is the older one now");
}

pub async fn t_06_versions_of_other_programs_do_not_matter(world: &World) {
    let shop = version(world, 1).await;
    assert!(shop.try_declare().await);
    let other = world.node().await;
    assert!(other.try_declare().await);
    assert!(shop.try_declare().await);
}

pub async fn t_06_a_node_without_a_lease_does_not_declare(world: &World) {
    let (left, silent, stranger) =
        (world.node().await, world.mortal(secs(5)).await, world.stranger());
    left.leave().await;
    world.pass(secs(5)).await;
    for node in [&left, &silent, &stranger] {
        assert!(!node.try_declare().await);
    }
}
