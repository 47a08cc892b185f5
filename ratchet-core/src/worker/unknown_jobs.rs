//! Reports waiting jobs that no live worker knows, for example because a function was renamed without an `alias`.

use std::time::Duration;

use super::shared::Shared;
use ratchet_store::StoreError;
use ratchet_store::model::UnknownJob;

/// The interval between warnings. The first one comes when the node has started to lead maintenance.
const EVERY: Duration = Duration::from_hours(1);

/// When the jobs were last read and logged, by the monotonic clock.
#[derive(Debug, Default)]
pub(super) struct UnknownJobs {
    read: Option<Duration>,
    logged: Option<Duration>,
}

impl UnknownJobs {
    /// Reads the jobs for the details of readiness: at the start, every hour, and every time while there are any. Of all
    /// nodes, only the leader logs them, at most once per hour.
    pub(super) async fn report(&mut self, shared: &Shared, leads: bool) -> Result<(), StoreError> {
        let core = &shared.core;
        let now = core.clock.monotonic();
        let due = |last: Option<Duration>| last.is_none_or(|at| now.saturating_sub(at) >= EVERY);
        let log = leads && due(self.logged);
        if !log && !due(self.read) && shared.unknown_jobs().is_empty() {
            return Ok(());
        }
        let unknown = core.store.unknown_jobs().await?;
        let at = core.store.now().await?;
        for UnknownJob { name, waiting, oldest, .. } in unknown.iter().filter(|_| log) {
            let oldest = Duration::try_from(at.duration_since(*oldest)).unwrap_or_default();
            tracing::warn!(job = %name, waiting, ?oldest, "jobs are waiting whose name or version no live worker knows; if the function was renamed, add `alias = \"{name}\"` to its `#[job]`");
        }
        let details = unknown.iter().map(|unknown| detail(unknown, at)).collect();
        shared.set_unknown_jobs(details);
        self.read = Some(now);
        if log {
            self.logged = Some(now);
        }
        Ok(())
    }
}

fn detail(unknown: &UnknownJob, now: jiff::Timestamp) -> String {
    let UnknownJob { name, waiting, oldest, .. } = unknown;
    let age = now.duration_since(*oldest).as_secs().max(0);
    format!("no live worker knows `{name}`: {waiting} waiting, the oldest for {age}s")
}
