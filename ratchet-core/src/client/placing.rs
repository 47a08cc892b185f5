//! Moves jobs to another queue or priority.

use ratchet_store::model::limits::{self, Field};
use ratchet_store::model::{Command, CommandError, Filter, JobId, Placement};

use super::Jobs;
use crate::runtime::Core;

impl Jobs {
    /// Moves a pending or paused job to another queue, changes its priority, or both. Returns `false` if the job is there
    /// already.
    ///
    /// Queue and priority are not signed, so a signed job remains valid. The job keeps its due time, its attempts and its
    /// keys.
    ///
    /// ```
    /// # use ratchet_core::{JobId, Placement, Priority, Ratchet};
    /// # use ratchet_store::model::CommandError;
    /// # async fn express(ratchet: Ratchet, job: JobId) -> Result<(), CommandError> {
    /// let express = Placement::default().queue("express").priority(Priority::High);
    /// ratchet.jobs().move_to(job, express).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`CommandError::NotAllowed`] if the job is not on the allow-list of the queue.
    pub async fn move_to(&self, id: JobId, placement: Placement) -> Result<bool, CommandError> {
        if let Some(queue) = &placement.queue {
            let job = self.core.store.get(id).await?.ok_or(CommandError::NotFound(id))?;
            let (job, name) = (format!("job {id}"), job.spec.name.clone());
            self.core.check_queue(queue, job, Some(&name))?;
        }
        let reply = self.command("jobs.move", Command::Move(id, placement)).await?;
        Ok(reply.states().is_some())
    }
}

impl Core {
    /// Checks that jobs can be moved to a queue. Without a name, the queue must not have an allow-list.
    fn check_queue(
        &self,
        queue: &str,
        job: String,
        name: Option<&str>,
    ) -> Result<(), CommandError> {
        limits::check(Field::Queue, queue).map_err(CommandError::BadQueue)?;
        let allowed = match name {
            Some(name) => self.config.allows(queue, name),
            None => !self.config.restricts(queue),
        };
        if allowed {
            return Ok(());
        }
        let (name, queue) = (name.unwrap_or("any job").to_owned(), queue.to_owned());
        Err(CommandError::NotAllowed { job, name, queue })
    }

    /// Checks that the jobs that a filter selects can be moved. A move to a queue with an allow-list must select jobs by
    /// names on that list.
    pub(super) fn check_bulk_move(
        &self,
        placement: &Placement,
        filter: &Filter,
    ) -> Result<(), CommandError> {
        match &placement.queue {
            Some(queue) if filter.names.is_empty() => {
                self.check_queue(queue, "these jobs".to_owned(), None)
            }
            Some(queue) => filter
                .names
                .iter()
                .try_for_each(|name| self.check_queue(queue, "these jobs".to_owned(), Some(name))),
            None => Ok(()),
        }
    }
}
