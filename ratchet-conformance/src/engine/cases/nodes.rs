//! What operators request of nodes reaches the worker with its heartbeat.

use std::time::Duration;

use ratchet_core::{Actor, JobState, NodeError, Ratchet, Stopped, Worker};
use ratchet_store::model::NodeAction;

use crate::engine::fixture::{EngineFixture, eventually, start};
use crate::engine::script::Step;

const BEAT: Duration = Duration::from_millis(5);

async fn started(fixture: &EngineFixture) -> (Ratchet, Worker) {
    start(fixture.builder().config(|config| config.heartbeat = BEAT)).await
}

fn ada(ratchet: &Ratchet) -> Ratchet {
    ratchet.acting_as(Actor::new("ada").reason("a new kernel"))
}

fn is_quiet(worker: &Worker) -> bool {
    let health = worker.readiness();
    assert!(health.ok, "a quiet node is healthy: {health:?}");
    health.details.iter().any(|detail| detail.contains("is quiet") && detail.contains("ada"))
}

pub async fn o_01_a_quiet_node_runs_what_it_runs_and_claims_nothing(fixture: EngineFixture) {
    let (ratchet, worker) = started(&fixture).await;
    let running = fixture.play(&ratchet, [Step::Gate]).await;
    eventually("it runs", async || fixture.stage().running() == 1).await;
    let nodes = ada(&ratchet).nodes();
    assert!(nodes.quiet(worker.node()).await.expect("requests"));
    assert!(!nodes.quiet(worker.node()).await.expect("requests"), "it is quiet already");
    eventually("it is quiet", async || is_quiet(&worker)).await;
    let waiting = fixture.play(&ratchet, [Step::Ok]).await;
    fixture.stage().open_gate();
    // The end of a run and a new job are what makes a worker claim.
    fixture.until(&ratchet, running.id(), JobState::Succeeded).await;
    let renewed = ratchet.nodes().list().await.expect("lists")[0].lease_until;
    eventually("it lives on", async || {
        fixture.advance(BEAT).await;
        ratchet.nodes().list().await.expect("lists")[0].lease_until > renewed
    })
    .await;
    let record = ratchet.jobs().get(waiting.id()).await.expect("reads").expect("exists");
    assert_eq!(record.state, JobState::Pending, "nothing is claimed");
    assert!(nodes.resume(worker.node()).await.expect("requests"));
    fixture.until(&ratchet, waiting.id(), JobState::Succeeded).await;
    eventually("it is not quiet", async || !is_quiet(&worker)).await;
    worker.stop().await;
    assert_eq!(worker.stopped().await, Stopped::Requested);
}

pub async fn o_01_a_stopped_node_says_who_and_why(fixture: EngineFixture) {
    let (ratchet, worker) = started(&fixture).await;
    let nodes = ada(&ratchet).nodes();
    let running = fixture.play(&ratchet, [Step::Gate]).await;
    eventually("it runs", async || fixture.stage().running() == 1).await;
    assert!(nodes.stop(worker.node()).await.expect("requests"));
    eventually("it is stopping", async || !worker.readiness().ok).await;
    let undone = nodes.resume(worker.node()).await;
    assert!(matches!(undone, Err(NodeError::Stopping(_))), "{undone:?}");
    fixture.stage().open_gate();
    let Stopped::ByOperator(request) = worker.stopped().await else {
        panic!("an operator has stopped it: {:?}", worker.stopped().await)
    };
    let actor = request.actor.expect("it is recorded");
    assert_eq!((request.action, actor.name.as_str()), (NodeAction::Stop, "ada"));
    assert_eq!(actor.reason.as_deref(), Some("a new kernel"));
    fixture.until(&ratchet, running.id(), JobState::Succeeded).await;
    let gone = nodes.quiet(worker.node()).await;
    assert!(matches!(gone, Err(NodeError::NotFound(_))), "{gone:?}");
}
