//! What each move does to a job's record: the one meaning of a verdict, for every store that holds records.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::{
    CancelCause, Claimed, FailureRecord, JobRecord, JobState, LeaseId, Point, Token, Verdict, Wait,
    later,
};

impl JobRecord {
    /// The current run as its claimer got it, given the lease it was claimed in; `None` if the job was never claimed.
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

    /// How long the current run has taken, by the store's clock.
    pub fn elapsed(&self, now: Timestamp) -> Duration {
        let started = self.started_at.unwrap_or(now);
        Duration::try_from(now.duration_since(started)).unwrap_or_default()
    }

    /// Moves a running job as its verdict says. The caller has checked the fence and raises the version.
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

    /// Calls a job off. One that waited keeps what it waited for: it may be opened again.
    pub fn cancel(&mut self, cause: CancelCause, root: Option<Point>, now: Timestamp) {
        self.state = JobState::Canceled;
        self.paused_from = None;
        self.finished_at = Some(now);
        self.canceled = Some(cause);
        self.root_cause = root;
    }

    /// A step waits no longer: it is due now, or later if it said so. A paused one stays paused.
    pub fn release(&mut self, now: Timestamp) {
        let delay = self.spec.step.as_ref().map_or(Duration::ZERO, |step| step.delay);
        self.wait = None;
        self.due = self.due.max(later(now, delay));
    }

    /// A step that was called off because of another waits again.
    pub fn reopen(&mut self, wait: Wait) {
        self.state = JobState::Pending;
        self.finished_at = None;
        self.canceled = None;
        self.root_cause = None;
        self.wait = Some(wait);
    }

    /// Starts a new life: a failed job is tried again by hand.
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
    /// What the history says of it: what went wrong, or why the job was put off.
    pub fn cause(&self) -> (Option<FailureRecord>, Option<String>) {
        match self {
            Self::Retry { failure, .. } => (Some(failure.clone()), None),
            Self::Fail { envelope, .. } => (Some(envelope.failure.clone()), None),
            Self::Defer { note, .. } => (None, Some(note.clone())),
            Self::Succeed { .. } | Self::Release | Self::Rescue { .. } => (None, None),
        }
    }
}
