//! Code around every run.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::context::JobContext;
use crate::failure::{HandlerError, JobError};
use crate::job::Output;
use crate::model::{AttemptOutcome, FailureRecord};

/// Code that wraps every run of every job.
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
    /// Before the handler. An error here fails the attempt like an error of the handler; the handler is not called.
    async fn before(&self, ctx: &JobContext) -> Result<(), JobError> {
        let _ = ctx;
        Ok(())
    }

    /// Around the handler: call `next` to go on.
    async fn around(&self, ctx: &JobContext, next: Next<'_>) -> Result<Output, HandlerError> {
        let _ = ctx;
        next.run().await
    }

    /// After the run, whatever its outcome. An error here is logged and never changes the outcome.
    async fn after(&self, ctx: &JobContext, report: &RunReport) -> Result<(), JobError> {
        let _ = (ctx, report);
        Ok(())
    }
}

/// How a run ended, for [`Middleware::after`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunReport {
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// How long it took.
    pub duration: Duration,
    /// What went wrong.
    pub error: Option<FailureRecord>,
}

/// The rest of the way to the handler.
pub struct Next<'a> {
    rest: &'a [Arc<dyn Middleware>],
    ctx: &'a JobContext,
    handler: HandlerFuture,
}

/// The future of the user's function.
pub(super) type HandlerFuture =
    std::pin::Pin<Box<dyn Future<Output = Result<Output, HandlerError>> + Send>>;

impl<'a> Next<'a> {
    pub(super) fn new(
        rest: &'a [Arc<dyn Middleware>],
        ctx: &'a JobContext,
        handler: HandlerFuture,
    ) -> Self {
        Self { rest, ctx, handler }
    }

    /// Goes on to the handler.
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
