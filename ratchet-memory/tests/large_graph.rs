//! A chain far longer than any stack: propagation must not recurse.

use std::sync::Arc;
use std::time::Duration;

use ratchet_memory::MemoryStore;
use ratchet_store::Store as _;
use ratchet_store::model::{
    AttemptOutcome, ClaimRequest, Command, Edge, EdgeTrigger, Envelope, FailureKind, FailureRecord,
    GroupId, GroupKind, GroupRecord, JobId, JobSpec, JobState, KnownJobs, NewGraph, NewJob, NodeId,
    NodeInfo, QueueDemand, Settlement, Step, Suspects, TerminalReason, Verdict, Vertex,
};
use ratchet_store::rules::graph::{check, link};
use uuid::Uuid;

fn id(number: u128) -> JobId {
    JobId::from_uuid(Uuid::from_u128(number))
}

/// Creates a chain of this many jobs, each of which waits for the one before.
fn chain(steps: u128) -> NewGraph {
    let flow = GroupRecord::new(
        GroupId::from_uuid(Uuid::from_u128(1_000_000)),
        GroupKind::Workflow,
        "flow",
    );
    let job = |number| {
        let mut spec = JobSpec::new("step", b"{}".to_vec());
        spec.step = Some(Box::new(Step::new(Some(flow.id))));
        NewJob::new(id(number), spec)
    };
    let edge = |number| {
        Edge::new(Vertex::Job(id(number)), Vertex::Job(id(number + 1)), EdgeTrigger::Success)
    };
    let mut graph = NewGraph {
        jobs: (1..=steps).map(job).collect(),
        edges: (1..steps).map(edge).collect(),
        groups: vec![flow],
        key: None,
    };
    link(&mut graph);
    graph
}

// spec: W-01
#[tokio::test]
async fn w_01_chain_of_a_hundred_thousand_steps() {
    const STEPS: u128 = 100_000;
    let graph = chain(STEPS);
    assert_eq!(check(&graph), Ok(()));
    let store = MemoryStore::new();
    store.insert_graph(graph).await.expect("inserts");
    let node = NodeInfo::new(NodeId::from_uuid(Uuid::from_u128(7)));
    store.join(node.clone(), Duration::from_hours(1)).await.expect("joins");
    let request = ClaimRequest {
        node: node.id,
        queues: vec![QueueDemand { queue: "default".to_owned(), limit: 5 }],
        known: Arc::new(KnownJobs([("step".to_owned(), 1)].into())),
        suspects: Suspects::beside_others(5),
        starting: true,
    };
    let claimed = store.claim(request).await.expect("claims").jobs;
    assert_eq!(claimed.len(), 1);
    let failure = FailureRecord {
        kind: FailureKind::Error,
        error_type: "E".to_owned(),
        message: "boom".to_owned(),
        code: "error".to_owned(),
        fingerprint: "E:boom".to_owned(),
        retryable: true,
    };
    let reason = TerminalReason::NonRetryable;
    let envelope = Envelope::new(id(1), "step", reason, failure, node.id);
    let fail = Verdict::Fail { attempts: 1, crashes: 0, envelope: Box::new(envelope) };
    let outcome = AttemptOutcome::Failure;
    let settlement = Settlement::new(claimed[0].token, fail, outcome);
    store.settle(vec![settlement]).await.expect("settles");
    let last = store.get(id(STEPS)).await.expect("reads").expect("is there");
    assert_eq!(last.state, JobState::Canceled);
    assert_eq!(last.root_cause, Some(Vertex::Job(id(1))));
    store.command(Command::Retry(id(1))).await.expect("retries");
    let last = store.get(id(STEPS)).await.expect("reads").expect("is there");
    assert_eq!(last.state, JobState::Pending);
}
