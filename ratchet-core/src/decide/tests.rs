//! Table tests and property tests of the decisions.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;

use super::{Contained, FailedJob, Outcome, Policies, RetryPolicy, decide_orphan, follow_up};
use crate::failure::{Failure, Panics, Retryability, record};
use ratchet_store::model::{
    AttemptOutcome, Claimed, Deadline, Deferral, FailureKind, FinishedOutcome, JobId, JobSpec,
    LeaseId, NodeId, Notice, Orphan, OutcomeKind, Settlement, TerminalReason, Token, Verdict,
};
use ratchet_store::model::{Backoff, Jitter, PanicPolicy};
use uuid::Uuid;

/// Decides about a run that took no time.
fn decide(job: &Claimed, outcome: &Outcome, policies: &Policies, seed: u64) -> Verdict {
    super::decide(job, outcome, Duration::ZERO, policies, seed)
}

/// A claimed job that has failed `attempts` times and may be retried `max_retries` times.
fn job(attempts: u32, max_retries: u32) -> Claimed {
    let mut spec = JobSpec::new("shop.charge", b"{\"id\":1}".to_vec());
    spec.options.max_retries = max_retries;
    spec.options.backoff = Backoff::fixed(Duration::from_secs(7));
    let (lease, node) =
        (LeaseId::from_uuid(Uuid::from_u128(2)), NodeId::from_uuid(Uuid::from_u128(3)));
    Claimed {
        token: Token { job: job_id(1), lease, version: 1 },
        spec: Arc::new(spec),
        attempts,
        crashes: 0,
        deferrals: 0,
        generation: 1,
        run: 1,
        queued_at: jiff::Timestamp::UNIX_EPOCH,
        due: jiff::Timestamp::UNIX_EPOCH,
        claimed_at: jiff::Timestamp::UNIX_EPOCH,
        node,
        progress: None,
        checkpoint: None,
        probe: None,
    }
}

fn job_id(number: u128) -> JobId {
    JobId::from_uuid(Uuid::from_u128(number))
}

fn with_spec(mut job: Claimed, change: impl FnOnce(&mut JobSpec)) -> Claimed {
    change(Arc::make_mut(&mut job.spec));
    job
}

fn failure(kind: FailureKind) -> Failure {
    Failure::new(record(kind, "Timeout".to_owned(), "it broke".to_owned(), None))
}

fn permanent(kind: FailureKind) -> Failure {
    Failure { retryability: Retryability::Annotated("never works".to_owned()), ..failure(kind) }
}

fn failed(failure: Failure) -> Outcome {
    Outcome::Failed(Box::new(failure))
}

#[derive(Debug)]
struct Never;

impl RetryPolicy for Never {
    fn should_retry(&self, _: &FailedJob<'_>, _: &Failure) -> bool {
        false
    }
}

fn refusing() -> Policies {
    Policies { retry: Arc::new(Never), ..Policies::default() }
}

/// The terminal reason, or `None` for a retry.
fn reason(job: &Claimed, outcome: &Outcome, policies: &Policies) -> Option<TerminalReason> {
    match decide(job, outcome, policies, 0) {
        Verdict::Fail { envelope, .. } => Some(envelope.reason),
        Verdict::Retry { .. } => None,
        other => panic!("neither failed nor retried: {other:?}"),
    }
}

// spec: L-10
#[test]
fn l_10_no_retry_starts_after_retry_until() {
    let outcome = failed(failure(FailureKind::Error));
    let limited = |until| with_spec(job(0, 5), |spec| spec.retry_until = Some(until));
    let age = |job: &Claimed| job.claimed_at.duration_since(job.queued_at).unsigned_abs();
    let within = |limit: u64, ran: u64, generation: u32| {
        let mut job = limited(Deadline::In(Duration::ZERO));
        let limit = age(&job) + Duration::from_secs(limit);
        job = with_spec(job, |spec| spec.retry_until = Some(Deadline::In(limit)));
        job.generation = generation;
        super::decide(&job, &outcome, Duration::from_secs(ran), &Policies::default(), 0)
    };
    // The backoff is 7 seconds.
    assert!(matches!(within(10, 3, 1), Verdict::Retry { .. }), "it starts in time");
    assert!(matches!(within(10, 4, 2), Verdict::Retry { .. }), "a manual retry has no limit");
    let Verdict::Fail { attempts: 1, envelope, .. } = within(10, 4, 1) else {
        panic!("it would start a second too late");
    };
    assert_eq!(envelope.reason, TerminalReason::RetryExhausted);
    assert!(envelope.explanation.is_some_and(|why| why.contains("`retry_until`")));
    let job = limited(Deadline::At(jiff::Timestamp::MIN));
    assert_eq!(reason(&job, &outcome, &Policies::default()), Some(TerminalReason::RetryExhausted));
    let snooze = Outcome::Deferred { why: Deferral::Snooze, delay: None, note: String::new() };
    assert!(matches!(decide(&job, &snooze, &Policies::default(), 0), Verdict::Defer { .. }));
    let orphan = Orphan { claimed: job, started: true };
    let rescued = decide_orphan(&orphan, &Policies::default(), 0).verdict;
    assert!(matches!(rescued, Verdict::Rescue { .. }), "a crash is not a failed attempt");
}

// spec: E-03
/// Every row of the table. The first column that applies decides, regardless of the later ones.
#[test]
fn e_02_e_03_e_04_e_05_d_02_every_row_of_the_pipeline() {
    use FailureKind::{Error, Invalid, Panic, Signature, Timeout};
    use TerminalReason as R;
    let fatal = Failure { retryability: Retryability::Fatal, ..failure(Error) };
    let panics_die = |job| with_spec(job, |spec| spec.options.panic = PanicPolicy::Dlq);
    let allow = Policies::default();
    let rows = [
        ("first failure is retried", job(0, 5), failure(Error), &allow, None),
        ("last retry is still a retry", job(4, 5), failure(Error), &allow, None),
        ("one more is too many", job(5, 5), failure(Error), &allow, Some(R::RetryExhausted)),
        ("no retries at all", job(0, 0), failure(Error), &allow, Some(R::RetryExhausted)),
        ("annotated", job(0, 5), permanent(Error), &allow, Some(R::NonRetryable)),
        (
            "annotated comes before the counter",
            job(5, 5),
            permanent(Error),
            &allow,
            Some(R::NonRetryable),
        ),
        ("fatal", job(0, 5), fatal.clone(), &allow, Some(R::NonRetryable)),
        ("panic is retried", job(0, 5), failure(Panic), &allow, None),
        (
            "panic that may not be retried",
            panics_die(job(0, 5)),
            failure(Panic),
            &allow,
            Some(R::NonRetryable),
        ),
        ("an error is not a panic", panics_die(job(0, 5)), failure(Error), &allow, None),
        ("timeout is retried", job(0, 5), failure(Timeout), &allow, None),
        (
            "timeout exhausted keeps the common reason",
            job(5, 5),
            failure(Timeout),
            &allow,
            Some(R::RetryExhausted),
        ),
        ("invalid", job(0, 5), failure(Invalid), &allow, Some(R::Invalid)),
        ("invalid comes before annotated", job(0, 5), permanent(Invalid), &allow, Some(R::Invalid)),
        ("signature", job(0, 5), failure(Signature), &allow, Some(R::RejectedSignature)),
        (
            "signature comes before annotated",
            job(0, 5),
            permanent(Signature),
            &allow,
            Some(R::RejectedSignature),
        ),
        ("policy says no", job(0, 5), failure(Error), &refusing(), Some(R::PolicyRefused)),
        (
            "policy comes before the counter",
            job(5, 5),
            failure(Error),
            &refusing(),
            Some(R::PolicyRefused),
        ),
        (
            "annotated comes before the policy",
            job(0, 5),
            permanent(Error),
            &refusing(),
            Some(R::NonRetryable),
        ),
        (
            "policy forbids retrying a timeout",
            job(0, 5),
            failure(Timeout),
            &refusing(),
            Some(R::TimedOut),
        ),
    ];
    for (what, job, failure, policies, expected) in rows {
        assert_eq!(reason(&job, &failed(failure), policies), expected, "{what}");
    }
}

#[test]
fn e_01_the_attempt_counter_goes_up_before_anything_is_asked() {
    #[derive(Debug)]
    struct OnlyOnce;
    impl RetryPolicy for OnlyOnce {
        fn should_retry(&self, job: &FailedJob<'_>, _: &Failure) -> bool {
            job.attempt == 1
        }
    }
    let policies = Policies { retry: Arc::new(OnlyOnce), ..Policies::default() };
    let Verdict::Retry { attempts, .. } =
        decide(&job(0, 5), &failed(failure(FailureKind::Error)), &policies, 0)
    else {
        panic!("the policy is asked about attempt 1 and allows it")
    };
    assert_eq!(attempts, 1);
    assert_eq!(
        reason(&job(1, 5), &failed(failure(FailureKind::Error)), &policies),
        Some(TerminalReason::PolicyRefused)
    );
}

#[test]
fn e_16_a_policy_judges_the_job_and_the_most_specific_one_applies() {
    #[derive(Debug)]
    struct Wanting(fn(&FailedJob<'_>) -> bool);
    impl RetryPolicy for Wanting {
        fn should_retry(&self, job: &FailedJob<'_>, _: &Failure) -> bool {
            (self.0)(job)
        }
    }
    let whole = |job: &FailedJob<'_>| {
        (job.name, job.queue, job.tenant) == ("shop.charge", "payments", Some("acme"))
            && job.tags == ["vip"]
            && (job.attempt, job.max_retries, job.crashes) == (2, 5, 1)
            && job.age == Duration::from_secs(90)
    };
    let mut judged = with_spec(job(1, 5), |spec| {
        (spec.queue, spec.tenant) = ("payments".to_owned(), Some("acme".to_owned()));
        spec.tags.push("vip".to_owned());
    });
    judged.crashes = 1;
    judged.claimed_at = judged.queued_at + Duration::from_secs(90);
    let outcome = failed(failure(FailureKind::Error));
    let retried = |policies: &Policies| reason(&judged, &outcome, policies).is_none();
    let mut policies = Policies { retry: Arc::new(Wanting(whole)), ..Policies::default() };
    assert!(retried(&policies), "the policy sees the job");
    policies.queue_retry.insert("payments".to_owned(), Arc::new(Never));
    assert!(!retried(&policies), "the policy of a queue precedes that of all jobs");
    policies.job_retry.insert("shop.charge".to_owned(), Arc::new(Wanting(|_| true)));
    assert!(retried(&policies), "the policy of a job precedes that of its queue");
    policies.job_retry.insert("shop.other".to_owned(), Arc::new(Never));
    policies.queue_retry.insert("other".to_owned(), Arc::new(Never));
    assert!(retried(&policies), "others do not apply");
}

#[test]
fn e_05_the_delay_is_that_of_the_job_unless_somebody_says_otherwise() {
    #[derive(Debug)]
    struct Custom;
    impl RetryPolicy for Custom {
        fn backoff(&self, job: &FailedJob<'_>, _: &Failure) -> Option<Duration> {
            Some(Duration::from_secs(100 * u64::from(job.attempt)))
        }
    }
    let delay =
        |failure, policies: &Policies| match decide(&job(1, 5), &failed(failure), policies, 0) {
            Verdict::Retry { delay, .. } => delay,
            other => panic!("{other:?}"),
        };
    let own = Policies { retry: Arc::new(Custom), ..Policies::default() };
    let asked =
        Failure { retry_after: Some(Duration::from_secs(3)), ..failure(FailureKind::Error) };
    assert_eq!(delay(failure(FailureKind::Error), &Policies::default()), Duration::from_secs(7));
    assert_eq!(delay(failure(FailureKind::Error), &own), Duration::from_secs(200));
    assert_eq!(delay(asked, &own), Duration::from_secs(3), "the handler knows best");
}

#[test]
fn e_07_e_11_putting_off_uses_no_attempt_until_the_cap() {
    let snooze = Outcome::Deferred {
        why: Deferral::Snooze,
        delay: Some(Duration::from_secs(9)),
        note: "later".to_owned(),
    };
    let mut job = job(3, 5);
    let expected = Verdict::Defer {
        delay: Duration::from_secs(9),
        why: Deferral::Snooze,
        note: "later".to_owned(),
    };
    assert_eq!(decide(&job, &snooze, &Policies::default(), 0), expected);
    let capped = Policies { max_deferrals: Some(2), ..Policies::default() };
    job.deferrals = 1;
    assert_eq!(decide(&job, &snooze, &capped, 0), expected, "the second is allowed");
    job.deferrals = 2;
    let Verdict::Fail { attempts, envelope, .. } = decide(&job, &snooze, &capped, 0) else {
        panic!("the third is not")
    };
    assert_eq!((attempts, envelope.reason), (3, TerminalReason::DeferralExhausted));
}

#[test]
fn e_07_a_rejected_job_waits_longer_each_time() {
    let reject = Outcome::Deferred { why: Deferral::Reject, delay: None, note: "full".to_owned() };
    let wait = |deferrals| {
        let mut job = job(0, 5);
        job.deferrals = deferrals;
        match decide(&job, &reject, &Policies::default(), u64::MAX) {
            Verdict::Defer { delay, .. } => delay,
            other => panic!("{other:?}"),
        }
    };
    assert!(Duration::ZERO < wait(0) && wait(0) < wait(1) && wait(1) < wait(5));
    assert_eq!(wait(1000).as_secs(), 29, "just under the ceiling of 30 s");
}

#[test]
fn d_01_the_envelope_tells_everything() {
    let mut job = with_spec(job(2, 2), |spec| {
        spec.tenant = Some("acme".to_owned());
        spec.correlation_id = Some("request-7".to_owned());
        spec.queue = "payments".to_owned();
    });
    job.run = 9;
    job.generation = 2;
    let policies = Policies { binary_version: "1.2.3".to_owned(), ..Policies::default() };
    let Verdict::Fail { envelope, attempts, .. } =
        decide(&job, &failed(permanent(FailureKind::Error)), &policies, 0)
    else {
        panic!("fails")
    };
    assert_eq!(attempts, 3);
    assert_eq!(envelope.tenant.as_deref(), Some("acme"));
    assert_eq!(envelope.correlation_id.as_deref(), Some("request-7"));
    assert_eq!(
        (envelope.job_id, envelope.job_name.as_str(), envelope.queue.as_str()),
        (job.id(), "shop.charge", "payments")
    );
    assert_eq!(envelope.execution_key, format!("{}:2", job.id()));
    assert_eq!(envelope.transition_key, format!("{}:0:9", job.id()));
    assert_eq!(envelope.explanation.as_deref(), Some("never works"));
    assert_eq!(
        (envelope.binary_version.as_str(), envelope.node, envelope.attempts),
        ("1.2.3", job.node, 3)
    );
    assert_eq!(envelope.failure.fingerprint, crate::fingerprint("Timeout", "it broke"));
}

#[test]
fn e_12_the_history_tells_the_kinds_apart() {
    let kinds = [
        (Outcome::Done { output: None, domain_failure: false }, AttemptOutcome::Success),
        (Outcome::Done { output: None, domain_failure: true }, AttemptOutcome::DomainFailure),
        (failed(failure(FailureKind::Error)), AttemptOutcome::Failure),
        (failed(failure(FailureKind::Panic)), AttemptOutcome::Exception),
        (failed(failure(FailureKind::Timeout)), AttemptOutcome::Exception),
        (failed(failure(FailureKind::Invalid)), AttemptOutcome::Invalid),
        (Outcome::Released, AttemptOutcome::Released),
    ];
    for (outcome, expected) in kinds {
        assert_eq!(outcome.in_history(), expected, "{outcome:?}");
    }
}

#[test]
fn p_02_only_a_started_job_is_charged_and_too_many_crashes_are_poison() {
    let orphan = |crashes, started| {
        let mut claimed = job(1, 5);
        claimed.crashes = crashes;
        decide_orphan(&Orphan { claimed, started }, &Policies::default(), 0).verdict
    };
    assert!(matches!(orphan(0, true), Verdict::Rescue { crashes: 1, .. }));
    assert!(matches!(orphan(0, false), Verdict::Rescue { crashes: 0, .. }));
    assert!(
        matches!(orphan(9, true), Verdict::Rescue { crashes: 10, .. }),
        "ten crashes are allowed"
    );
    assert!(matches!(orphan(10, false), Verdict::Rescue { crashes: 10, .. }));
    let Verdict::Fail { attempts, crashes, envelope } = orphan(10, true) else {
        panic!("the eleventh is poison")
    };
    assert_eq!((attempts, crashes, envelope.reason), (1, 11, TerminalReason::Poisoned));
}

#[test]
fn d_06_a_callback_follows_the_end_and_nothing_else() {
    let callback = |name: &str| Some(Box::new(JobSpec::new(name, b"{}".to_vec())));
    let job = with_spec(job(0, 0), |spec| {
        spec.on_success = callback("shop.cheer");
        spec.on_failure = callback("shop.refund");
        spec.tenant = Some("acme".to_owned());
        spec.tags = vec!["vip".to_owned()];
    });
    let spawned = |verdict| {
        let mut settlement = Settlement::new(job.token, verdict, AttemptOutcome::Success);
        follow_up(&job, &mut settlement, &Policies::default(), || job_id(4));
        settlement.spawned
    };
    let success = spawned(Verdict::Succeed { output: Some("5".to_owned()) });
    assert_eq!(success[0].spec.name, "shop.cheer");
    let parent = success[0].spec.finished.as_ref().expect("knows its parent");
    assert_eq!(parent.outcome, FinishedOutcome::Succeeded(Some("5".to_owned())));
    assert_eq!(
        (parent.id, parent.payload.as_slice(), parent.tags.as_slice()),
        (job.id(), &b"{\"id\":1}"[..], &["vip".to_owned()][..])
    );
    assert_eq!(success[0].spec.tenant.as_deref(), Some("acme"));
    let failure_verdict =
        decide(&job, &failed(failure(FailureKind::Error)), &Policies::default(), 0);
    let failure_callbacks = spawned(failure_verdict);
    assert_eq!(failure_callbacks[0].spec.name, "shop.refund");
    assert!(matches!(
        failure_callbacks[0].spec.finished.as_ref().expect("parent").outcome,
        FinishedOutcome::Failed(_)
    ));
    assert!(spawned(Verdict::Release).is_empty());
    assert!(spawned(Verdict::Rescue { delay: Duration::ZERO, crashes: 1 }).is_empty());
    let retry = Verdict::Retry {
        delay: Duration::ZERO,
        attempts: 1,
        failure: failure(FailureKind::Error).record,
    };
    assert!(spawned(retry).is_empty(), "never per retry");
}

#[test]
fn d_03_d_07_every_dead_letter_alerts_and_is_published_if_somebody_listens() {
    let job = job(0, 0);
    let notices = |policies: &Policies| {
        let verdict = decide(&job, &failed(failure(FailureKind::Error)), policies, 0);
        let mut settlement = Settlement::new(job.token, verdict, AttemptOutcome::Failure);
        follow_up(&job, &mut settlement, policies, || job_id(4));
        settlement.notices
    };
    assert!(
        matches!(notices(&Policies::default())[..], [Notice::Alert { window, .. }] if window == Duration::from_hours(1))
    );
    let listening = Policies { publish_dead_letters: true, ..Policies::default() };
    assert!(matches!(notices(&listening)[..], [Notice::Alert { .. }, Notice::DeadLetter(_)]));
}

#[test]
fn i_04_every_end_is_told_if_somebody_listens_and_nothing_else_is() {
    let job = job(0, 1);
    let published = |outcome: &Outcome, policies: &Policies| {
        let verdict = decide(&job, outcome, policies, 0);
        let mut settlement = Settlement::new(job.token, verdict, outcome.in_history());
        follow_up(&job, &mut settlement, policies, || job_id(4));
        let notices = settlement.notices.into_iter();
        let kind = |notice| match notice {
            Notice::Outcome(outcome) => Some(outcome.kind),
            _ => None,
        };
        notices.filter_map(kind).collect::<Vec<_>>()
    };
    let listening = Policies { publish_outcomes: true, ..Policies::default() };
    let invalid = failed(failure(FailureKind::Invalid));
    let done = Outcome::Done { output: None, domain_failure: false };
    let declined = Outcome::Done { output: None, domain_failure: true };
    for (outcome, wanted) in [
        (&done, vec![OutcomeKind::Success]),
        (&declined, vec![OutcomeKind::DomainFailure]),
        (&invalid, vec![OutcomeKind::Invalid]),
        (&failed(failure(FailureKind::Error)), vec![]),
        (&Outcome::Released, vec![]),
    ] {
        assert_eq!(published(outcome, &listening), wanted, "{outcome:?}");
        assert!(published(outcome, &Policies::default()).is_empty(), "there is no sink");
    }
}

fn durations() -> impl Strategy<Value = Duration> {
    prop_oneof![
        Just(Duration::ZERO),
        Just(Duration::from_nanos(1)),
        Just(Duration::MAX),
        (0_u64..10_000_000, 0_u32..1_000_000_000)
            .prop_map(|(secs, nanos)| Duration::new(secs, nanos)),
        any::<u64>().prop_map(Duration::from_secs),
    ]
}

fn backoffs() -> impl Strategy<Value = Backoff> {
    let curve = prop_oneof![
        Just(Backoff::none()),
        durations().prop_map(Backoff::fixed),
        (durations(), durations())
            .prop_map(|(base, more)| Backoff::linear(base, base.saturating_add(more))),
        (durations(), durations(), 1.0_f64..1000.0).prop_map(|(base, more, factor)| {
            Backoff::exponential(base, base.saturating_add(more)).factor(factor)
        }),
    ];
    (curve, prop_oneof![Just(Jitter::None), Just(Jitter::Full), Just(Jitter::Equal)])
        .prop_map(|(backoff, jitter)| backoff.jitter(jitter))
}

fn attempts() -> impl Strategy<Value = u32> {
    prop_oneof![0_u32..50, any::<u32>(), Just(u32::MAX)]
}

proptest! {
    #[test]
    fn e_08_a_backoff_never_overflows_and_never_exceeds_its_ceiling(
        backoff in backoffs(), attempt in attempts(), seed in any::<u64>()
    ) {
        prop_assert!(backoff.delay(attempt, seed) <= backoff.ceiling());
    }

    #[test]
    fn e_08_without_jitter_a_backoff_never_shrinks(backoff in backoffs(), attempt in 1_u32..10_000, more in 0_u32..10_000) {
        let backoff = backoff.jitter(Jitter::None);
        prop_assert!(backoff.delay(attempt, 0) <= backoff.delay(attempt + more, 0));
    }

    #[test]
    fn e_08_jitter_stays_within_its_bounds(backoff in backoffs(), attempt in attempts(), seed in any::<u64>()) {
        let curve = backoff.jitter(Jitter::None).delay(attempt, 0);
        prop_assert!(backoff.jitter(Jitter::Full).delay(attempt, seed) <= curve);
        let equal = backoff.jitter(Jitter::Equal).delay(attempt, seed);
        prop_assert!(curve / 2 <= equal && equal <= curve);
    }

    #[test]
    fn e_04_e_05_the_counter_alone_decides_about_ordinary_failures(attempts in 0_u32..20, max in 0_u32..20, seed in any::<u64>()) {
        let verdict = decide(&job(attempts, max), &failed(failure(FailureKind::Error)), &Policies::default(), seed);
        prop_assert_eq!(attempts < max, matches!(verdict, Verdict::Retry { .. }));
    }

    #[test]
    fn e_02_no_number_of_attempts_brings_a_permanent_failure_back(attempts in attempts(), max in 0_u32..1000) {
        let refused = reason(&job(attempts, max), &failed(permanent(FailureKind::Error)), &Policies::default());
        prop_assert_eq!(refused, Some(TerminalReason::NonRetryable));
    }

    #[test]
    fn l_01_a_verdict_never_loses_a_job(attempts in attempts(), max in attempts(), deferrals in attempts(), crashes in attempts()) {
        // For any values of the counters, every outcome has exactly one legal verdict and nothing overflows.
        let mut claimed = job(attempts, max);
        claimed.deferrals = deferrals;
        claimed.crashes = crashes;
        let policies = Policies { max_deferrals: Some(max), ..Policies::default() };
        for outcome in [
            failed(failure(FailureKind::Error)),
            Outcome::Deferred { why: Deferral::Reject, delay: None, note: String::new() },
            Outcome::Released,
        ] {
            let _ = decide(&claimed, &outcome, &policies, 1);
        }
        let _ = decide_orphan(&Orphan { claimed, started: true }, &policies, 1);
    }
}

#[test]
fn x_09_a_policy_that_panics_has_no_say_and_is_counted() {
    #[derive(Debug)]
    struct Rude;
    impl RetryPolicy for Rude {
        fn should_retry(&self, _: &FailedJob<'_>, _: &Failure) -> bool {
            panic!("should_retry")
        }
        fn backoff(&self, _: &FailedJob<'_>, _: &Failure) -> Option<Duration> {
            panic!("backoff")
        }
    }
    let panics = Arc::<Panics>::default();
    let rude = Policies { retry: Arc::new(Contained::new(Rude, &panics)), ..Policies::default() };
    for attempts in 0..4 {
        let (job, outcome) = (job(attempts, 2), failed(failure(FailureKind::Error)));
        let expected = decide(&job, &outcome, &Policies::default(), 7);
        assert_eq!(decide(&job, &outcome, &rude, 7), expected);
    }
    // Two calls for each of the two attempts that are retried, one for each of the rest.
    assert_eq!(panics.by_component().get("retry policy"), Some(&6));
}
