//! Runs one attempt in the test's own task, moving the virtual clock where the handler only waits for it.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use crate::client::Core;
use crate::context::JobContext;
use crate::model::Claimed;
use crate::seam::{Clock as _, CurrentRuntime, VirtualClock};
use crate::worker::{AttemptResult, StopCause, attempt};

/// The same road as in a worker. A handler that sleeps by the clock of its context does not really wait; one that takes
/// longer than its timeout by that clock is timed out; one that waits for the outside world is waited for.
pub(super) async fn drive(core: &Arc<Core>, job: &Arc<Claimed>, clock: &VirtualClock) -> AttemptResult {
    let ctx = JobContext::new(Arc::clone(core), Arc::clone(job), Arc::default());
    let deadline = clock.monotonic().saturating_add(job.spec.options.timeout);
    let mut run = pin!(attempt(core, &ctx, &CurrentRuntime, &()));
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
            // Nobody sleeps by the clock: the handler waits for something real.
            let Some(pause) = clock.next_wake() else { return Poll::Pending };
            clock.advance(pause.min(deadline.saturating_sub(now)).max(Duration::from_nanos(1)));
        }
    })
    .await
}
