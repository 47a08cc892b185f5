//! Commands: pause, resume, cancel, reschedule, retry, re-drive.

use std::time::Duration;

use super::{Ratchet, publish_ripples};
use crate::crash::{CrashPoint, crash_point};
use crate::events::Event;
use crate::model::{
    CancelCause, Command, CommandError, CommandReply, Due, Filter, JobId, JobState, Redriven,
};

impl Ratchet {
    /// Sets a pending or failed job aside. Pausing a paused job changes nothing.
    pub async fn pause(&self, id: JobId) -> Result<(), CommandError> {
        if self.command(Command::Pause(id)).await?.states().is_some() {
            self.core.events.publish(|| Event::Paused { job: id });
        }
        Ok(())
    }

    /// Lets a paused job go on where it came from.
    pub async fn resume(&self, id: JobId) -> Result<(), CommandError> {
        self.command(Command::Resume(id)).await?;
        self.core.events.publish(|| Event::Resumed { job: id });
        Ok(())
    }

    /// Calls a job off. `false` if it had come to its end already.
    ///
    /// A running job is canceled in the store at once; its handler is told, and dropped after a grace time.
    pub async fn cancel(&self, id: JobId) -> Result<bool, CommandError> {
        let cause = CancelCause::Requested;
        let reply = self.command(Command::Cancel(id, cause)).await?;
        let canceled = matches!(reply.states(), Some((_, JobState::Canceled)));
        if canceled {
            self.core.events.publish(|| Event::Canceled { job: id, cause });
        }
        Ok(canceled)
    }

    /// Gives a pending job another due time.
    pub async fn reschedule(&self, id: JobId, due: Due) -> Result<(), CommandError> {
        self.command(Command::Reschedule(id, due)).await.map(drop)
    }

    /// Has a failed job tried again from the start: attempts 0, due now.
    pub async fn retry(&self, id: JobId) -> Result<(), CommandError> {
        self.command(Command::Retry(id)).await?;
        self.core.events.publish(|| Event::Retried { job: id });
        Ok(())
    }

    /// Has failed jobs tried again, in bounded batches.
    ///
    /// Repeatable: what was brought back is no longer failed, so a second call finds only what is left.
    pub async fn redrive(&self, redrive: Redrive) -> Result<Redriven, CommandError> {
        let mut total = Redriven::default();
        let mut left = redrive.limit;
        while left > 0 {
            let limit = redrive.batch.clamp(1, left);
            let command = Command::Redrive { filter: redrive.filter.clone(), limit };
            let CommandReply::Redriven(batch) = self.command(command).await? else { break };
            for job in &batch.retried {
                self.core.events.publish(|| Event::Retried { job: *job });
            }
            let moved = u32::try_from(batch.retried.len()).unwrap_or(u32::MAX);
            left = left.saturating_sub(moved);
            total.retried.extend(batch.retried);
            // Jobs whose key is taken stay failed and are found again by every batch.
            total.key_taken = batch.key_taken;
            if moved < limit || left == 0 {
                break;
            }
            if !redrive.pace.is_zero() {
                self.core.clock.sleep(redrive.pace).await;
            }
        }
        Ok(total)
    }

    pub(super) async fn command(&self, command: Command) -> Result<CommandReply, CommandError> {
        crash_point(CrashPoint::CommandBefore);
        let reply = self.core.store.command(command).await?;
        crash_point(CrashPoint::CommandAnswered);
        match &reply {
            CommandReply::Rippled { ripples, .. } | CommandReply::GroupCanceled(ripples) => {
                ripples.groups.iter().for_each(|group| self.core.events.ordered(group.id));
                publish_ripples(&self.core, ripples);
            }
            _ => {}
        }
        Ok(reply)
    }
}

/// Which failed jobs to try again, and how carefully.
#[derive(Debug, Clone)]
#[must_use = "nothing is re-driven until this is given to `redrive`"]
pub struct Redrive {
    filter: Filter,
    limit: u32,
    batch: u32,
    pace: Duration,
}

impl Redrive {
    /// Failed jobs that fit a filter: at most 1000, a hundred at a time, a tenth of a second apart.
    pub fn new(filter: Filter) -> Self {
        Self { filter, limit: 1000, batch: 100, pace: Duration::from_millis(100) }
    }

    /// How many in all at most.
    pub fn limit(mut self, limit: u32) -> Self {
        self.limit = limit;
        self
    }

    /// How many in one commit.
    pub fn batch(mut self, batch: u32) -> Self {
        self.batch = batch;
        self
    }

    /// How long to wait between commits.
    pub fn pace(mut self, pace: Duration) -> Self {
        self.pace = pace;
        self
    }
}
