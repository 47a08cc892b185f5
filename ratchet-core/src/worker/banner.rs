//! The log lines about the start and the end of a worker.

use super::shared::Shared;
use super::status::stats;
use crate::job::Registration;

impl Shared {
    /// Logs what this worker does and with which settings.
    pub(super) fn log_start(&self, jobs: &[Registration]) {
        let core = &self.core;
        let mut jobs: Vec<_> = jobs.iter().map(|job| job.def.name).collect();
        jobs.sort_unstable();
        tracing::info!(
            node = %self.node(),
            program = core.config.program,
            version = core.policies.binary_version,
            ratchet = env!("CARGO_PKG_VERSION"),
            store = type_of(&format!("{:?}", core.store)),
            queues = ?self.queues,
            concurrency = core.config.concurrency,
            ?jobs,
            "a worker has started"
        );
    }

    /// Logs what this worker has done. `released_before` is the number of jobs that had been returned to their queue
    /// before the worker was stopped.
    pub(super) fn log_stop(&self, released_before: u64) {
        let stats = stats(self);
        let released = stats.released.saturating_sub(released_before);
        if released > 0 {
            tracing::warn!(
                released,
                grace = ?self.core.config.shutdown_grace,
                "jobs were returned to their queues at shutdown because they had not finished within the grace period"
            );
        }
        tracing::info!(
            node = %self.node(),
            succeeded = stats.succeeded,
            retried = stats.retried,
            failed = stats.failed,
            deferred = stats.deferred,
            released = stats.released,
            running = stats.running,
            "a worker has stopped"
        );
    }
}

/// Returns the name of a type from the debug representation of its value. The rest is left out, because it may contain
/// the address of a database.
fn type_of(debug: &str) -> &str {
    let end = debug.find(|c: char| !c.is_alphanumeric() && c != '_');
    &debug[..end.unwrap_or(debug.len())]
}

#[cfg(test)]
mod tests {
    use super::type_of;

    #[test]
    fn the_name_of_a_store_contains_no_settings() {
        assert_eq!(type_of("PgStore { url: \"postgres://user:secret@host\" }"), "PgStore");
        assert_eq!(type_of("MemoryStore"), "MemoryStore");
        assert_eq!(type_of("Wrapper(PgStore)"), "Wrapper");
        assert_eq!(type_of(""), "");
    }
}
