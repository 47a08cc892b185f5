//! Computes the size and position of everything in a group, including nested groups, before it is drawn.

use std::collections::BTreeMap;

use super::heading;
use super::layout::lay_out;
use crate::client::graph::draw::{label, status};
use ratchet_store::model::{Edge, GroupView, Member, Vertex};

/// The largest number of boxes drawn. One last box states how many are left out.
const MOST_BOXES: usize = 2000;
/// The deepest level of nested groups that is drawn.
const DEEPEST: usize = 32;
/// Longer texts are truncated. The tooltip has the full text.
pub(super) const MOST_LETTERS: usize = 32;
pub(super) const MOST_IN_HEADING: usize = 64;

const HEIGHT: u32 = 44;
const LETTER: u32 = 7;
const PADDING: u32 = 12;
const TITLE: u32 = 24;
const AISLE: u32 = 56;
const GAP: u32 = 16;

/// A box, relative to the upper left corner of its group.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spot {
    pub(super) x: u32,
    pub(super) y: u32,
    pub(super) width: u32,
    pub(super) height: u32,
}

/// The layout of a group and everything in it.
pub(super) struct Plan<'v> {
    pub(super) view: &'v GroupView,
    /// The size including the callbacks beside the frame.
    pub(super) width: u32,
    pub(super) height: u32,
    /// The size of the group without its callbacks.
    pub(super) frame: (u32, u32),
    pub(super) jobs: Vec<(&'v Member, String, Spot)>,
    pub(super) groups: Vec<(Plan<'v>, Spot)>,
    pub(super) edges: Vec<(&'v Edge, Spot, Spot)>,
    /// How many boxes are left out, and where that is stated.
    pub(super) more: Option<(usize, Spot)>,
}

pub(super) fn plan(view: &GroupView) -> Plan<'_> {
    let mut left = MOST_BOXES;
    plan_group(view, DEEPEST, &mut left)
}

fn plan_group<'v>(view: &'v GroupView, depth: usize, left: &mut usize) -> Plan<'v> {
    let drawn = view.members.len().min(*left);
    *left -= drawn;
    let mut hidden = view.members.len() - drawn;
    let members: Vec<_> = view.members[..drawn].iter().map(|it| (it, label(it))).collect();
    let mut inner = Vec::new();
    for group in &view.groups {
        if depth == 0 || *left == 0 {
            hidden += 1;
        } else {
            *left -= 1;
            inner.push(plan_group(group, depth - 1, left));
        }
    }
    let mut sizes: Vec<_> =
        members.iter().map(|(it, name)| (width(name, &status(it)), HEIGHT)).collect();
    sizes.extend(inner.iter().map(|plan| (plan.width, plan.height)));
    if hidden > 0 {
        sizes.push((width("… and 1000000 more", ""), HEIGHT));
    }
    let jobs = members.iter().map(|(member, _)| Vertex::Job(member.id));
    let points = jobs.chain(inner.iter().map(|plan| Vertex::Group(plan.view.group.id)));
    let numbers: BTreeMap<_, _> = points.zip(0..).collect();
    let ends = |edge: &Edge| Some((*numbers.get(&edge.parent)?, *numbers.get(&edge.child)?));
    let lines: Vec<_> = view.edges.iter().filter_map(ends).collect();
    let layout = lay_out(&sizes, &lines);
    let spots: Vec<_> = layout
        .places
        .iter()
        .zip(&sizes)
        .map(|((x, y), (width, height))| Spot {
            x: x + PADDING,
            y: y + TITLE + PADDING,
            width: *width,
            height: *height,
        })
        .collect();
    let heading = cut(&heading(view), MOST_IN_HEADING).chars().count();
    let frame = (
        (layout.width + 2 * PADDING).max(letters(heading) + 2 * PADDING),
        layout.height + TITLE + 2 * PADDING,
    );
    // Edges attach to the frame of a group, not to its callbacks.
    let mut hooks = spots.clone();
    for (hook, plan) in hooks[drawn..].iter_mut().zip(&inner) {
        (hook.width, hook.height) = plan.frame;
    }
    let edge = |edge| ends(edge).map(|(from, to)| (edge, hooks[from], hooks[to]));
    let edges = view.edges.iter().filter_map(edge).collect();
    let more = (hidden > 0).then(|| (hidden, spots[spots.len() - 1]));
    let groups = inner.into_iter().zip(spots[drawn..].iter().copied()).collect();
    let jobs = members.into_iter().zip(&spots).map(|((it, name), spot)| (it, name, *spot));
    let mut plan = Plan {
        view,
        width: frame.0,
        height: frame.1,
        frame,
        jobs: jobs.collect(),
        groups,
        edges,
        more,
    };
    plan.add_callbacks();
    plan
}

impl Plan<'_> {
    /// Places the callbacks in a column beside the frame.
    fn add_callbacks(&mut self) {
        let view = self.view;
        let group = Spot { x: 0, y: 0, width: self.frame.0, height: self.frame.1 };
        let by_child: BTreeMap<_, _> = match view.followers.is_empty() {
            true => BTreeMap::new(),
            false => view.edges.iter().map(|edge| (edge.child, edge)).collect(),
        };
        let mut y = 0;
        for callback in &view.followers {
            let name = callback.job_name.clone();
            let width = width(&name, &status(callback));
            let spot = Spot { x: self.frame.0 + AISLE, y, width, height: HEIGHT };
            self.width = self.width.max(spot.x + spot.width);
            self.height = self.height.max(y + HEIGHT);
            y += HEIGHT + GAP;
            let edge = by_child.get(&Vertex::Job(callback.id));
            self.edges.extend(edge.map(|edge| (*edge, group, spot)));
            self.jobs.push((callback, name, spot));
        }
    }
}

/// Returns the width of a box with these two lines of text.
fn width(name: &str, state: &str) -> u32 {
    let longest = name.chars().count().max(state.chars().count());
    letters(longest.clamp(16, MOST_LETTERS)) + 16
}

fn letters(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX / LETTER).saturating_mul(LETTER)
}

/// Truncates a text to `most` characters.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        None => text.to_owned(),
    }
}
