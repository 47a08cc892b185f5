//! Commands on jobs: pause, resume, cancel, reschedule, retry and redrive.

use std::time::Duration;

use super::acting::{Manner, command_error, command_reply, store_error};
use super::{Jobs, publish_effects};
use crate::events::Event;
use crate::runtime::Core;
use ratchet_store::StoreError;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{
    CancelCause, Change, Command, CommandError, CommandReply, Due, Filter, JobId, JobState,
    Redriven,
};

impl Jobs {
    /// Pauses a pending or failed job. Pausing a paused job changes nothing.
    pub async fn pause(&self, id: JobId) -> Result<(), CommandError> {
        if self.command("jobs.pause", Command::Pause(id)).await?.states().is_some() {
            self.core.events.publish(|| Event::Paused { job: id });
        }
        Ok(())
    }

    /// Returns a paused job to the state it was paused in.
    pub async fn resume(&self, id: JobId) -> Result<(), CommandError> {
        self.command("jobs.resume", Command::Resume(id)).await?;
        self.core.events.publish(|| Event::Resumed { job: id });
        Ok(())
    }

    /// Cancels a job. Returns `false` if it had already ended.
    ///
    /// A running job is canceled in the store immediately. Its handler is notified, and its future is dropped after a
    /// grace period.
    ///
    /// ```
    /// # async fn demo(ratchet: ratchet_core::Ratchet, id: ratchet_core::JobId) -> Result<(), Box<dyn std::error::Error>> {
    /// if !ratchet.jobs().cancel(id).await? {
    ///     println!("job {id} has already ended");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn cancel(&self, id: JobId) -> Result<bool, CommandError> {
        let cause = CancelCause::Requested;
        let reply = self.command("jobs.cancel", Command::Cancel(id, cause)).await?;
        let canceled = matches!(reply.states(), Some((_, JobState::Canceled)));
        if canceled {
            self.core.meter.canceled(cause);
            self.core.events.publish(|| Event::Canceled { job: id, cause });
        }
        Ok(canceled)
    }

    /// Changes the due time of a pending job.
    ///
    /// ```
    /// # mod ratchet { pub use ratchet_core::*; }
    /// # async fn demo(ratchet: ratchet_core::Ratchet, id: ratchet_core::JobId) -> Result<(), Box<dyn std::error::Error>> {
    /// use std::time::Duration;
    /// use ratchet::Due;
    ///
    /// ratchet.jobs().reschedule(id, Due::In(Duration::from_secs(3600))).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn reschedule(&self, id: JobId, due: Due) -> Result<(), CommandError> {
        self.command("jobs.reschedule", Command::Reschedule(id, due)).await.map(drop)
    }

    /// Retries a failed job from the start: its attempts are reset to 0 and it is due immediately.
    pub async fn retry(&self, id: JobId) -> Result<(), CommandError> {
        self.command("jobs.retry", Command::Retry(id)).await?;
        self.core.events.publish(|| Event::Retried { job: id });
        Ok(())
    }

    /// Restores a job that was set aside as unreadable, if its row can be read now. Returns whether it was restored.
    pub async fn repair_unreadable(&self, id: JobId) -> Result<bool, StoreError> {
        if !self.manner.is_special() {
            return self.core.store.repair_unreadable(id).await;
        }
        let change = Change::RepairUnreadable(id);
        let reply = self.core.operate(&self.manner, "unreadable.repair", change).await;
        Ok(reply.map_err(store_error)?.is_change())
    }

    /// Deletes a job that was set aside as unreadable, with its history and keys. Returns whether there was one. Its
    /// graph continues as if the job had been canceled.
    pub async fn drop_unreadable(&self, id: JobId) -> Result<bool, StoreError> {
        if !self.manner.is_special() {
            return self.core.store.drop_unreadable(id).await;
        }
        let change = Change::DropUnreadable(id);
        let reply = self.core.operate(&self.manner, "unreadable.drop", change).await;
        Ok(reply.map_err(store_error)?.is_change())
    }

    /// Retries failed jobs in bounded batches.
    ///
    /// The call can be repeated: retried jobs are no longer failed, so a second call finds only the remaining ones.
    pub async fn redrive(&self, redrive: Redrive) -> Result<Redriven, CommandError> {
        let mut total = Redriven::default();
        let mut left = redrive.limit;
        while left > 0 {
            let limit = redrive.batch.clamp(1, left);
            let command = Command::Redrive { filter: redrive.filter.clone(), limit };
            let CommandReply::Redriven(batch) = self.command("failures.redrive", command).await?
            else {
                break;
            };
            for job in &batch.retried {
                self.core.events.publish(|| Event::Retried { job: *job });
            }
            let moved = u32::try_from(batch.retried.len()).unwrap_or(u32::MAX);
            left = left.saturating_sub(moved);
            total.retried.extend(batch.retried);
            // Jobs whose key is taken stay failed and are found by every batch, so the counts are not added up.
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
}

impl Jobs {
    pub(super) async fn command(
        &self,
        verb: &'static str,
        command: Command,
    ) -> Result<CommandReply, CommandError> {
        self.core.command_in_manner(&self.manner, verb, command).await
    }
}

impl Core {
    /// Sends a command to the store, and publishes what it changed in graphs.
    pub(crate) async fn command(&self, command: Command) -> Result<CommandReply, CommandError> {
        crash_point(CrashPoint::CommandBefore);
        let reply = self.store.command(command).await;
        if let Err(CommandError::Store(error)) = &reply {
            self.meter.store_error("command", error);
        }
        let reply = reply?;
        crash_point(CrashPoint::CommandAnswered);
        self.publish_command(&reply);
        Ok(reply)
    }

    /// Like [`Self::command`], recorded and fenced as the handle demands.
    pub(crate) async fn command_in_manner(
        &self,
        manner: &Manner,
        verb: &'static str,
        command: Command,
    ) -> Result<CommandReply, CommandError> {
        if !manner.is_special() {
            return self.command(command).await;
        }
        let change = Change::Command { command, version: manner.version };
        let reply = self.operate(manner, verb, change).await.map_err(command_error)?;
        let reply = command_reply(reply)?;
        self.publish_command(&reply);
        Ok(reply)
    }

    pub(super) fn publish_command(&self, reply: &CommandReply) {
        if let CommandReply::MovedWithGraph { effects, .. } | CommandReply::GroupCanceled(effects) =
            reply
        {
            effects.groups.iter().for_each(|group| self.events.ordered(group.id));
            publish_effects(self, effects);
        }
    }
}

/// Which failed jobs to retry, and how fast; see [`Jobs::redrive`].
///
/// ```
/// # mod ratchet { pub use ratchet_core::*; pub use ratchet_core as manage; }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let ratchet = ratchet_core::Ratchet::builder(ratchet_memory::MemoryStore::new()).build().await?;
/// use std::time::Duration;
/// use ratchet::Filter;
/// use ratchet::manage::Redrive;
///
/// let payments = Redrive::new(Filter::any().queue("payments")).limit(500).batch(50).pace(Duration::from_secs(1));
/// let redriven = ratchet.jobs().redrive(payments).await?;
/// println!("{} jobs are tried again", redriven.retried.len());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is re-driven until this is given to `redrive`"]
pub struct Redrive {
    filter: Filter,
    limit: u32,
    batch: u32,
    pace: Duration,
}

impl Redrive {
    /// Selects failed jobs that match a filter. By default at most 1000 jobs, in batches of 100, with 100 ms between
    /// them.
    pub fn new(filter: Filter) -> Self {
        Self { filter, limit: 1000, batch: 100, pace: Duration::from_millis(100) }
    }

    /// Sets how many jobs are retried in total at most.
    pub fn limit(mut self, limit: u32) -> Self {
        self.limit = limit;
        self
    }

    /// Sets how many jobs are retried in one commit.
    pub fn batch(mut self, batch: u32) -> Self {
        self.batch = batch;
        self
    }

    /// Sets the wait between commits.
    pub fn pace(mut self, pace: Duration) -> Self {
        self.pace = pace;
        self
    }
}
