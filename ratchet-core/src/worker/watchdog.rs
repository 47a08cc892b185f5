//! Notices when every handler thread is stuck: then claiming more would only bury more jobs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::shared::Shared;

/// Sends a probe; it is true when the probe has come through.
fn send(shared: &Shared) -> Arc<AtomicBool> {
    let back = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&back);
    shared.spawn.handler(Box::pin(async move { flag.store(true, Ordering::Release) }));
    back
}

/// Sends a probe through the handlers' runtime again and again. One that does not come back means that no thread is free.
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
                    tracing::info!("a handler thread is free again; claiming goes on");
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
        // A runtime that drops what it is given answers never: ask again, since it may take tasks by now.
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
