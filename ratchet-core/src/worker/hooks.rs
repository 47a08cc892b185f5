//! Calls the hooks around a run: those of all jobs, of the queue, and of the job.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;

use super::error_outcome::{failed, panicked};
use crate::decide::Outcome;
use crate::failure::{JobError, PanicReport, debug, display};
use crate::job::{Hooks, JobContext, RetryReport, RunReport};
use crate::runtime::Core;
use ratchet_store::model::Verdict;

/// A hook that hangs must not keep its job from being settled.
const LONGEST: Duration = Duration::from_secs(5);

/// Calls `before` of every middleware, then that of the job. Stops at the first error.
pub(super) async fn before(core: &Core, ctx: &JobContext, hooks: Hooks) -> Result<(), Outcome> {
    for middleware in core.middleware_of(ctx.queue()) {
        before_one(core, ctx, "middleware", async { middleware.before(ctx).await }).await?;
    }
    match hooks.before {
        Some(hook) => before_one(core, ctx, "hook", async { hook(ctx).await }).await,
        None => Ok(()),
    }
}

async fn before_one(
    core: &Core,
    ctx: &JobContext,
    component: &'static str,
    hook: impl Future<Output = Result<(), JobError>>,
) -> Result<(), Outcome> {
    tokio::select! {
        biased;
        done = AssertUnwindSafe(hook).catch_unwind() => match done {
            Ok(result) => result.map_err(|error| failed(ctx, error)),
            Err(payload) => {
                let panic = PanicReport::new(payload);
                core.panics.note(component, &ctx.classifier().sanitized(panic.clone()));
                Err(panicked(ctx, panic.within(component)))
            }
        },
        // `handler::call` checks for the abort first and returns the matching exit.
        () = ctx.stop_signal().aborted() => Ok(()),
    }
}

/// Calls `after` of the job, then that of every middleware, innermost first. Errors are logged and do not change the
/// outcome.
pub(super) async fn after(
    core: &Core,
    ctx: &JobContext,
    hooks: Hooks,
    outcome: &Outcome,
    duration: Duration,
) {
    let middleware = core.middleware_of(ctx.queue());
    if middleware.is_empty() && hooks.after.is_none() {
        return;
    }
    let error = match outcome {
        Outcome::Failed(failure) => Some(failure.record.clone()),
        _ => None,
    };
    let report = RunReport::new(outcome.in_history(), duration, error);
    if let Some(hook) = hooks.after {
        contained(core, ctx, "after", "hook", || ctx.job_name().to_owned(), async {
            hook(ctx, &report).await
        })
        .await;
    }
    for middleware in middleware.iter().rev() {
        contained(core, ctx, "after", "middleware", || debug(middleware), async {
            middleware.after(ctx, &report).await
        })
        .await;
    }
}

/// Calls `on_retry` of the job, then that of every middleware, if the verdict is a retry. Errors are logged and do not
/// change the verdict.
pub(super) async fn on_retry(core: &Core, ctx: &JobContext, hooks: Hooks, verdict: &Verdict) {
    let Verdict::Retry { delay, attempts, failure } = verdict else { return };
    let report = RetryReport::new(*attempts, *delay, failure.clone());
    if let Some(hook) = hooks.on_retry {
        contained(core, ctx, "on_retry", "hook", || ctx.job_name().to_owned(), async {
            hook(ctx, &report).await
        })
        .await;
    }
    for middleware in core.middleware_of(ctx.queue()).iter().rev() {
        contained(core, ctx, "on_retry", "middleware", || debug(middleware), async {
            middleware.on_retry(ctx, &report).await
        })
        .await;
    }
}

/// Waits for a hook that must not affect its run. Panics, errors and hooks that take too long are logged.
async fn contained(
    core: &Core,
    ctx: &JobContext,
    hook: &str,
    component: &'static str,
    of: impl FnOnce() -> String,
    call: impl Future<Output = Result<(), JobError>>,
) {
    let call = AssertUnwindSafe(async {
        // The error is user code too, so it is formatted and dropped inside the panic guard.
        call.await.err().map(|error| display(&error))
    });
    let ended = AssertUnwindSafe(async {
        tokio::select! {
            biased;
            problem = call => problem,
            () = core.clock.sleep(LONGEST) => Some(format!("it took longer than {LONGEST:?}")),
        }
    });
    let problem = ended.catch_unwind().await.unwrap_or_else(|payload| {
        let panic = ctx.classifier().sanitized(PanicReport::new(payload));
        core.panics.note(component, &panic);
        Some(panic.message)
    });
    if let Some(problem) = problem {
        let problem = ctx.classifier().text("Hook", &problem);
        let of = of();
        tracing::warn!(job.id = %ctx.job_id(), of, %problem, "an `{hook}` hook failed");
    }
}
