//! [`Middleware`]: hooks around the runs of all jobs, or of the jobs of a queue.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use crate::failure::{HandlerError, JobError};
use crate::job::{JobContext, Output, RetryReport, RunReport};

/// Hooks that wrap every run of every job, or of the jobs of one queue.
///
/// ```
/// # mod ratchet { pub use ratchet_core as hooks; pub use ratchet_core::JobContext; pub use ratchet_core::JobError; pub use ratchet_core::async_trait; }
/// use ratchet::{JobContext, JobError, async_trait};
/// use ratchet::hooks::{Middleware, RunReport};
///
/// #[derive(Debug)]
/// struct Timing;
///
/// #[async_trait]
/// impl Middleware for Timing {
///     async fn after(&self, ctx: &JobContext, report: &RunReport) -> Result<(), JobError> {
///         println!("{} took {:?}", ctx.job_name(), report.duration);
///         Ok(())
///     }
/// }
/// ```
#[async_trait]
pub trait Middleware: Send + Sync + fmt::Debug + 'static {
    /// Runs before the handler. An error fails the attempt like an error of the handler, which is then not called.
    async fn before(&self, ctx: &JobContext) -> Result<(), JobError> {
        let _ = ctx;
        Ok(())
    }

    /// Wraps the handler. Must call `next` to run the handler.
    async fn around(&self, ctx: &JobContext, next: Next<'_>) -> Result<Output, HandlerError> {
        let _ = ctx;
        next.run().await
    }

    /// Runs after the run, regardless of its outcome. An error is logged and does not change the outcome.
    async fn after(&self, ctx: &JobContext, report: &RunReport) -> Result<(), JobError> {
        let _ = (ctx, report);
        Ok(())
    }

    /// Runs after a failed attempt that is retried, before the retry is stored. An error is logged and does not change
    /// the verdict.
    async fn on_retry(&self, ctx: &JobContext, report: &RetryReport) -> Result<(), JobError> {
        let _ = (ctx, report);
        Ok(())
    }
}

/// The remaining middleware and the handler.
///
/// ```
/// # mod ratchet { pub use ratchet_core::{JobContext, async_trait, self as definition, self as failure, self as hooks}; }
/// # use ratchet::{JobContext, async_trait};
/// # use ratchet::{definition::Output, failure::HandlerError};
/// use ratchet::hooks::{Middleware, Next};
///
/// #[derive(Debug)]
/// struct InTenantSpan;
///
/// #[async_trait]
/// impl Middleware for InTenantSpan {
///     async fn around(&self, ctx: &JobContext, next: Next<'_>) -> Result<Output, HandlerError> {
///         let span = tracing::info_span!("tenant", name = ctx.tenant());
///         tracing::Instrument::instrument(next.run(), span).await
///     }
/// }
/// ```
pub struct Next<'a> {
    rest: &'a [Arc<dyn Middleware>],
    ctx: &'a JobContext,
    handler: HandlerFuture,
}

/// The future of the handler.
pub(crate) type HandlerFuture =
    std::pin::Pin<Box<dyn Future<Output = Result<Output, HandlerError>> + Send>>;

impl<'a> Next<'a> {
    pub(crate) fn new(
        rest: &'a [Arc<dyn Middleware>],
        ctx: &'a JobContext,
        handler: HandlerFuture,
    ) -> Self {
        Self { rest, ctx, handler }
    }

    /// Runs the remaining middleware and the handler.
    pub async fn run(self) -> Result<Output, HandlerError> {
        match self.rest.split_first() {
            None => self.handler.await,
            Some((first, rest)) => first.around(self.ctx, Next { rest, ..self }).await,
        }
    }
}

impl fmt::Debug for Next<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next").field("middleware_left", &self.rest.len()).finish_non_exhaustive()
    }
}
