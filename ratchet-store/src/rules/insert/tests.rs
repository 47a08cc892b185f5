//! Table tests of batch inserts.

use std::time::Duration;

use jiff::Timestamp;
use uuid::Uuid;

use super::{Answers, Existing, IdempotencyRecord, KeyHolder, KeyUse, Keys, Plan};
use crate::model::{
    Debounce, InsertError, Inserted, JobId, JobRecord, JobSpec, JobState, NewJob, OnConflict,
    RepeatCheck, later,
};
use crate::rules::arguments;

fn id(number: u128) -> JobId {
    JobId::from_uuid(Uuid::from_u128(number))
}

fn job(number: u128, payload: &str) -> NewJob {
    let spec = JobSpec::new("a", payload.as_bytes().to_vec());
    NewJob::new(id(number), spec)
}

fn once(number: u128, payload: &str) -> NewJob {
    let mut job = job(number, payload);
    job.spec.idempotency_key = Some("once".to_owned());
    job
}

fn held(number: u128, on_conflict: OnConflict) -> NewJob {
    let mut job = NewJob { on_conflict, ..job(number, "") };
    job.spec.business_key = Some("held".to_owned());
    job
}

fn add(plan: &mut Plan<String>, job: &NewJob, there: &Existing) -> Result<Inserted, InsertError> {
    let idempotency = job.spec.idempotency_key.clone().map(|key| (key, KeyUse::of(job)));
    let business = job.spec.business_key.clone();
    let coalesces = matches!(job.on_conflict, OnConflict::Coalesce(_));
    let second = business.as_ref().filter(|_| coalesces).map(|key| format!("{key} again"));
    plan.add(job, Keys { idempotency, business, second }, there)
}

/// Returns the results of inserting jobs into an empty store.
fn all(jobs: &[NewJob]) -> Result<Vec<Inserted>, InsertError> {
    let (mut plan, mut answers) = (Plan::default(), Answers::default());
    for job in jobs {
        answers.push(add(&mut plan, job, &Existing::default()))?;
    }
    answers.all()
}

// spec: S-03
#[test]
fn s_03_a_used_key_answers_with_the_first_job() {
    let first = KeyUse::of(&once(1, "same")).record;
    let again = |job: &NewJob| {
        let mut plan = Plan::default();
        let there = Existing { used: Some(first.clone()), exists: true, ..Existing::default() };
        let answer = add(&mut plan, job, &there);
        assert!(plan.ids.is_empty() && plan.idempotency.is_empty(), "nothing is stored");
        answer
    };
    assert_eq!(again(&once(2, "same")).expect("a repeat"), Inserted::Duplicate(id(1)));
    assert_eq!(again(&once(1, "same")).expect("a lost answer"), Inserted::Created(id(1)));
    match again(&once(2, "other")) {
        Err(InsertError::IdempotencyMismatch { job, key, original }) => {
            assert_eq!((job, key.as_str(), original), (id(2), "once", id(1)));
        }
        answer => panic!("{answer:?}"),
    }
}

// spec: S-15
#[test]
fn s_15_a_digest_of_the_first_format_is_compared_by_its_rule() {
    let job = once(1, r#"{"a": 1}"#);
    let digest = arguments::digest_of_bytes(&job).to_vec();
    let first =
        IdempotencyRecord { job: job.id, name: job.spec.name.clone(), digest, lifetime: None };
    let same = first.answer(&KeyUse::of(&once(2, r#"{"a": 1}"#)), "once");
    assert_eq!(same.expect("the same bytes"), Inserted::Duplicate(id(1)));
    let other = first.answer(&KeyUse::of(&once(2, r#"{"a":1}"#)), "once");
    assert!(matches!(other, Err(InsertError::IdempotencyMismatch { .. })), "other bytes");
    let alone = NewJob { repeat_check: RepeatCheck::KeyAlone, ..once(2, "{}") };
    assert!(first.answer(&KeyUse::of(&alone), "once").is_ok());
}

/// Idempotency keys are kept permanently. If a release changed the digest, repeats of earlier submissions would be
/// refused.
#[test]
fn s_15_digest_of_arguments_stays_what_it_was() {
    let digest = KeyUse::of(&once(1, r#"{"b":[1.0,"ä"],"a":null}"#)).record.digest;
    let hex: Vec<_> = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    insta::assert_snapshot!(hex.concat());
}

// spec: S-03, S-06
#[test]
fn s_06_a_batch_sees_its_own_keys() {
    let answers = all(&[once(1, "same"), once(2, "same")]).expect("a repeat");
    assert_eq!(answers, [Inserted::Created(id(1)), Inserted::Duplicate(id(1))]);
    let answers = all(&[held(1, OnConflict::Refuse), held(2, OnConflict::ReturnHolder)]);
    assert_eq!(answers.expect("answers"), [Inserted::Created(id(1)), Inserted::Holder(id(1))]);
    let refused = all(&[job(1, ""), job(1, "")]);
    assert!(matches!(refused, Err(InsertError::DuplicateId(it)) if it == id(1)), "{refused:?}");
}

// spec: S-06
#[test]
fn s_06_all_taken_keys_are_told_and_other_refusals_come_first() {
    let taken =
        [held(1, OnConflict::Refuse), held(2, OnConflict::Refuse), held(3, OnConflict::Refuse)];
    match all(&taken) {
        Err(InsertError::BusinessKeysTaken(keys)) => {
            let reported: Vec<_> = keys.iter().map(|key| (key.job, key.holder)).collect();
            assert_eq!(reported, [(id(2), id(1)), (id(3), id(1))]);
        }
        answer => panic!("{answer:?}"),
    }
    let mut jobs = taken.to_vec();
    jobs.push(job(1, ""));
    assert!(matches!(all(&jobs), Err(InsertError::DuplicateId(_))));
}

// spec: S-04
#[test]
fn s_04_a_refused_job_leaves_no_trace() {
    let mut plan = Plan::default();
    let mut job = held(2, OnConflict::Refuse);
    job.spec.idempotency_key = Some("once".to_owned());
    let there = Existing { holder: Some(KeyHolder::unread(id(1))), ..Existing::default() };
    assert!(matches!(add(&mut plan, &job, &there), Err(InsertError::BusinessKeysTaken(_))));
    assert!(plan.ids.is_empty() && plan.idempotency.is_empty() && plan.business.is_empty());
    add(&mut plan, &job, &Existing::default()).expect("the holder is gone");
    assert_eq!((plan.ids.len(), plan.idempotency.len(), plan.business.len()), (1, 1, 1));
    let jobs = [job];
    assert_eq!(plan.stored(&jobs), [&jobs[0]]);
    assert!(plan.stored(&jobs).is_empty(), "one job is stored once");
}

#[test]
fn s_15_an_expired_record_counts_only_for_its_own_job() {
    let job = NewJob { key_lifetime: Some(Duration::from_mins(1)), ..once(1, "{}") };
    let record = KeyUse::of(&job).record;
    let now = Timestamp::UNIX_EPOCH;
    let expires = record.expires(now).expect("it expires");
    assert_eq!(expires, later(now, Duration::from_mins(1)));
    let before = later(now, Duration::from_micros(59_999_999));
    assert!(record.counts(Some(expires), id(2), before));
    assert!(!record.counts(Some(expires), id(2), expires), "the time is over");
    assert!(record.counts(Some(expires), id(1), expires), "the same insert again");
    assert!(record.counts(None, id(2), Timestamp::MAX), "a permanent key");
}

const SECOND: Duration = Duration::from_secs(1);

/// Returns a holder in a state, submitted at the epoch and read 10 seconds later.
fn holder(number: u128, state: JobState) -> KeyHolder {
    let now = Timestamp::UNIX_EPOCH;
    let mut job = JobRecord::pending(id(number), JobSpec::new("a", Vec::new()), now, now);
    job.state = state;
    job.paused_from = (state == JobState::Paused).then_some(JobState::Pending);
    KeyHolder::read(&job, later(now, SECOND * 10))
}

#[test]
fn s_04_a_submit_coalesces_with_a_job_that_has_not_started() {
    use JobState::{Canceled, Paused, Pending, Running};
    let job = held(9, OnConflict::Coalesce(None));
    let rows = [
        (None, None, Ok(Inserted::Created(id(9))), false),
        (Some(Pending), None, Ok(Inserted::Holder(id(1))), false),
        (Some(Paused), None, Ok(Inserted::Holder(id(1))), false),
        (Some(Running), None, Ok(Inserted::Created(id(9))), true),
        (Some(Canceled), None, Ok(Inserted::Created(id(9))), true),
        (Some(Running), Some(Pending), Ok(Inserted::Holder(id(2))), false),
        (None, Some(Pending), Ok(Inserted::Holder(id(2))), false),
        (None, Some(Running), Ok(Inserted::Created(id(9))), false),
        (Some(Running), Some(Running), Err(id(1)), false),
    ];
    for (first, second, expected, successor) in rows {
        let there = Existing {
            holder: first.map(|state| holder(1, state)),
            second: second.map(|state| holder(2, state)),
            ..Existing::default()
        };
        let mut plan = Plan::default();
        let answer = add(&mut plan, &job, &there).map_err(|error| match error {
            InsertError::BusinessKeysTaken(taken) => taken[0].holder,
            other => panic!("{other:?}"),
        });
        assert_eq!(answer, expected, "{first:?}, {second:?}");
        let jobs = [job.clone()];
        assert_eq!(plan.marked(&jobs)[0].spec.successor, successor);
        let key = if successor { "held again" } else { "held" };
        let taken = plan.business.contains_key(key);
        assert_eq!(taken, matches!(expected, Ok(Inserted::Created(_))), "{first:?}, {second:?}");
    }
}

#[test]
fn s_04_a_batch_coalesces_with_its_own_jobs() {
    let coalesce = OnConflict::Coalesce(None);
    let answers = all(&[held(1, coalesce), held(2, coalesce), held(3, coalesce)]);
    let holder = Inserted::Holder(id(1));
    assert_eq!(answers.expect("answers"), [Inserted::Created(id(1)), holder, holder]);
}

#[test]
fn s_04_debounce_delays_up_to_a_bound() {
    let delayed = |wait: u32, at_most: u32, state| {
        let debounce = Debounce { wait: SECOND * wait, at_most: SECOND * at_most };
        let there = Existing { holder: Some(holder(1, state)), ..Existing::default() };
        let mut plan = Plan::default();
        let job = held(9, OnConflict::Coalesce(Some(debounce)));
        add(&mut plan, &job, &there).expect("it coalesces");
        plan.delayed.get(&id(1)).map(|due| due.as_second())
    };
    assert_eq!(delayed(5, 60, JobState::Pending), Some(15), "five seconds from now");
    assert_eq!(delayed(5, 12, JobState::Pending), Some(12), "twelve from the first submit");
    assert_eq!(delayed(0, 0, JobState::Pending), None, "never earlier");
    assert_eq!(delayed(5, 60, JobState::Paused), None);
    assert_eq!(delayed(5, 60, JobState::Running), None);
}
