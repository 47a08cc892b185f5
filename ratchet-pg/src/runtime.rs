//! The store runtime: the thread on which the store talks to the database.
//!
//! A connection belongs to the runtime it was opened on. The engine, the handlers and a web server each have their own
//! runtime, which may end at any time. The store has its own runtime so that its connections outlive theirs.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ratchet_store::{StoreError, StoreErrorKind};
use tokio::runtime::{Builder, Handle, Runtime};

#[derive(Debug)]
pub(crate) struct StoreRuntime {
    runtime: Option<Runtime>,
    handle: Handle,
    longest: Duration,
    suspects: Arc<AtomicU32>,
}

impl StoreRuntime {
    /// Starts the runtime. Tasks given to [`run`](Self::run) fail after `longest`, because a server can vanish without
    /// closing its connections.
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
        let (handle, suspects) = (runtime.handle().clone(), Arc::default());
        Ok(Self { runtime: Some(runtime), handle, longest, suspects })
    }

    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.handle.spawn(task);
    }

    pub(crate) fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Returns how many of the next returned connections may be dead. Raised when an operation times out.
    pub(crate) fn suspect_connections(&self) -> Arc<AtomicU32> {
        Arc::clone(&self.suspects)
    }

    /// Runs a task on the store runtime and waits for it, with a time limit.
    pub(crate) async fn run<T, E>(
        &self,
        task: impl Future<Output = Result<T, E>> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let (longest, suspects) = (self.longest, self.suspect_connections());
        self.run_to_its_end(async move { in_time(longest, &suspects, task).await }).await
    }

    /// Runs a task on the store runtime and waits for it without a time limit.
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

impl Drop for StoreRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// The number of returned connections to check after a timeout: more than were in use.
const SUSPECT_CONNECTIONS: u32 = 64;

/// Runs a task with a time limit. After a timeout, the next returned connections are checked.
pub(crate) async fn in_time<T, E: From<StoreError>>(
    longest: Duration,
    suspects: &AtomicU32,
    task: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    match tokio::time::timeout(longest, task).await {
        Ok(answer) => answer,
        Err(_) => {
            suspects.store(SUSPECT_CONNECTIONS, Ordering::Relaxed);
            let why = format!("the server did not answer within {longest:?}");
            Err(StoreError::new(StoreErrorKind::Unavailable, why).into())
        }
    }
}
