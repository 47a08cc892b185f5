//! The effect of each transition on a [`JobRecord`], shared by every store that holds records.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::model::{
    CancelCause, Claimed, FailureRecord, JobRecord, JobState, LeaseId, Token, Verdict, Vertex,
    Wait, later,
};

impl JobRecord {
    /// Returns the current run as its claimer received it, given its lease. Returns `None` if the job was never
    /// claimed.
    pub fn claimed(&self, lease: LeaseId) -> Option<Claimed> {
        Some(Claimed {
            token: Token { job: self.id, lease, version: self.version },
            spec: Arc::clone(&self.spec),
            attempts: self.attempts,
            crashes: self.crashes,
            deferrals: self.deferrals,
            generation: self.generation,
            run: self.run,
            queued_at: self.queued_at,
            due: self.due,
            claimed_at: self.started_at?,
            node: self.node?,
            progress: self.progress.clone(),
            checkpoint: self.checkpoint.clone(),
            probe: None,
        })
    }

    /// Returns how long the current run has taken, by the store's clock.
    pub fn elapsed(&self, now: Timestamp) -> Duration {
        let started = self.started_at.unwrap_or(now);
        Duration::try_from(now.duration_since(started)).unwrap_or_default()
    }

    /// Applies a verdict to a running job. The caller must have checked the token, and increments the version.
    pub fn settle(&mut self, verdict: Verdict, now: Timestamp) {
        let before = Standing {
            state: self.state,
            due: self.due,
            attempts: self.attempts,
            crashes: self.crashes,
            deferrals: self.deferrals,
        };
        let after = before.after(&verdict, now);
        self.state = after.state;
        self.due = after.due;
        self.attempts = after.attempts;
        self.crashes = after.crashes;
        self.deferrals = after.deferrals;
        if after.state.is_terminal() {
            self.finished_at = Some(now);
        }
        match verdict {
            Verdict::Succeed { output } => self.output = output,
            Verdict::Retry { failure, .. } => self.error = Some(failure),
            Verdict::Fail { mut envelope, .. } => {
                envelope.at = now;
                self.error = Some(envelope.failure.clone());
                self.envelope = Some(*envelope);
            }
            Verdict::Defer { .. } | Verdict::Release | Verdict::Rescue { .. } => {}
        }
    }

    /// Cancels the job. A waiting job keeps its wait, because it may be reopened.
    pub fn cancel(&mut self, cause: CancelCause, root: Option<Vertex>, now: Timestamp) {
        self.state = JobState::Canceled;
        self.paused_from = None;
        self.finished_at = Some(now);
        self.canceled = Some(cause);
        self.root_cause = root;
    }

    /// Ends the wait of a step: it is due now, or after its delay. A paused step stays paused.
    pub fn release(&mut self, now: Timestamp) {
        let delay = self.spec.step.as_ref().map_or(Duration::ZERO, |step| step.delay);
        self.wait = None;
        self.due = self.due.max(later(now, delay));
    }

    /// Returns a step to waiting that was canceled because of another step.
    pub fn reopen(&mut self, wait: Wait) {
        self.state = JobState::Pending;
        self.finished_at = None;
        self.canceled = None;
        self.root_cause = None;
        self.wait = Some(wait);
    }

    /// Starts a new generation: a failed job is retried manually.
    pub fn revive(&mut self, now: Timestamp) {
        self.state = JobState::Pending;
        self.due = now;
        self.finished_at = None;
        self.attempts = 0;
        self.crashes = 0;
        self.deferrals = 0;
        self.generation += 1;
        self.error = None;
        self.envelope = None;
    }
}

/// The part of a job that every verdict may change: its state, its due time and its counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// The state.
    pub state: JobState,
    /// The due time.
    pub due: Timestamp,
    /// The failed attempts of this generation.
    pub attempts: u32,
    /// The crashes of workers in this generation.
    pub crashes: u32,
    /// The deferrals of this generation.
    pub deferrals: u32,
}

impl Standing {
    /// Returns what a verdict makes of a running job.
    #[must_use]
    pub fn after(self, verdict: &Verdict, now: Timestamp) -> Self {
        let pending = Self { state: JobState::Pending, ..self };
        match verdict {
            Verdict::Succeed { .. } => Self { state: JobState::Succeeded, ..self },
            Verdict::Fail { attempts, crashes, .. } => {
                Self { state: JobState::Failed, attempts: *attempts, crashes: *crashes, ..self }
            }
            Verdict::Retry { delay, attempts, .. } => {
                Self { due: later(now, *delay), attempts: *attempts, ..pending }
            }
            Verdict::Defer { delay, .. } => Self {
                due: later(now, *delay),
                deferrals: self.deferrals.saturating_add(1),
                ..pending
            },
            // The due time stays, so the job keeps its place in the queue.
            Verdict::Release => pending,
            Verdict::Rescue { delay, crashes } => {
                Self { due: later(now, *delay), crashes: *crashes, ..pending }
            }
        }
    }
}

impl Verdict {
    /// Returns what the history records for the verdict: the failure, or the note of a deferral.
    pub fn cause(&self) -> (Option<FailureRecord>, Option<String>) {
        match self {
            Self::Retry { failure, .. } => (Some(failure.clone()), None),
            Self::Fail { envelope, .. } => (Some(envelope.failure.clone()), None),
            Self::Defer { note, .. } => (None, Some(note.clone())),
            Self::Succeed { .. } | Self::Release | Self::Rescue { .. } => (None, None),
        }
    }
}
