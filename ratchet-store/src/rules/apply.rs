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
        match verdict {
            Verdict::Succeed { output } => {
                self.state = JobState::Succeeded;
                self.finished_at = Some(now);
                self.output = output;
            }
            Verdict::Retry { delay, attempts, failure } => {
                self.state = JobState::Pending;
                self.due = later(now, delay);
                self.attempts = attempts;
                self.error = Some(failure);
            }
            Verdict::Defer { delay, why: _, note: _ } => {
                self.state = JobState::Pending;
                self.due = later(now, delay);
                self.deferrals = self.deferrals.saturating_add(1);
            }
            // The due time stays, so the job keeps its place in the queue.
            Verdict::Release => self.state = JobState::Pending,
            Verdict::Rescue { delay, crashes } => {
                self.state = JobState::Pending;
                self.due = later(now, delay);
                self.crashes = crashes;
            }
            Verdict::Fail { attempts, crashes, mut envelope } => {
                envelope.at = now;
                self.state = JobState::Failed;
                self.finished_at = Some(now);
                self.attempts = attempts;
                self.crashes = crashes;
                self.error = Some(envelope.failure.clone());
                self.envelope = Some(*envelope);
            }
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
