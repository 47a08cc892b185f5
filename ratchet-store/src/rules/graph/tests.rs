//! Table tests of the graph rules.

use uuid::Uuid;

use super::rules::{End, WaitStatus, resolve};
use super::{GraphError, check, link};
use crate::model::{
    CancelCause, Edge, EdgeTrigger, GroupId, GroupKind, GroupRecord, GroupState, JobId, JobRecord,
    JobSpec, JobState, Member, NewGraph, NewJob, Resolution, Step, StepInput, Vertex, Wait,
    WaitMode,
};

fn id(number: u128) -> JobId {
    JobId::from_uuid(Uuid::from_u128(number))
}

fn group_id(number: u128) -> GroupId {
    GroupId::from_uuid(Uuid::from_u128(number))
}

fn member(state: JobState, canceled: Option<CancelCause>) -> Member {
    let now = jiff::Timestamp::UNIX_EPOCH;
    let job = JobRecord::pending(id(1), JobSpec::new("a", Vec::new()), now, now);
    Member { state, canceled, ..job.member() }
}

fn after(when: EdgeTrigger, member: &Member, condition_results: &[(String, bool)]) -> Resolution {
    let edge = Edge::new(Vertex::Job(id(1)), Vertex::Job(id(2)), when);
    resolve(&[edge], &End::Job { member, condition_results })[0].expect("it is resolved")
}

fn dead(cause: CancelCause) -> Resolution {
    Resolution::Dead { cause, root: Vertex::Job(id(1)) }
}

// spec: W-04
#[test]
fn w_04_when_an_edge_of_a_job_fires() {
    use CancelCause::{NotTaken, Requested, UpstreamCanceled, UpstreamFailed};
    use JobState::{Canceled, Failed, Succeeded};
    let big = EdgeTrigger::Condition("big".to_owned());
    let fired = Resolution::Fired;
    for (state, canceled, when, answer, expected) in [
        (Succeeded, None, EdgeTrigger::Success, false, fired),
        (Succeeded, None, EdgeTrigger::Always, false, fired),
        (Succeeded, None, EdgeTrigger::Failure, false, dead(NotTaken)),
        (Succeeded, None, big.clone(), true, fired),
        (Succeeded, None, big.clone(), false, dead(NotTaken)),
        (Failed, None, EdgeTrigger::Success, false, dead(UpstreamFailed)),
        (Failed, None, EdgeTrigger::Failure, false, fired),
        (Failed, None, EdgeTrigger::Always, false, fired),
        (Failed, None, big.clone(), true, dead(UpstreamFailed)),
        (Canceled, Some(Requested), EdgeTrigger::Success, false, dead(UpstreamCanceled)),
        (Canceled, Some(Requested), EdgeTrigger::Always, false, dead(UpstreamCanceled)),
        (Canceled, Some(Requested), EdgeTrigger::Failure, false, dead(UpstreamCanceled)),
        (Canceled, Some(UpstreamFailed), EdgeTrigger::Always, false, dead(UpstreamFailed)),
        (Canceled, Some(NotTaken), EdgeTrigger::Success, false, dead(NotTaken)),
    ] {
        let condition_results = [("big".to_owned(), answer)];
        let real = after(when.clone(), &member(state, canceled), &condition_results);
        assert_eq!(real, expected, "{state} {canceled:?} {when:?} {answer}");
    }
}

// spec: W-04
#[test]
fn w_04_condition_that_was_not_judged_does_not_hold() {
    let real =
        after(EdgeTrigger::Condition("big".to_owned()), &member(JobState::Succeeded, None), &[]);
    assert_eq!(real, dead(CancelCause::NotTaken));
}

// spec: W-07
#[test]
fn w_07_otherwise_fires_instead_of_the_conditions() {
    use CancelCause::{NotTaken, UpstreamCanceled, UpstreamFailed};
    use JobState::{Canceled, Failed, Succeeded};
    let fired = Resolution::Fired;
    let condition = |name: &str| EdgeTrigger::Condition(name.to_owned());
    let edge = |when| Edge::new(Vertex::Job(id(1)), Vertex::Job(id(2)), when);
    for (state, first_match, big, expected) in [
        (Succeeded, false, false, [fired, dead(NotTaken), fired]),
        (Succeeded, false, true, [dead(NotTaken), fired, fired]),
        (Succeeded, true, false, [fired, dead(NotTaken), dead(NotTaken)]),
        (Succeeded, true, true, [dead(NotTaken), fired, dead(NotTaken)]),
        (Failed, false, true, [dead(UpstreamFailed); 3]),
        (Canceled, false, false, [dead(UpstreamCanceled); 3]),
    ] {
        let edges =
            [edge(EdgeTrigger::Otherwise), edge(condition("big")), edge(EdgeTrigger::Success)];
        let member = Member { first_match, ..member(state, None) };
        let condition_results = [("big".to_owned(), big)];
        let end = End::Job { member: &member, condition_results: &condition_results };
        assert_eq!(resolve(&edges, &end), expected.map(Some), "{state} {first_match} {big}");
    }
}

// spec: W-03
#[test]
fn w_03_how_a_group_ends() {
    use GroupState::{Canceled, Failed, Succeeded};
    for (succeeded, failed, canceled, skipped, expected) in [
        (0, 0, 0, 0, Succeeded),
        (3, 0, 0, 0, Succeeded),
        (2, 0, 0, 1, Succeeded),
        (2, 1, 0, 0, Failed),
        (1, 1, 1, 1, Failed),
        (2, 0, 1, 0, Canceled),
        (0, 0, 0, 2, Succeeded),
    ] {
        let mut group = GroupRecord::new(group_id(1), GroupKind::Batch, "b");
        group.counts.total = succeeded + failed + canceled + skipped;
        group.counts.succeeded = succeeded;
        group.counts.failed = failed;
        group.counts.canceled = canceled;
        group.counts.skipped = skipped;
        assert!(group.end_if_done(jiff::Timestamp::UNIX_EPOCH));
        assert_eq!(group.state, expected, "{:?}", group.counts);
        assert!(!group.end_if_done(jiff::Timestamp::UNIX_EPOCH), "once");
    }
}

// spec: W-04
#[test]
fn w_04_how_long_a_point_waits() {
    for (mode, edges, fired, dead, expected) in [
        (WaitMode::All, 2, 1, 0, WaitStatus::NotYet),
        (WaitMode::All, 2, 2, 0, WaitStatus::Ready),
        (WaitMode::All, 2, 1, 1, WaitStatus::Impossible),
        (WaitMode::Any, 2, 0, 1, WaitStatus::NotYet),
        (WaitMode::Any, 2, 1, 1, WaitStatus::Ready),
        (WaitMode::Any, 2, 0, 2, WaitStatus::Impossible),
        (WaitMode::All, 0, 0, 0, WaitStatus::NotYet),
    ] {
        let wait = Wait { fired, dead, ..Wait::new(mode, edges) };
        assert_eq!(wait.waited(), expected);
    }
}

/// Creates a workflow with these jobs and edges.
fn graph(jobs: u128, edges: &[(u128, u128)]) -> NewGraph {
    let flow = GroupRecord::new(group_id(1_000_000), GroupKind::Workflow, "flow");
    let job = |number| {
        let mut spec = JobSpec::new(format!("job-{number}"), b"{}".to_vec());
        let step = Step { group: Some(flow.id), ..Step::default() };
        spec.step = Some(Box::new(step));
        NewJob::new(id(number), spec)
    };
    let edge = |&(a, b): &(u128, u128)| {
        Edge::new(Vertex::Job(id(a)), Vertex::Job(id(b)), EdgeTrigger::Success)
    };
    let mut graph = NewGraph {
        jobs: (1..=jobs).map(job).collect(),
        edges: edges.iter().map(edge).collect(),
        groups: vec![flow],
        key: None,
    };
    link(&mut graph);
    graph
}

// spec: W-04
#[test]
fn w_04_circles_are_found_and_named() {
    assert_eq!(check(&graph(3, &[(1, 2), (2, 3), (1, 3)])), Ok(()));
    let circle = check(&graph(5, &[(1, 2), (2, 3), (3, 2), (3, 4), (4, 5)]));
    let expected = vec!["`job-2`".to_owned(), "`job-3`".to_owned()];
    assert_eq!(circle, Err(GraphError::Cycle { steps: expected }), "and no other step");
    assert!(check(&graph(1, &[(1, 1)])).is_err());
}

// spec: W-04
#[test]
fn w_04_circle_through_a_group_is_found() {
    let mut graph = graph(2, &[(1, 2)]);
    let flow = Vertex::Group(graph.groups[0].id);
    graph.edges.push(Edge::new(flow, Vertex::Job(id(1)), EdgeTrigger::Success));
    assert!(
        matches!(check(&graph), Err(GraphError::Cycle { .. })),
        "a member cannot wait for its group"
    );
}

/// Idempotency keys are kept permanently. If a release changed the digest, repeats of earlier submissions would be
/// refused.
#[test]
fn s_03_digest_of_a_graph_stays_what_it_was() {
    let digest = super::digest_of_bytes(&graph(3, &[(1, 2), (1, 3)]));
    let half = |bytes| Uuid::from_slice(bytes).expect("sixteen bytes").simple();
    let hex = format!("{}{}", half(&digest[..16]), half(&digest[16..]));
    insta::assert_snapshot!(hex);
    let other = super::digest_of_bytes(&graph(3, &[(1, 2), (2, 3)]));
    assert_ne!(digest, other, "other edges");
}

/// Inputs without the newer fields keep their digest; each of the fields makes another graph.
#[test]
fn s_03_digest_of_inputs_stays_what_it_was() {
    let with = |change: fn(&mut StepInput)| {
        let mut graph = graph(3, &[(1, 3), (2, 3)]);
        let mut input = StepInput::new(Some("a".to_owned()), vec![id(1), id(2)]);
        change(&mut input);
        graph.jobs[2].spec.step.get_or_insert_default().inputs.push(input);
        let digest = super::digest(&graph);
        let hex: Vec<_> = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        hex.concat()
    };
    let plain = with(|_| {});
    insta::assert_snapshot!(plain);
    let all = with(|input| input.all = true);
    let bound = with(|input| input.argument = Some("left".to_owned()));
    let other = with(|input| input.argument = Some("right".to_owned()));
    let distinct: std::collections::BTreeSet<_> = [plain, all, bound, other].into();
    assert_eq!(distinct.len(), 4);
}

#[test]
fn s_15_digest_of_a_graph_stays_what_it_was() {
    let digest = super::digest(&graph(3, &[(1, 2), (1, 3)]));
    let hex: Vec<_> = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    insta::assert_snapshot!(hex.concat());
    let other = super::digest(&graph(3, &[(1, 2), (2, 3)]));
    assert_ne!(digest, other, "other edges");
}
