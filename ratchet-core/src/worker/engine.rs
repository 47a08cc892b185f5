//! The parts of the engine, and the handling of a part that ends unexpectedly.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;

use super::claim_loop::ClaimLoop;
use super::health_checks::run_health_checks;
use super::heartbeat::run_heartbeat;
use super::maintenance::run_maintenance;
use super::shared::Shared;
use super::stopped::{EngineDied, EnginePart};
use super::watchdog::run_watchdog;
use crate::failure::PanicReport;
use crate::job::StopCause;
use crate::runtime::Task;

/// Runs every part of the engine as one task. When one part ends, all end. `joined` is when the node sent its request to
/// join, by the monotonic clock.
pub(super) fn engine(shared: &Arc<Shared>, joined: Duration) -> Task {
    let (claim_loop, shared) = (ClaimLoop::new(Arc::clone(shared)), Arc::clone(shared));
    // Created outside the task, because a runtime may drop the task before its first poll.
    let living = Living(Arc::clone(&shared));
    Box::pin(async move {
        let part = |part, run: Task| supervised(&shared, part, run);
        tokio::join!(
            part(EnginePart::ClaimLoop, Box::pin(claim_loop.run())),
            part(EnginePart::Heartbeat, Box::pin(run_heartbeat(Arc::clone(&shared), joined))),
            part(EnginePart::Maintenance, Box::pin(run_maintenance(Arc::clone(&shared)))),
            part(EnginePart::Watchdog, Box::pin(run_watchdog(Arc::clone(&shared)))),
            part(EnginePart::HealthChecks, Box::pin(run_health_checks(Arc::clone(&shared))))
        );
        drop(living);
    })
}

/// Runs a part. If it panics, or ends before the worker has stopped, the engine has died.
async fn supervised(shared: &Shared, part: EnginePart, run: Task) {
    match AssertUnwindSafe(run).catch_unwind().await {
        // The claim loop ends when the worker has stopped. The other parts end with it.
        Ok(()) if part == EnginePart::ClaimLoop && shared.stopping.is_cancelled() => {
            shared.over.cancel();
        }
        Ok(()) if shared.over.is_cancelled() => {}
        Ok(()) => shared.die(part, "ended unexpectedly".to_owned()),
        Err(payload) => {
            let PanicReport { message, location } = PanicReport::new(payload);
            let place = location.map(|place| format!(" at {place}")).unwrap_or_default();
            shared.die(part, format!("panicked{place}: {message}"));
        }
    }
}

/// Reports the death of the engine if its task is dropped before it has ended.
struct Living(Arc<Shared>);

impl Drop for Living {
    fn drop(&mut self) {
        if !self.0.over.is_cancelled() {
            self.0.die(EnginePart::Whole, "was dropped by its runtime".to_owned());
        }
    }
}

impl Shared {
    /// Records the death of the engine, completes all waits for its end, and aborts its runs, because their jobs will
    /// be rescued.
    fn die(&self, part: EnginePart, cause: String) {
        let died = EngineDied { part, cause };
        tracing::error!(node = %self.node(), part = %died.part, cause = %died.cause, "the engine of a worker has died; the worker claims no more jobs");
        // Only the first cause is kept. Parts that end later do so because of it.
        let _ = self.died.set(died);
        self.over.cancel();
        self.stopping.cancel();
        let mut runs: Vec<_> = self.runs().drain().collect();
        // Sorted, because the random order of a hash map would make simulations irreproducible.
        runs.sort_unstable_by_key(|(token, _)| *token);
        for (_, run) in runs {
            run.stop_signal().abort(StopCause::Released);
        }
    }
}
