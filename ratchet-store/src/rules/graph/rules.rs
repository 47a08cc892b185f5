//! The rules: when an edge fires, when a vertex has waited long enough, and how a group ends.

use jiff::Timestamp;

use crate::model::{
    AfterFailure, CancelCause, Edge, EdgeTrigger, GroupCounts, GroupKind, GroupRecord, GroupState,
    InsertError, Inserted, JobState, Member, NewJob, Resolution, Vertex, Wait, WaitMode,
};

/// How an ended member counts in its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EndClass {
    Succeeded,
    Failed,
    Canceled,
    Skipped,
}

/// Whether the wait of a vertex is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WaitStatus {
    /// The vertex can begin.
    Ready,
    /// The vertex still waits.
    NotYet,
    /// The vertex can never begin.
    Impossible,
}

/// How a vertex ended, as input to the rules for its edges.
#[derive(Debug, Clone)]
pub(super) enum End<'a> {
    Job { member: &'a Member, condition_results: &'a [(String, bool)] },
    Group(&'a GroupRecord),
}

impl Wait {
    pub(super) fn waited(&self) -> WaitStatus {
        match self.mode {
            // The vertex begins with its group, which releases it.
            _ if self.edges == 0 => WaitStatus::NotYet,
            WaitMode::All if self.dead > 0 => WaitStatus::Impossible,
            WaitMode::All if self.fired >= self.edges => WaitStatus::Ready,
            WaitMode::Any if self.fired > 0 => WaitStatus::Ready,
            WaitMode::Any if self.dead >= self.edges => WaitStatus::Impossible,
            WaitMode::All | WaitMode::Any => WaitStatus::NotYet,
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
    /// Returns how the member counts, if it has ended. A failed job that was paused still counts as failed.
    pub(super) fn class(&self) -> Option<EndClass> {
        match (self.state, self.paused_from) {
            (JobState::Succeeded, _) => Some(EndClass::Succeeded),
            (JobState::Failed, _) | (JobState::Paused, Some(JobState::Failed)) => {
                Some(EndClass::Failed)
            }
            (JobState::Canceled, _) => Some(called_off(self.canceled)),
            (JobState::Pending | JobState::Running | JobState::Paused, _) => None,
        }
    }

    pub(super) fn is_ended(&self) -> bool {
        self.class().is_some()
    }

    /// Returns the origin of its end.
    pub(super) fn root(&self) -> Vertex {
        self.root_cause.unwrap_or(Vertex::Job(self.id))
    }
}

impl GroupRecord {
    pub(super) fn class(&self) -> Option<EndClass> {
        match self.state {
            GroupState::Succeeded => Some(EndClass::Succeeded),
            GroupState::Failed => Some(EndClass::Failed),
            GroupState::Canceled => Some(called_off(self.canceled)),
            GroupState::Waiting | GroupState::Running => None,
        }
    }

    pub(super) fn root(&self) -> Vertex {
        self.root_cause.unwrap_or(Vertex::Group(self.id))
    }

    /// Counts a member that has ended.
    pub(super) fn count(&mut self, class: EndClass, root: Vertex) {
        *self.counts.of_class(class) += 1;
        if matches!(class, EndClass::Failed | EndClass::Canceled) {
            self.root_cause.get_or_insert(root);
        }
    }

    /// Reverts the count of a member that was reopened.
    pub(super) fn uncount(&mut self, class: EndClass, root: Vertex) {
        let count = self.counts.of_class(class);
        *count = count.saturating_sub(1);
        let blameless = self.counts.failed == 0 && self.counts.canceled == 0;
        if self.canceled.is_none() && (blameless || self.root_cause == Some(root)) {
            self.root_cause = None;
        }
    }

    /// Ends the group if all members have ended and no more can be added.
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

    /// Returns `true` if the group ended by cancellation, which propagates and fires no edges. A batch of which only
    /// single children were canceled does not count as canceled.
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
    fn of_class(&mut self, class: EndClass) -> &mut u64 {
        match class {
            EndClass::Succeeded => &mut self.succeeded,
            EndClass::Failed => &mut self.failed,
            EndClass::Canceled => &mut self.canceled,
            EndClass::Skipped => &mut self.skipped,
        }
    }
}

fn called_off(cause: Option<CancelCause>) -> EndClass {
    if cause == Some(CancelCause::NotTaken) { EndClass::Skipped } else { EndClass::Canceled }
}

/// Returns the resolutions of the edges of an ended vertex, in order. `None` for a job that is still held up.
pub(super) fn resolve(edges: &[Edge], end: &End<'_>) -> Vec<Option<Resolution>> {
    let first_match = match end {
        End::Job { member, .. } => member.first_match,
        End::Group(_) => false,
    };
    let holds = |edge: &Edge| match (end, &edge.when) {
        (End::Job { condition_results, .. }, EdgeTrigger::Condition(name)) => {
            condition_results.iter().any(|(asked, holds)| asked == name && *holds)
        }
        _ => false,
    };
    let otherwise = !edges.iter().any(holds);
    let mut fired = false;
    let resolve = |edge: &Edge| {
        let resolution = match (end, &edge.when) {
            (End::Job { member, .. }, EdgeTrigger::Turn(after_failure)) => {
                return turn_is_over(*after_failure, member).then_some(Resolution::Fired);
            }
            (End::Job { member, .. }, when) => after_job(when, member, holds(edge), otherwise),
            (End::Group(group), when) => after_group(when, group),
        };
        Some(match resolution {
            Resolution::Fired if first_match && fired => not_taken(edge.parent),
            Resolution::Fired => {
                fired = true;
                Resolution::Fired
            }
            dead @ Resolution::Dead { .. } => dead,
        })
    };
    edges.iter().map(resolve).collect()
}

/// Returns `true` if a job no longer holds up the job after it.
pub(super) fn turn_is_over(after_failure: AfterFailure, job: &Member) -> bool {
    let came = job.wait.is_none_or(|wait| wait.waited() == WaitStatus::Ready);
    let ended = match job.class() {
        None => false,
        Some(EndClass::Failed) => after_failure == AfterFailure::Skip,
        Some(EndClass::Succeeded | EndClass::Canceled | EndClass::Skipped) => true,
    };
    came && ended
}

/// Resolves an edge of a job. `holds` is the result of its condition; `otherwise` is `true` if no condition holds.
fn after_job(when: &EdgeTrigger, job: &Member, holds: bool, otherwise: bool) -> Resolution {
    let me = Vertex::Job(job.id);
    match (job.class(), when) {
        (Some(EndClass::Succeeded), EdgeTrigger::Success | EdgeTrigger::Always)
        | (Some(EndClass::Failed), EdgeTrigger::Failure | EdgeTrigger::Always) => Resolution::Fired,
        (Some(EndClass::Succeeded), EdgeTrigger::Condition(_)) if holds => Resolution::Fired,
        (Some(EndClass::Succeeded), EdgeTrigger::Otherwise) if otherwise => Resolution::Fired,
        (Some(EndClass::Succeeded), _) => not_taken(me),
        (Some(EndClass::Failed), _) => {
            Resolution::Dead { cause: CancelCause::UpstreamFailed, root: me }
        }
        _ => canceled(job.canceled, job.root()),
    }
}

fn after_group(when: &EdgeTrigger, group: &GroupRecord) -> Resolution {
    if group.is_called_off() {
        return canceled(group.canceled, group.root());
    }
    let fires = match when {
        EdgeTrigger::Success => group.state == GroupState::Succeeded,
        EdgeTrigger::Failure => group.counts.failed > 0,
        EdgeTrigger::Always => true,
        EdgeTrigger::Rate(rate) => group.reaches(*rate),
        EdgeTrigger::Condition(_) | EdgeTrigger::Otherwise | EdgeTrigger::Turn(_) => false,
    };
    match (fires, when) {
        (true, _) => Resolution::Fired,
        (false, EdgeTrigger::Failure | EdgeTrigger::Condition(_) | EdgeTrigger::Otherwise) => {
            not_taken(Vertex::Group(group.id))
        }
        (false, _) if group.counts.failed > 0 => {
            Resolution::Dead { cause: CancelCause::UpstreamFailed, root: group.root() }
        }
        (false, _) => Resolution::Dead { cause: CancelCause::UpstreamCanceled, root: group.root() },
    }
}

fn not_taken(root: Vertex) -> Resolution {
    Resolution::Dead { cause: CancelCause::NotTaken, root }
}

/// Resolves an edge of a canceled vertex. A propagated cause is kept.
fn canceled(cause: Option<CancelCause>, root: Vertex) -> Resolution {
    let cause = match cause {
        Some(CancelCause::Requested | CancelCause::Expired) | None => CancelCause::UpstreamCanceled,
        Some(cause) => cause,
    };
    Resolution::Dead { cause, root }
}

/// Returns whether a job of a new graph becomes a member of it, given the result of its insert. A child of a batch
/// whose key belongs to an existing job is left out. A step with dependencies is refused in that case, because
/// dependents cannot wait for a job outside of the graph.
pub fn is_new_member(job: &NewJob, answer: Inserted) -> Result<bool, InsertError> {
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
