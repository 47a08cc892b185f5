//! The thread on which everything of this store talks to the database.
//!
//! A connection belongs to the runtime it was opened on. The engine, the user's handlers and a web server each have
//! their own, which come and go; the store has one too, so that its connections outlive all of them.

use std::future::Future;

use ratchet_core::store::{StoreError, StoreErrorKind};
use tokio::runtime::{Builder, Handle, Runtime};

#[derive(Debug)]
pub(crate) struct Home {
    runtime: Option<Runtime>,
    handle: Handle,
}

impl Home {
    pub(crate) fn new() -> Result<Self, StoreError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("ratchet-pg")
            .enable_all()
            .build()
            .map_err(|error| {
                StoreError::new(StoreErrorKind::Config, "the store cannot start its thread")
                    .with_source(error)
            })?;
        Ok(Self { handle: runtime.handle().clone(), runtime: Some(runtime) })
    }

    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.handle.spawn(task);
    }

    /// Runs something there and waits for it.
    pub(crate) async fn run<T, E>(
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
