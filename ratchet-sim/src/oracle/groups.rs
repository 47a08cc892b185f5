//! Checks chains, batches and workflows: counts must match the members, and steps must wait for their edges.

use std::collections::BTreeMap;

use ratchet_core::JobState;
use ratchet_memory::Inspection;
use ratchet_store::model::{
    AfterFailure, CancelCause, Claimed, Edge, EdgeTrigger, GroupCounts, GroupId, GroupRecord,
    GroupState, JobRecord, Resolution, Vertex, WaitMode,
};

use super::Oracle;
use super::moves::{Shadow, about};

impl Oracle {
    /// Checks after every commit that changed a job that the stored counts and states of groups match their members.
    pub(super) fn check_groups(&mut self, view: &Inspection<'_>) {
        let mut counts: BTreeMap<GroupId, GroupCounts> =
            view.groups().map(|group| (group.id, GroupCounts::default())).collect();
        if counts.is_empty() {
            return;
        }
        for shadow in &self.shadows {
            if let Some(counts) = shadow.group.and_then(|group| counts.get_mut(&group)) {
                count(counts, class(shadow));
            }
        }
        for group in view.groups() {
            if let Some(counts) = group.owner.and_then(|owner| counts.get_mut(&owner)) {
                count(counts, group_class(group));
            }
        }
        for group in view.groups() {
            let real = counts[&group.id];
            if group.counts != real {
                self.accuse(|| {
                    format!(
                        "group {} counts {:?}, its members are {real:?}",
                        group.id, group.counts
                    )
                });
            }
            let done = real.ended() == real.total && group.sealed;
            let begun = group.wait.is_none() || group.canceled.is_some();
            if group.state.is_ended() != (done && begun) {
                self.accuse(|| format!("group {} is {} with {real:?}", group.id, group.state));
            }
        }
    }

    /// Checks that the edges of a released step have fired and that its parents ended accordingly.
    pub(super) fn judge_release(&mut self, job: &JobRecord, view: &Inspection<'_>) {
        let me = Vertex::Job(job.id);
        let edges: Vec<_> = view.edges().filter(|edge| edge.child == me).collect();
        let fired = edges.iter().filter(|edge| edge.resolution == Some(Resolution::Fired));
        let fired = fired.count();
        let mode = job.spec.step.as_ref().and_then(|step| step.wait).map(|wait| wait.mode);
        let enough = match mode {
            _ if edges.is_empty() => true,
            Some(WaitMode::Any) => fired > 0,
            _ => fired == edges.len(),
        };
        if !enough {
            self.accuse(|| {
                format!("{} was released with {fired} of {} edges", about(job), edges.len())
            });
        }
        for edge in edges.into_iter().filter(|edge| edge.resolution == Some(Resolution::Fired)) {
            if !allows(edge, view) {
                self.accuse(|| {
                    format!("{} was released by {edge:?}, which should not", about(job))
                });
            }
        }
        let owner = job.spec.step.as_ref().and_then(|step| step.group);
        let owner = view.groups().find(|group| Some(group.id) == owner);
        if owner.is_some_and(|group| group.state == GroupState::Waiting) {
            self.accuse(|| format!("{} was released before its group", about(job)));
        }
    }
}

impl Oracle {
    /// Checks that every earlier job of a claimed job's order has had its turn.
    pub(super) fn check_order(&mut self, job: &Claimed, view: &Inspection<'_>) {
        let (Some(step), Some(key)) = (&job.spec.step, &job.spec.concurrency) else { return };
        if step.order.is_none() || job.run > 1 {
            return;
        }
        let holds_up = |other: &&JobRecord| {
            let ordered = other.spec.step.as_ref().is_some_and(|step| step.order.is_some());
            let had_its_turn = other.state.is_terminal() || other.generation > 1;
            ordered
                && other.spec.concurrency.as_ref() == Some(key)
                && other.queued_at < job.queued_at
                && !had_its_turn
        };
        if let Some(earlier) = view.jobs().find(holds_up) {
            let earlier = about(earlier);
            self.accuse(|| format!("{} was claimed before {earlier}, which precedes it", job.id()));
        }
    }
}

/// Returns whether the state of the parent justifies a fired edge. An edge stays fired if a failed parent is retried.
fn allows(edge: &Edge, view: &Inspection<'_>) -> bool {
    match edge.parent {
        Vertex::Job(id) => {
            let Some(parent) = view.jobs().find(|job| job.id == id) else { return false };
            match edge.when {
                EdgeTrigger::Success | EdgeTrigger::Condition(_) | EdgeTrigger::Otherwise => {
                    parent.state == JobState::Succeeded
                }
                EdgeTrigger::Failure => parent.state == JobState::Failed || parent.generation > 1,
                EdgeTrigger::Always => {
                    parent.state.is_terminal() && parent.state != JobState::Canceled
                        || parent.generation > 1
                }
                EdgeTrigger::Turn(after_failure) => match parent.state {
                    JobState::Failed => after_failure == AfterFailure::Skip,
                    state => state.is_terminal() || parent.generation > 1,
                },
                EdgeTrigger::Rate(_) => false,
            }
        }
        Vertex::Group(id) => {
            // A callback that has started is not withdrawn if a retry reopens the group.
            view.groups().any(|group| group.id == id)
        }
    }
}

#[derive(Clone, Copy)]
enum Class {
    Open,
    Succeeded,
    Failed,
    Canceled,
    Skipped,
}

fn called_off(cause: Option<CancelCause>) -> Class {
    if cause == Some(CancelCause::NotTaken) { Class::Skipped } else { Class::Canceled }
}

fn class(shadow: &Shadow) -> Class {
    match (shadow.state, shadow.paused_from) {
        (JobState::Succeeded, _) => Class::Succeeded,
        (JobState::Failed, _) | (JobState::Paused, Some(JobState::Failed)) => Class::Failed,
        (JobState::Canceled, _) => called_off(shadow.canceled),
        _ => Class::Open,
    }
}

fn group_class(group: &GroupRecord) -> Class {
    match group.state {
        GroupState::Succeeded => Class::Succeeded,
        GroupState::Failed => Class::Failed,
        GroupState::Canceled => called_off(group.canceled),
        GroupState::Waiting | GroupState::Running => Class::Open,
    }
}

fn count(counts: &mut GroupCounts, class: Class) {
    counts.total += 1;
    match class {
        Class::Open => {}
        Class::Succeeded => counts.succeeded += 1,
        Class::Failed => counts.failed += 1,
        Class::Canceled => counts.canceled += 1,
        Class::Skipped => counts.skipped += 1,
    }
}
