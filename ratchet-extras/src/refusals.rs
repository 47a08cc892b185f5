//! [`Refusals`]: counts what a policy has refused.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of refused jobs of one policy, by reason. Clones share the counts.
///
/// A refused job fails as `invalid` before any work is done, is not retried, and is logged as a warning. The reason is
/// also the code of the failure.
///
/// ```
/// # #[cfg(feature = "command")] {
/// use ratchet_extras::command::Commands;
///
/// let commands = Commands::builder().build()?;
/// let refusals = commands.refusals();
/// // … `.state(commands)` on the builder of the runtime …
/// assert_eq!(refusals.total(), 0);
/// assert_eq!(refusals.count("unknown_command"), 0);
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Refusals {
    counts: Arc<Mutex<BTreeMap<&'static str, u64>>>,
}

impl Refusals {
    /// Returns the number of all refusals.
    pub fn total(&self) -> u64 {
        self.counts().values().sum()
    }

    /// Returns the number of refusals for this reason.
    pub fn count(&self, reason: &str) -> u64 {
        self.counts().get(reason).copied().unwrap_or_default()
    }

    /// Returns the number of refusals for each reason that has occurred.
    pub fn by_reason(&self) -> BTreeMap<&'static str, u64> {
        self.counts().clone()
    }

    fn counts(&self) -> MutexGuard<'_, BTreeMap<&'static str, u64>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a job is refused.
#[cfg(any(feature = "command", feature = "event", feature = "http", feature = "shell"))]
pub(crate) trait Refusal: std::error::Error + Send + Sync + 'static {
    /// Returns the name under which the refusal is counted.
    fn reason(&self) -> &'static str;
}

#[cfg(any(feature = "command", feature = "event", feature = "http", feature = "shell"))]
impl Refusals {
    /// Counts and logs a refusal, and returns the error with which the handler must end.
    pub(crate) fn refuse(
        &self,
        ctx: &ratchet_core::JobContext,
        refusal: impl Refusal,
    ) -> ratchet_core::JobError {
        let reason = refusal.reason();
        *self.counts().entry(reason).or_default() += 1;
        tracing::warn!(
            job.id = %ctx.job_id(),
            job.name = %ctx.job_name(),
            reason,
            error = %refusal,
            "the job is refused"
        );
        ratchet_core::JobError::from(ratchet_core::invalid(refusal)).with_code(reason)
    }
}
