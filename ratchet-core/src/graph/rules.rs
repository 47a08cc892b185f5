//! The rules, one by one: when an edge fires, when a point has waited enough, how a group ends.

use jiff::Timestamp;

use crate::model::{
    CancelCause, Edge, GroupCounts, GroupKind, GroupRecord, GroupState, InsertError, Inserted,
    JobState, Member, NewJob, Point, Resolution, Wait, WaitMode, When,
};

/// How a member counts in its group once it has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Succeeded,
    Failed,
    Canceled,
    Skipped,
}

/// Whether a point has waited enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waited {
    /// It may begin.
    Enough,
    /// Not yet.
    NotYet,
    /// It never will.
    InVain,
}

/// How a point ended, as its edges see it.
#[derive(Debug, Clone)]
pub(super) enum End<'a> {
    Job { member: &'a Member, answers: &'a [(String, bool)] },
    Group(&'a GroupRecord),
}

impl Wait {
    pub(super) fn waited(&self) -> Waited {
        match self.mode {
            // It begins with its group, which says so itself.
            _ if self.edges == 0 => Waited::NotYet,
            WaitMode::All if self.dead > 0 => Waited::InVain,
            WaitMode::All if self.fired >= self.edges => Waited::Enough,
            WaitMode::Any if self.fired > 0 => Waited::Enough,
            WaitMode::Any if self.dead >= self.edges => Waited::InVain,
            WaitMode::All | WaitMode::Any => Waited::NotYet,
        }
    }

    pub(super) fn resolved(&mut self, resolution: Resolution) {
        match resolution {
            Resolution::Fired => self.fired += 1,
            Resolution::Dead { .. } => self.dead += 1,
        }
    }
}

impl Member {
    /// How it counts, if it has ended. A failed job that somebody paused has failed all the same.
    pub(super) fn class(&self) -> Option<Class> {
        match (self.state, self.paused_from) {
            (JobState::Succeeded, _) => Some(Class::Succeeded),
            (JobState::Failed, _) | (JobState::Paused, Some(JobState::Failed)) => {
                Some(Class::Failed)
            }
            (JobState::Canceled, _) => Some(called_off(self.canceled)),
            (JobState::Pending | JobState::Running | JobState::Paused, _) => None,
        }
    }

    pub(super) fn is_ended(&self) -> bool {
        self.class().is_some()
    }

    /// What its end goes back to.
    pub(super) fn root(&self) -> Point {
        self.root_cause.unwrap_or(Point::Job(self.id))
    }
}

impl GroupRecord {
    pub(super) fn class(&self) -> Option<Class> {
        match self.state {
            GroupState::Succeeded => Some(Class::Succeeded),
            GroupState::Failed => Some(Class::Failed),
            GroupState::Canceled => Some(called_off(self.canceled)),
            GroupState::Waiting | GroupState::Running => None,
        }
    }

    pub(super) fn root(&self) -> Point {
        self.root_cause.unwrap_or(Point::Group(self.id))
    }

    /// One more member has ended.
    pub(super) fn count(&mut self, class: Class, root: Point) {
        *self.counts.of_class(class) += 1;
        if matches!(class, Class::Failed | Class::Canceled) {
            self.root_cause.get_or_insert(root);
        }
    }

    /// A member that had ended has not, after all.
    pub(super) fn uncount(&mut self, class: Class, root: Point) {
        let count = self.counts.of_class(class);
        *count = count.saturating_sub(1);
        let blameless = self.counts.failed == 0 && self.counts.canceled == 0;
        if self.canceled.is_none() && (blameless || self.root_cause == Some(root)) {
            self.root_cause = None;
        }
    }

    /// Ends the group if every member has ended and no more can come.
    pub(super) fn end_if_done(&mut self, now: Timestamp) -> bool {
        let begun = self.wait.is_none() || self.canceled.is_some();
        if self.state.is_ended()
            || !begun
            || !self.sealed
            || self.counts.ended() < self.counts.total
        {
            return false;
        }
        self.state = match self.counts {
            _ if self.canceled.is_some() => GroupState::Canceled,
            GroupCounts { failed: 1.., .. } => GroupState::Failed,
            GroupCounts { canceled: 1.., .. } => GroupState::Canceled,
            _ => GroupState::Succeeded,
        };
        self.finished_at = Some(now);
        true
    }

    /// Whether its end is a cancel: that propagates and fires nothing. A batch of which single children were called off
    /// has come to its end all the same.
    fn is_called_off(&self) -> bool {
        self.canceled.is_some()
            || (self.state == GroupState::Canceled && self.kind != GroupKind::Batch)
    }

    fn reaches(&self, per_million: u32) -> bool {
        let wanted = u128::from(per_million) * u128::from(self.counts.total);
        u128::from(self.counts.succeeded) * 1_000_000 >= wanted
    }
}

impl GroupCounts {
    fn of_class(&mut self, class: Class) -> &mut u64 {
        match class {
            Class::Succeeded => &mut self.succeeded,
            Class::Failed => &mut self.failed,
            Class::Canceled => &mut self.canceled,
            Class::Skipped => &mut self.skipped,
        }
    }
}

fn called_off(cause: Option<CancelCause>) -> Class {
    if cause == Some(CancelCause::NotTaken) { Class::Skipped } else { Class::Canceled }
}

/// What becomes of the edges of a point that has ended, in their order.
pub(super) fn resolve(edges: &[Edge], end: &End<'_>) -> Vec<Resolution> {
    let first_match = match end {
        End::Job { member, .. } => member.first_match,
        End::Group(_) => false,
    };
    let mut fired = false;
    let resolve = |edge: &Edge| {
        let resolution = match end {
            End::Job { member, answers } => after_job(&edge.when, member, answers),
            End::Group(group) => after_group(&edge.when, group),
        };
        match resolution {
            Resolution::Fired if first_match && fired => not_taken(edge.parent),
            Resolution::Fired => {
                fired = true;
                Resolution::Fired
            }
            dead @ Resolution::Dead { .. } => dead,
        }
    };
    edges.iter().map(resolve).collect()
}

fn after_job(when: &When, job: &Member, answers: &[(String, bool)]) -> Resolution {
    let me = Point::Job(job.id);
    match (job.class(), when) {
        (Some(Class::Succeeded), When::Success | When::Always)
        | (Some(Class::Failed), When::Failure | When::Always) => Resolution::Fired,
        (Some(Class::Succeeded), When::Condition(name)) => {
            let holds = answers.iter().any(|(asked, holds)| asked == name && *holds);
            if holds { Resolution::Fired } else { not_taken(me) }
        }
        (Some(Class::Succeeded), When::Failure | When::Rate(_)) => not_taken(me),
        (Some(Class::Failed), _) => {
            Resolution::Dead { cause: CancelCause::UpstreamFailed, root: me }
        }
        _ => canceled(job.canceled, job.root()),
    }
}

fn after_group(when: &When, group: &GroupRecord) -> Resolution {
    if group.is_called_off() {
        return canceled(group.canceled, group.root());
    }
    let fires = match when {
        When::Success => group.state == GroupState::Succeeded,
        When::Failure => group.counts.failed > 0,
        When::Always => true,
        When::Rate(rate) => group.reaches(*rate),
        When::Condition(_) => false,
    };
    match (fires, when) {
        (true, _) => Resolution::Fired,
        (false, When::Failure | When::Condition(_)) => not_taken(Point::Group(group.id)),
        (false, _) if group.counts.failed > 0 => {
            Resolution::Dead { cause: CancelCause::UpstreamFailed, root: group.root() }
        }
        (false, _) => Resolution::Dead { cause: CancelCause::UpstreamCanceled, root: group.root() },
    }
}

fn not_taken(root: Point) -> Resolution {
    Resolution::Dead { cause: CancelCause::NotTaken, root }
}

/// A cancel goes on under the name it came with.
fn canceled(cause: Option<CancelCause>, root: Point) -> Resolution {
    let cause = match cause {
        Some(CancelCause::Requested) | None => CancelCause::UpstreamCanceled,
        Some(cause) => cause,
    };
    Resolution::Dead { cause, root }
}

/// Whether a job of a graph that was to be inserted is a member of it. A child of a batch that exists already is not, and
/// that is fine; nobody can wait for a step that exists already.
pub fn admit(job: &NewJob, answer: Inserted) -> Result<bool, InsertError> {
    let stands_alone = |job: &NewJob| {
        job.spec.step.as_ref().is_none_or(|step| {
            let waits = step.wait.is_some_and(|wait| wait.edges > 0);
            !step.edges && !waits && step.reports.is_none()
        })
    };
    match answer {
        Inserted::Created(_) => Ok(true),
        Inserted::Duplicate(_) | Inserted::Holder(_) if stands_alone(job) => Ok(false),
        Inserted::Duplicate(original) | Inserted::Holder(original) => {
            Err(InsertError::StepExists { job: job.id, original })
        }
    }
}
