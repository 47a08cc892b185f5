//! What pages list that the shop alone does not have: an archive, a pipeline, a bulk operation, tenants in turn.

use std::time::Duration;

use ratchet_core::{Bulk, BulkVerb, Filter, JobState, OperationId, QueueLimits};
use ratchet_store::model::Acceptor;

use crate::shop::Shop;

/// Adds an object of each kind. Returns the operation, which is paused.
pub(crate) async fn add(shop: &Shop) -> OperationId {
    archive(shop).await;
    accept_hand_offs(shop).await;
    let mut limits = QueueLimits::default();
    limits.concurrency = Some(8);
    limits.fair = true;
    shop.ratchet().queues().limit("mail", limits).await.expect("limits");
    let nodes = shop.ratchet().nodes();
    let all = nodes.list().await.expect("lists");
    let last = all.iter().rfind(|node| node.alive).expect("a node");
    nodes.quiet(last.info.id).await.expect("requests");
    acknowledge(shop).await;
    change_many(shop).await
}

async fn archive(shop: &Shop) {
    let store = shop.ratchet().store();
    let archived = store.archive(JobState::Canceled, Duration::ZERO, 10).await.expect("archives");
    assert!(archived > 0, "a job was canceled");
}

async fn accept_hand_offs(shop: &Shop) {
    let store = shop.ratchet().store();
    let nodes = shop.ratchet().nodes().list().await.expect("lists");
    let node = nodes.iter().find(|node| node.info.declarations.program == "shop").expect("a node");
    assert!(store.try_declare(node.info.id).await.expect("declares"), "no other version runs");
    let acceptor = Acceptor {
        pipeline: "labels".to_owned(),
        job: "shop.ship".to_owned(),
        backlog_limit: Some(500),
    };
    let declarations = &node.info.declarations;
    store.declare_pipelines(declarations, &[acceptor]).await.expect("declares");
}

async fn acknowledge(shop: &Shop) {
    let failures = shop.ratchet().failures();
    let mut found = failures.groups(&Filter::any(), 100).await.expect("reads");
    let group = found.groups.remove(0);
    failures.acknowledge(&group.job_name, &group.fingerprint).await.expect("marks");
}

async fn change_many(shop: &Shop) -> OperationId {
    let operations = shop.ratchet().operations();
    let filter = Filter::any().state(JobState::Failed);
    let preview = operations.preview(BulkVerb::Retry, &filter).await.expect("previews");
    let started = operations.start(Bulk::of(preview)).await.expect("starts");
    operations.pause(started.id).await.expect("pauses");
    started.id
}
