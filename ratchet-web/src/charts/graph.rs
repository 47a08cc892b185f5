//! The graph of a chain, batch or workflow: steps in columns, in the order of their dependencies.

use std::collections::BTreeMap;

use maud::{Markup, html};
use ratchet_core::{JobId, JobState};
use ratchet_store::model::{EdgeTrigger, GroupState, GroupView, Member, Resolution, Vertex};

use crate::link::Root;
use crate::text::{brief, counted};

/// The greatest number of boxes that are drawn. Above it, steps are counted by name and state.
pub(crate) const SMALL: u64 = 200;

const BOX: (i32, i32) = (168, 46);
const GAP: (i32, i32) = (56, 14);
/// The most boxes in a column. Further ones begin a new column.
const TALL: usize = 12;

/// A box of the drawing.
struct Node {
    vertex: Vertex,
    label: String,
    class: &'static str,
    shape: &'static str,
    state: String,
    link: String,
    column: usize,
    row: usize,
}

/// Draws a group. `current` is the job whose page shows the drawing.
pub(crate) fn drawing(root: &Root, view: &GroupView, current: Option<JobId>) -> Markup {
    let nodes = placed(root, view);
    let places: BTreeMap<_, _> = nodes.iter().map(|node| (node.vertex, position(node))).collect();
    let columns = nodes.iter().map(|node| node.column + 1).max().unwrap_or(1);
    let rows = nodes.iter().map(|node| node.row + 1).max().unwrap_or(1);
    let width = size(columns) * (BOX.0 + GAP.0) - GAP.0 + 4;
    let height = size(rows) * (BOX.1 + GAP.1) - GAP.1 + 4;
    // The links of the steps say the rest. In a picture they would be hidden from assistive technology.
    let label = format!("Graph of {}", counted(nodes.len() as u64, "step"));
    html! {
        div.scroll {
            svg.graph viewBox=(format!("0 0 {width} {height}")) width=(width) height=(height) role="group" aria-label=(label) {
                defs { marker #arrow viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto" {
                    path.g-arrow d="M0 0L8 4L0 8z" {}
                } }
                @for edge in &view.edges {
                    @if let (Some(from), Some(to)) = (places.get(&edge.parent), places.get(&edge.child)) {
                        @let class = match edge.resolution { Some(Resolution::Fired) => "g-edge fired", Some(Resolution::Dead { .. }) => "g-edge dead", None => "g-edge" };
                        (arrow(*from, *to, class, &edge.when))
                    }
                }
                @for node in &nodes {
                    @let (x, y) = position(node);
                    @let mine = current.is_some_and(|job| node.vertex == Vertex::Job(job));
                    a href=(node.link) aria-current=[mine.then_some("step")] {
                        title { (node.label) ": " (node.state) }
                        rect class=(format!("g-box g-{}{}", node.class, if mine { " mine" } else { "" })) x=(x) y=(y) width=(BOX.0) height=(BOX.1) rx="6" {}
                        text.g-label x=(x + 10) y=(y + 19) { (brief(&node.label, 21)) }
                        text class=(format!("g-state t-{}-text", node.class)) x=(x + 10) y=(y + 36) { (node.shape) " " (node.state) }
                    }
                }
            }
        }
    }
}

fn size(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX / 1000)
}

fn position(node: &Node) -> (i32, i32) {
    (2 + size(node.column) * (BOX.0 + GAP.0), 2 + size(node.row) * (BOX.1 + GAP.1))
}

fn arrow(from: (i32, i32), to: (i32, i32), class: &str, when: &EdgeTrigger) -> Markup {
    let start = (from.0 + BOX.0, from.1 + BOX.1 / 2);
    let end = (to.0, to.1 + BOX.1 / 2);
    let bend = i32::midpoint(start.0, end.0);
    let path = format!(
        "M{} {}C{bend} {} {bend} {} {} {}",
        start.0,
        start.1,
        start.1,
        end.1,
        end.0 - 2,
        end.1
    );
    let words = match when {
        EdgeTrigger::Success => None,
        EdgeTrigger::Failure => Some("on failure".to_owned()),
        EdgeTrigger::Always => Some("always".to_owned()),
        EdgeTrigger::Condition(name) => Some(brief(name, 12)),
        EdgeTrigger::Otherwise => Some("otherwise".to_owned()),
        EdgeTrigger::Turn(_) => Some("in order".to_owned()),
        EdgeTrigger::Rate(rate) => Some(format!("{} %", f64::from(*rate) / 1e4)),
    };
    html! {
        path class=(class) d=(path) marker-end="url(#arrow)" {}
        @if let Some(words) = words {
            text.g-when x=(bend) y=(i32::midpoint(start.1, end.1) - 5) text-anchor="middle" { (words) }
        }
    }
}

/// Places every step in the column behind its last parent.
fn placed(root: &Root, view: &GroupView) -> Vec<Node> {
    let mut nodes: Vec<_> =
        view.members.iter().chain(&view.followers).map(|it| job(root, it)).collect();
    nodes.extend(view.groups.iter().map(|inner| group(root, inner)));
    let mut ranks: BTreeMap<Vertex, usize> = nodes.iter().map(|node| (node.vertex, 0)).collect();
    let last = view.edges.iter().filter(|edge| edge.parent == Vertex::Group(view.group.id));
    let followers: Vec<_> = last.map(|edge| edge.child).collect();
    // A graph has no cycles, so that each pass settles at least one more rank.
    for _ in 0..nodes.len() {
        let mut moved = false;
        for edge in &view.edges {
            let Some(parent) = ranks.get(&edge.parent).copied() else { continue };
            if let Some(rank) = ranks.get_mut(&edge.child).filter(|rank| **rank <= parent) {
                *rank = parent + 1;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    let behind = ranks.values().max().copied().unwrap_or(0) + 1;
    for follower in followers {
        if let Some(rank) = ranks.get_mut(&follower) {
            *rank = behind;
        }
    }
    let mut used: BTreeMap<usize, usize> = BTreeMap::new();
    for node in &nodes {
        *used.entry(ranks[&node.vertex]).or_insert(0) += 1;
    }
    // A rank with many steps takes several columns.
    let mut first_column = BTreeMap::new();
    let mut column = 0;
    for (rank, steps) in &used {
        first_column.insert(*rank, column);
        column += steps.div_ceil(TALL);
    }
    let mut filled: BTreeMap<usize, usize> = BTreeMap::new();
    for node in &mut nodes {
        let rank = ranks[&node.vertex];
        let at = filled.entry(rank).or_insert(0);
        node.column = first_column[&rank] + *at / TALL;
        node.row = *at % TALL;
        *at += 1;
    }
    nodes
}

fn job(root: &Root, member: &Member) -> Node {
    let (class, shape, state) = member_state(member);
    Node {
        vertex: Vertex::Job(member.id),
        label: step_name(member),
        class,
        shape,
        state,
        link: root.to(&format!("jobs/{}", member.id)),
        column: 0,
        row: 0,
    }
}

/// Returns the name of a step, or its number and the name of its job.
pub(crate) fn step_name(member: &Member) -> String {
    match &member.name {
        Some(name) => name.clone(),
        None => format!("{}. {}", member.number + 1, member.job_name),
    }
}

/// Returns the class, the shape and the state of a step.
pub(crate) fn member_state(member: &Member) -> (&'static str, &'static str, String) {
    match member.state {
        JobState::Pending if member.wait.is_some() => ("mute", "○", "waits".to_owned()),
        JobState::Pending => ("wait", "○", "pending".to_owned()),
        JobState::Running => ("run", "▶", "running".to_owned()),
        JobState::Succeeded => ("ok", "✓", "succeeded".to_owned()),
        JobState::Failed => ("bad", "✕", "failed".to_owned()),
        JobState::Paused => ("held", "❚❚", "paused".to_owned()),
        JobState::Canceled => {
            let skipped = member.canceled == Some(ratchet_store::model::CancelCause::NotTaken);
            ("mute", "⊘", if skipped { "not taken" } else { "canceled" }.to_owned())
        }
    }
}

fn group(root: &Root, view: &GroupView) -> Node {
    let group = &view.group;
    let (class, shape) = match group.state {
        GroupState::Waiting => ("mute", "○"),
        GroupState::Running => ("run", "▶"),
        GroupState::Succeeded => ("ok", "✓"),
        GroupState::Failed => ("bad", "✕"),
        GroupState::Canceled => ("mute", "⊘"),
    };
    let state = format!(
        "{} {}/{}",
        group.state.name().to_lowercase(),
        group.counts.ended(),
        group.counts.total
    );
    Node {
        vertex: Vertex::Group(group.id),
        label: group.step.clone().unwrap_or_else(|| format!("{} {}", group.kind, group.name)),
        class,
        shape,
        state,
        link: root.to(&format!("flows/{}", group.id)),
        column: 0,
        row: 0,
    }
}
