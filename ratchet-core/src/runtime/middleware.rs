//! [`Middleware`]: hooks before, around and after every run.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::failure::{HandlerError, JobError};
use crate::job::JobContext;
use crate::job::Output;
use ratchet_store::model::{AttemptOutcome, FailureRecord};

/// Hooks that wrap every run of every job.
///
/// ```
/// use ratchet_core::{JobContext, JobError, Middleware, RunReport, async_trait};
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
    /// Called before the handler. An error fails the attempt like an error of the handler, which is then not called.
    async fn before(&self, ctx: &JobContext) -> Result<(), JobError> {
        let _ = ctx;
        Ok(())
    }

    /// Called around the handler. Must call `next` to run the handler.
    async fn around(&self, ctx: &JobContext, next: Next<'_>) -> Result<Output, HandlerError> {
        let _ = ctx;
        next.run().await
    }

    /// Called after the run, regardless of its outcome. An error is logged and does not change the outcome.
    async fn after(&self, ctx: &JobContext, report: &RunReport) -> Result<(), JobError> {
        let _ = (ctx, report);
        Ok(())
    }
}

/// How a run ended, for [`Middleware::after`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunReport {
    /// The outcome as recorded in the job's history.
    pub outcome: AttemptOutcome,
    /// The duration of the run, without the `after` hooks.
    pub duration: Duration,
    /// The error of a failed run; `None` if the run did not fail.
    pub error: Option<FailureRecord>,
}

/// The remaining middleware and the handler.
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
