//! Commands of operators and clients.

use std::sync::Arc;

use jiff::Timestamp;

use super::keys::business_key;
use super::tables::{Held, Tables};
use ratchet_store::Wake;
use ratchet_store::model::{
    AttemptOutcome, CancelCause, Command, CommandError, CommandReply, Due, Filter, GroupId, JobId,
    JobRecord, JobState, Placement, Redriven, TransitionKind, Vertex,
};
use ratchet_store::rules::graph::GraphEvent;

impl Tables {
    pub(super) fn command(
        &mut self,
        command: Command,
        now: Timestamp,
    ) -> Result<CommandReply, CommandError> {
        match command {
            Command::Pause(id) => self.pause(id, now),
            Command::Resume(id) => self.resume(id, now),
            Command::Cancel(id, cause) => self.cancel(id, cause, now),
            Command::Reschedule(id, due) => self.reschedule(id, due, now),
            Command::Move(id, placement) => self.relocate(id, &placement, now),
            Command::Retry(id) => self.retry(id, now),
            Command::Redrive { filter, limit } => Ok(self.redrive(&filter, limit, now)),
            Command::CancelGroup(id) => self.cancel_group(id, now),
        }
    }

    fn pause(&mut self, id: JobId, now: Timestamp) -> Result<CommandReply, CommandError> {
        let from = self.job(id)?.state;
        if from == JobState::Paused {
            return Ok(CommandReply::Unchanged { state: from });
        }
        self.check(id, TransitionKind::Pause)?;
        self.advance(id, now, |job| {
            job.paused_from = Some(job.state);
            job.state = JobState::Paused;
        });
        Ok(CommandReply::Done { from, to: JobState::Paused })
    }

    fn resume(&mut self, id: JobId, now: Timestamp) -> Result<CommandReply, CommandError> {
        let from = self.check(id, TransitionKind::Resume)?;
        let to = self.job(id)?.paused_from.unwrap_or(JobState::Pending);
        self.advance(id, now, |job| {
            job.paused_from = None;
            job.state = to;
        });
        Ok(CommandReply::Done { from, to })
    }

    fn cancel(
        &mut self,
        id: JobId,
        cause: CancelCause,
        now: Timestamp,
    ) -> Result<CommandReply, CommandError> {
        let job = self.job(id)?;
        let from = job.state;
        if from.is_terminal() {
            return Ok(CommandReply::Unchanged { state: from });
        }
        if cause == CancelCause::Expired && !job.is_expired(now) {
            return Ok(CommandReply::Unchanged { state: from });
        }
        if job.paused_from == Some(JobState::Failed) {
            return Err(CommandError::IllegalTransition {
                job: id,
                state: from,
                verb: TransitionKind::Cancel,
            });
        }
        self.check(id, TransitionKind::Cancel)?;
        self.call_off(id, cause, None, now);
        let events = self.ended(id, Vec::new()).into_iter().collect();
        Ok(CommandReply::moved(from, JobState::Canceled, self.propagate(events, now)))
    }

    fn cancel_group(&mut self, id: GroupId, now: Timestamp) -> Result<CommandReply, CommandError> {
        let group = self.graph.groups.get(&id).ok_or(CommandError::GroupNotFound(id))?;
        if group.state.is_ended() {
            return Ok(CommandReply::GroupUnchanged { state: group.state });
        }
        let effects = self.propagate(vec![GraphEvent::CancelGroup(id)], now);
        Ok(CommandReply::GroupCanceled(Box::new(effects)))
    }

    /// Cancels a job that has not ended.
    pub(super) fn call_off(
        &mut self,
        id: JobId,
        cause: CancelCause,
        root: Option<Vertex>,
        now: Timestamp,
    ) {
        if !self.cancel_run(id, cause, root, now) {
            self.advance(id, now, |job| job.cancel(cause, root, now));
        }
    }

    /// Cancels a running job. The run keeps its slots and keys until its handler has stopped. Returns `true` if there
    /// was a run.
    fn cancel_run(
        &mut self,
        id: JobId,
        cause: CancelCause,
        root: Option<Vertex>,
        now: Timestamp,
    ) -> bool {
        let Some(row) = self.jobs.get_mut(&id) else { return false };
        let Some(token) = row.token() else { return false };
        let duration = row.job.elapsed(now);
        if let Some(mut line) = row.line(now, AttemptOutcome::Canceled) {
            line.duration = duration;
            row.history.push(line);
        }
        self.end_run(token, Held::Canceled, now, |job| {
            job.duration = Some(duration);
            job.cancel(cause, root, now);
        });
        self.wakes.push(Wake::Canceled(token));
        true
    }

    fn reschedule(
        &mut self,
        id: JobId,
        due: Due,
        now: Timestamp,
    ) -> Result<CommandReply, CommandError> {
        let from = self.check(id, TransitionKind::Reschedule)?;
        self.advance(id, now, |job| job.due = due.at(now));
        Ok(CommandReply::Done { from, to: from })
    }

    fn relocate(
        &mut self,
        id: JobId,
        placement: &Placement,
        now: Timestamp,
    ) -> Result<CommandReply, CommandError> {
        let state = self.check(id, TransitionKind::Move)?;
        let Some(moved) = placement.of(&self.job(id)?.spec) else {
            return Ok(CommandReply::Unchanged { state });
        };
        self.advance(id, now, |job| job.spec = Arc::new(moved));
        Ok(CommandReply::Done { from: state, to: state })
    }

    fn retry(&mut self, id: JobId, now: Timestamp) -> Result<CommandReply, CommandError> {
        let from = self.check(id, TransitionKind::RetryManually)?;
        self.check_successor(id)?;
        let opened = self.opened(id, now)?;
        if let Some(key) = business_key(&self.job(id)?.spec) {
            let holder = *self.keys.business.entry(key.clone()).or_insert(id);
            if holder != id {
                return Err(CommandError::BusinessKeyTaken { job: id, key: key.1, holder });
            }
        }
        self.advance(id, now, |job| job.revive(now));
        Ok(CommandReply::moved(from, JobState::Pending, self.apply(opened, now)))
    }

    fn redrive(&mut self, filter: &Filter, limit: u32, now: Timestamp) -> CommandReply {
        let fits = |id: &JobId| self.jobs.get(id).is_some_and(|row| filter.matches(&row.job));
        let failed: Vec<_> = self.index.failed().filter(fits).collect();
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut done = Redriven::default();
        for id in failed {
            if done.retried.len() >= limit {
                break;
            }
            match self.retry(id, now) {
                Ok(_) => done.retried.push(id),
                Err(_) => done.key_taken.push(id),
            }
        }
        CommandReply::Redriven(done)
    }

    fn job(&self, id: JobId) -> Result<&JobRecord, CommandError> {
        self.jobs.get(&id).map(|row| &row.job).ok_or(CommandError::NotFound(id))
    }

    /// Returns the state of the job, or an error if the state does not allow this move.
    fn check(&self, id: JobId, verb: TransitionKind) -> Result<JobState, CommandError> {
        let state = self.job(id)?.state;
        if !state.allows(verb) {
            return Err(CommandError::IllegalTransition { job: id, state, verb });
        }
        Ok(state)
    }
}
