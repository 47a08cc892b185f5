//! [`Hooks`]: the functions of the application that are called around the runs of one job.

use std::pin::Pin;
use std::time::Duration;

use super::JobContext;
use crate::failure::JobError;
use ratchet_store::model::{AttemptOutcome, FailureRecord};

/// The functions that `#[job(before = …, after = …, on_retry = …)]` names.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct Hooks {
    /// Called before the handler. An error fails the attempt, and the handler is not called.
    pub before: Option<BeforeHook>,
    /// Called after the run. An error is logged and does not change the outcome.
    pub after: Option<AfterHook>,
    /// Called after a failed attempt that is retried. An error is logged and does not change the outcome.
    pub on_retry: Option<RetryHook>,
}

impl Hooks {
    /// No functions.
    pub const NONE: Self = Self { before: None, after: None, on_retry: None };
}

/// The future of a hook.
pub type HookFuture<'a> = Pin<Box<dyn Future<Output = Result<(), JobError>> + Send + 'a>>;

/// A function that is called before the handler.
pub type BeforeHook = for<'a> fn(&'a JobContext) -> HookFuture<'a>;

/// A function that is called after the run.
pub type AfterHook = for<'a> fn(&'a JobContext, &'a RunReport) -> HookFuture<'a>;

/// A function that is called after a failed attempt that is retried.
pub type RetryHook = for<'a> fn(&'a JobContext, &'a RetryReport) -> HookFuture<'a>;

/// How a run ended, for hooks that are called after it.
///
/// ```
/// # mod ratchet { pub use ratchet_core::{JobContext, JobError, self as hooks}; }
/// use ratchet::hooks::RunReport;
/// use ratchet::{JobContext, JobError};
///
/// // For `#[job(after = record)]`.
/// async fn record(ctx: &JobContext, report: &RunReport) -> Result<(), JobError> {
///     println!("{}: {:?} after {:?}", ctx.job_name(), report.outcome, report.duration);
///     if let Some(error) = &report.error {
///         println!("{}", error.message);
///     }
///     Ok(())
/// }
/// ```
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

impl RunReport {
    pub(crate) fn new(
        outcome: AttemptOutcome,
        duration: Duration,
        error: Option<FailureRecord>,
    ) -> Self {
        Self { outcome, duration, error }
    }
}

/// A failed attempt that is retried, for the hooks `on_retry`.
///
/// ```
/// # mod ratchet { pub use ratchet_core::{JobContext, self as hooks}; }
/// use ratchet::JobContext;
/// use ratchet::hooks::RetryReport;
///
/// // For `#[job(on_retry = warn)]`.
/// async fn warn(ctx: &JobContext, report: &RetryReport) {
///     let RetryReport { attempt, delay, error, .. } = report;
///     println!("{} failed {attempt} times, again in {delay:?}: {}", ctx.job_id(), error.message);
/// }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RetryReport {
    /// The number of the failed attempt, starting at 1.
    pub attempt: u32,
    /// The delay before the next attempt.
    pub delay: Duration,
    /// The error of the failed attempt.
    pub error: FailureRecord,
}

impl RetryReport {
    pub(crate) fn new(attempt: u32, delay: Duration, error: FailureRecord) -> Self {
        Self { attempt, delay, error }
    }
}

/// A type that a hook can return: `()`, or a `Result` with the error types of a handler.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a hook",
    label = "a hook returns `()` or `Result<(), E>`"
)]
pub trait HookReturn {
    /// Converts the value.
    fn into_hook_result(self) -> Result<(), JobError>;
}

impl HookReturn for () {
    fn into_hook_result(self) -> Result<(), JobError> {
        Ok(())
    }
}

impl<E: Into<JobError>> HookReturn for Result<(), E> {
    fn into_hook_result(self) -> Result<(), JobError> {
        self.map_err(Into::into)
    }
}

/// Boxes the future of a hook. Called by generated code.
pub fn hook<'a, R: HookReturn>(future: impl Future<Output = R> + Send + 'a) -> HookFuture<'a> {
    Box::pin(async move { future.await.into_hook_result() })
}
