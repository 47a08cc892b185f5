//! The catalog, as workers record it and clients without code use it.

use ratchet_core::{JobState, Ratchet};
use serde_json::json;

use crate::engine::fixture::{EngineFixture, name};
use crate::engine::script::{Script, Step};

pub async fn k_01_a_worker_records_its_jobs_at_its_start(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    assert!(ratchet.catalog().list().await.expect("lists").is_empty());
    let (ratchet, worker) = fixture.start().await;
    let jobs = ratchet.catalog().list().await.expect("lists");
    assert_eq!(jobs.len(), ratchet.definitions().len());
    let script = ratchet.catalog().get(name::<Script>()).await.expect("reads");
    let script = script.expect("is recorded");
    assert_eq!((script.record.entry.name.as_str(), script.workers), (name::<Script>(), 1));
    let defined = ratchet.definitions().into_iter().find(|job| job.name == name::<Script>());
    let defined = defined.expect("is defined");
    let entry = &script.record.entry;
    let args: Vec<_> = entry.args.iter().map(|arg| arg.name.as_str()).collect();
    assert_eq!(args, defined.args.iter().map(|arg| arg.name).collect::<Vec<_>>());
    assert_eq!(entry.template.queue, defined.queue);
    assert_eq!(entry.template.options.max_retries, defined.max_retries);
    worker.stop().await;
    let after = ratchet.catalog().get(name::<Script>()).await.expect("reads");
    assert_eq!(after.expect("is still recorded").workers, 0);
}

pub async fn k_01_a_client_without_code_enqueues_from_the_catalog(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let client = Ratchet::builder_shared(fixture.store()).jobs([]).build().await.expect("builds");
    assert!(client.definitions().is_empty());
    let arguments = json!({ "steps": [serde_json::to_value(Step::Ok).expect("JSON")] });
    let job = client.enqueue_from_catalog(name::<Script>(), &arguments).await.expect("fits");
    let job = job.await.expect("enqueues");
    let record = fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    assert_eq!(record.spec.queue, "default");
    for (wrong, problem) in [
        (json!({}), "$.steps is missing"),
        (json!({ "steps": [], "cc": 1 }), "$.cc is not known; the fields are: steps"),
        (json!({ "steps": ["Ok", "Perhaps"] }), "$.steps[1] must be one of"),
        (json!([1]), "$ must be an object"),
    ] {
        let refused = client.enqueue_from_catalog(name::<Script>(), &wrong).await;
        let refused = refused.expect_err("is refused").to_string();
        assert!(refused.contains(problem), "{refused}");
    }
    let unknown = client.enqueue_from_catalog("unknown.job", &json!({})).await;
    let unknown = unknown.expect_err("is refused").to_string();
    assert!(unknown.contains("no program of the cluster"), "{unknown}");
    worker.stop().await;
}
