//! One job with its claim, history and logs.

use std::collections::VecDeque;

use jiff::Timestamp;

use ratchet_store::MAX_LOG_LINES;
use ratchet_store::model::{
    AttemptOutcome, AttemptRecord, Claimed, JobRecord, JobState, LeaseId, LogLine, RunNotes, Token,
};

#[derive(Debug)]
pub(super) struct Row {
    pub(super) job: JobRecord,
    /// Present while the job is running.
    pub(super) claim: Option<Claim>,
    pub(super) history: Vec<AttemptRecord>,
    pub(super) logs: VecDeque<LogLine>,
}

/// The claim of a running job. Its node and time are in the record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Claim {
    pub(super) lease: LeaseId,
    /// Whether the handler has started.
    pub(super) started: bool,
}

impl Row {
    pub(super) fn new(job: JobRecord) -> Self {
        Self { job, claim: None, history: Vec::new(), logs: VecDeque::new() }
    }

    /// Returns the token of the current run.
    pub(super) fn token(&self) -> Option<Token> {
        let claim = self.claim.filter(|_| self.job.state == JobState::Running)?;
        Some(Token { job: self.job.id, lease: claim.lease, version: self.job.version })
    }

    /// Returns the current run as its claimer received it.
    pub(super) fn claimed(&self) -> Option<Claimed> {
        self.job.claimed(self.token()?.lease)
    }

    /// Creates the history entry of the current run.
    pub(super) fn line(&self, now: Timestamp, outcome: AttemptOutcome) -> Option<AttemptRecord> {
        Some(AttemptRecord::new(&self.claimed()?, now, outcome))
    }

    /// Stores the notes of a run.
    pub(super) fn keep(&mut self, notes: RunNotes) {
        let job = &mut self.job;
        job.progress = notes.progress.or_else(|| job.progress.take());
        job.checkpoint = notes.checkpoint.or_else(|| job.checkpoint.take());
        job.warnings.extend(notes.warnings);
        self.logs.extend(notes.logs);
        let surplus = self.logs.len().saturating_sub(MAX_LOG_LINES);
        self.logs.drain(..surplus);
    }
}
