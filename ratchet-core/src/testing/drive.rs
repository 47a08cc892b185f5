//! Runs one attempt in the test's own task, and advances the virtual clock while the handler only waits for it.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use crate::job::JobContext;
use crate::job::StopCause;
use crate::runtime::Core;
use crate::runtime::SingleRuntime;
use crate::worker::{AttemptResult, attempt};
use ratchet_store::env::{Clock as _, VirtualClock};
use ratchet_store::model::Claimed;

/// Runs an attempt on the same code path as a worker.
///
/// Sleeping by the context's clock takes no real time. A handler that exceeds its timeout by that clock times out.
/// Waiting for anything else takes as long as it takes.
pub(super) async fn drive(
    core: &Arc<Core>,
    job: &Arc<Claimed>,
    clock: &VirtualClock,
) -> AttemptResult {
    let ctx = JobContext::new(Arc::new(Arc::clone(core)), Arc::clone(job), Arc::default());
    let deadline = clock.monotonic().saturating_add(job.spec.options.timeout);
    let mut run = pin!(attempt(core, &ctx, &SingleRuntime, &()));
    std::future::poll_fn(|cx| {
        loop {
            if let Poll::Ready(ended) = run.as_mut().poll(cx) {
                return Poll::Ready(ended);
            }
            let now = clock.monotonic();
            if now >= deadline {
                if ctx.stop_signal().cause().is_some() {
                    return Poll::Pending;
                }
                ctx.stop_signal().abort(StopCause::Timeout);
                continue;
            }
            // No timer is pending: the handler waits for something outside the clock.
            let Some(pause) = clock.next_wake() else { return Poll::Pending };
            clock.advance(pause.min(deadline.saturating_sub(now)).max(Duration::from_nanos(1)));
        }
    })
    .await
}
