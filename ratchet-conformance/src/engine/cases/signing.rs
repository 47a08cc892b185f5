//! Signed jobs: every change of a row is refused, and nothing honest is.

use std::sync::Arc;
use std::time::Duration;

use ratchet_core::{
    BuildError, Explanation, JobId, JobState, KeyState, Purpose, Ratchet, Sign, Store, SubmitError,
    Waiting, Worker,
};
use ratchet_store::model::{
    AttemptOutcome, Backoff, ConcurrencyKey, Deadline, FailureKind, JobRecord, JobSpec, NewJob,
    PanicPolicy, Priority, Step as Place, StepInput, TerminalReason,
};

use crate::engine::fixture::{EngineFixture, eventually, name, outcomes, start};
use crate::engine::keys::{key, ring, rotated, signing};
use crate::engine::script::{Mourn, Paying, Script, Step, Watched};

/// Starts a worker that requires signatures.
async fn signed(fixture: &EngineFixture) -> (Ratchet, Worker) {
    start(fixture.builder().keyring(signing())).await
}

/// Returns an honest row of a job with a callback, as a client with the keyring writes it to another store.
async fn honest_row(fixture: &EngineFixture) -> NewJob {
    let store: Arc<dyn Store> = Arc::new(ratchet_memory::MemoryStore::new());
    let client = fixture.builder_on(Arc::clone(&store)).keyring(signing()).build().await;
    let client = client.expect("builds");
    let job = client
        .enqueue(Script::of([Step::Ok]))
        .on_success(Watched { fail: false })
        .tenant("acme")
        .tag("a")
        .await
        .expect("enqueues");
    let row = store.get(job.id()).await.expect("reads").expect("exists");
    NewJob::new(job.id(), (*row.spec).clone())
}

/// Inserts a row without a client, as an attacker with access to the database does.
async fn plant(fixture: &EngineFixture, row: NewJob) -> JobId {
    let id = row.id;
    fixture.store().insert(vec![row]).await.expect("inserts");
    id
}

/// Waits until a job was refused, and checks that it did not run.
async fn refused(fixture: &EngineFixture, ratchet: &Ratchet, id: JobId, attack: &str) -> JobRecord {
    let job = fixture.ended(ratchet, id).await;
    assert_eq!(job.state, JobState::Failed, "{attack}");
    let envelope = job.envelope.clone().expect("an envelope");
    assert_eq!(envelope.reason, TerminalReason::RejectedSignature, "{attack}: {envelope:?}");
    assert_eq!(envelope.failure.kind, FailureKind::Signature, "{attack}");
    assert_eq!(fixture.stage().runs(id), 0, "{attack}: it never ran");
    assert_eq!(outcomes(ratchet, id).await, [AttemptOutcome::Invalid], "{attack}: not retried");
    job
}

/// A change of a stored job.
type Edit = fn(&mut JobSpec);

/// Every field that the signature covers, changed as an attacker would.
fn edits() -> Vec<(&'static str, Edit)> {
    vec![
        ("name", |spec| spec.name = "test.block_panic".to_owned()),
        ("version", |spec| spec.version = 0),
        ("arguments", |spec| {
            let text = String::from_utf8(spec.payload.clone()).expect("text");
            spec.payload = text.replace("\"Ok\"", "\"Hang\"").into_bytes();
        }),
        ("retries", |spec| spec.options.max_retries = 1000),
        ("backoff", |spec| spec.options.backoff = Backoff::fixed(Duration::ZERO)),
        ("timeout", |spec| spec.options.timeout = Duration::from_secs(1)),
        ("soft timeout", |spec| spec.options.soft_timeout = Some(Duration::from_secs(1))),
        ("panic", |spec| spec.options.panic = PanicPolicy::Dlq),
        ("business key", |spec| spec.business_key = Some("k".to_owned())),
        ("idempotency key", |spec| spec.idempotency_key = Some("k".to_owned())),
        ("concurrency key", |spec| {
            spec.concurrency = Some(ConcurrencyKey { key: "k".to_owned(), limit: 1 });
        }),
        ("service", |spec| spec.service = Some("pay".to_owned())),
        ("tags", |spec| spec.tags.push("b".to_owned())),
        ("tenant", |spec| spec.tenant = Some("other".to_owned())),
        ("no tenant", |spec| spec.tenant = None),
        ("correlation id", |spec| spec.correlation_id = Some("c".to_owned())),
        ("callback removed", |spec| spec.on_success = None),
        ("callback moved", |spec| spec.on_failure = spec.on_success.take()),
        ("callback swapped", |spec| {
            let callback = spec.on_success.as_mut().expect("a callback");
            callback.name = name::<Script>().to_owned();
            callback.payload = br#"{"steps":["Ok"]}"#.to_vec();
        }),
        ("callback arguments", |spec| {
            spec.on_success.as_mut().expect("a callback").payload = br#"{"fail":true}"#.to_vec();
        }),
        ("callback of the callback", |spec| {
            spec.on_success.as_mut().expect("a callback").on_success = None;
        }),
        ("expiry", |spec| spec.expires = Some(Deadline::In(Duration::from_secs(1000)))),
        ("retry limit", |spec| spec.retry_until = Some(Deadline::In(Duration::from_secs(1000)))),
        ("step added", |spec| spec.step = Some(Box::new(Place::new(None)))),
        ("input added", |spec| {
            let mut place = Place::new(None);
            place.inputs.push(StepInput::new(None, vec![JobId::from_uuid(uuid::Uuid::nil())]));
            spec.step = Some(Box::new(place));
        }),
        ("condition added", |spec| {
            let mut place = Place::new(None);
            place.first_match = true;
            spec.step = Some(Box::new(place));
        }),
    ]
}

pub async fn z_02_every_edited_column_is_refused(fixture: EngineFixture) {
    let (ratchet, worker) = signed(&fixture).await;
    for (attack, edit) in edits() {
        let mut row = honest_row(&fixture).await;
        edit(&mut row.spec);
        let id = plant(&fixture, row).await;
        refused(&fixture, &ratchet, id, attack).await;
    }
    assert_eq!(fixture.stage().notes(), Vec::<String>::new(), "no callback of a refused job runs");
    worker.stop().await;
}

/// What operators may change is not signed.
pub async fn z_02_queue_and_priority_can_change(fixture: EngineFixture) {
    let (ratchet, worker) = signed(&fixture).await;
    let mut row = honest_row(&fixture).await;
    row.spec.priority = Priority::High;
    row.spec.boost = Duration::from_secs(1);
    let id = plant(&fixture, row).await;
    fixture.until(&ratchet, id, JobState::Succeeded).await;
    // The callback was created by the worker, which signed it.
    eventually("the callback's callback ran", async || fixture.stage().notes().len() == 1).await;
    worker.stop().await;
}

pub async fn z_02_a_planted_or_replayed_row_is_refused(fixture: EngineFixture) {
    let (ratchet, worker) = signed(&fixture).await;
    let plain = JobSpec::new(name::<Script>(), br#"{"steps":["Ok"]}"#.to_vec());
    let id = JobId::from_uuid(uuid::Uuid::now_v7());
    let planted = plant(&fixture, NewJob::new(id, plain)).await;
    let job = refused(&fixture, &ratchet, planted, "a row without a signature").await;
    let message = job.envelope.expect("an envelope").failure.message;
    assert!(message.contains("not signed"), "{message}");

    let mut replayed = honest_row(&fixture).await;
    let original = replayed.id;
    replayed.id = JobId::from_uuid(uuid::Uuid::now_v7());
    let replayed = plant(&fixture, replayed).await;
    refused(&fixture, &ratchet, replayed, "replayed under another id").await;
    assert_eq!(fixture.stage().runs(original), 0);

    for (attack, from, to) in [
        ("signature stripped", r#""sign":"s1:"#, r#""nosign":"s1:"#),
        ("signature emptied", r#""sign":"s1:"#, r#""sign":"","x":"s1:"#),
        ("another algorithm", r#""v":1"#, r#""v":0"#),
        ("truncated", "}}", ""),
        ("two arguments", r#","args":"#, r#","args":{},"args":"#),
        ("signature of nothing", r#""sign":"s1:"#, r#""sign":"s1:","seal":"s1:"#),
    ] {
        let mut row = honest_row(&fixture).await;
        let text = String::from_utf8(row.spec.payload).expect("text");
        assert!(text.contains(from), "{text}");
        row.spec.payload = text.replacen(from, to, 1).into_bytes();
        let id = plant(&fixture, row).await;
        refused(&fixture, &ratchet, id, attack).await;
    }
    let mut row = honest_row(&fixture).await;
    let text = String::from_utf8(row.spec.payload).expect("text");
    let args = text.split(r#","args":"#).nth(1).and_then(|rest| rest.strip_suffix("}}"));
    row.spec.payload = args.expect("arguments").as_bytes().to_vec();
    let id = plant(&fixture, row).await;
    refused(&fixture, &ratchet, id, "downgraded to unsigned").await;

    let mut row = honest_row(&fixture).await;
    row.spec.payload =
        format!("{{\"$ratchet\":{{\"v\":1,\"sign\":\"s1:{}\"", "A".repeat(90_000)).into();
    let id = plant(&fixture, row).await;
    refused(&fixture, &ratchet, id, "oversized").await;
    let alerts = ratchet.alerts().list(100).await.expect("reads");
    assert!(!alerts.is_empty(), "a refusal is an alert");
    worker.stop().await;
}

/// Children, callbacks, chains, batches and bulk submits are signed by the process that creates them.
pub async fn z_08_everything_that_is_created_honestly_runs(fixture: EngineFixture) {
    let (ratchet, worker) = signed(&fixture).await;
    let spawning = fixture.play(&ratchet, [Step::Spawn(3)]).await;
    let batch = fixture.play(&ratchet, [Step::SpawnBatch(3)]).await;
    let retried = fixture.play(&ratchet, [Step::Error("once".to_owned()), Step::Ok]).await;
    let many =
        ratchet.enqueue_many((0..5).map(|_| Script::of([Step::Ok]))).await.expect("enqueues");
    let chain = ratchet.chain(Script::of([Step::Ok])).then(Script::of([Step::Ok])).await;
    let chain = chain.expect("submits");
    ratchet.enqueue(Watched { fail: true }).await.expect("enqueues");
    let named = ratchet.enqueue_by_name(name::<Script>(), &serde_json::json!({"steps": ["Ok"]}));
    let named = named.await.expect("enqueues").id();
    let first = [spawning.id(), batch.id(), retried.id(), named];
    for id in first.into_iter().chain(many.iter().map(ratchet_core::JobHandle::id)) {
        fixture.until(&ratchet, id, JobState::Succeeded).await;
    }
    fixture
        .until_all(&ratchet, "every job has ended", |job| {
            let failed_on_purpose = job.spec.name == name::<Watched>();
            job.state == JobState::Succeeded || (failed_on_purpose && job.state == JobState::Failed)
        })
        .await;
    drop(chain);
    eventually("the callback ran", async || fixture.stage().notes().len() == 1).await;
    let jobs = fixture.all(&ratchet).await;
    assert!(jobs.iter().any(|job| job.spec.name == name::<Mourn>()));
    let reason = |job: &JobRecord| job.envelope.as_ref().map(|envelope| envelope.reason);
    assert!(jobs.iter().all(|job| reason(job) != Some(TerminalReason::RejectedSignature)));
    worker.stop().await;
}

pub async fn z_08_accept_unsigned_counts_and_refuses_wrong_signatures(fixture: EngineFixture) {
    let unsigned = fixture.ratchet().await;
    let builder = fixture.builder().keyring(signing()).sign(Sign::AcceptUnsigned);
    let (ratchet, worker) = start(builder).await;
    let old = fixture.play(&unsigned, [Step::Ok]).await;
    fixture.until(&ratchet, old.id(), JobState::Succeeded).await;
    assert_eq!(ratchet.metrics().total("ratchet.job.unsigned", &[]), 1);
    let mut row = honest_row(&fixture).await;
    row.spec.tenant = Some("other".to_owned());
    let id = plant(&fixture, row).await;
    refused(&fixture, &ratchet, id, "a wrong signature").await;
    worker.stop().await;
}

pub async fn z_08_a_changed_schedule_does_not_run_its_job(fixture: EngineFixture) {
    let (ratchet, worker) = signed(&fixture).await;
    let schedules = ratchet.schedules();
    schedules.declare("honest", "0 * * * *", Script::of([Step::Ok])).await.expect("declares");
    schedules.declare("changed", "0 * * * *", Script::of([Step::Ok])).await.expect("declares");
    let store = fixture.store();
    let mut changed = store.schedule("changed").await.expect("reads").expect("exists");
    assert!(changed.spec.payload.starts_with(b"{\"$ratchet\":"), "a schedule is signed");
    let payload = String::from_utf8(changed.spec.payload.clone()).expect("text");
    changed.spec.payload = payload.replace("\"Ok\"", "\"Hang\"").into_bytes();
    let write = ratchet_store::model::WriteSchedule {
        name: "changed".to_owned(),
        replaces: Some(changed.version),
        record: Some(changed),
        declarations: None,
        jobs: Vec::new(),
        notices: Vec::new(),
    };
    store.write_schedule(write).await.expect("writes");
    fixture.advance(Duration::from_hours(1)).await;
    let of = |tag: &'static str| move |job: &JobRecord| job.spec.tags.iter().any(|it| it == tag);
    eventually("both have fired", async || {
        let jobs = fixture.all(&ratchet).await;
        let ended = |tag| jobs.iter().any(|job| of(tag)(job) && job.state.is_terminal());
        ended("schedule:honest") && ended("schedule:changed")
    })
    .await;
    for job in fixture.all(&ratchet).await {
        if of("schedule:honest")(&job) {
            fixture.until(&ratchet, job.id, JobState::Succeeded).await;
        } else {
            refused(&fixture, &ratchet, job.id, "the job of a changed schedule").await;
        }
    }
    // Another declaration repairs the schedule.
    schedules.declare("changed", "0 * * * *", Script::of([Step::Ok])).await.expect("declares");
    let fired = schedules.run_now("changed").await.expect("fires").expect("a job");
    fixture.until(&ratchet, fired, JobState::Succeeded).await;
    worker.stop().await;
}

pub async fn z_07_a_rotated_key_verifies_and_a_retired_one_is_refused(fixture: EngineFixture) {
    let old = fixture.builder().keyring(signing()).build().await.expect("builds");
    let keys = rotated(KeyState::Rotated);
    let (ratchet, worker) = start(fixture.builder().keyring(keys.clone())).await;
    let during = fixture.play(&old, [Step::Ok]).await;
    fixture.until(&ratchet, during.id(), JobState::Succeeded).await;
    keys.replace(&rotated(KeyState::Retired));
    let late = fixture.play(&old, [Step::Ok]).await;
    refused(&fixture, &ratchet, late.id(), "a retired key").await;
    keys.replace(&rotated(KeyState::Destroyed));
    let later = fixture.play(&old, [Step::Ok]).await;
    let job = fixture.ended(&ratchet, later.id()).await;
    assert_eq!(job.envelope.expect("an envelope").reason, TerminalReason::Invalid);
    assert_eq!(fixture.stage().runs(later.id()), 0);
    worker.stop().await;
}

/// A job whose key is unknown waits without using attempts, whatever `max_deferrals` says, and runs when the key comes.
pub async fn z_07_a_job_waits_for_a_missing_key(fixture: EngineFixture) {
    let client = fixture.builder().keyring(rotated(KeyState::Rotated)).build().await;
    let client = client.expect("builds");
    let keys = signing();
    let builder = fixture.builder().keyring(keys.clone()).max_deferrals(1);
    let (ratchet, worker) = start(builder).await;
    let job = fixture.play(&client, [Step::Ok]).await;
    let waiting = fixture.until_job(&ratchet, job.id(), |job| job.deferrals >= 3).await;
    assert_eq!((waiting.attempts, fixture.stage().runs(job.id())), (0, 0));
    let history = outcomes(&ratchet, job.id()).await;
    assert!(history.iter().all(|outcome| *outcome == AttemptOutcome::Rejected), "{history:?}");
    let names_the_key =
        |waiting: &Waiting| matches!(waiting, Waiting::MissingKey { why } if why.contains("`s2`"));
    // Between two of its runs: while it runs, it does not wait.
    eventually("the explanation names the key", async || {
        let why = ratchet.jobs().explain(job.id()).await.expect("reads");
        matches!(why, Some(Explanation::Waits(reasons)) if reasons.iter().any(names_the_key))
    })
    .await;
    keys.replace(&rotated(KeyState::Rotated));
    fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    worker.stop().await;
}

/// A worker without a keyring does not run what is signed, and does not fail it.
pub async fn z_07_a_worker_without_a_keyring_leaves_signed_jobs(fixture: EngineFixture) {
    let client = fixture.builder().keyring(signing()).build().await.expect("builds");
    let (ratchet, worker) = fixture.start().await;
    let job = fixture.play(&client, [Step::Ok]).await;
    fixture.until_job(&ratchet, job.id(), |job| job.deferrals >= 1).await;
    assert_eq!(fixture.stage().runs(job.id()), 0);
    worker.stop().await;
    let (ratchet, worker) = signed(&fixture).await;
    fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    worker.stop().await;
}

/// A refusal says nothing about the service of a job.
pub async fn z_02_a_refusal_does_not_count_for_the_breaker(fixture: EngineFixture) {
    let (ratchet, worker) = signed(&fixture).await;
    let unsigned = fixture.ratchet().await;
    for _ in 0..6 {
        let job = unsigned.enqueue(Paying::of([Step::Ok])).await.expect("enqueues");
        refused(&fixture, &ratchet, job.id(), "unsigned").await;
    }
    let job = ratchet.enqueue(Paying::of([Step::Ok])).await.expect("enqueues");
    fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    worker.stop().await;
}

/// A repeated submit is recognized although every signature and every job id differs.
pub async fn z_02_a_repeat_of_an_idempotency_key_is_recognized(fixture: EngineFixture) {
    let unsigned = fixture.ratchet().await;
    let signed = fixture.builder().keyring(signing()).build().await.expect("builds");
    let submit = async |ratchet: &Ratchet, steps: Vec<Step>| {
        ratchet.enqueue(Script::of(steps)).idempotency_key("k").await.map(|job| job.id())
    };
    let first = submit(&signed, vec![Step::Ok]).await.expect("enqueues");
    assert_eq!(submit(&signed, vec![Step::Ok]).await.expect("a repeat"), first);
    assert_eq!(submit(&unsigned, vec![Step::Ok]).await.expect("a repeat"), first);
    let other = submit(&signed, vec![Step::Hang]).await;
    assert!(matches!(other, Err(SubmitError::IdempotencyMismatch { .. })), "{other:?}");
    let submit = async |steps: Vec<Step>| {
        let batch = signed.batch("b").job(Script::of(steps)).idempotency_key("batch").await;
        batch.map(|group| group.id())
    };
    let first = submit(vec![Step::Ok]).await.expect("submits");
    assert_eq!(submit(vec![Step::Ok]).await.expect("a repeat"), first);
    assert!(submit(vec![Step::Hang]).await.is_err());
}

pub async fn z_02_limits_and_keys_are_checked_at_submit(fixture: EngineFixture) {
    let ratchet = fixture.builder().keyring(signing()).payload_limit(300).build().await;
    let ratchet = ratchet.expect("builds");
    let sized = |length: usize| Script::of([Step::Error("x".repeat(length))]);
    let plain = fixture.builder().payload_limit(300).build().await.expect("builds");
    plain.enqueue(sized(250)).await.expect("fits without a signature");
    let refused = ratchet.enqueue(sized(250)).await;
    let Err(SubmitError::TooLarge { size, limit: 300, .. }) = refused else {
        panic!("{refused:?}")
    };
    let stored = ratchet.enqueue(sized(150)).await.expect("fits").id();
    let row = fixture.store().get(stored).await.expect("reads").expect("exists");
    assert_eq!(row.spec.payload.len() + 100, size, "the size that is checked is the stored one");
    let none = ring([key("s1", Purpose::Sign, 1).state(KeyState::Rotated)]);
    let none = fixture.builder().keyring(none).build().await.expect("builds");
    let refused = none.enqueue(Script::of([Step::Ok])).await;
    assert!(matches!(refused, Err(SubmitError::Key { .. })), "{refused:?}");
    let unkeyed = fixture.builder().sign(Sign::Required).build().await;
    assert!(matches!(unkeyed, Err(BuildError::Config(_))), "{unkeyed:?}");
}

/// A forged step with an edge from an honest one is refused, and the honest one runs.
pub async fn z_08_a_forged_step_of_an_honest_graph_is_refused(fixture: EngineFixture) {
    let (ratchet, worker) = signed(&fixture).await;
    let batch = ratchet.batch("b").job(Script::of([Step::Gate])).open().await.expect("submits");
    let mut forged = JobSpec::new(name::<Script>(), br#"{"steps":["Ok"]}"#.to_vec());
    forged.step = Some(Box::new(Place::new(Some(batch.id()))));
    let id = JobId::from_uuid(uuid::Uuid::now_v7());
    let extend = ratchet_store::model::Extend {
        group: batch.id(),
        jobs: vec![NewJob::new(id, forged)],
        seal: true,
    };
    fixture.store().add_members(extend).await.expect("adds");
    refused(&fixture, &ratchet, id, "a forged step").await;
    fixture.stage().open_gate();
    let members = fixture.all(&ratchet).await;
    for job in members.iter().filter(|job| job.id != id) {
        fixture.until(&ratchet, job.id, JobState::Succeeded).await;
    }
    worker.stop().await;
}
