use std::sync::{Arc, LazyLock};
use std::time::Duration;

use jiff::Timestamp;

use super::*;
use crate::runtime::Core;
use ratchet_store::model::{Applied, AttemptOutcome, Claimed, JobSpec, JobState};

fn claimed(queue: &str, name: &str) -> Claimed {
    static JOB: LazyLock<Claimed> = LazyLock::new(|| Core::for_test().claim_for_test());
    let mut job = JOB.clone();
    let mut spec = JobSpec::new(name, b"{}".to_vec());
    spec.queue = queue.to_owned();
    job.spec = Arc::new(spec);
    job
}

fn succeed(meter: &Meter, job: &Claimed, duration: Duration) {
    let mut settlement =
        Settlement::new(job.token, Verdict::Succeed { output: None }, AttemptOutcome::Success);
    settlement.duration = duration;
    let applied = Applied::new(JobState::Succeeded, Timestamp::UNIX_EPOCH, None);
    meter.settled(job, &settlement, &Settled::Applied(applied));
}

fn read(meter: &Meter) -> Metrics {
    let mut families = Families::default();
    meter.collect(&mut families, Duration::ZERO);
    families.finish()
}

fn run(meter: &Meter, queue: &str, name: &str) {
    let job = claimed(queue, name);
    let in_flight = meter.started(&job);
    succeed(meter, &job, Duration::from_millis(750));
    drop(in_flight);
}

#[test]
fn v_03_the_exposition_has_help_type_escaped_labels_and_cumulative_buckets() {
    let meter = Meter::new(true);
    run(&meter, "mail", "send \"it\"\\\n");
    let text = read(&meter).to_prometheus();
    let lines: Vec<&str> = text.lines().collect();
    let labels = r#"queue="mail",job_name="send \"it\"\\\n""#;
    for line in [
        "# HELP ratchet_job_started_total Runs that this process has started.",
        "# TYPE ratchet_job_started_total counter",
        &format!("ratchet_job_started_total{{{labels}}} 1"),
        "# TYPE ratchet_job_run_duration_seconds histogram",
        &format!("ratchet_job_run_duration_seconds_bucket{{{labels},le=\"0.0009765625\"}} 0"),
        &format!("ratchet_job_run_duration_seconds_bucket{{{labels},le=\"0.5\"}} 0"),
        &format!("ratchet_job_run_duration_seconds_bucket{{{labels},le=\"1\"}} 1"),
        &format!("ratchet_job_run_duration_seconds_bucket{{{labels},le=\"8192\"}} 1"),
        &format!("ratchet_job_run_duration_seconds_bucket{{{labels},le=\"+Inf\"}} 1"),
        &format!("ratchet_job_run_duration_seconds_sum{{{labels}}} 0.75"),
        &format!("ratchet_job_run_duration_seconds_count{{{labels}}} 1"),
        &format!("ratchet_job_outcomes_total{{{labels},outcome=\"succeeded\",reason=\"\"}} 1"),
        "ratchet_claim_empty_total 0",
    ] {
        assert!(lines.contains(&line), "{line} is missing:\n{text}");
    }
    // Every name is announced once, before its series.
    let types = lines.iter().filter(|line| line.starts_with("# TYPE")).count();
    let helps = lines.iter().filter(|line| line.starts_with("# HELP")).count();
    assert_eq!((types, helps), (read(&meter).families.len(), types));
}

#[test]
fn v_03_a_run_is_in_flight_until_it_has_ended() {
    let meter = Meter::new(true);
    let job = claimed("mail", "send");
    let gauge = |expected| {
        let metrics = read(&meter);
        let running = metrics.get("ratchet.job.running", &["mail", "send"]);
        assert_eq!(running, Some(&MetricValue::Gauge(expected)));
    };
    let (first, second) = (meter.started(&job), meter.started(&job));
    gauge(2.0);
    drop(first);
    gauge(1.0);
    drop(second);
    gauge(0.0);
}

#[test]
fn v_03_attempts_used_and_left_are_counted_by_queue() {
    let meter = Meter::new(true);
    let mut job = claimed("mail", "send");
    let mut spec = JobSpec::clone(&job.spec);
    spec.options.max_retries = 2;
    job.spec = Arc::new(spec);
    let failure = ratchet_store::model::FailureRecord {
        kind: ratchet_store::model::FailureKind::Timeout,
        error_type: "Timeout".to_owned(),
        message: "too slow".to_owned(),
        code: "timed_out".to_owned(),
        fingerprint: "f".to_owned(),
        retryable: true,
    };
    for attempts in [1, 2] {
        let verdict = Verdict::Retry { delay: Duration::ZERO, attempts, failure: failure.clone() };
        let settlement = Settlement::new(job.token, verdict, AttemptOutcome::Exception);
        let applied = Applied::new(JobState::Pending, Timestamp::UNIX_EPOCH, None);
        meter.settled(&job, &settlement, &Settled::Applied(applied));
    }
    job.attempts = 2;
    succeed(&meter, &job, Duration::ZERO);
    let metrics = read(&meter);
    let histogram = |name: &str| match metrics.get(name, &["mail"]) {
        Some(MetricValue::Histogram(histogram)) => histogram.clone(),
        other => panic!("{name}: {other:?}"),
    };
    let (used, left) = (histogram("ratchet.job.attempts"), histogram("ratchet.job.attempts_left"));
    assert_eq!((used.count(), used.sum()), (1, 3.0));
    assert_eq!((left.count(), left.sum()), (2, 3.0), "two left, then one");
    let retried = metrics.total("ratchet.job.outcomes", &["mail", "send", "retried", "timed_out"]);
    assert_eq!(retried, 2);
}

#[test]
fn m_04_ten_thousand_jobs_are_bounded_and_what_exceeds_the_limit_is_counted() {
    let meter = Meter::new(true);
    for number in 0..10_000 {
        run(&meter, "mail", &format!("job-{number}"));
    }
    let metrics = read(&meter);
    for family in &metrics.families {
        assert!(family.series.len() <= 1001, "{} has too many", family.metric.name);
    }
    for name in ["ratchet.job.started", "ratchet.job.outcomes", "ratchet.job.run.duration"] {
        assert_eq!(metrics.total(name, &[]), 10_000, "{name} loses nothing");
        assert_eq!(metrics.total("ratchet.meter.overflow", &[name]), 9000, "{name}");
    }
    assert_eq!(metrics.total("ratchet.job.started", &["overflow", "overflow"]), 9000);
    assert_eq!(metrics.total("ratchet.meter.overflow", &["ratchet.rejects"]), 0);
}

#[test]
fn m_04_outcomes_are_bounded_on_their_own() {
    let meter = Meter::new(true);
    let applied = || Settled::Applied(Applied::new(JobState::Pending, Timestamp::UNIX_EPOCH, None));
    for number in 0..900 {
        let job = claimed("mail", &format!("job-{number}"));
        succeed(&meter, &job, Duration::ZERO);
        meter.settled(&job, &Settlement::release(job.token), &applied());
    }
    let metrics = read(&meter);
    assert_eq!(metrics.series("ratchet.job.outcomes").len(), 1001);
    assert_eq!(metrics.total("ratchet.job.outcomes", &[]), 1800);
    assert_eq!(metrics.total("ratchet.meter.overflow", &["ratchet.job.outcomes"]), 800);
}

#[test]
fn a_delta_has_what_was_counted_since() {
    let meter = Meter::new(true);
    run(&meter, "mail", "send");
    let before = read(&meter);
    run(&meter, "mail", "send");
    run(&meter, "mail", "other");
    let delta = read(&meter).since(&before);
    assert_eq!(delta.total("ratchet.job.started", &["mail", "send"]), 1);
    assert_eq!(delta.total("ratchet.job.started", &["mail", "other"]), 1);
    assert_eq!(delta.total("ratchet.job.run.duration", &[]), 2);
    // A process that has begun again counts from zero.
    assert_eq!(before.since(&read(&meter)).total("ratchet.job.started", &[]), 1);
}

#[test]
fn m_04_a_meter_that_is_off_records_no_runs() {
    let meter = Meter::new(false);
    run(&meter, "mail", "send");
    meter.submitted("mail", "send", 1);
    assert_eq!(read(&meter).total("ratchet.job.started", &[]), 0);
    assert!(read(&meter).series("ratchet.job.submitted").is_empty());
}

#[test]
fn m_03_the_oldest_age_is_that_of_the_last_sample() {
    let meter = Meter::new(true);
    let age = |meter: &Meter| match read(meter).get("ratchet.queue.oldest_age", &["mail"]) {
        Some(MetricValue::Gauge(age)) => Some(*age),
        _ => None,
    };
    run(&meter, "mail", "send");
    assert_eq!(age(&meter), None, "nothing was sampled");
    for seconds in [90, 0] {
        let mut sample = Sample::default();
        let oldest_age = Duration::from_secs(seconds);
        let queue = QueueSample { pending: 1, oldest_age, ..QueueSample::default() };
        sample.queues.insert("mail".to_owned(), queue);
        meter.set_sample(sample);
        assert_eq!(age(&meter), Some(oldest_age.as_secs_f64()));
    }
}
