//! Edit and retry: a successor is checked, signed and encrypted like every submit, and has the options of the original.

use ratchet_core::{
    Actor, Edit, EditError, Explanation, Finished, Job as _, JobError, JobId, JobState, Priority,
    Ratchet, Sign, State, SubmitError, Worker,
};
use ratchet_macros::job;
use ratchet_store::model::{AuditFilter, CommandError, JobSpec, NewJob, Succession};
use uuid::Uuid;

use crate::engine::fixture::{EngineFixture, eventually, start};
use crate::engine::keys::both;
use crate::engine::script::Stage;

/// Fails for a wrong address.
#[job(name = "test.letter", max_retries = 0, business_key = "letter-{number}", validate = check, crate = ::ratchet_core)]
async fn letter(
    to: String,
    number: u64,
    #[job(secret)] token: String,
    #[inject] stage: State<Stage>,
) -> Result<String, JobError> {
    if to == "wrong" {
        return Err(JobError::msg("there is no such address"));
    }
    stage.note(format!("{to} {number} {token}"));
    Ok(to)
}

fn check(letter: &Letter) -> Result<(), String> {
    if letter.to.is_empty() { Err("the address is empty".to_owned()) } else { Ok(()) }
}

/// Runs after a letter.
#[job(name = "test.receipt", crate = ::ratchet_core)]
async fn receipt(#[inject] stage: State<Stage>, #[inject] finished: Finished<Letter>) {
    stage.note(format!("receipt for {}", finished.args.to));
}

async fn post(fixture: &EngineFixture) -> (Ratchet, Worker) {
    start(fixture.builder().jobs([Letter::JOB, Receipt::JOB])).await
}

/// Enqueues a letter that fails, with an option of every kind.
async fn returned(fixture: &EngineFixture, ratchet: &Ratchet, number: u64) -> JobId {
    let letter = Letter { to: "wrong".to_owned(), number, token: "t0p".to_owned() };
    let job = ratchet
        .enqueue(letter)
        .priority(Priority::High)
        .tenant("acme")
        .tag("vip")
        .correlation_id("request-9")
        .idempotency_key(format!("once-{number}"))
        .on_success(Receipt {})
        .await
        .expect("enqueues");
    fixture.until(ratchet, job.id(), JobState::Failed).await;
    job.id()
}

pub async fn o_05_an_edited_job_runs_with_the_options_of_the_original(fixture: EngineFixture) {
    let (ratchet, worker) = post(&fixture).await;
    let original = returned(&fixture, &ratchet, 7).await;
    let before = ratchet.jobs().get(original).await.expect("reads").expect("exists");
    let ada = ratchet.acting_as(Actor::new("ada").reason("a wrong address"));
    let jobs = ada.jobs().if_version(before.version);
    let edit = Edit::new().argument("to", "Lovelace").argument("token", "***");
    let shown = jobs.check_edit(original, edit.clone()).await.expect("it is possible");
    assert_eq!(shown, serde_json::json!({ "to": "Lovelace", "number": 7, "token": "***" }));
    let successor = jobs.edit_and_retry(original, edit).await.expect("is submitted");
    assert_eq!(successor.wait().await.expect("succeeds"), "Lovelace");
    let record = fixture.ended(&ratchet, successor.id()).await;
    let (old, new) = (&before.spec, &record.spec);
    assert_eq!(new.payload, br#"{"to":"Lovelace","number":7,"token":"t0p"}"#);
    assert_eq!((&new.queue, new.priority), (&old.queue, Priority::High));
    assert_eq!((&new.tenant, &new.tags), (&old.tenant, &old.tags));
    assert_eq!((&new.correlation_id, &new.business_key), (&old.correlation_id, &old.business_key));
    assert_eq!(new.options, old.options);
    assert_eq!(new.idempotency_key, None, "a repeated submit still finds the original");
    let stays = ratchet.jobs().get(original).await.expect("reads").expect("exists");
    assert_eq!(stays, before);
    let links = ratchet.jobs().succession(original).await.expect("reads");
    assert_eq!(links, Succession::new(None, Some(successor.id())));
    let explained = ratchet.jobs().explain(original).await.expect("explains");
    let expected = Explanation::HasSuccessor { state: JobState::Failed, successor: successor.id() };
    assert_eq!(explained, Some(expected));
    let trail = ratchet.audit().list(&AuditFilter::default(), None, 10).await.expect("lists");
    assert_eq!(trail[0].verb, "jobs.edit");
    assert_eq!(trail[0].target, format!("job {original}"));
    assert!(!format!("{trail:?}").contains("t0p"), "the trail has no arguments");
    let noted = async || fixture.stage().notes().contains(&"receipt for Lovelace".to_owned());
    eventually("the callback of the successor runs", noted).await;
    worker.stop().await;
}

pub async fn o_05_wrong_arguments_are_refused_and_nothing_is_stored(fixture: EngineFixture) {
    let (ratchet, worker) = post(&fixture).await;
    let original = returned(&fixture, &ratchet, 7).await;
    let jobs = ratchet.jobs();
    let edit = |edit| jobs.edit_and_retry(original, edit);
    let error = edit(Edit::new().argument("number", "seven")).await.expect_err("not a number");
    assert!(
        matches!(
            error,
            EditError::Submit(SubmitError::BadArgument { .. } | SubmitError::Arguments { .. })
        ),
        "{error:?}"
    );
    let error = edit(Edit::new().argument("cc", "x")).await.expect_err("not an argument");
    assert!(error.to_string().contains("cc"), "{error}");
    let error = edit(Edit::new().argument("to", "")).await.expect_err("the validator refuses");
    assert!(matches!(error, EditError::Submit(SubmitError::Refused { .. })), "{error:?}");
    let error = edit(Edit::new().arguments("[1]")).await.expect_err("not an object");
    assert!(matches!(error, EditError::NotAnObject { .. }), "{error:?}");
    let error = edit(Edit::new().arguments(r#"{"to":"x"}"#)).await.expect_err("incomplete");
    assert!(matches!(error, EditError::Submit(_)), "{error:?}");
    assert_eq!(jobs.succession(original).await.expect("reads"), Succession::default());
    // All arguments: the key follows them, and a secret that stays masked is kept.
    let all = r#"{"to":"Lovelace","number":9007199254740993,"token":"***"}"#;
    let first = edit(Edit::new().arguments(all)).await.expect("is submitted");
    let record = fixture.ended(&ratchet, first.id()).await;
    assert_eq!(record.spec.business_key.as_deref(), Some("letter-9007199254740993"));
    let notes = fixture.stage().notes();
    assert_eq!(notes.first().map(String::as_str), Some("Lovelace 9007199254740993 t0p"));
    let error = edit(Edit::new()).await.expect_err("there is one already");
    assert!(
        matches!(error, EditError::Command(CommandError::HasSuccessor { successor, .. }) if successor == first.id()),
        "{error:?}"
    );
    worker.stop().await;
}

pub async fn o_05_a_successor_is_signed_and_a_forged_original_is_refused(fixture: EngineFixture) {
    let builder = fixture.builder().keyring(both()).sign(Sign::Required);
    let (ratchet, worker) = start(builder.jobs([Letter::JOB, Receipt::JOB])).await;
    let original = returned(&fixture, &ratchet, 7).await;
    let edit = Edit::new().argument("to", "Lovelace");
    let successor = ratchet.jobs().edit_and_retry(original, edit.clone()).await.expect("submits");
    assert_eq!(successor.wait().await.expect("it is signed, so it runs"), "Lovelace");
    let stored = fixture.store().get(successor.id()).await.expect("reads").expect("exists");
    let stored = String::from_utf8_lossy(&stored.spec.payload).into_owned();
    assert!(!stored.contains("t0p") && !stored.contains("Lovelace"), "{stored}");
    // A row that was planted fails. An edit must not turn it into a signed job.
    let payload = br#"{"to":"x","number":8,"token":"t"}"#.to_vec();
    let planted = JobId::from_uuid(Uuid::from_u128(0x0198_0000_0000_7000_8000_0000_0000_0001));
    let row = NewJob::new(planted, JobSpec::new("test.letter", payload));
    fixture.store().insert(vec![row]).await.expect("inserts");
    fixture.until(&ratchet, planted, JobState::Failed).await;
    let error = ratchet.jobs().edit_and_retry(planted, edit.clone()).await;
    assert!(matches!(error, Err(EditError::Refused { job, .. }) if job == planted), "{error:?}");
    // A program without the keys can neither read the arguments nor sign others.
    let client = fixture.builder().jobs([Letter::JOB, Receipt::JOB]).build().await.expect("builds");
    let second = returned(&fixture, &ratchet, 9).await;
    let error = client.jobs().edit_and_retry(second, edit).await;
    assert!(matches!(error, Err(EditError::Refused { job, .. }) if job == second), "{error:?}");
    worker.stop().await;
}
