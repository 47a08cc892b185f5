//! Tests of the drawing and of its size.

use jiff::Timestamp;
use uuid::Uuid;

use super::svg;
use ratchet_store::model::{
    CancelCause, Edge, EdgeTrigger, GroupCounts, GroupId, GroupKind, GroupRecord, GroupState,
    GroupView, JobId, JobRecord, JobSpec, JobState, Member, Resolution, Vertex, Wait, WaitMode,
};

fn member(number: u32, name: Option<&str>, state: JobState) -> Member {
    let spec = JobSpec::new("shop.work", Vec::new());
    let id = JobId::from_uuid(Uuid::from_u128(u128::from(number)));
    let mut member =
        JobRecord::pending(id, spec, Timestamp::UNIX_EPOCH, Timestamp::UNIX_EPOCH).member();
    (member.number, member.name, member.state) = (number, name.map(str::to_owned), state);
    member
}

fn view(id: u128, kind: GroupKind, name: &str) -> GroupView {
    let group = GroupRecord::new(GroupId::from_uuid(Uuid::from_u128(id)), kind, name);
    GroupView::new(group, Vec::new(), Vec::new(), Vec::new())
}

fn edge(from: u32, to: u32, when: EdgeTrigger) -> Edge {
    let point = |number: u32| Vertex::Job(JobId::from_uuid(Uuid::from_u128(u128::from(number))));
    Edge::new(point(from), point(to), when)
}

/// A workflow with every state, a nested batch, a callback, and a name that needs escaping.
fn order() -> GroupView {
    let mut flow = view(1_000, GroupKind::Workflow, "order <7> & \"more\"");
    let mut counts = GroupCounts::of(7);
    (counts.succeeded, counts.failed) = (1, 1);
    flow.group.counts = counts;
    let mut waiting = member(4, Some("ship"), JobState::Pending);
    waiting.wait = Some(Wait::new(WaitMode::All, 1));
    let mut canceled = member(6, Some("thank\u{7}"), JobState::Canceled);
    canceled.canceled = Some(CancelCause::UpstreamFailed);
    flow.members = vec![
        member(0, Some("place"), JobState::Succeeded),
        member(1, Some("</text><script>alert(1)</script>"), JobState::Failed),
        member(2, Some("charge"), JobState::Running),
        member(3, Some("review"), JobState::Pending),
        waiting,
        member(5, None, JobState::Paused),
        canceled,
    ];
    let dead = Resolution::Dead {
        cause: CancelCause::UpstreamFailed,
        root: Vertex::Job(flow.members[1].id),
    };
    flow.edges = vec![
        Edge { resolution: Some(Resolution::Fired), ..edge(0, 1, EdgeTrigger::Success) },
        Edge {
            resolution: Some(Resolution::Fired),
            ..edge(0, 2, EdgeTrigger::Condition("shop.is_large".to_owned()))
        },
        edge(0, 3, EdgeTrigger::Always),
        edge(2, 4, EdgeTrigger::Success),
        Edge { resolution: Some(dead), ..edge(1, 6, EdgeTrigger::Success) },
    ];
    let mut batch = view(2_000, GroupKind::Batch, "mails");
    (batch.group.step, batch.group.state) = (Some("tell".to_owned()), GroupState::Waiting);
    batch.members = (10..13).map(|number| member(number, None, JobState::Pending)).collect();
    let group = Vertex::Group(batch.group.id);
    flow.edges.push(Edge::new(Vertex::Job(flow.members[4].id), group, EdgeTrigger::Success));
    flow.groups.push(batch);
    flow.followers.push(member(20, None, JobState::Pending));
    let root = Vertex::Group(flow.group.id);
    flow.edges.push(Edge::new(root, Vertex::Job(flow.followers[0].id), EdgeTrigger::Failure));
    flow
}

// spec: W-06
#[test]
fn w_06_workflow_is_drawn_as_svg() {
    insta::assert_snapshot!(svg(&order()));
}

#[test]
fn w_06_names_cannot_break_out_of_the_drawing() {
    let drawn = svg(&order());
    assert!(!drawn.contains("<script") && !drawn.contains('\u{7}'));
    assert!(drawn.contains("&lt;/text&gt;&lt;script&gt;"), "{drawn}");
    let opened = drawn.matches("<text").count();
    assert_eq!(opened, drawn.matches("</text>").count());
}

#[test]
fn w_06_colors_are_said_in_words_too() {
    let drawn = svg(&order());
    for state in [
        "SUCCEEDED",
        "FAILED",
        "RUNNING",
        "PENDING (waits)",
        "PAUSED",
        "CANCELED (upstream_failed)",
    ] {
        assert!(drawn.contains(&format!(">{state}</text>")), "no {state}");
    }
}

#[test]
fn w_06_thousand_steps_are_drawn_in_bounded_work() {
    let mut flow = view(5_000, GroupKind::Workflow, "large");
    flow.members = (0..1_000).map(|it| member(it, None, JobState::Pending)).collect();
    // Every step waits for the 20 steps before it.
    let near =
        |to: u32| (to.saturating_sub(20)..to).map(move |from| edge(from, to, EdgeTrigger::Success));
    flow.edges = (0..1_000).flat_map(near).collect();
    let drawn = svg(&flow);
    assert_eq!(drawn.matches("<g>").count(), 1_000);
    assert_eq!(drawn.matches("<path d=\"M").count(), flow.edges.len() + 1, "and the arrow");
    assert_eq!(svg(&flow), drawn, "the same every time");
}

#[test]
fn w_06_large_batch_is_told_in_a_word() {
    let mut batch = view(5_000, GroupKind::Batch, "huge");
    batch.members = (0..10_000).map(|it| member(it, None, JobState::Pending)).collect();
    let drawn = svg(&batch);
    assert_eq!(drawn.matches("<g>").count(), 2_000);
    assert!(drawn.contains("… and 8000 more"));
}

#[test]
fn w_06_groups_may_be_nested_as_deep_as_somebody_likes() {
    let mut inside = view(0, GroupKind::Batch, "innermost");
    for depth in 1..200 {
        let mut outer = view(depth, GroupKind::Batch, "outer");
        outer.groups.push(inside);
        inside = outer;
    }
    assert!(svg(&inside).contains("… and 1 more"));
}
