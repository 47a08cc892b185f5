//! The signed message covers every field of a job that must not change.

use std::time::Duration;

use ratchet_keyring::{Key, Keyring, Purpose};
use ratchet_store::model::{
    Backoff, ConcurrencyKey, Deadline, Envelope, FailureKind, FailureRecord, FinishedOutcome,
    FinishedParent, GroupId, JobId, JobSpec, NewJob, NodeId, PanicPolicy, Priority, Protection,
    RefusalKind, Step, StepInput, TerminalReason, Wait, WaitMode,
};

use super::message::{Owner, message};
use super::{Encrypt, Protector, Sign};

fn id(number: u128) -> JobId {
    JobId::from_uuid(uuid::Uuid::from_u128(number))
}

/// A job with every field set.
fn full() -> JobSpec {
    let failure = FailureRecord {
        kind: FailureKind::Error,
        error_type: "E".to_owned(),
        message: "m".to_owned(),
        code: "c".to_owned(),
        fingerprint: "f".to_owned(),
        retryable: true,
    };
    let node = NodeId::from_uuid(uuid::Uuid::from_u128(9));
    let reason = TerminalReason::Invalid;
    let mut spec = JobSpec::new("job", b"{}".to_vec());
    let claimed = crate::runtime::Core::for_test().claim_for_test();
    let envelope = Envelope::new(id(3), "parent", reason, failure, node);
    let outcome = FinishedOutcome::Failed(Box::new(envelope));
    spec.finished = Some(Box::new(FinishedParent::new(&claimed, 1, outcome)));
    // The ids of a job for tests are random, and the messages of two calls must be equal.
    finished(&mut spec).id = id(3);
    spec.on_success = Some(Box::new(JobSpec::new("callback", b"{}".to_vec())));
    let mut step = Step::new(Some(GroupId::from_uuid(uuid::Uuid::from_u128(4))));
    step.inputs.push(StepInput::new(None, vec![id(5)]));
    step.wait = Some(Wait::new(WaitMode::All, 1));
    spec.step = Some(Box::new(step));
    spec
}

fn signed(owner: Owner<'_>, spec: &JobSpec) -> Vec<u8> {
    message(owner, spec, &spec.payload, false)
}

fn step(spec: &mut JobSpec) -> &mut Step {
    spec.step.as_mut().expect("a step")
}

fn finished(spec: &mut JobSpec) -> &mut FinishedParent {
    spec.finished.as_mut().expect("a finished job")
}

fn envelope(spec: &mut JobSpec) -> &mut Envelope {
    match &mut finished(spec).outcome {
        FinishedOutcome::Failed(envelope) => envelope,
        FinishedOutcome::Succeeded(_) => unreachable!("it has failed"),
    }
}

#[test]
fn z_02_every_field_changes_the_signed_message() {
    type Edit = Box<dyn Fn(&mut JobSpec)>;
    let text = || "other".to_owned();
    let changes: Vec<(&str, Edit)> = vec![
        ("name", Box::new(move |it| it.name = text())),
        ("version", Box::new(|it| it.version += 1)),
        ("payload", Box::new(|it| it.payload = b"[]".to_vec())),
        ("retries", Box::new(|it| it.options.max_retries += 1)),
        ("backoff", Box::new(|it| it.options.backoff = Backoff::fixed(Duration::ZERO))),
        ("timeout", Box::new(|it| it.options.timeout += Duration::from_nanos(1))),
        ("soft timeout", Box::new(|it| it.options.soft_timeout = Some(Duration::ZERO))),
        ("panic", Box::new(|it| it.options.panic = PanicPolicy::Dlq)),
        ("business key", Box::new(move |it| it.business_key = Some(text()))),
        ("idempotency key", Box::new(move |it| it.idempotency_key = Some(text()))),
        (
            "concurrency",
            Box::new(move |it| {
                it.concurrency = Some(ConcurrencyKey { key: text(), limit: 1 });
            }),
        ),
        ("service", Box::new(move |it| it.service = Some(text()))),
        ("tags", Box::new(move |it| it.tags.push(text()))),
        ("tenant", Box::new(move |it| it.tenant = Some(text()))),
        ("correlation id", Box::new(move |it| it.correlation_id = Some(text()))),
        ("callback", Box::new(|it| it.on_success = None)),
        ("moved callback", Box::new(|it| it.on_failure = it.on_success.take())),
        ("expiry", Box::new(|it| it.expires = Some(Deadline::In(Duration::ZERO)))),
        ("retry limit", Box::new(|it| it.retry_until = Some(Deadline::In(Duration::ZERO)))),
        ("no step", Box::new(|it| it.step = None)),
        ("group", Box::new(|it| step(it).group = None)),
        ("step name", Box::new(move |it| step(it).name = Some(text()))),
        ("edges", Box::new(|it| step(it).edges = true)),
        ("first match", Box::new(|it| step(it).first_match = true)),
        ("conditions", Box::new(move |it| step(it).conditions.push(text()))),
        ("wait", Box::new(|it| step(it).wait = None)),
        ("edge added", Box::new(|it| step(it).wait = Some(Wait::new(WaitMode::All, 2)))),
        ("any", Box::new(|it| step(it).wait = Some(Wait::new(WaitMode::Any, 1)))),
        ("delay", Box::new(|it| step(it).delay = Duration::from_secs(1))),
        ("input", Box::new(|it| step(it).inputs[0].from = vec![id(6)])),
        ("input argument", Box::new(move |it| step(it).inputs[0].argument = Some(text()))),
        ("all inputs", Box::new(|it| step(it).inputs[0].all = true)),
        (
            "report",
            Box::new(|it| {
                step(it).reports = Some(GroupId::from_uuid(uuid::Uuid::from_u128(7)));
            }),
        ),
        ("no parent", Box::new(|it| it.finished = None)),
        ("parent", Box::new(|it| finished(it).id = id(8))),
        ("name of parent", Box::new(move |it| finished(it).name = text())),
        ("generation", Box::new(|it| finished(it).generation += 1)),
        ("arguments of parent", Box::new(|it| finished(it).payload = b"[1]".to_vec())),
        ("attempts of parent", Box::new(|it| finished(it).attempts += 1)),
        ("tags of parent", Box::new(move |it| finished(it).tags.push(text()))),
        (
            "output of parent",
            Box::new(|it| {
                finished(it).outcome = FinishedOutcome::Succeeded(None);
            }),
        ),
        ("error of parent", Box::new(move |it| envelope(it).failure.message = text())),
        ("reason of parent", Box::new(|it| envelope(it).reason = TerminalReason::Poisoned)),
    ];
    let owner = Owner::Job(id(1));
    let original = signed(owner, &full());
    for (what, change) in changes {
        let mut spec = full();
        change(&mut spec);
        assert!(signed(owner, &spec) != original, "{what}");
    }
    assert_ne!(signed(Owner::Job(id(2)), &full()), original, "another job");
    assert_ne!(signed(Owner::Schedule("s"), &full()), original, "a schedule");
    assert_ne!(message(owner, &full(), b"{}", true), original, "sealed");
    // What operators or the store may change.
    let mut moved = full();
    (moved.queue, moved.priority) = ("other".to_owned(), Priority::High);
    (moved.boost, moved.successor) = (Duration::ZERO, true);
    step(&mut moved).number = 9;
    envelope(&mut moved).at = jiff::Timestamp::MAX;
    assert!(signed(owner, &moved) == original, "operators and the store may change these");
    assert!(signed(owner, &full()) == original, "the message does not depend on the run");
}

#[tokio::test]
async fn z_02_a_refused_job_is_not_signed_when_it_is_written_again() {
    let key = Key::from_bytes("s1", Purpose::Sign, [1; 32]).expect("a key");
    let keyring = Keyring::new([key]).expect("a keyring");
    let protector = Protector::new(keyring, Sign::Required, Encrypt::Marked);
    let unsigned = JobSpec::new("job", b"{}".to_vec());
    let refused = protector.opened(Owner::Schedule("s"), &unsigned).expect("opens");
    let kind = refused.protection.refusal().map(|refusal| refusal.kind);
    assert_eq!(kind, Some(RefusalKind::Signature));
    let mut job = NewJob::new(id(1), refused);
    protector.protect(&mut job, false).await.expect("protects");
    assert_eq!((job.spec.payload, job.spec.protection), (b"{}".to_vec(), Protection::Plain));
}
