//! What operators look at: the overview, failure groups and the checks of the doctor.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ratchet_core::{
    Actor, Bulk, BulkVerb, CHECKS, FailureError, FailureGroup, FailureState, Filter, Finding,
    JobState, OutcomeSink, Ratchet, SinkError,
};
use ratchet_store::model::{
    ClaimRequest, JobOutcome, KnownJobs, NodeId, NodeInfo, QueueDemand, Suspects,
};
use uuid::Uuid;

use super::super::EngineFixture;
use super::super::fixture::start;
use super::super::script::{Script, Step};

const HOUR: Duration = Duration::from_hours(1);

/// Joins a node that no engine belongs to.
async fn join(
    fixture: &EngineFixture,
    number: u128,
    version: &str,
    queue: &str,
    job: &str,
    lease: Duration,
) -> NodeId {
    let mut info = NodeInfo::new(NodeId::from_uuid(Uuid::from_u128(number)));
    info.binary_version = version.to_owned();
    info.host = "host".to_owned();
    info.queues = BTreeSet::from([queue.to_owned()]);
    info.known = Arc::new(KnownJobs(BTreeMap::from([(job.to_owned(), u32::MAX)])));
    let id = info.id;
    fixture.store().join(info, lease).await.expect("joins");
    id
}

/// Claims one job of the default queue without running it.
async fn claim(fixture: &EngineFixture, node: NodeId) {
    let known = Arc::new(KnownJobs(BTreeMap::from([("test.script".to_owned(), u32::MAX)])));
    let queues = vec![QueueDemand { queue: "default".to_owned(), limit: 1 }];
    let request =
        ClaimRequest { node, queues, known, suspects: Suspects::beside_others(2), starting: true };
    let reply = fixture.store().claim(request).await.expect("claims");
    assert_eq!(reply.jobs.len(), 1);
}

async fn found(ratchet: &Ratchet, id: &str) -> Vec<Finding> {
    let findings = ratchet.diagnose().await.expect("looks");
    let checks = ratchet.checks().await.expect("lists");
    assert!(findings.is_sorted_by(|a, b| a.severity >= b.severity), "errors come first");
    for finding in &findings {
        let check = checks.iter().find(|check| check.id == finding.id).expect("a check");
        assert_eq!(check.severity, finding.severity);
        assert!(!finding.problem.is_empty() && !finding.remedy.is_empty());
    }
    findings.into_iter().filter(|finding| finding.id == id).collect()
}

/// Requires exactly one finding of the check, which names this.
async fn finds(ratchet: &Ratchet, id: &str, named: &str) {
    let findings = found(ratchet, id).await;
    assert_eq!(findings.len(), 1, "{id}: {findings:?}");
    assert!(findings[0].problem.contains(named), "{}", findings[0].problem);
}

pub async fn o_11_a_healthy_store_has_no_findings(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let job = fixture.play(&ratchet, [Step::Ok]).await;
    fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    // The checks of one kind of store do not apply to the other.
    let checks = ratchet.checks().await.expect("lists");
    let has = |kind: &str| checks.iter().any(|check| check.id.starts_with(kind));
    assert!(!has("PGS") || !has("SQL"), "{checks:?}");
    assert!(CHECKS.len() - checks.len() >= 3, "{checks:?}");
    let mut findings = ratchet.diagnose().await.expect("looks");
    // The store of this test has a clock of its own, and its server does not wait for the disk.
    findings.retain(|finding| !["CLK-01", "STO-02"].contains(&finding.id));
    assert_eq!(findings, []);
    worker.stop().await;
}

pub async fn o_11_jobs_without_a_worker_are_found(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    fixture.play(&ratchet, [Step::Ok]).await;
    finds(&ratchet, "NOD-01", "no worker is alive (waiting jobs: 1)").await;
    assert_eq!(found(&ratchet, "QUE-01").await, [], "one finding says that nothing runs");
    join(&fixture, 1, "1.0", "other", "test.other", HOUR).await;
    assert_eq!(found(&ratchet, "NOD-01").await, []);
    finds(&ratchet, "QUE-01", "queue `default`").await;
    finds(&ratchet, "JOB-01", "`test.script`").await;
    fixture.advance(Duration::from_mins(11)).await;
    finds(&ratchet, "QUE-03", "queue `default`").await;
    ratchet.queues().pause("default").await.expect("pauses");
    finds(&ratchet, "QUE-02", "queue `default`").await;
}

pub async fn o_11_nodes_in_trouble_are_found(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    let job = ratchet.enqueue(Script::of([Step::Ok])).timeout(Duration::from_mins(1));
    job.await.expect("enqueues");
    let node = join(&fixture, 1, "1.0", "default", "test.script", Duration::from_mins(10)).await;
    claim(&fixture, node).await;
    assert_eq!(found(&ratchet, "JOB-04").await, []);
    fixture.advance(Duration::from_secs(500)).await;
    finds(&ratchet, "JOB-04", "test.script").await;
    join(&fixture, 2, "2.0", "default", "test.script", HOUR).await;
    finds(&ratchet, "NOD-03", "1.0, 2.0").await;
    assert_eq!(found(&ratchet, "NOD-02").await, []);
    fixture.advance(Duration::from_secs(200)).await;
    finds(&ratchet, "NOD-02", &node.to_string()).await;
}

pub async fn o_11_breakers_and_batches_in_trouble_are_found(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    ratchet.breakers().open("smtp", None).await.expect("opens");
    finds(&ratchet, "BRK-01", "`smtp` is open until an operator closes it").await;
    ratchet.breakers().close("smtp").await.expect("closes");
    assert_eq!(found(&ratchet, "BRK-01").await, []);
    let batch = ratchet.batch("import").job(Script::of([Step::Ok])).open().await.expect("enqueues");
    fixture.advance(23 * HOUR).await;
    assert_eq!(found(&ratchet, "FLW-01").await, []);
    fixture.advance(2 * HOUR).await;
    finds(&ratchet, "FLW-01", &batch.id().to_string()).await;
}

pub async fn o_11_schedules_in_trouble_are_found(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    let schedules = ratchet.schedules();
    schedules.declare("hourly", "0 * * * *", Script::of([Step::Ok])).await.expect("declares");
    finds(&ratchet, "SCH-01", "schedule `hourly` does not fire").await;
    fixture.advance(HOUR + Duration::from_mins(3)).await;
    assert_eq!(found(&ratchet, "SCH-02").await, [], "one finding says why it does not fire");
    schedules.pause("hourly").await.expect("pauses");
    assert_eq!(found(&ratchet, "SCH-01").await, [], "a paused schedule need not fire");
    schedules.resume("hourly").await.expect("resumes");
    join(&fixture, 1, "1.0", "default", "test.script", 8 * HOUR).await;
    assert_eq!(found(&ratchet, "SCH-01").await, []);
    assert_eq!(found(&ratchet, "SCH-02").await, []);
    fixture.advance(HOUR + Duration::from_mins(3)).await;
    finds(&ratchet, "SCH-02", "`hourly`").await;
    schedules.pause("hourly").await.expect("pauses");
    finds(&ratchet, "SCH-03", "`hourly`").await;
    assert_eq!(found(&ratchet, "SCH-02").await, []);
}

pub async fn o_11_a_wrong_clock_is_found(fixture: EngineFixture) {
    let clock = ratchet_core::VirtualClock::starting_at(
        "1999-12-31T00:00:00Z".parse().expect("an instant"),
    );
    let ratchet = fixture.builder().clock(clock).build().await.expect("builds");
    finds(&ratchet, "CLK-01", "differs from the clock of this host").await;
}

pub async fn o_11_what_operators_have_left_behind_is_found(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    let ada = ratchet.acting_as(Actor::new("ada"));
    let node = join(&fixture, 1, "1.0", "default", "test.script", 40 * HOUR).await;
    ada.nodes().quiet(node).await.expect("requests");
    ada.queues().pause("mail").await.expect("pauses");
    let operations = ada.operations();
    for pauses in [false, true] {
        let preview = operations.preview(BulkVerb::Retry, &Filter::any()).await.expect("previews");
        let started = operations.start(Bulk::of(preview)).await.expect("starts");
        if pauses {
            operations.pause(started.id).await.expect("pauses");
        }
    }
    for id in ["NOD-04", "QUE-04", "OPR-01", "OPR-02"] {
        assert_eq!(found(&ratchet, id).await, []);
    }
    fixture.advance(25 * HOUR).await;
    finds(&ratchet, "NOD-04", "at the request of ada").await;
    finds(&ratchet, "QUE-04", "queue `mail` is paused since").await;
    finds(&ratchet, "OPR-01", "waits for its operator (paused)").await;
    finds(&ratchet, "OPR-02", "has made no progress").await;
    fixture.play(&ratchet, [Step::Ok]).await;
    finds(&ratchet, "QUE-01", "queue `default`").await;
}

/// A sink that accepts nothing.
#[derive(Debug)]
struct Closed;

#[async_trait]
impl OutcomeSink for Closed {
    async fn publish(&self, _: &JobOutcome) -> Result<(), SinkError> {
        Err("closed".into())
    }
}

pub async fn o_11_messages_that_wait_for_a_sink_are_found(fixture: EngineFixture) {
    let (ratchet, worker) = start(fixture.builder().outcome_sink(Closed)).await;
    for step in [Step::Ok, Step::Fatal] {
        let job = fixture.play(&ratchet, [step]).await;
        fixture.ended(&ratchet, job.id()).await;
    }
    worker.stop().await;
    assert_eq!(found(&ratchet, "OUT-01").await, [], "the sink may accept them soon");
    fixture.advance(2 * HOUR).await;
    finds(&ratchet, "OUT-01", "outcomes wait for their sink since").await;
    let finding = &found(&ratchet, "OUT-01").await[0];
    assert!(finding.problem.ends_with("(2 messages)"), "{}", finding.problem);
}

pub async fn o_11_a_cluster_without_a_leader_is_found(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    let node = join(&fixture, 1, "1.0", "default", "test.script", HOUR).await;
    assert_eq!(found(&ratchet, "STO-03").await, [], "it may not have swept yet");
    fixture.advance(Duration::from_mins(3)).await;
    finds(&ratchet, "STO-03", "none of them leads maintenance").await;
    fixture.store().try_lead(node, Duration::from_mins(1)).await.expect("leads");
    assert_eq!(found(&ratchet, "STO-03").await, []);
    fixture.advance(Duration::from_mins(4)).await;
    finds(&ratchet, "STO-03", "leads maintenance since").await;
}

pub async fn o_06_a_group_has_a_state(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let fail = async || {
        let job = fixture.play(&ratchet, [Step::Fatal]).await;
        fixture.until(&ratchet, job.id(), JobState::Failed).await;
    };
    let group = async || {
        let groups = ratchet.failures().groups(&Filter::any(), 100).await.expect("groups").groups;
        assert_eq!(groups.len(), 1);
        groups[0].clone()
    };
    fail().await;
    let ada = ratchet.acting_as(Actor::new("ada").reason("a new certificate"));
    let failures = ada.failures();
    let FailureGroup { job_name, fingerprint, state, .. } = group().await;
    assert_eq!(state, FailureState::Open);
    finds(&ratchet, "JOB-03", "jobs: 1, groups: 1").await;
    failures.acknowledge(&job_name, &fingerprint).await.expect("marks");
    assert_eq!(group().await.state, FailureState::Acknowledged);
    assert_eq!(found(&ratchet, "JOB-03").await, [], "an operator works on it");
    failures.resolve(&job_name, &fingerprint).await.expect("marks");
    let resolved = group().await;
    assert_eq!(resolved.state, FailureState::Resolved);
    let actor = resolved.mark.and_then(|mark| mark.actor).expect("it is recorded");
    assert_eq!((actor.name.as_str(), actor.reason.as_deref()), ("ada", Some("a new certificate")));
    fixture.advance(Duration::from_secs(1)).await;
    fail().await;
    assert_eq!(group().await.state, FailureState::Reopened);
    finds(&ratchet, "JOB-03", "jobs: 2, groups: 1").await;
    let until = fixture.store().now().await.expect("a time") + HOUR;
    failures.ignore(&job_name, &fingerprint, Some(until)).await.expect("marks");
    assert_eq!(group().await.state, FailureState::Ignored);
    assert!(failures.reopen(&job_name, &fingerprint).await.expect("marks"));
    assert_eq!(group().await.state, FailureState::Open);
    let unknown = failures.resolve("nothing", &fingerprint).await;
    assert!(matches!(unknown, Err(FailureError::NotFound { .. })), "{unknown:?}");
    worker.stop().await;
}

pub async fn o_06_failures_are_grouped_by_job_and_fingerprint(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let mut last = None;
    for steps in [[Step::Fatal], [Step::Invalid], [Step::Fatal]] {
        let job = fixture.play(&ratchet, steps).await;
        fixture.until(&ratchet, job.id(), JobState::Failed).await;
        last = Some(job.id());
    }
    let all = ratchet.failures().groups(&Filter::any(), 100).await.expect("reads");
    let counts: Vec<_> = all.groups.iter().map(|group| group.count).collect();
    assert_eq!((counts, all.jobs, all.complete), (vec![2, 1], 3, true));
    let group = &all.groups[0];
    assert_eq!((Some(group.latest), group.job_name.as_str()), (last, "test.script"));
    assert!(group.first < group.last);
    let fingerprint = Filter::any().fingerprint(&all.groups[1].fingerprint);
    let one = ratchet.failures().groups(&fingerprint, 100).await.expect("reads");
    assert_eq!(one.groups, all.groups[1..]);
    let newest = ratchet.failures().groups(&Filter::any(), 2).await.expect("reads");
    assert_eq!((newest.jobs, newest.complete), (2, false));
    finds(&ratchet, "JOB-03", "jobs: 3, groups: 2").await;
    worker.stop().await;
}

pub async fn o_07_the_overview_counts_by_queue(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    for delay in [0, 30, 7200] {
        let job = ratchet.enqueue(Script::of([Step::Ok])).delay(Duration::from_secs(delay));
        job.await.expect("enqueues");
    }
    ratchet.queues().pause("quiet").await.expect("pauses");
    fixture.advance(Duration::from_mins(1)).await;
    let overview = ratchet.overview().await.expect("reads");
    let names: Vec<_> = overview.queues.iter().map(|queue| queue.queue.as_str()).collect();
    assert_eq!(names, ["default", "quiet"]);
    let queue = &overview.queues[0];
    assert_eq!(
        (queue.count(JobState::Pending), queue.count(JobState::Running), queue.workers),
        (3, 0, 0)
    );
    let waited = overview.now.duration_since(queue.oldest_due.expect("one is due"));
    assert!(waited.as_secs() >= 60 && waited.as_secs() < 3600, "{waited:#}");
    assert_eq!((overview.count(JobState::Pending), overview.live_nodes().count()), (3, 0));
}
