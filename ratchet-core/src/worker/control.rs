//! How the engine reaches into a run: ask it to stop, then make it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use tokio_util::sync::CancellationToken;

use crate::context::JobContext;

/// Why a run is being stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopCause {
    /// It took too long.
    Timeout,
    /// Its job was canceled.
    Canceled,
    /// Its worker stops or has lost its lease: the job goes back.
    Released,
}

/// The reins of one run.
#[derive(Debug, Default)]
pub(crate) struct RunControl {
    /// Asks the handler.
    pub(crate) canceled: CancellationToken,
    /// Drops the handler's future.
    pub(crate) abort: CancellationToken,
    /// The first cause given counts.
    cause: AtomicU8,
    /// The context, once the run has begun.
    context: OnceLock<JobContext>,
}

impl RunControl {
    /// Asks the handler to stop. The first cause counts.
    pub(crate) fn ask(&self, cause: StopCause) {
        let code = match cause {
            StopCause::Timeout => 1,
            StopCause::Canceled => 2,
            StopCause::Released => 3,
        };
        let _ = self.cause.compare_exchange(0, code, Ordering::AcqRel, Ordering::Acquire);
        self.canceled.cancel();
    }

    /// Drops the handler's future.
    pub(crate) fn abort(&self, cause: StopCause) {
        self.ask(cause);
        self.abort.cancel();
    }

    /// Why the run is being stopped, if it is.
    pub(crate) fn cause(&self) -> Option<StopCause> {
        match self.cause.load(Ordering::Acquire) {
            1 => Some(StopCause::Timeout),
            2 => Some(StopCause::Canceled),
            3 => Some(StopCause::Released),
            _ => None,
        }
    }

    pub(crate) fn set_context(&self, ctx: JobContext) {
        let _ = self.context.set(ctx);
    }

    pub(crate) fn context(&self) -> Option<&JobContext> {
        self.context.get()
    }
}
