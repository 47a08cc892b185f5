//! Renews the lease of the node. A node that cannot renew its lease fences itself: it stops claiming and returns its
//! jobs.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::lease_timer::LeaseTimer;
use super::mailbox::Message;
use super::shared::Shared;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{Heartbeat, NodeAction, NodeRequest};
use ratchet_store::{StoreError, StoreErrorKind};

/// Renews the node's lease until the worker has stopped. The first lease began when the node sent its request to join, at `joined`
/// by the monotonic clock: a start that takes long has used a part of it.
pub(super) async fn run_heartbeat(shared: Arc<Shared>, joined: Duration) {
    let config = &shared.core.config;
    let clock = &shared.core.clock;
    let mut timer = LeaseTimer::new(config, joined);
    shared.record_renewal(joined);
    loop {
        tokio::select! {
            biased;
            () = shared.over.cancelled() => return,
            () = clock.sleep(timer.pause(clock.monotonic())) => {}
        }
        let sent = clock.monotonic();
        fence_if_due(&shared, &timer, sent);
        let renewal = shared.core.store.heartbeat(shared.node(), config.lease);
        match in_time(&shared, timer.timeout(sent), renewal).await {
            Ok(Heartbeat::Renewed { canceled, request }) => {
                crash_point(CrashPoint::NodeRenewed);
                timer.renewed(sent);
                shared.record_renewal(sent);
                canceled.into_iter().for_each(|token| shared.send(Message::Cancel(token)));
                unfence(&shared);
                follow(&shared, request);
            }
            // A stopping worker does not join again under a new id.
            Ok(Heartbeat::Lost) if shared.stopping.is_cancelled() => shared.send(Message::Fence),
            Ok(Heartbeat::Lost) => {
                tracing::error!(node = %shared.node(), "the lease of this node has expired; it returns its jobs and joins again under a new id");
                shared.send(Message::Fence);
                shared.rename();
                let join = shared.core.store.join(shared.info(), config.lease);
                if in_time(&shared, config.heartbeat, join).await.is_ok() {
                    timer.renewed(sent);
                    shared.record_renewal(sent);
                    shared.send(Message::Unfence);
                } else {
                    timer.failed();
                }
            }
            Err(error) => {
                timer.failed();
                shared.core.meter.store_error("heartbeat", &error);
                let now = clock.monotonic();
                tracing::warn!(%error, age = ?timer.age(now), "a heartbeat failed");
                fence_if_due(&shared, &timer, now);
            }
        }
    }
}

/// Fences the node if its lease is about to expire.
fn fence_if_due(shared: &Shared, timer: &LeaseTimer, now: Duration) {
    if timer.must_fence(now) && !shared.fenced.load(Ordering::Relaxed) {
        let age = timer.age(now);
        tracing::error!(node = %shared.node(), ?age, "this node cannot renew its lease; it stops claiming and returns its jobs");
        shared.send(Message::Fence);
    }
}

/// Lifts the fence, if there is one, after a renewal.
fn unfence(shared: &Shared) {
    if shared.fenced.load(Ordering::Relaxed) {
        shared.send(Message::Unfence);
    }
}

/// Does what an operator requests of the node.
fn follow(shared: &Shared, request: Option<NodeRequest>) {
    let before = shared.set_request(request.clone());
    if before == request {
        return;
    }
    let node = shared.node();
    match request {
        None => {
            tracing::info!(%node, "an operator has resumed this node; it claims jobs again");
            shared.send(Message::Resume);
        }
        Some(request) if request.action == NodeAction::Quiet => {
            tracing::info!(%node, by = %request, "an operator has made this node quiet; it claims no jobs, and its running jobs continue");
            shared.send(Message::Quiet);
        }
        Some(request) => {
            tracing::info!(%node, by = %request, "an operator has requested that this node stops");
            if !shared.stopping.is_cancelled() {
                // Only the first cause is kept.
                let _ = shared.stop_request.set(request);
            }
            shared.send(Message::Stop);
        }
    }
}

/// Turns a call that takes longer than `limit` into an error.
async fn in_time<T>(
    shared: &Shared,
    limit: Duration,
    call: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    tokio::select! {
        biased;
        answer = call => answer,
        () = shared.core.clock.sleep(limit) => {
            Err(StoreError::new(StoreErrorKind::Unavailable, "the store did not answer in time"))
        }
    }
}
