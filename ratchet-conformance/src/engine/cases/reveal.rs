//! Secrets are revealed to a named actor only, and each time is recorded first.

use ratchet_core::{
    Actor, Job as _, JobContext, JobError, JobId, JobState, RevealError, Secret, Sign,
};
use ratchet_macros::job;
use ratchet_store::model::{AuditFilter, CommandError};
use serde_json::json;
use uuid::Uuid;

use crate::engine::fixture::{EngineFixture, start};
use crate::engine::keys::both;

/// Keeps a checkpoint with a secret, and returns one.
#[job(name = "test.open_account", max_retries = 0, crate = ::ratchet_core)]
async fn open_account(
    holder: String,
    pin: Secret<String>,
    #[inject] ctx: JobContext,
) -> Result<Secret<String>, JobError> {
    ctx.set_checkpoint(&json!({ "pin": pin.expose() }))?;
    Ok(Secret::new(format!("account of {holder}, code c0de-{}", pin.expose())))
}

fn account() -> OpenAccount {
    OpenAccount { holder: "ada".to_owned(), pin: Secret::new("p1n-4711".to_owned()) }
}

pub async fn z_05_secrets_are_revealed_to_an_actor_and_recorded(fixture: EngineFixture) {
    let builder = fixture.builder().keyring(both()).sign(Sign::Required);
    let (ratchet, worker) = start(builder.jobs([OpenAccount::JOB])).await;
    let job = ratchet.enqueue(account()).await.expect("enqueues").id();
    fixture.until(&ratchet, job, JobState::Succeeded).await;
    let before = ratchet.jobs().get(job).await.expect("reads").expect("exists");
    let shown = ratchet.jobs().for_display(vec![before.clone()]).await.expect("reads");
    assert!(!format!("{shown:?}").contains("p1n-4711"), "{shown:?}");

    let nameless = ratchet.jobs().reveal(job).await;
    assert!(matches!(nameless, Err(RevealError::NoActor { job: of }) if of == job));
    let ada = ratchet.acting_as(Actor::new("ada").reason("the customer forgot it"));
    let stale = ada.jobs().if_version(before.version + 1).reveal(job).await;
    assert!(matches!(stale, Err(RevealError::Command(CommandError::Moved { .. }))), "{stale:?}");
    let unknown = JobId::from_uuid(Uuid::from_u128(0x0198_0000_0000_7000_8000_0000_0000_0001));
    let missing = ada.jobs().reveal(unknown).await;
    assert!(matches!(missing, Err(RevealError::Command(CommandError::NotFound(_)))), "{missing:?}");
    let trail = async || ratchet.audit().list(&AuditFilter::default(), None, 10).await;
    assert!(trail().await.expect("lists").is_empty(), "what was refused is not recorded");

    let revealed = ada.jobs().if_version(before.version).reveal(job).await.expect("reveals");
    assert_eq!(revealed.arguments.get(), r#"{"holder":"ada","pin":"p1n-4711"}"#);
    let output = revealed.output.as_ref().map(|json| json.get());
    assert_eq!(output, Some(r#""account of ada, code c0de-p1n-4711""#));
    assert!(!format!("{revealed:?}").contains("p1n"), "its debug output is masked");
    let entries = trail().await.expect("lists");
    assert_eq!(entries.len(), 1);
    let entry = &entries[0];
    assert_eq!((entry.verb.as_str(), entry.actor.name.as_str()), ("jobs.reveal", "ada"));
    assert_eq!(entry.actor.reason.as_deref(), Some("the customer forgot it"));
    assert_eq!(entry.target, format!("job {job}"));
    assert!(!format!("{entry:?}").contains("p1n"), "the trail has no secrets");
    let after = ratchet.jobs().get(job).await.expect("reads").expect("exists");
    assert_eq!(after, before, "a reveal changes nothing");

    // A program without the keys reveals nothing.
    let client = fixture.builder().jobs([OpenAccount::JOB]).build().await.expect("builds");
    let refused = client.acting_as(Actor::new("bob")).jobs().reveal(job).await;
    assert!(matches!(refused, Err(RevealError::Unreadable { job: of, .. }) if of == job));
    assert_eq!(trail().await.expect("lists").len(), 1);
    worker.stop().await;
}
