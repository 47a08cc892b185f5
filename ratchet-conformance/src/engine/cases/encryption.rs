//! Encrypted jobs: what the store contains is unreadable, and what handlers and clients see is not.

use std::fmt::Write as _;
use std::sync::Arc;

use ratchet_core::{
    BuildError, Encrypt, Finished, Job, JobContext, JobError, JobId, JobState, Key, KeyState,
    Keyring, Purpose, Ratchet, State, Store, Worker,
};
use ratchet_macros::job;
use ratchet_store::model::{
    Channel, Filter, JobRecord, NewJob, PageRequest, RejectFilter, TerminalReason,
};

use crate::engine::fixture::{EngineFixture, eventually, start};
use crate::engine::keys::{both, key, ring};
use crate::engine::script::{Script, Stage, Step, Watched};

/// Writes its secret everywhere a run can write, and fails until its last attempt.
#[job(name = "test.secretive", encrypt, max_retries = 1, on_success = Follow, crate = ::ratchet_core)]
pub(super) async fn secretive(
    secret: String,
    fail: bool,
    #[inject] ctx: JobContext,
    #[inject] stage: State<Stage>,
) -> Result<String, JobError> {
    if let Some(checkpoint) = ctx.checkpoint::<String>()? {
        stage.note(format!("checkpoint {checkpoint}"));
    }
    if let Some(progress) = ctx.progress() {
        stage.note(format!("progress {}", progress.message));
    }
    ctx.set_checkpoint(&secret)?;
    ctx.set_progress(50.0, secret.clone());
    ctx.info(secret.clone());
    ctx.reject_item_with(7, JobError::msg(secret.clone()), &secret)?;
    ctx.hand_off("next", "k", &secret)?;
    if fail || ctx.attempt() == 1 {
        return Err(JobError::msg(format!("it failed with {secret}")));
    }
    Ok(secret)
}

/// Reads the job that it follows.
#[job(name = "test.follow", crate = ::ratchet_core)]
pub(super) async fn follow(#[inject] stage: State<Stage>, #[inject] finished: Finished<Secretive>) {
    stage.note(format!("followed {} {:?}", finished.args.secret, finished.outcome.ok()));
}

/// Has one secret argument, and is therefore encrypted without being marked.
#[job(name = "test.password", crate = ::ratchet_core)]
pub(super) async fn password(
    user: String,
    #[job(secret)] password: String,
    #[inject] stage: State<Stage>,
) {
    stage.note(format!("{user} {}", password.len()));
}

pub(super) async fn encrypting(fixture: &EngineFixture, keys: Keyring) -> (Ratchet, Worker) {
    let builder =
        fixture.builder().keyring(keys).jobs([Secretive::JOB, Follow::JOB, Password::JOB]);
    start(builder.outcome_sink(Ignore).dead_letter_sink(Ignore)).await
}

#[derive(Debug)]
struct Ignore;

#[ratchet_core::async_trait]
impl ratchet_core::OutcomeSink for Ignore {
    async fn publish(
        &self,
        _: &ratchet_store::model::JobOutcome,
    ) -> Result<(), ratchet_core::SinkError> {
        Err("it is kept in the store".into())
    }
}

#[ratchet_core::async_trait]
impl ratchet_core::DeadLetterSink for Ignore {
    async fn publish(
        &self,
        _: &ratchet_store::model::Envelope,
    ) -> Result<(), ratchet_core::SinkError> {
        Err("it is kept in the store".into())
    }
}

/// Returns everything that a store returns, as text.
pub(crate) async fn everything(store: &dyn Store) -> String {
    let page = PageRequest { before: None, limit: 1000 };
    let jobs = store.list(&Filter::any(), page).await.expect("reads").jobs;
    let mut text = String::new();
    let mut add = |what: &dyn std::fmt::Debug| writeln!(text, "{what:?}").expect("writes");
    for job in &jobs {
        add(job);
        let json = serde_json::to_value(&*job.spec).expect("serializes");
        let bytes = |json: &serde_json::Value| {
            let bytes: Option<Vec<u8>> = serde_json::from_value(json["payload"].clone()).ok();
            bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        };
        add(&(bytes(&json), bytes(&json["finished"])));
        add(&(bytes(&json["on_success"]), bytes(&json["on_failure"])));
        add(&store.attempts(job.id).await.expect("reads"));
        add(&store.logs(job.id).await.expect("reads"));
    }
    add(&store.rejects(&RejectFilter::any(), None, 1000).await.expect("reads"));
    add(&store.alerts(1000).await.expect("reads"));
    for channel in [Channel::Alerts, Channel::DeadLetters, Channel::Outcomes] {
        let hold = std::time::Duration::ZERO;
        add(&store.take_deliveries(channel, 1000, hold).await.expect("reads"));
    }
    let hold = std::time::Duration::ZERO;
    add(&store.take_hand_offs("next", 1000, hold).await.expect("reads"));
    for schedule in store.schedules().await.expect("reads") {
        add(&String::from_utf8_lossy(&schedule.spec.payload));
        add(&schedule);
    }
    text
}

pub async fn z_03_nothing_of_a_run_is_stored_readable(fixture: EngineFixture) {
    let (ratchet, worker) = encrypting(&fixture, both()).await;
    let secret = |number: u32| format!("TOP-SECRET-{number}");
    let good = Secretive { secret: secret(1), fail: false };
    let good = ratchet.enqueue(good).on_failure(Password { user: secret(2), password: secret(3) });
    let good = good.await.expect("enqueues");
    let bad = ratchet.enqueue(Secretive { secret: secret(4), fail: true }).await.expect("enqueues");
    let login = Password { user: "someone".to_owned(), password: secret(5) };
    let login = ratchet.enqueue(login).idempotency_key("login").await.expect("enqueues");
    let scheduled = Secretive { secret: secret(6), fail: false };
    ratchet.schedules().declare("secret", "0 3 * * *", scheduled).await.expect("declares");
    let done = fixture.until(&ratchet, good.id(), JobState::Succeeded).await;
    let failed = fixture.until(&ratchet, bad.id(), JobState::Failed).await;
    fixture.until(&ratchet, login.id(), JobState::Succeeded).await;
    eventually("the callback ran", async || {
        fixture.stage().notes().iter().any(|note| note.starts_with("followed"))
    })
    .await;

    // The handlers have seen the plain values.
    let notes = fixture.stage().notes();
    for expected in [
        "checkpoint TOP-SECRET-1".to_owned(),
        "progress TOP-SECRET-1".to_owned(),
        "followed TOP-SECRET-1 Some(\"TOP-SECRET-1\")".to_owned(),
        "someone 12".to_owned(),
    ] {
        assert!(notes.contains(&expected), "{expected} is not in {notes:?}");
    }
    // So does a client with the keyring.
    assert_eq!(done.output.as_deref(), Some("\"TOP-SECRET-1\""));
    assert!(failed.envelope.expect("an envelope").failure.message.contains(&secret(4)));
    assert_eq!(ratchet.jobs().logs(good.id()).await.expect("reads")[0].message, secret(1));
    let history = ratchet.jobs().attempts(bad.id()).await.expect("reads");
    assert!(history[0].error.as_ref().expect("an error").message.contains(&secret(4)));
    let items = ratchet.rejects().list(&RejectFilter::any(), None, 10).await.expect("reads");
    assert_eq!(items[0].item.payload.as_deref(), Some("\"TOP-SECRET-1\""));

    // The store has none of them, and says which key encrypted them.
    let stored = everything(fixture.store().as_ref()).await;
    let found = stored.find("TOP-SECRET").map(|at| &stored[at.saturating_sub(200)..at + 20]);
    assert_eq!(found, None);
    assert!(stored.contains("encrypted:v1:e1:"), "texts name their key");
    assert!(stored.contains("\\\"seal\\\":\\\"e1:"), "arguments name their key");
    worker.stop().await;
}

/// A client without the keyring sees that values are encrypted, and no error.
pub async fn z_03_a_reader_without_the_key_sees_envelopes(fixture: EngineFixture) {
    let (ratchet, worker) = encrypting(&fixture, both()).await;
    let job = Secretive { secret: "s".to_owned(), fail: true };
    let job = ratchet.enqueue(job).await.expect("enqueues");
    fixture.until(&ratchet, job.id(), JobState::Failed).await;
    let reader = Ratchet::builder_shared(fixture.store()).jobs([]).build().await.expect("builds");
    let seen = reader.jobs().get(job.id()).await.expect("reads").expect("exists");
    assert!(String::from_utf8_lossy(&seen.spec.payload).contains(r#""seal":"e1:"#));
    assert!(seen.error.expect("an error").message.starts_with("encrypted:v1:e1:"));
    assert!(seen.progress.expect("progress").message.starts_with("encrypted:v1:e1:"));
    reader.jobs().logs(job.id()).await.expect("reads");
    worker.stop().await;
}

/// Returns the stored rows of two encrypted jobs, without signatures, so that only the encryption protects them.
async fn sealed_rows(fixture: &EngineFixture) -> [NewJob; 2] {
    let store: Arc<dyn Store> = Arc::new(ratchet_memory::MemoryStore::new());
    let client = fixture.builder_on(Arc::clone(&store)).keyring(sealing()).encrypt(Encrypt::All);
    let client = client.build().await.expect("builds");
    let mut rows = Vec::new();
    for _ in 0..2 {
        let job = client.enqueue(Script::of([Step::Ok])).on_success(Watched { fail: false }).await;
        let id = job.expect("enqueues").id();
        let row = store.get(id).await.expect("reads").expect("exists");
        rows.push(NewJob::new(id, (*row.spec).clone()));
    }
    rows.try_into().expect("two rows")
}

/// A keyring that encrypts and does not sign.
fn sealing() -> Keyring {
    ring([key("e1", Purpose::Encrypt, 3)])
}

/// An attack on the first of two rows.
type Move = fn(&mut NewJob, &NewJob);

pub async fn z_03_ciphertext_cannot_be_moved(fixture: EngineFixture) {
    let builder = fixture.builder().keyring(sealing()).encrypt(Encrypt::All);
    let (ratchet, worker) = start(builder).await;
    let moves: [(&str, Move); 4] = [
        ("from another job", |row, other| row.spec.payload.clone_from(&other.spec.payload)),
        ("from another field", |row, _| {
            let callback = row.spec.on_success.as_ref().expect("a callback");
            row.spec.payload = callback.payload.clone();
        }),
        ("of another job's callback", |row, other| {
            row.spec.on_success.clone_from(&other.spec.on_success);
        }),
        ("truncated", |row, _| {
            let text = String::from_utf8_lossy(&row.spec.payload).into_owned();
            row.spec.payload = format!("{}\"}}}}", &text[..text.len() - 20]).into_bytes();
        }),
    ];
    for (attack, change) in moves {
        let [mut row, other] = sealed_rows(&fixture).await;
        change(&mut row, &other);
        let id = row.id;
        fixture.store().insert(vec![row]).await.expect("inserts");
        let job = fixture.ended(&ratchet, id).await;
        let reason = job.envelope.expect("an envelope").reason;
        assert_eq!(reason, TerminalReason::RejectedSignature, "{attack}");
        assert_eq!(fixture.stage().runs(id), 0, "{attack}");
    }
    let [honest, _] = sealed_rows(&fixture).await;
    let id = honest.id;
    fixture.store().insert(vec![honest]).await.expect("inserts");
    fixture.until(&ratchet, id, JobState::Succeeded).await;
    worker.stop().await;
}

/// Tenants have keys of their own, and a destroyed key cannot be replaced by another one.
pub async fn z_07_destroying_a_key_shreds_the_jobs_of_its_tenant(fixture: EngineFixture) {
    let tenant = |state| key("acme-1", Purpose::Encrypt, 5).tenant("acme").state(state);
    let keys =
        |tenant: Key| ring([key("s1", Purpose::Sign, 1), key("e1", Purpose::Encrypt, 3), tenant]);
    let client = fixture.builder().keyring(keys(tenant(KeyState::Active))).encrypt(Encrypt::All);
    let client = client.build().await.expect("builds");
    let submit = async |tenant: &str| {
        client.enqueue(Script::of([Step::Ok])).tenant(tenant).await.expect("enqueues").id()
    };
    let (of_tenant, of_other) = (submit("acme").await, submit("other").await);
    let raw = fixture.store().get(of_tenant).await.expect("reads").expect("exists");
    assert!(String::from_utf8_lossy(&raw.spec.payload).contains("acme-1:"));
    let destroyed = keys(tenant(KeyState::Destroyed));
    let (ratchet, worker) = start(fixture.builder().keyring(destroyed).encrypt(Encrypt::All)).await;
    let job = fixture.ended(&ratchet, of_tenant).await;
    let envelope = job.envelope.expect("an envelope");
    assert_eq!(envelope.reason, TerminalReason::Invalid);
    assert!(envelope.failure.message.contains("acme-1"), "{envelope:?}");
    assert_eq!(fixture.stage().runs(of_tenant), 0);
    fixture.until(&ratchet, of_other, JobState::Succeeded).await;
    let refused = ratchet.enqueue(Script::of([Step::Ok])).tenant("acme").await;
    assert!(refused.is_err(), "no other key is used for the tenant");
    worker.stop().await;
}

/// A retired encryption key opens nothing, and the jobs wait for it.
pub async fn z_07_a_job_waits_for_a_retired_encryption_key(fixture: EngineFixture) {
    let keys =
        |first| ring([key("e1", Purpose::Encrypt, 3).state(first), key("e2", Purpose::Encrypt, 6)]);
    let client = fixture.builder().keyring(sealing()).encrypt(Encrypt::All);
    let client = client.build().await.expect("builds");
    let job = fixture.play(&client, [Step::Ok]).await;
    let live = keys(KeyState::Retired);
    let builder = fixture.builder().keyring(live.clone()).encrypt(Encrypt::All);
    let (ratchet, worker) = start(builder).await;
    fixture.until_job(&ratchet, job.id(), |job: &JobRecord| job.deferrals >= 2).await;
    live.replace(&keys(KeyState::Rotated));
    let done = fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    assert_eq!(done.attempts, 0);
    let raw = fixture.store().get(job.id()).await.expect("reads").expect("exists");
    assert!(
        raw.output.expect("an output").contains("\"seal\":\"e2:"),
        "the output has the new key"
    );
    worker.stop().await;
}

/// An encrypted repeat is recognized, and the stored digest is keyed.
pub async fn z_03_a_repeat_of_an_encrypted_job_is_recognized(fixture: EngineFixture) {
    let client = fixture.builder().keyring(both()).encrypt(Encrypt::All).build().await;
    let client = client.expect("builds");
    let submit = async |step: Step| -> Result<JobId, ratchet_core::SubmitError> {
        let job = client.enqueue(Script::of([step])).idempotency_key("k").await?;
        Ok(job.id())
    };
    let first = submit(Step::Ok).await.expect("enqueues");
    assert_eq!(submit(Step::Ok).await.expect("a repeat"), first);
    assert!(submit(Step::Hang).await.is_err(), "other arguments");
    // The same arguments without the key have another digest, so a digest does not tell what they are.
    let plain = fixture.builder().build().await.expect("builds");
    assert!(plain.enqueue(Script::of([Step::Ok])).idempotency_key("k").await.is_err());
}

pub async fn z_03_a_job_that_must_be_encrypted_needs_a_key(fixture: EngineFixture) {
    let unkeyed = fixture.builder().jobs([Secretive::JOB]).build().await;
    let Err(BuildError::Config(problems)) = unkeyed else { panic!("{unkeyed:?}") };
    assert!(problems[0].contains("test.secretive"), "{problems:?}");
    let unkeyed = fixture.builder().encrypt(Encrypt::All).build().await;
    assert!(matches!(unkeyed, Err(BuildError::Config(_))), "{unkeyed:?}");
}

/// Keys are rotated five times while jobs are submitted and run by two workers. No honest job is refused or lost.
pub async fn z_07_a_rotation_under_load_refuses_nothing(fixture: EngineFixture) {
    /// The keys of a generation: the older ones are rotated, and the next one is known before it is used.
    fn generation(active: u8, known: u8) -> Keyring {
        let state = |number| if number == active { KeyState::Active } else { KeyState::Rotated };
        let keys = (1..=known).flat_map(|number| {
            let key = |letter: &str, purpose, byte| {
                key(&format!("{letter}{number}"), purpose, byte).state(state(number))
            };
            [key("s", Purpose::Sign, number), key("e", Purpose::Encrypt, 100 + number)]
        });
        ring(keys.collect::<Vec<_>>())
    }
    let (client_keys, worker_keys) = (generation(1, 1), generation(1, 1));
    let builder = |keys: &Keyring| fixture.builder().keyring(keys.clone()).encrypt(Encrypt::All);
    let client = builder(&client_keys).build().await.expect("builds");
    let (first, worker) = start(builder(&worker_keys)).await;
    let (_second, other) = start(builder(&worker_keys)).await;
    let mut jobs = Vec::new();
    for number in 1..=5_u8 {
        for _ in 0..40 {
            let steps = [Step::Error("once".to_owned()), Step::Spawn(1)];
            jobs.push(fixture.play(&client, steps).await.id());
        }
        // Every process knows the next key before one of them uses it.
        worker_keys.replace(&generation(number, number + 1));
        client_keys.replace(&generation(number + 1, number + 1));
        jobs.push(fixture.play(&client, [Step::Ok]).await.id());
        worker_keys.replace(&generation(number + 1, number + 1));
    }
    for id in &jobs {
        fixture.until(&first, *id, JobState::Succeeded).await;
    }
    fixture
        .until_all(&first, "every child has ended", |job| job.state == JobState::Succeeded)
        .await;
    let ended = fixture.all(&first).await;
    assert_eq!(ended.len(), jobs.len() + 200, "every child was created");
    worker.stop().await;
    other.stop().await;
}
