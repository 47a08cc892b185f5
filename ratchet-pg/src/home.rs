//! The thread on which everything of this store talks to the database.
//!
//! A connection belongs to the runtime it was opened on. The engine, the user's handlers and a web server each have
//! their own, which come and go; the store has one too, so that its connections outlive all of them.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ratchet_core::store::{StoreError, StoreErrorKind};
use tokio::runtime::{Builder, Handle, Runtime};

#[derive(Debug)]
pub(crate) struct Home {
    runtime: Option<Runtime>,
    handle: Handle,
    longest: Duration,
    doubt: Arc<AtomicU32>,
}

impl Home {
    /// Nothing that runs there takes longer than this: a server that is gone without a word would be waited for, for ever.
    pub(crate) fn new(longest: Duration) -> Result<Self, StoreError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("ratchet-pg")
            .enable_all()
            .build()
            .map_err(|error| {
                StoreError::new(StoreErrorKind::Config, "the store cannot start its thread")
                    .with_source(error)
            })?;
        let (handle, doubt) = (runtime.handle().clone(), Arc::default());
        Ok(Self { runtime: Some(runtime), handle, longest, doubt })
    }

    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.handle.spawn(task);
    }

    pub(crate) fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// How many connections that come back may be dead: raised when something took too long.
    pub(crate) fn doubt(&self) -> Arc<AtomicU32> {
        Arc::clone(&self.doubt)
    }

    /// Runs something there and waits for it, but not for ever.
    pub(crate) async fn run<T, E>(
        &self,
        task: impl Future<Output = Result<T, E>> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let (longest, doubt) = (self.longest, self.doubt());
        self.run_to_its_end(async move { in_time(longest, &doubt, task).await }).await
    }

    /// Runs something there and waits for it, however long it takes.
    pub(crate) async fn run_to_its_end<T, E>(
        &self,
        task: impl Future<Output = Result<T, E>> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        match self.handle.spawn(task).await {
            Ok(answer) => answer,
            Err(error) => {
                let why = "the store's thread has stopped";
                Err(StoreError::new(StoreErrorKind::Unavailable, why).with_source(error).into())
            }
        }
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// More connections than were in use when something took too long.
const DOUBTFUL: u32 = 64;

/// Waits for an answer, but not for ever. What is dropped on the way gives its connection back, and that is looked at.
pub(crate) async fn in_time<T, E: From<StoreError>>(
    longest: Duration,
    doubt: &AtomicU32,
    task: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    match tokio::time::timeout(longest, task).await {
        Ok(answer) => answer,
        Err(_) => {
            doubt.store(DOUBTFUL, Ordering::Relaxed);
            let why = format!("the server did not answer within {longest:?}");
            Err(StoreError::new(StoreErrorKind::Unavailable, why).into())
        }
    }
}
