//! Records and events as JSON, and the arguments of jobs for display.

use ratchet::model::{Filter, PageRequest};
use ratchet::prelude::*;
use ratchet::testing::Sandbox;

#[job(name = "records.charge", on_success = Receipt)]
async fn charge(order: u64, #[job(secret)] card: String) {
    let _ = (order, card);
}

#[job(name = "records.receipt")]
async fn receipt() {}

const CARD: &str = "4111111111111111";

#[tokio::test]
async fn a_record_is_serialized_without_arguments_and_they_are_shown_without_secrets() {
    let sandbox =
        Sandbox::builder().jobs([Charge::JOB, Receipt::JOB]).build().await.expect("builds");
    let mut events = sandbox.ratchet().events();
    let job = sandbox.enqueue(Charge { order: 7, card: CARD.into() }).await.expect("enqueues");
    sandbox.drain().await.expect("drains");
    let jobs = sandbox.ratchet().jobs();
    let record = jobs.get(job.id()).await.expect("reads").expect("exists");
    let arguments = jobs.arguments(&record).to_string();
    assert_eq!(arguments, r#"{"card":"***","order":7}"#);

    let page = jobs.list(&Filter::any(), PageRequest::default()).await.expect("reads");
    let json = serde_json::to_value(&page).expect("serializes");
    assert_eq!(json["jobs"].as_array().map(Vec::len), Some(2));
    let text = json.to_string();
    assert!(!text.contains("payload") && !text.contains(CARD), "{text}");
    let record = serde_json::to_value(&record).expect("serializes");
    assert_eq!(record["spec"]["name"], "records.charge");
    assert_eq!(record["state"], serde_json::to_value(JobState::Succeeded).expect("serializes"));

    let event = events.next().await.expect("an event");
    let event = serde_json::to_value(&event).expect("serializes");
    assert_eq!(
        (&event["event"], &event["job"]["name"]),
        (&"submitted".into(), &"records.charge".into())
    );
    for json in [
        serde_json::to_value(jobs.counts().await.expect("reads")),
        serde_json::to_value(jobs.attempts(job.id()).await.expect("reads")),
        serde_json::to_value(sandbox.ratchet().nodes().list().await.expect("reads")),
        serde_json::to_value(sandbox.ratchet().queues().list().await.expect("reads")),
    ] {
        json.expect("serializes");
    }
}

#[tokio::test]
async fn the_arguments_of_an_unknown_job_are_not_shown() {
    let sandbox = Sandbox::builder().jobs([Charge::JOB]).build().await.expect("builds");
    let job = sandbox.enqueue(Charge { order: 7, card: CARD.into() }).await.expect("enqueues");
    let jobs = sandbox.ratchet().jobs();
    let mut record = jobs.get(job.id()).await.expect("reads").expect("exists");
    std::sync::Arc::make_mut(&mut record.spec).name = "records.unknown".to_owned();
    assert_eq!(jobs.arguments(&record).to_string(), r#"{"card":"***","order":"***"}"#);
}
