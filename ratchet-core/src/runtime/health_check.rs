//! The health checks of the application.

use std::collections::BTreeSet;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use super::SinkError;

pub(crate) type Checking = Pin<Box<dyn Future<Output = Result<(), SinkError>> + Send>>;

/// A health check of the application.
#[derive(Clone)]
pub(crate) struct HealthCheck {
    pub(crate) name: String,
    /// The queues it guards. Empty means all queues.
    queues: BTreeSet<String>,
    pub(crate) run: Arc<dyn Fn() -> Checking + Send + Sync>,
}

impl HealthCheck {
    pub(crate) fn new<F, E>(
        name: String,
        queues: BTreeSet<String>,
        check: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<SinkError>,
    {
        let run = move || -> Checking {
            let checking = check();
            Box::pin(async move { checking.await.map_err(Into::into) })
        };
        Self { name, queues, run: Arc::new(run) }
    }

    pub(crate) fn guards(&self, queue: &str) -> bool {
        self.queues.is_empty() || self.queues.contains(queue)
    }
}

impl fmt::Debug for HealthCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HealthCheck")
            .field("name", &self.name)
            .field("queues", &self.queues)
            .finish_non_exhaustive()
    }
}
