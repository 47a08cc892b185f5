//! Which stored jobs a new version of a program could not read.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ratchet_core::{Encrypt, Job as _, JobId, Ratchet, StoredKind, StrandedReason};
use ratchet_store::model::{
    CatalogEntry, ClaimRequest, Due, JobSpec, KnownJobs, NewJob, NodeId, NodeInfo, QueueDemand,
    ScheduleRecord, Suspects, WriteSchedule,
};
use uuid::Uuid;

use super::super::EngineFixture;
use crate::engine::keys::both;
use crate::engine::script::{Script, Step};
use crate::fixture::RunExt;

/// The contract of the new version.
const LOCK: &str = r"# ratchet.lock 1

job lock.mail
  alias lock.letter
  version 2
  queue default
  arg to: string
    alias recipient
  arg size: $Size
  arg copies?: u8
  type Size enum
    Small
    Large
  payload 2 {}

job lock.strict
  version 1
  queue default
  strict
  arg to: string
  payload 1 {}

job lock.upgraded
  version 4
  upgrades from 2
  queue default
  arg to: string
  payload 4 {}

job test.script
  version 1
  queue default
  arg steps: [u8]
  payload 1 {}
";

/// Stored jobs of every version before: name, version and arguments, and why the new version cannot read them.
fn planted() -> Vec<(&'static str, u32, &'static str, Option<StrandedReason>)> {
    use StrandedReason::{Arguments, TooNew, TooOld, UnknownName};
    vec![
        ("lock.mail", 2, r#"{"to":"a","size":"Small"}"#, None),
        // Another name of the job and of an argument, an older version, a field that is gone.
        ("lock.letter", 1, r#"{"recipient":"a","size":"Large","gone":1}"#, None),
        // A required argument is new.
        ("lock.mail", 2, r#"{"to":"a"}"#, Some(Arguments)),
        // A type, a variant and a range have changed.
        ("lock.mail", 2, r#"{"to":7,"size":"Small"}"#, Some(Arguments)),
        ("lock.mail", 2, r#"{"to":"a","size":"Medium"}"#, Some(Arguments)),
        ("lock.mail", 2, r#"{"to":"a","size":"Small","copies":256}"#, Some(Arguments)),
        // The old name, with arguments that do not fit.
        ("lock.letter", 1, r#"{"recipient":"a"}"#, Some(Arguments)),
        ("lock.mail", 2, "not JSON", Some(Arguments)),
        // A version that was rolled back.
        ("lock.mail", 3, r#"{"to":"a","size":"Small"}"#, Some(TooNew)),
        // An argument of a strict job was removed.
        ("lock.strict", 1, r#"{"to":"a","gone":1}"#, Some(Arguments)),
        ("lock.strict", 1, r#"{"to":"a"}"#, None),
        // Upgrade functions read versions 2 and 3, whatever they contain.
        ("lock.upgraded", 1, r#"{"to":"a"}"#, Some(TooOld)),
        ("lock.upgraded", 3, r#"{"from":1}"#, None),
        ("lock.upgraded", 4, r#"{"from":1}"#, Some(Arguments)),
        // The job was removed or renamed without an alias.
        ("lock.removed", 1, "{}", Some(UnknownName)),
    ]
}

fn spec(name: &str, version: u32, payload: &str) -> JobSpec {
    let mut spec = JobSpec::new(name, payload.as_bytes().to_vec());
    spec.version = version;
    spec
}

/// Inserts every planted job, or for each one a job that has it as its callback.
async fn insert(fixture: &EngineFixture, due: Due, as_callback: bool) {
    let mut jobs = Vec::new();
    for (name, version, payload, _) in planted() {
        let planted = spec(name, version, payload);
        let planted = if as_callback {
            let mut owner = spec("lock.strict", 1, r#"{"to":"a"}"#);
            owner.on_failure = Some(Box::new(planted));
            owner
        } else {
            planted
        };
        let mut job = NewJob::new(JobId::from_uuid(Uuid::now_v7()), planted);
        job.due = due;
        jobs.push(job);
    }
    fixture.store().insert(jobs).await.expect("inserts");
}

/// Lets all jobs that are due fail.
async fn fail_all(fixture: &EngineFixture, jobs: usize) {
    let store = fixture.store();
    let node = NodeInfo::new(NodeId::from_uuid(Uuid::from_u128(1)));
    let names = planted().into_iter().map(|(name, ..)| (name.to_owned(), u32::MAX));
    let known = Arc::new(KnownJobs(names.collect()));
    store.join(node.clone(), Duration::from_hours(1)).await.expect("joins");
    let queues = vec![QueueDemand { queue: "default".to_owned(), limit: 100 }];
    let suspects = Suspects::beside_others(2);
    let request = ClaimRequest { node: node.id, queues, known, suspects, starting: true };
    let claimed = store.claim(request).await.expect("claims").jobs;
    assert_eq!(claimed.len(), jobs);
    store.settle(claimed.iter().map(RunExt::fail).collect()).await.expect("settles");
    store.leave(node.id).await.expect("leaves");
}

type Found = BTreeMap<(String, StoredKind, StrandedReason), u64>;

async fn found(ratchet: &Ratchet, program: Option<&str>) -> Found {
    let contract = LOCK.parse().expect("a lock file");
    let review = ratchet.review_stored(&contract, program).await.expect("reads");
    let found = review.stranded.iter();
    found.map(|one| ((one.job.clone(), one.kind, one.reason), one.count)).collect()
}

/// What must be found if `times` of every planted job are stored as this kind.
fn expected(all: &mut Found, kind: StoredKind, times: u64) {
    for (name, _, _, reason) in planted() {
        if let Some(reason) = reason {
            *all.entry((name.to_owned(), kind, reason)).or_default() += times;
        }
    }
}

pub async fn k_06_stored_jobs_that_a_new_version_cannot_read_are_counted(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    let mut all = Found::new();
    assert_eq!(found(&ratchet, None).await, all);
    // More than a page of them.
    for _ in 0..3 {
        insert(&fixture, Due::Now, false).await;
    }
    expected(&mut all, StoredKind::Queued, 3);
    assert_eq!(found(&ratchet, None).await, all);
    let mut archived = Found::new();
    expected(&mut archived, StoredKind::Archived, 3);
    fail_all(&fixture, 3 * planted().len()).await;
    assert_eq!(found(&ratchet, None).await, archived);
    insert(&fixture, Due::In(Duration::from_hours(1)), false).await;
    for _ in 0..6 {
        insert(&fixture, Due::Now, false).await;
    }
    insert(&fixture, Due::Now, true).await;
    all = archived;
    expected(&mut all, StoredKind::Scheduled, 1);
    expected(&mut all, StoredKind::Queued, 6);
    expected(&mut all, StoredKind::Callback, 1);
    for (at, (name, version, payload, _)) in planted().into_iter().enumerate() {
        let spec = spec(name, version, payload);
        let record = ScheduleRecord::new(format!("planted {at}"), spec, "0 3 * * *");
        let write = WriteSchedule {
            name: record.name.clone(),
            replaces: None,
            record: Some(record),
            declarations: None,
            jobs: Vec::new(),
            notices: Vec::new(),
        };
        fixture.store().write_schedule(write).await.expect("writes");
    }
    expected(&mut all, StoredKind::Recurring, 1);
    assert_eq!(found(&ratchet, None).await, all);

    let review = ratchet.review_stored(&LOCK.parse().expect("parses"), None).await.expect("reads");
    let strict = review.stranded.iter().find(|one| one.job == "lock.strict").expect("is found");
    assert!(strict.problem.starts_with("$.gone is not known"), "{}", strict.problem);
    assert!(review.not_checked.is_empty());
    assert_eq!(review.of_other_programs, 0);
    // 3 + 1 + 6 + 1 + 1 of each, and the jobs that have the callbacks.
    assert_eq!(review.checked, 13 * planted().len() as u64);
}

pub async fn k_06_jobs_that_cannot_be_decrypted_are_counted_separately(fixture: EngineFixture) {
    let builder = Ratchet::builder_shared(fixture.store()).keyring(both()).encrypt(Encrypt::All);
    let with_keys = builder.jobs([Script::JOB]).build().await.expect("builds");
    for _ in 0..2 {
        with_keys.enqueue(Script::of([Step::Ok])).await.expect("enqueues");
    }
    let schedules = with_keys.schedules();
    schedules.declare("encrypted", "0 3 * * *", Script::of([Step::Ok])).await.expect("declares");
    let reasons = [(StoredKind::Queued, 2), (StoredKind::Recurring, 1)];
    let all = reasons
        .map(|(kind, count)| (("test.script".to_owned(), kind, StrandedReason::Arguments), count));
    assert_eq!(found(&with_keys, None).await, Found::from(all), "the keys are there");
    let without =
        Ratchet::builder_shared(fixture.store()).jobs([Script::JOB]).build().await.expect("builds");
    let contract = LOCK.parse().expect("a lock file");
    let review = without.review_stored(&contract, None).await.expect("reads");
    assert_eq!(review.not_checked, BTreeMap::from([("test.script".to_owned(), 3)]));
    assert_eq!((review.total(), review.checked), (0, 0));
}

/// Joins a node of a program that runs this job.
async fn join(fixture: &EngineFixture, number: u128, program: &str, job: &str) -> NodeId {
    let mut node = NodeInfo::new(NodeId::from_uuid(Uuid::from_u128(number)));
    node.declarations.program = program.to_owned();
    node.known = Arc::new(KnownJobs(BTreeMap::from([(job.to_owned(), 1)])));
    node.catalog = Arc::new(vec![CatalogEntry::new(JobSpec::new(job, Vec::new()))]);
    let id = node.id;
    fixture.store().join(node, Duration::from_hours(1)).await.expect("joins");
    id
}

pub async fn k_06_jobs_of_other_programs_are_not_counted(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    insert(&fixture, Due::Now, false).await;
    join(&fixture, 7, "shop", "lock.letter").await;
    let other = join(&fixture, 8, "billing", "lock.removed").await;
    let mut all = Found::new();
    expected(&mut all, StoredKind::Queued, 1);
    let removed = ("lock.removed".to_owned(), StoredKind::Queued, StrandedReason::UnknownName);
    let without = {
        let mut without = all.clone();
        without.remove(&removed);
        without
    };
    assert_eq!(found(&ratchet, None).await, without, "`billing` runs it");
    assert_eq!(found(&ratchet, Some("shop")).await, without);
    let review = ratchet.review_stored(&LOCK.parse().expect("parses"), None).await.expect("reads");
    assert_eq!(review.of_other_programs, 1);
    assert_eq!(found(&ratchet, Some("billing")).await, all, "it is the program of the lock file");
    fixture.store().leave(other).await.expect("leaves");
    assert_eq!(found(&ratchet, None).await, all, "no live worker runs it");
}
