//! [`StopSignal`]: requests a run to stop, then aborts it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering, fence};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Why a run is being stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopCause {
    /// The run exceeded its timeout.
    Timeout,
    /// The job was canceled.
    Canceled,
    /// The worker is stopping or may lose its lease. The job is returned to the queue.
    Released,
}

/// The stop signal of one run. It is embedded in the run's context, so that a run that is never stopped allocates
/// nothing for it.
#[derive(Debug, Default)]
pub(crate) struct StopSignal {
    /// Code of the first cause; 0 if the run is not being stopped.
    cause: AtomicU8,
    /// The token for the handler, created on first use.
    canceled: OnceLock<CancellationToken>,
    aborted: AtomicBool,
    abort: Notify,
}

impl StopSignal {
    /// Requests the handler to stop. Only the first cause is kept.
    pub(crate) fn request(&self, cause: StopCause) {
        let code = match cause {
            StopCause::Timeout => 1,
            StopCause::Canceled => 2,
            StopCause::Released => 3,
        };
        let _ = self.cause.compare_exchange(0, code, Ordering::AcqRel, Ordering::Acquire);
        // Either this thread sees the token, or the thread that creates the token sees the cause.
        fence(Ordering::SeqCst);
        if let Some(token) = self.canceled.get() {
            token.cancel();
        }
    }

    /// Requests the handler to stop and has its future dropped.
    pub(crate) fn abort(&self, cause: StopCause) {
        self.request(cause);
        self.aborted.store(true, Ordering::SeqCst);
        self.abort.notify_waiters();
    }

    /// Returns the token that the handler watches.
    pub(crate) fn canceled(&self) -> &CancellationToken {
        let token = self.canceled.get_or_init(CancellationToken::new);
        fence(Ordering::SeqCst);
        if self.cause().is_some() {
            token.cancel();
        }
        token
    }

    /// Returns why the run is being stopped; `None` if it is not.
    pub(crate) fn cause(&self) -> Option<StopCause> {
        match self.cause.load(Ordering::Acquire) {
            1 => Some(StopCause::Timeout),
            2 => Some(StopCause::Canceled),
            3 => Some(StopCause::Released),
            _ => None,
        }
    }

    pub(crate) fn is_aborted(&self) -> bool {
        self.aborted.load(Ordering::SeqCst)
    }

    /// Waits until the handler's future must be dropped.
    pub(crate) async fn aborted(&self) {
        // Registers before the check, so that an abort between check and wait is not missed.
        let abort = self.abort.notified();
        if !self.is_aborted() {
            abort.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    // spec: L-03
    #[test]
    fn token_made_after_the_cause_was_given_has_fired() {
        let stop_signal = StopSignal::default();
        assert!(!stop_signal.canceled().is_cancelled());
        stop_signal.request(StopCause::Timeout);
        assert!(stop_signal.canceled().is_cancelled());
        let late = StopSignal::default();
        late.request(StopCause::Canceled);
        late.request(StopCause::Released);
        assert!(late.canceled().is_cancelled());
        assert_eq!(late.cause(), Some(StopCause::Canceled), "the first cause counts");
        assert!(!late.is_aborted());
    }

    #[tokio::test]
    async fn abort_is_heard_before_and_after_the_wait_began() {
        let stop_signal = Arc::new(StopSignal::default());
        let waiting = tokio::spawn({
            let stop_signal = Arc::clone(&stop_signal);
            async move { stop_signal.aborted().await }
        });
        tokio::task::yield_now().await;
        stop_signal.abort(StopCause::Released);
        waiting.await.expect("heard");
        stop_signal.aborted().await;
    }
}
