//! Jobs that are enqueued by their names.

use ratchet::definition::{DecodeError, Handler as _};
use ratchet::prelude::*;
use ratchet::{JobState, MemoryStore, SubmitError};
use serde_json::json;

/// A web process has only the declaration.
#[job(
    name = "names.send",
    alias = "names.old_send",
    queue = "mail",
    tags("mail"),
    business_key = "mail-{to}"
)]
pub async fn send_mail(to: String, #[job(default = 2, alias = "count")] copies: u32) -> u32;

#[job(implements = SendMail)]
async fn send_here(to: String, copies: u32) -> u32 {
    drop(to);
    copies * 10
}

#[job(name = "names.pay", validate = is_positive)]
async fn pay(cents: i64, #[job(secret)] card: Option<u64>) {
    let _ = (cents, card);
}

#[job(name = "names.ship")]
async fn ship(#[input] order: u32) {
    let _ = order;
}

#[job(name = "names.web_only")]
pub async fn web_only(to: String);

fn is_positive(pay: &Pay) -> Result<(), String> {
    if pay.cents > 0 { Ok(()) } else { Err("nothing to pay".to_owned()) }
}

async fn ratchet() -> Ratchet {
    let jobs = [SendHereHandler::JOB, Pay::JOB, Ship::JOB, WebOnly::JOB];
    Ratchet::builder(MemoryStore::new()).jobs(jobs).build().await.expect("builds")
}

#[tokio::test]
async fn s_16_a_job_is_enqueued_by_its_name_like_by_its_type() {
    // spec: S-16
    let ratchet = ratchet().await;
    let by_type =
        ratchet.enqueue(SendMail { to: "a".into(), copies: 2 }).into_new_job().expect("valid");
    let arguments = json!({ "to": "a", "count": 2 });
    for name in ["names.send", "names.old_send"] {
        let by_name = ratchet.enqueue_by_name(name, &arguments).into_new_job().expect("valid");
        assert_eq!(by_name.spec, by_type.spec);
    }
    let keyed = ratchet.enqueue(SendMail { to: "a".into(), copies: 2 }).idempotency_key("k");
    let first = keyed.await.expect("is enqueued").id();
    // The argument with its default value does not count.
    let repeat = ratchet.enqueue_by_name("names.send", &json!({ "to": "a" })).idempotency_key("k");
    assert_eq!(repeat.await.expect("is the same job").id(), first);
}

#[tokio::test]
async fn s_16_a_job_enqueued_by_its_name_runs_and_answers() {
    // spec: S-16
    let ratchet = ratchet().await;
    let arguments = json!({ "to": "a", "copies": 4 });
    let handle =
        ratchet.enqueue_by_name("names.send", &arguments).tag("vip").await.expect("enqueues");
    let record = handle.record().await.expect("reads").expect("is there");
    assert_eq!(record.spec.tags.iter().collect::<Vec<_>>(), ["mail", "vip"]);
    let worker = ratchet.start().await.expect("starts");
    assert_eq!(handle.wait().await.expect("succeeds"), json!(40));
    worker.stop().await;
    // A declaration suffices to enqueue.
    let waiting = ratchet.enqueue_by_name("names.web_only", &json!({ "to": "b" })).await;
    let waiting = waiting.expect("is enqueued");
    assert_eq!(waiting.status().await.expect("reads"), Some(JobState::Pending));
}

#[tokio::test]
async fn s_16_what_does_not_fit_is_a_typed_error() {
    // spec: S-16
    let ratchet = ratchet().await;
    let refused = async |name: &str, arguments: serde_json::Value| {
        ratchet.enqueue_by_name(name, &arguments).await.expect_err("is refused")
    };
    let unknown = refused("names.sned", json!({})).await;
    assert!(
        matches!(&unknown, SubmitError::UnknownJob { job } if job == "names.sned"),
        "{unknown}"
    );
    let long = refused(&"a\n".repeat(500_000), json!({})).await.to_string();
    assert!(long.len() < 1000 && !long.contains('\n'), "an error does not repeat a megabyte");
    for (name, arguments, text) in [
        ("names.send", json!({}), "to"),
        ("names.send", json!({ "to": 7 }), "to"),
        ("names.send", json!({ "to": "a", "copy": 3 }), "copy"),
        ("names.send", json!(["a"]), ""),
        ("names.pay", json!({ "cents": 1, "card": "4111" }), "card"),
    ] {
        let error = refused(name, arguments.clone()).await;
        assert!(matches!(error, SubmitError::Arguments { .. }), "{arguments}: {error:?}");
        let error = error.to_string();
        assert!(error.contains(name) && error.contains(text), "{arguments}: {error}");
        assert!(!error.contains("4111"), "a secret is shown: {error}");
    }
    let extra = refused("names.send", json!({ "to": "a", "cc": "b" })).await;
    assert!(
        matches!(&extra, SubmitError::Arguments { error: DecodeError::Unknown { field }, .. } if field == "cc"),
        "{extra}"
    );
    let invalid = refused("names.pay", json!({ "cents": 0 })).await;
    assert!(matches!(invalid, SubmitError::Refused { .. }), "{invalid}");
    let step = refused("names.ship", json!({})).await;
    assert!(matches!(step, SubmitError::NeedsParent { .. }), "{step}");
}

#[job(name = "names.relay", max_retries = 0)]
async fn relay(#[inject] ctx: JobContext, fail: bool) -> Result<(), JobError> {
    ctx.enqueue_by_name("names.pay", &json!({ "cents": 5 })).await?;
    if fail { Err(JobError::msg("not now")) } else { Ok(()) }
}

#[tokio::test]
async fn s_08_a_handler_enqueues_by_name_with_its_success() {
    // spec: S-08
    let ratchet = Ratchet::builder(MemoryStore::new()).jobs([Relay::JOB, Pay::JOB]).build().await;
    let ratchet = ratchet.expect("builds");
    let worker = ratchet.start().await.expect("starts");
    for (fail, expected) in [(true, 0), (false, 1)] {
        let relay = ratchet.enqueue(Relay { fail }).await.expect("enqueues");
        assert_eq!(relay.wait().await.is_err(), fail);
        let filter = ratchet::Filter::any().name("names.pay");
        let page = ratchet.jobs().list(&filter, ratchet::PageRequest::default()).await;
        assert_eq!(page.expect("reads").jobs.len(), expected);
    }
    worker.stop().await;
}
