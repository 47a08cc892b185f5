//! Submits by programs that do not have the code of a job.

use std::time::Duration;

use ratchet::model::{JobSpec, Priority};
use ratchet::prelude::*;
use ratchet::{Filter, MemoryStore, PageRequest, SubmitError};
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Debug, Serialize, Deserialize)]
struct Attachment {
    name: String,
    bytes: u32,
}

#[job(
    name = "shop.mail",
    queue = "mail",
    priority = high,
    max_retries = 7,
    timeout = "11s",
    delay = "5s",
    tags("customer"),
    business_key = "order-{order}",
    idempotency_key = "mail-{to}-{urgent}",
    idempotency_within = "1h",
    concurrency_key = "to-{to}",
    concurrency_limit = 3
)]
async fn mail(
    to: String,
    order: u64,
    urgent: bool,
    #[job(default = 3)] copies: u8,
    attachments: Vec<Attachment>,
) {
    drop((to, order, urgent, copies, attachments));
}

/// Returns a program with the code, whose worker has recorded its jobs, and one without code on the same store.
async fn programs() -> (Ratchet, Ratchet) {
    let store = MemoryStore::new();
    let worker = Ratchet::builder(store.clone()).jobs([Mail::JOB]).drain_and_exit();
    let worker = worker.build().await.expect("builds");
    worker.start().await.expect("starts").stopped().await;
    let other = Ratchet::builder(store).jobs([]).build().await.expect("builds");
    (worker, other)
}

fn message(to: &str) -> Mail {
    let attachments = vec![Attachment { name: "a".to_owned(), bytes: 1 }];
    Mail { to: to.to_owned(), order: 7, urgent: true, copies: 3, attachments }
}

/// Returns a spec without what differs between two submits.
fn options(spec: &JobSpec) -> JobSpec {
    let mut spec = spec.clone();
    spec.payload.clear();
    spec
}

// spec: K-02
#[tokio::test]
async fn a_job_of_the_catalog_gets_what_a_rust_submit_gets() {
    let (program, other) = programs().await;
    let given = json!({
        "to": "ada", "order": 7, "urgent": true, "copies": 3, "attachments": [{ "name": "a", "bytes": 1 }],
    });
    let ours = program.enqueue(message("ada")).await.expect("enqueues").id();
    let theirs = other.enqueue_from_catalog("shop.mail", &given).await.expect("fits");
    let theirs = theirs.await.expect("enqueues").id();
    assert_eq!(ours, theirs, "the idempotency key and the digest are the same");
    program.jobs().cancel(ours).await.expect("cancels");
    // Another message, from the catalog first.
    let mut given = given;
    given["to"] = json!("bob");
    given.as_object_mut().expect("an object").remove("copies");
    let theirs = other.enqueue_from_catalog("shop.mail", &given).await.expect("fits");
    let theirs = theirs.await.expect("enqueues");
    let spec = other.jobs().get(theirs.id()).await.expect("reads").expect("exists").spec;
    assert_eq!((spec.queue.as_str(), spec.priority), ("mail", Priority::High));
    assert_eq!((spec.options.max_retries, spec.options.timeout), (7, Duration::from_secs(11)));
    assert_eq!(spec.business_key.as_deref(), Some("order-7"));
    assert_eq!(spec.idempotency_key.as_deref(), Some("mail-bob-true"));
    let limit = spec.concurrency.as_ref().map(|key| (key.key.as_str(), key.limit));
    assert_eq!(limit, Some(("to-bob", 3)));
    let ours = program.enqueue(message("bob")).await.expect("enqueues");
    assert_eq!(ours.id(), theirs.id(), "a missing argument and its default are the same");
    program.jobs().cancel(ours.id()).await.expect("cancels");
    let ours = program.enqueue(message("eve")).await.expect("enqueues").id();
    let ours = program.jobs().get(ours).await.expect("reads").expect("exists").spec;
    let eve = JobSpec::clone(&ours);
    let text = |key: &Option<String>| key.as_deref().unwrap_or_default().replace("eve", "bob");
    let mut renamed = options(&eve);
    renamed.idempotency_key = Some(text(&eve.idempotency_key));
    renamed.concurrency.as_mut().expect("a key").key = "to-bob".to_owned();
    assert_eq!(options(&spec), renamed, "every other option is the same");
}

#[tokio::test]
async fn a_wrong_argument_is_refused_with_its_path() {
    let (worker, other) = programs().await;
    let fine = json!({ "to": "ada", "order": 7, "urgent": true, "attachments": [] });
    for (field, value, wrong) in [
        ("to", json!(7), "$.to"),
        ("order", json!(-1), "$.order"),
        ("urgent", json!("yes"), "$.urgent"),
        ("copies", json!(256), "$.copies"),
        (
            "attachments",
            json!([{ "name": "a", "bytes": 1 }, { "name": "b" }]),
            "$.attachments[1].bytes",
        ),
        ("card", json!("4111"), "$.card"),
    ] {
        let mut given = fine.clone();
        given[field] = value;
        // The program with the code reads the arguments by itself, and gives the same answer.
        for program in [&other, &worker] {
            let refused = program.enqueue_from_catalog("shop.mail", &given).await;
            match refused.expect_err("is refused") {
                SubmitError::BadArgument { job, path, .. } => {
                    assert_eq!((job.as_str(), path.as_str()), ("shop.mail", wrong));
                }
                other => panic!("{other}"),
            }
        }
    }
    let unknown = other.enqueue_from_catalog("shop.male", &fine).await.expect_err("is refused");
    assert!(unknown.to_string().contains("no program of the cluster"), "{unknown}");
    let all = other.jobs().list(&Filter::any(), PageRequest::default()).await.expect("lists");
    assert!(all.jobs.is_empty(), "nothing was inserted");
}
