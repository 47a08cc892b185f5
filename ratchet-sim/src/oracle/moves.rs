//! Checks that every state change of a job is legal.

use ratchet_core::JobState;
use ratchet_memory::Inspection;
use ratchet_store::model::{CancelCause, GroupId, JobId, JobRecord, TRANSITIONS};

use super::Oracle;
use crate::op::Op;

/// The state of a job after the last commit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shadow {
    pub(super) id: JobId,
    pub(super) state: JobState,
    pub(super) paused_from: Option<JobState>,
    pub(super) canceled: Option<CancelCause>,
    pub(super) version: u64,
    pub(super) generation: u32,
    pub(super) run: u64,
    pub(super) waits: bool,
    /// The indexes of its concurrency and business key in the key book.
    pub(super) key: Option<usize>,
    pub(super) business: Option<usize>,
    pub(super) group: Option<GroupId>,
}

impl Shadow {
    fn of(job: &JobRecord) -> Self {
        Self {
            id: job.id,
            state: job.state,
            paused_from: job.paused_from,
            canceled: job.canceled,
            version: job.version,
            generation: job.generation,
            run: job.run,
            waits: job.wait.is_some(),
            key: None,
            business: None,
            group: job.spec.step.as_ref().and_then(|step| step.group),
        }
    }

    fn is_live(&self) -> bool {
        match self.state {
            JobState::Pending | JobState::Running => true,
            JobState::Paused => self.paused_from == Some(JobState::Pending),
            JobState::Succeeded | JobState::Failed | JobState::Canceled => false,
        }
    }

    pub(super) fn holds_business_key(&self) -> bool {
        self.is_live()
    }
}

impl Oracle {
    /// Compares every job with its state after the last commit. Returns whether any job changed.
    pub(super) fn compare(&mut self, op: Op, view: &Inspection<'_>) -> bool {
        let mut shadows = std::mem::take(&mut self.shadows);
        let (mut at, mut moved) = (0, false);
        for job in view.jobs() {
            // Both lists are sorted by id, and jobs are never purged during a schedule.
            match shadows.get_mut(at).filter(|shadow| shadow.id == job.id) {
                Some(shadow) if shadow.version == job.version => {
                    if shadow.state != job.state {
                        self.accuse(|| format!("{} moved without a new version", about(job)));
                    }
                }
                Some(shadow) => {
                    moved = true;
                    let now =
                        Shadow { key: shadow.key, business: shadow.business, ..Shadow::of(job) };
                    self.judge_move(op, shadow, job, view);
                    *shadow = now;
                    self.moved(job);
                }
                None => {
                    moved = true;
                    let mut shadow = Shadow::of(job);
                    (shadow.key, shadow.business) = self.keys.learn(&job.spec);
                    shadows.insert(at, shadow);
                    self.born(op, job);
                    self.moved(job);
                }
            }
            at += 1;
        }
        if at != shadows.len() {
            self.accuse(|| format!("{} jobs are gone", shadows.len() - at));
        }
        self.shadows = shadows;
        self.check_holders(view);
        moved
    }

    /// Checks the stored values of a job that changed.
    fn moved(&mut self, job: &JobRecord) {
        self.digest(job.version << 8 | job.state as u64);
        self.note(|| {
            let wait = job.wait.map(|wait| format!(" waits {wait:?}")).unwrap_or_default();
            format!(
                "{} v{} run {} attempts {} crashes {}{wait}",
                about(job),
                job.version,
                job.run,
                job.attempts,
                job.crashes
            )
        });
        if job.state != JobState::Running {
            self.holding.remove(&job.id);
        }
        let expired = job.expires_at().zip(job.started_at).filter(|(expires, at)| at >= expires);
        if let Some((expires, at)) = expired.filter(|_| job.state == JobState::Running) {
            self.accuse(|| format!("{} was started at {at} and expired at {expires}", about(job)));
        }
        let most = job.spec.options.max_retries;
        let used = if job.state == JobState::Failed || job.paused_from == Some(JobState::Failed) {
            job.attempts.saturating_sub(1)
        } else {
            job.attempts
        };
        if used > most {
            self.accuse(|| {
                format!("{} has used {} attempts of {}", about(job), job.attempts, most + 1)
            });
        }
    }

    fn born(&mut self, op: Op, job: &JobRecord) {
        // A job that is inserted and claimed in one commit is first seen as running.
        let fresh = job.state == JobState::Pending
            || (op == Op::SettleAndClaim && job.state == JobState::Running)
            || job.state == JobState::Canceled;
        if !fresh || job.generation != 1 {
            self.accuse(|| format!("{} was born so, by {op:?}", about(job)));
        }
        if let Some(schedule) = job.spec.tags.iter().find(|tag| tag.starts_with("schedule:")) {
            let first = self.fired.insert((schedule.clone(), job.due), job.id);
            if let Some(first) = first {
                self.accuse(|| {
                    format!("{schedule} fired twice for {}: {first} and {}", job.due, job.id)
                });
            }
        }
    }

    fn judge_move(&mut self, op: Op, from: &Shadow, job: &JobRecord, view: &Inspection<'_>) {
        if job.version < from.version || job.run < from.run || job.generation < from.generation {
            self.accuse(|| format!("{} went back: it was {from:?}", about(job)));
        }
        let moves = job.version.saturating_sub(from.version);
        if !reachable(from.state, job.state, moves) {
            self.accuse(|| {
                format!("{} cannot come from {} in {moves} moves ({op:?})", about(job), from.state)
            });
        }
        let revived = from.state != job.state
            && match from.state {
                JobState::Succeeded | JobState::Canceled => true,
                JobState::Failed => job.state != JobState::Paused,
                JobState::Pending | JobState::Running | JobState::Paused => false,
            };
        if revived {
            let reopened = from.state == JobState::Canceled
                && from.canceled.is_some_and(CancelCause::is_propagated);
            let retried = from.state == JobState::Failed && job.generation == from.generation + 1;
            if op != Op::Revive || !(reopened || retried) {
                self.accuse(|| format!("{} had ended as {} ({op:?})", about(job), from.state));
            }
        }
        let released = from.waits && job.wait.is_none() && !job.state.is_terminal();
        if released {
            self.judge_release(job, view);
        }
    }
}

/// Returns whether the given number of legal transitions can lead from one state to the other.
fn reachable(from: JobState, to: JobState, moves: u64) -> bool {
    let mut states = 1_u8 << from as u8;
    for _ in 0..moves.min(8) {
        let mut next = 0;
        for row in TRANSITIONS {
            if row.from.is_some_and(|from| states & (1 << from as u8) != 0) {
                next |= 1 << row.to as u8;
            }
        }
        // A paused step stays paused when its edges are resolved. A step that was canceled because of another one waits
        // again when that one is retried.
        next |= states & (1 << JobState::Paused as u8);
        if states & (1 << JobState::Canceled as u8) != 0 {
            next |= 1 << JobState::Pending as u8;
        }
        states = next;
    }
    states & (1 << to as u8) != 0
}

/// Describes a job for a message.
pub(super) fn about(job: &JobRecord) -> String {
    format!("job {} ({}, {})", job.id, job.spec.name, job.state)
}
