//! Cancels jobs that have expired before they were started.

use crate::events::Event;
use crate::runtime::Core;
use ratchet_store::StoreError;
use ratchet_store::model::{CancelCause, Command, CommandError, Filter, JobState, PageRequest};

/// Cancels the jobs that have expired, oldest first. Any node may do this: the store cancels a job only if it has not
/// been started or canceled meanwhile.
pub(crate) async fn cancel_expired(core: &Core) -> Result<(), StoreError> {
    /// A sweep must end, so that orphans are rescued in time. The next one continues.
    const MOST_PAGES: usize = 20;
    let filter = Filter::any().expires_by(core.store.now().await?).oldest_first();
    let mut page = PageRequest { before: None, limit: 100 };
    for _ in 0..MOST_PAGES {
        let expired = core.store.list(&filter, page).await?;
        for job in expired.jobs {
            let (id, cause) = (job.id, CancelCause::Expired);
            match core.command(Command::Cancel(id, cause)).await {
                Ok(reply) if matches!(reply.states(), Some((_, JobState::Canceled))) => {
                    tracing::info!(job.id = %id, job.name = %job.spec.name, "a job has expired");
                    core.events.publish(|| Event::Canceled { job: id, cause });
                }
                // It was started or canceled, or no longer exists.
                Ok(_) | Err(CommandError::NotFound(_)) => {}
                Err(CommandError::Store(error)) => return Err(error),
                Err(error) => {
                    tracing::warn!(job.id = %id, %error, "an expired job is not canceled");
                }
            }
        }
        page.before = expired.next;
        if page.before.is_none() {
            break;
        }
    }
    Ok(())
}
