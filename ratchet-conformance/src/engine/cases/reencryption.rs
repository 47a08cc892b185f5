//! Stored content is protected again with the active keys, so that older keys can be retired.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ratchet_core::{
    Encrypt, Job as _, JobState, KeyState, Keyring, Purpose, Ratchet, Reencrypt, Reencrypted,
    State, Store,
};
use ratchet_macros::job;
use ratchet_store::model::{
    Actor, AuditFilter, AuditNote, Change, ChangeReply, ContentPlace, ContentRow, Filter,
    PageRequest, RejectFilter, Rewrite,
};

use super::encryption::{Follow, Password, Secretive, encrypting, everything};
use crate::engine::fixture::{EngineFixture, eventually, start};
use crate::engine::keys::{both, key, ring};
use crate::engine::script::{Stage, Step};

/// The keys after a rotation. The first ones are in the given state.
fn after(first: KeyState) -> Keyring {
    ring([
        key("s1", Purpose::Sign, 1).state(first),
        key("e1", Purpose::Encrypt, 3).state(first),
        key("s2", Purpose::Sign, 5),
        key("e2", Purpose::Encrypt, 6),
        key("d1", Purpose::Digest, 4),
    ])
}

/// How values of the first keys are stored. The end of an id can look like a key, so the search includes what is before it.
const OLD: [&str; 3] = ["encrypted:v1:e1:", "\"e1:", "\"s1:"];

fn options() -> Reencrypt {
    Reencrypt::default().page(3).pause(Duration::ZERO)
}

/// Says its argument.
#[job(name = "test.later", encrypt, crate = ::ratchet_core)]
async fn later(secret: String, #[inject] stage: State<Stage>) {
    stage.note(format!("later {secret}"));
}

async fn client(fixture: &EngineFixture, keys: Keyring) -> Ratchet {
    let builder = fixture.builder().keyring(keys);
    let jobs = [Secretive::JOB, Follow::JOB, Password::JOB, Later::JOB];
    builder.jobs(jobs).build().await.expect("builds")
}

/// Fills the store with everything that is encrypted: ended jobs, a waiting one with callbacks, and a schedule.
async fn fill(fixture: &EngineFixture) -> [ratchet_core::JobId; 3] {
    let (ratchet, worker) = encrypting(fixture, both()).await;
    let secret = |number: u32| format!("TOP-SECRET-{number}");
    let good = Secretive { secret: secret(1), fail: false };
    let good = ratchet.enqueue(good).await.expect("enqueues").id();
    let bad = Secretive { secret: secret(2), fail: true };
    let bad = ratchet.enqueue(bad).await.expect("enqueues").id();
    fixture.until(&ratchet, good, JobState::Succeeded).await;
    fixture.until(&ratchet, bad, JobState::Failed).await;
    eventually("the callback ran", async || {
        fixture.stage().notes().iter().any(|note| note.starts_with("followed"))
    })
    .await;
    worker.stop().await;
    let client = client(fixture, both()).await;
    let waiting = Later { secret: secret(3) };
    let callback = Password { user: secret(4), password: secret(5) };
    let waiting = client.enqueue(waiting).on_failure(callback).await.expect("enqueues").id();
    let scheduled = Secretive { secret: secret(6), fail: false };
    client.schedules().declare("secret", "0 3 * * *", scheduled).await.expect("declares");
    [good, bad, waiting]
}

/// Returns the keys that are in use.
async fn used(ratchet: &Ratchet) -> Vec<String> {
    let usage = ratchet.key_usage(u64::MAX).await.expect("counts");
    assert!(usage.complete);
    usage.keys.keys().map(ToString::to_string).collect()
}

pub async fn z_03_reencryption_leaves_nothing_under_an_old_key(fixture: EngineFixture) {
    let [good, bad, waiting] = fill(&fixture).await;
    let operator = client(&fixture, after(KeyState::Rotated)).await;
    assert_eq!(used(&operator).await, ["e1", "s1"]);
    let stored = everything(fixture.store().as_ref()).await;
    assert!(OLD.iter().all(|old| stored.contains(old)), "the search works");
    let operator = operator.acting_as(Actor::new("ada"));
    let mut pages = 0;
    let done = operator.reencrypt(options(), |_| pages += 1).await.expect("writes");
    assert!(pages > 3, "{pages} pages");
    assert_eq!((done.changed, &done.refused), (0, &BTreeMap::default()));
    assert!(done.rewritten > 10, "{done:?}");
    assert_eq!(used(&operator).await, ["e2", "s2"]);
    let stored = everything(fixture.store().as_ref()).await;
    for old in OLD {
        let found = stored.find(old).map(|at| &stored[at.saturating_sub(200)..at + 40]);
        assert_eq!(found, None);
    }
    let again = operator.reencrypt(options(), |_| {}).await.expect("reads");
    assert_eq!(again.rewritten, 0, "nothing is written twice");
    let filter = AuditFilter { verb: Some("keys.reencrypt".to_owned()), ..AuditFilter::default() };
    let trail = operator.audit().list(&filter, None, 100).await.expect("reads");
    assert!(trail.len() > 3, "{trail:?}");
    operator.audit().verify().await.expect("the trail is whole");

    // The old keys are retired, and everything can still be read and run.
    let builder = fixture.builder().keyring(after(KeyState::Retired));
    let jobs = [Secretive::JOB, Follow::JOB, Password::JOB, Later::JOB];
    let (ratchet, worker) = start(builder.jobs(jobs)).await;
    fixture.until(&ratchet, waiting, JobState::Succeeded).await;
    assert!(fixture.stage().notes().contains(&"later TOP-SECRET-3".to_owned()));
    let record = ratchet.jobs().get(good).await.expect("reads").expect("exists");
    assert_eq!(record.output.as_deref(), Some("\"TOP-SECRET-1\""));
    assert_eq!(record.progress.expect("progress").message, "TOP-SECRET-1");
    assert_eq!(record.checkpoint, Some("TOP-SECRET-1".into()));
    assert_eq!(ratchet.jobs().logs(good).await.expect("reads")[0].message, "TOP-SECRET-1");
    let failed = ratchet.jobs().get(bad).await.expect("reads").expect("exists");
    assert!(failed.envelope.expect("an envelope").failure.message.contains("TOP-SECRET-2"));
    let history = ratchet.jobs().attempts(bad).await.expect("reads");
    assert!(history[0].error.as_ref().expect("an error").message.contains("TOP-SECRET-2"));
    let items = ratchet.rejects().list(&RejectFilter::any(), None, 10).await.expect("reads");
    assert_eq!(items[0].item.payload.as_deref(), Some("\"TOP-SECRET-1\""));
    let handed = ratchet.pipeline("next").take(10, Duration::from_secs(1)).await.expect("takes");
    assert_eq!(handed[0].handed.checkpoint, "TOP-SECRET-1");
    ratchet.jobs().retry(bad).await.expect("a dead letter can be retried");
    fixture.until(&ratchet, bad, JobState::Failed).await;
    ratchet.schedules().run_now("secret").await.expect("fires");
    fixture
        .until_all(&ratchet, "the occurrence ran", |job| {
            job.id == bad || job.state == JobState::Succeeded
        })
        .await;
    worker.stop().await;
}

pub async fn z_03_an_interrupted_reencryption_continues(fixture: EngineFixture) {
    let [_, _, waiting] = fill(&fixture).await;
    let operator = client(&fixture, after(KeyState::Rotated)).await;
    let (sender, mut pages) = tokio::sync::mpsc::unbounded_channel();
    let task = {
        let operator = operator.clone();
        tokio::spawn(async move {
            let options = options().page(1).pause(Duration::from_millis(1));
            let tell = |_: &Reencrypted| {
                let _ = sender.send(());
            };
            operator.reencrypt(options, tell).await.map(drop)
        })
    };
    for _ in 0..4 {
        pages.recv().await.expect("a page");
    }
    task.abort();
    let _ = task.await;
    assert!(used(&operator).await.contains(&"e2".to_owned()), "it has begun");
    operator.reencrypt(options(), |_| {}).await.expect("writes");
    assert_eq!(used(&operator).await, ["e2", "s2"]);
    let builder = fixture.builder().keyring(after(KeyState::Retired)).jobs([Later::JOB]);
    let (ratchet, worker) = start(builder).await;
    fixture.until(&ratchet, waiting, JobState::Succeeded).await;
    worker.stop().await;
}

/// While jobs are submitted, run and retried.
pub async fn z_03_reencryption_beside_workers_refuses_nothing(fixture: EngineFixture) {
    let builder = |keys: Keyring| fixture.builder().keyring(keys).encrypt(Encrypt::All);
    let older = builder(both()).build().await.expect("builds");
    let mut jobs = Vec::new();
    for _ in 0..30 {
        let steps = [Step::Error("once".to_owned()), Step::Spawn(1)];
        jobs.push(fixture.play(&older, steps).await.id());
    }
    let (ratchet, worker) = start(builder(after(KeyState::Rotated))).await;
    let mut passes = 0;
    while passes < 3 || !used(&ratchet).await.iter().all(|key| key.ends_with('2')) {
        jobs.push(fixture.play(&ratchet, [Step::Ok]).await.id());
        let done = ratchet.reencrypt(options().page(5), |_| {}).await.expect("writes");
        assert_eq!(done.refused, BTreeMap::default());
        passes += 1;
        assert!(passes < 100, "it does not end");
    }
    for id in &jobs {
        fixture.until(&ratchet, *id, JobState::Succeeded).await;
    }
    fixture
        .until_all(&ratchet, "every child has ended", |job| job.state == JobState::Succeeded)
        .await;
    assert_eq!(fixture.all(&ratchet).await.len(), jobs.len() + 30, "every child was created");
    worker.stop().await;
}

pub async fn z_03_plain_arguments_can_be_encrypted(fixture: EngineFixture) {
    let plain = ring([key("s1", Purpose::Sign, 1)]);
    let before = fixture.builder().keyring(plain).jobs([Password::JOB]);
    let before = before.build().await.expect("builds");
    let login = Password { user: "someone".to_owned(), password: "TOP-SECRET-1".to_owned() };
    let login = before.enqueue(login).await.expect("enqueues").id();
    let store = fixture.store();
    assert!(everything(store.as_ref()).await.contains("TOP-SECRET"));
    let (ratchet, worker) = {
        let builder = fixture.builder().keyring(both()).jobs([Password::JOB]);
        let ratchet = builder.build().await.expect("builds");
        let done = ratchet.reencrypt(options(), |_| {}).await.expect("reads");
        assert_eq!(done.rewritten, 0, "only on request");
        let done = ratchet.reencrypt(options().encrypt_plain(), |_| {}).await.expect("writes");
        assert_eq!((done.rewritten, done.refused), (1, BTreeMap::default()));
        assert!(!everything(store.as_ref()).await.contains("TOP-SECRET"));
        let worker = ratchet.start().await.expect("starts");
        (ratchet, worker)
    };
    fixture.until(&ratchet, login, JobState::Succeeded).await;
    assert!(fixture.stage().notes().contains(&"someone 12".to_owned()));
    worker.stop().await;
}

/// A row that someone has added to the database must not become valid.
pub async fn z_02_reencryption_does_not_sign_what_is_not_signed(fixture: EngineFixture) {
    let sealing = ring([key("e1", Purpose::Encrypt, 3)]);
    let forger = fixture.builder().keyring(sealing).encrypt(Encrypt::All);
    let forger = forger.build().await.expect("builds");
    let forged = fixture.play(&forger, [Step::Ok]).await.id();
    let operator = client(&fixture, after(KeyState::Rotated)).await;
    let done = operator.reencrypt(options(), |_| {}).await.expect("reads");
    assert_eq!(done.rewritten, 0);
    assert_eq!(
        done.refused.into_iter().collect::<Vec<_>>(),
        [("the job is not signed".to_owned(), 1)]
    );
    let (ratchet, worker) = start(fixture.builder().keyring(after(KeyState::Rotated))).await;
    fixture.until(&ratchet, forged, JobState::Failed).await;
    worker.stop().await;
}

async fn rows(store: &dyn Store, place: ContentPlace) -> Vec<ContentRow> {
    store.content(place, None, 1000).await.expect("reads").rows
}

async fn apply(store: &dyn Store, rewrite: Rewrite) -> bool {
    let note = AuditNote::new(Actor::new("ada"), "keys.reencrypt");
    let changed = store.operate(Change::Reprotect(vec![rewrite]), Some(note)).await;
    let changed = changed.expect("operates");
    let ChangeReply::Reprotected(applied) = changed.reply else { panic!("another reply") };
    assert_eq!(changed.audit.is_some(), applied[0], "what changes is recorded, and nothing else");
    applied[0]
}

/// Each place of the store, and the arguments.
pub async fn z_03_content_that_has_changed_is_not_replaced(fixture: EngineFixture) {
    let [_, _, waiting] = fill(&fixture).await;
    let store: Arc<dyn Store> = fixture.store();
    let store = store.as_ref();
    for place in ContentPlace::ALL {
        let all = rows(store, place).await;
        // Every page continues after the one before.
        let (mut paged, mut after) = (Vec::new(), None);
        while let [row] = store.content(place, after, 1).await.expect("reads").rows.as_slice() {
            after = Some(row.key);
            paged.push(row.clone());
        }
        assert_eq!(paged, all, "{place:?}");
        let sealed =
            |row: &&ContentRow| row.texts.iter().flatten().any(|text| text.contains("e1:"));
        let Some(row) = all.iter().find(sealed) else {
            assert_eq!(place, ContentPlace::Alert, "nothing is stored there");
            continue;
        };
        let renew = |from: &str, to: &str| -> Vec<_> {
            row.texts.iter().map(|text| text.as_ref().map(|text| text.replace(from, to))).collect()
        };
        let rewrite = |expected: Vec<Option<String>>, texts| Rewrite::Texts {
            place,
            key: row.key,
            expected,
            texts,
        };
        let other = renew("e1:", "e8:");
        assert!(!apply(store, rewrite(other.clone(), renew("e1:", "e9:"))).await, "{place:?}");
        assert_eq!(rows(store, place).await, all, "{place:?}");
        assert!(apply(store, rewrite(row.texts.clone(), other.clone())).await, "{place:?}");
        let changed = rows(store, place).await;
        let changed = changed.iter().find(|now| now.key == row.key).expect("the row");
        assert_eq!(changed.texts, other, "{place:?}");
    }
    let page = PageRequest { before: None, limit: 100 };
    let jobs = store.list(&Filter::any(), page).await.expect("reads").jobs;
    let job = jobs.into_iter().find(|job| job.id == waiting).expect("the job");
    let mut spec = (*job.spec).clone();
    spec.payload = br#"{"secret":"new"}"#.to_vec();
    spec.on_failure = None;
    let rewrite = |expected: &[u8]| Rewrite::Arguments {
        job: waiting,
        expected: expected.to_vec(),
        spec: Box::new(spec.clone()),
    };
    assert!(!apply(store, rewrite(b"{}")).await);
    assert_eq!(store.get(waiting).await.expect("reads").expect("exists").spec, job.spec);
    assert!(apply(store, rewrite(&job.spec.payload)).await);
    let now = store.get(waiting).await.expect("reads").expect("exists");
    assert_eq!((&*now.spec, now.version), (&spec, job.version));
}
