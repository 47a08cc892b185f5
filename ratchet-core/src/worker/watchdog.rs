//! Detects that every handler thread is blocked. Claiming must stop then, because claimed jobs could not start.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::shared::Shared;

/// Sends a probe task to the handlers' runtime. It sets the returned flag when it runs.
fn send(shared: &Shared) -> Arc<AtomicBool> {
    let back = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&back);
    shared.spawn.handler(Box::pin(async move { flag.store(true, Ordering::Release) }));
    back
}

/// Sends probes to the handlers' runtime until the worker has stopped. A probe that does not run means that no thread
/// is free.
pub(super) async fn run_watchdog(shared: Arc<Shared>) {
    let clock = &shared.core.clock;
    let stall_after = shared.core.config.stall_after;
    let pause = (stall_after / 5).clamp(Duration::from_millis(10), Duration::from_secs(1));
    let mut probe: Option<(Arc<AtomicBool>, Duration)> = None;
    loop {
        let now = clock.monotonic();
        match &probe {
            Some((back, _)) if back.load(Ordering::Acquire) => {
                if shared.stalled.swap(false, Ordering::Relaxed) {
                    tracing::info!("a handler thread is free again; claiming continues");
                }
                probe = None;
            }
            Some((_, sent)) if now.saturating_sub(*sent) >= stall_after => {
                if !shared.stalled.swap(true, Ordering::Relaxed) {
                    tracing::error!(
                        "no handler thread has been free for {stall_after:?}: handlers block their threads; claiming stops"
                    );
                }
            }
            Some(_) => {}
            None => probe = Some((send(&shared), now)),
        }
        // The runtime dropped the probe without running it. Send another, because it may accept tasks again.
        if let Some((back, _)) = &mut probe
            && Arc::strong_count(back) == 1
            && !back.load(Ordering::Acquire)
        {
            *back = send(&shared);
        }
        tokio::select! {
            biased;
            () = shared.over.cancelled() => return,
            () = clock.sleep(pause) => {}
        }
    }
}
