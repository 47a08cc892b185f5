//! Starting a worker: all missing dependencies must be reported in one error.

use ratchet_core::{Filter, JobState, PageRequest, Ratchet, StartError};

use crate::engine::fixture::{EngineFixture, eventually};
use crate::engine::script::{self, Step};

pub async fn x_06_every_missing_state_is_listed_at_start(fixture: EngineFixture) {
    let ratchet = Ratchet::builder_shared(fixture.store())
        .jobs(script::jobs())
        .build()
        .await
        .expect("builds without states");
    ratchet
        .enqueue(script::Script::of([Step::Ok]))
        .await
        .expect("a process that only enqueues needs none");
    let Err(StartError::MissingStates(missing)) = ratchet.start().await else {
        panic!("must not start")
    };
    for job in ["test.script", "test.block", "test.cheer", "test.mourn"] {
        assert!(
            missing.iter().any(|line| line.contains(job)
                && line.contains("State<Stage>")
                && line.contains("script.rs:")),
            "{missing:?}"
        );
    }
    assert!(ratchet.nodes().list().await.expect("reads").is_empty(), "it has not joined");
}

pub async fn z_04_a_worker_without_jobs_does_not_start(fixture: EngineFixture) {
    let ratchet = Ratchet::builder_shared(fixture.store()).jobs([]).build().await.expect("builds");
    assert!(matches!(ratchet.start().await, Err(StartError::NoJobs)));
}

pub async fn z_04_only_names_of_the_registry_can_run(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let mut smuggled =
        ratchet.enqueue(script::Script::of([Step::Ok])).into_new_job().expect("prepares");
    smuggled.spec.name = "std::process::exit".to_owned();
    ratchet.store().insert(vec![smuggled.clone()]).await.expect("inserts");
    let known = fixture.play(&ratchet, [Step::Ok]).await;
    fixture.until(&ratchet, known.id(), JobState::Succeeded).await;
    assert_eq!(ratchet.jobs().get(smuggled.id).await.expect("reads").expect("exists").run, 0);
    worker.stop().await;
}

pub async fn c_04_nodes_tell_what_they_serve_and_know(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let nodes = ratchet.nodes().list().await.expect("reads");
    assert_eq!((nodes.len(), nodes[0].info.id, nodes[0].alive), (1, worker.node(), true));
    assert!(
        nodes[0].info.queues.contains("default") && nodes[0].info.known.knows("test.script", 1)
    );
    worker.stop().await;
}

pub async fn c_01_two_workers_share_the_work(fixture: EngineFixture) {
    let (ratchet, first) = fixture.start().await;
    let second = ratchet.start().await.expect("starts");
    for _ in 0..200 {
        fixture.play(&ratchet, [Step::Ok]).await;
    }
    eventually("all are done", async || {
        ratchet.jobs().counts().await.is_ok_and(|counts| counts.state(JobState::Succeeded) == 200)
    })
    .await;
    let page = ratchet
        .jobs()
        .list(&Filter::any(), PageRequest { before: None, limit: 500 })
        .await
        .expect("reads");
    assert!(page.jobs.iter().all(|job| job.run == 1), "each ran once");
    eventually("both are announced", async || {
        first.stats().settled + second.stats().settled == 200
    })
    .await;
    first.stop().await;
    second.stop().await;
}
