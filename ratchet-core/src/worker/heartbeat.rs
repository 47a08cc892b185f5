//! Renews the lease of the node. A node that cannot renew its lease fences itself: it stops claiming and returns its
//! jobs.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::shared::{Message, Shared};
use crate::crash::{CrashPoint, crash_point};
use crate::model::Heartbeat;
use crate::store::{StoreError, StoreErrorKind};

/// Renews the node's lease until the worker has stopped.
///
/// The age of the lease is measured from when a renewal was *sent*, so that this node considers it expired before the
/// store does.
pub(super) async fn run_heartbeat(shared: Arc<Shared>) {
    let config = &shared.core.config;
    let clock = &shared.core.clock;
    let mut renewed = clock.monotonic();
    let mut pause = config.heartbeat;
    loop {
        tokio::select! {
            biased;
            () = shared.over.cancelled() => return,
            () = clock.sleep(pause) => {}
        }
        let sent = clock.monotonic();
        match in_time(&shared, shared.core.store.heartbeat(shared.node(), config.lease)).await {
            Ok(Heartbeat::Renewed { canceled }) => {
                crash_point(CrashPoint::NodeRenewed);
                renewed = sent;
                pause = config.heartbeat;
                canceled.into_iter().for_each(|token| shared.send(Message::Cancel(token)));
                unfence(&shared);
            }
            // A stopping worker does not join again under a new id.
            Ok(Heartbeat::Lost) if shared.stopping.is_cancelled() => shared.send(Message::Fence),
            Ok(Heartbeat::Lost) => {
                tracing::error!(node = %shared.node(), "the lease of this node ran out; what it ran is given back, and it joins anew");
                shared.send(Message::Fence);
                shared.rename();
                if in_time(&shared, shared.core.store.join(shared.info(), config.lease))
                    .await
                    .is_ok()
                {
                    renewed = sent;
                    pause = config.heartbeat;
                    shared.send(Message::Unfence);
                } else {
                    pause = retry_pause(config.heartbeat);
                }
            }
            Err(error) => {
                pause = retry_pause(config.heartbeat);
                let age = clock.monotonic().saturating_sub(renewed);
                // Fence before the lease expires in the store, because runs need time to end.
                if age.saturating_add(config.heartbeat / 2) >= config.lease
                    && !shared.fenced.load(Ordering::Relaxed)
                {
                    tracing::error!(%error, ?age, "this node cannot renew its lease; it stops claiming and gives back what it runs");
                    shared.send(Message::Fence);
                } else {
                    tracing::warn!(%error, ?age, "a heartbeat failed");
                }
            }
        }
    }
}

/// Lifts the fence, if there is one, after a renewal.
fn unfence(shared: &Shared) {
    if shared.fenced.load(Ordering::Relaxed) {
        shared.send(Message::Unfence);
    }
}

fn retry_pause(heartbeat: Duration) -> Duration {
    (heartbeat / 5).max(Duration::from_millis(10))
}

/// Turns a call that takes longer than a heartbeat interval into an error.
async fn in_time<T>(
    shared: &Shared,
    call: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    tokio::select! {
        biased;
        answer = call => answer,
        () = shared.core.clock.sleep(shared.core.config.heartbeat) => {
            Err(StoreError::new(StoreErrorKind::Unavailable, "the store did not answer in time"))
        }
    }
}
