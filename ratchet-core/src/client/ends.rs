//! Waiting for jobs to end: by notification where the store sends one, by polling otherwise.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use crate::runtime::Core;
use ratchet_store::Wake;
use ratchet_store::env::Clock;
use ratchet_store::model::JobId;

/// A subscription to the ends of jobs. Create it before the first read of the job, so that no end is missed in between.
#[derive(Debug)]
pub(super) struct Ends {
    heard: Receiver<Wake>,
    clock: Arc<dyn Clock>,
    pause: Duration,
}

impl Ends {
    const FIRST_PAUSE: Duration = Duration::from_millis(20);
    const LONGEST_PAUSE: Duration = Duration::from_secs(1);

    pub(super) fn of(core: &Core) -> Self {
        let (heard, clock) = (core.store.subscribe_completions(), Arc::clone(&core.clock));
        Self { heard, clock, pause: Self::FIRST_PAUSE }
    }

    /// Waits until `many` jobs selected by `these` have ended, a notification was missed, or the polling interval has
    /// passed.
    pub(super) async fn next(&mut self, mut many: u64, these: impl Fn(JobId) -> bool) {
        let poll = self.clock.sleep(self.pause);
        let heard = async {
            while many > 0 {
                match self.heard.recv().await {
                    Ok(Wake::Finished(id)) if these(id) => many -= 1,
                    Ok(_) => {}
                    Err(RecvError::Lagged(_)) => return,
                    Err(RecvError::Closed) => std::future::pending().await,
                }
            }
        };
        tokio::select! {
            biased;
            () = heard => {}
            () = poll => self.pause = (self.pause * 2).min(Self::LONGEST_PAUSE),
        }
    }
}
