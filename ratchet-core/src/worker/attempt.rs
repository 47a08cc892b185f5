//! Runs one attempt: resolve → guard → run → classify → decide.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;
use tracing::Instrument as _;

use super::error_outcome::{classified, failed, panicked};
use super::handler::{self, HandlerExit, ThreadExit};
use super::hooks;
use super::run_span::run_span;
use super::settlement::{self, RunEffects};
use super::{conditions, full_pipelines, refused_jobs, step_inputs};
use crate::decide::Outcome;
use crate::failure::{Classifier, Failure, JobError, PanicReport, catch_panic, masking_panics};
use crate::job::Output;
use crate::job::StopCause;
use crate::job::{Hooks, JobContext};
use crate::job::{Prepared, RunFuture, secrets_of};
use crate::runtime::Core;
use crate::runtime::Spawn;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{Claimed, NOT_KEPT, Settlement};

/// How an attempt ended.
#[derive(Debug)]
pub(crate) enum AttemptResult {
    /// The settlement to store.
    Settle(Box<Settlement>),
    /// The job was canceled. The result of the run is discarded.
    Discard {
        /// The handler could not be stopped and is still running.
        lingering: bool,
    },
}

/// Runs one claimed job. Never panics and never returns an error: every failure becomes an outcome.
///
/// User code runs in many places here: the handler, errors and their destructors, middleware, conditions. Panics that
/// need special treatment are caught where they occur. Any other panic is caught here and fails the attempt.
pub(crate) async fn attempt(
    core: &Core,
    ctx: &JobContext,
    spawn: &dyn Spawn,
    late: &dyn ThreadExit,
) -> AttemptResult {
    let started = core.clock.monotonic();
    let mut effects = RunEffects::default();
    let mut hooks = Hooks::NONE;
    let whole = outcome(core, ctx, spawn, late, started, &mut effects, &mut hooks);
    let whole = AssertUnwindSafe(whole);
    let outcome = match whole.catch_unwind().instrument(run_span(core, ctx)).await {
        Ok(outcome) => outcome,
        Err(payload) => panicked(ctx, PanicReport::new(payload)),
    };
    let duration = core.clock.monotonic().saturating_sub(started);
    let result = end(core, ctx, outcome, duration, effects);
    if let AttemptResult::Settle(settlement) = &result {
        hooks::on_retry(core, ctx, hooks, &settlement.verdict).await;
    }
    result
}

/// Runs the job and reports the outcome to the hooks. `hooks` is set to those of the job.
async fn outcome(
    core: &Core,
    ctx: &JobContext,
    spawn: &dyn Spawn,
    late: &dyn ThreadExit,
    started: Duration,
    effects: &mut RunEffects,
    hooks: &mut Hooks,
) -> Outcome {
    let outcome = match ready(core, ctx.claimed(), ctx).await {
        Err(outcome) => outcome,
        Ok((handler, of_job)) => {
            *hooks = of_job;
            run(core, ctx, spawn, handler, late, effects, of_job).await
        }
    };
    let duration = core.clock.monotonic().saturating_sub(started);
    hooks::after(core, ctx, *hooks, &outcome, duration).await;
    outcome
}

/// Decides on an outcome, unless the job was canceled in the meantime.
fn end(
    core: &Core,
    ctx: &JobContext,
    outcome: Outcome,
    duration: Duration,
    mut effects: RunEffects,
) -> AttemptResult {
    if ctx.stop_signal().cause() == Some(StopCause::Canceled) {
        return AttemptResult::Discard { lingering: effects.lingering };
    }
    let (notes, spawned, graphs, mut items) = ctx.take();
    effects.refused_hand_offs = items.take_refused();
    let warnings = std::mem::replace(&mut effects.notes, notes).warnings;
    effects.notes.warnings.extend(warnings);
    (effects.spawned, effects.graphs) = (spawned, graphs);
    (effects.rejects, effects.hand_offs) = (items.rejects, items.hand_offs);
    effects.trace = ctx.trace_context().cloned();
    let job = ctx.claimed();
    let settlement = settlement::of_run(core, &core.policies, job, outcome, duration, effects);
    crash_point(CrashPoint::SettleDecided);
    AttemptResult::Settle(Box::new(settlement))
}

/// Reads the inputs of a step, prepares the job and injects its arguments. An error ends the attempt before the handler
/// runs.
async fn ready(
    core: &Core,
    job: &Claimed,
    ctx: &JobContext,
) -> Result<(RunFuture, Hooks), Outcome> {
    refused_jobs::check(core, job)?;
    full_pipelines::check(core, job, ctx).await?;
    if job.spec.step.is_some() {
        step_inputs::read(core, job, ctx).await?;
    }
    inject(core, job, ctx)
}

/// Not async: the arguments of a job do not have to be `Send` before its function has taken them.
fn inject(core: &Core, job: &Claimed, ctx: &JobContext) -> Result<(RunFuture, Hooks), Outcome> {
    let (prepared, hooks) = prepare(core, job, ctx).map_err(Outcome::Failed)?;
    let run = || ctx.learning(|| catch_panic(|| prepared.run(ctx.clone())));
    match masking_panics(&ctx.secrets(), run) {
        Ok(Ok(run)) => Ok((run, hooks)),
        Ok(Err(error)) => Err(failed(ctx, JobError::from(error))),
        Err(panic) => Err(panicked(ctx, panic)),
    }
}

/// Resolves the job, checks the allow-list of its queue and decodes its arguments.
fn prepare(
    core: &Core,
    job: &Claimed,
    ctx: &JobContext,
) -> Result<(Box<dyn Prepared>, Hooks), Box<Failure>> {
    let spec = &job.spec;
    let invalid = |error_type, why: &str| Box::new(ctx.classifier().invalid(error_type, why));
    // Only names that the resolver knew at start are claimed, so its answer has changed since.
    let unknown = || invalid("UnknownJob", &format!("no job named `{}` is registered", spec.name));
    let registration = match core.resolve(&spec.name) {
        Ok(found) => found.ok_or_else(unknown)?,
        Err(panic) => return Err(Box::new(ctx.classifier().panic(panic.within("resolver")))),
    };
    if !core.config.allows(&spec.queue, &spec.name) {
        let why = format!("`{}` is not on the allow-list of queue `{}`", spec.name, spec.queue);
        return Err(invalid("NotAllowed", &why));
    }
    let ignored = |fields| core.ignored_fields.report(registration.def.name, fields);
    // What decoding and validation say may quote the secrets, so they must be known before.
    ctx.learn(secrets_of(&registration.def, &spec.payload));
    let read = || registration.prepare_with(spec.version, &spec.payload, ignored);
    let read = || ctx.learning(|| catch_panic(read));
    match masking_panics(&ctx.secrets(), read) {
        Ok(Ok(prepared)) => Ok((prepared, registration.def.hooks)),
        Ok(Err(error)) => Err(invalid("InvalidPayload", &error.to_string())),
        Err(panic) => {
            Err(invalid("InvalidPayload", &format!("decoding panicked: {}", panic.message)))
        }
    }
}

async fn run(
    core: &Core,
    ctx: &JobContext,
    spawn: &dyn Spawn,
    handler: RunFuture,
    late: &dyn ThreadExit,
    effects: &mut RunEffects,
    hooks: Hooks,
) -> Outcome {
    if let Err(outcome) = hooks::before(core, ctx, hooks).await {
        return outcome;
    }
    crash_point(CrashPoint::HandlerBefore);
    let end = handler::call(core, ctx, spawn, handler, late).await;
    crash_point(CrashPoint::HandlerAfter);
    match end {
        HandlerExit::Returned(Ok(output)) => {
            if let Some((count, most)) = ctx.too_many_rejects() {
                let why = format!("{count} items were rejected, the limit is {most}");
                return failed(ctx, JobError::msg(why));
            }
            // Conditions see the returned value even if it is too large to be kept.
            match conditions::evaluate(core, ctx, &output) {
                Err(failure) => return Outcome::Failed(failure),
                Ok(condition_results) => effects.condition_results = condition_results,
            }
            let domain_failure = matches!(output, Output::DomainFailure(_));
            let output = keep(core, ctx, output, &mut effects.notes.warnings);
            Outcome::Done { output, domain_failure }
        }
        // An error returned after a release is the result of the stop request, not a failure.
        HandlerExit::Returned(Err(_)) if ctx.stop_signal().cause() == Some(StopCause::Released) => {
            Outcome::Released
        }
        HandlerExit::Returned(Err(caught)) => classified(ctx.classifier().error(caught)),
        HandlerExit::Panicked(panic) => panicked(ctx, panic),
        HandlerExit::Stopped { lingering } => {
            effects.lingering = lingering;
            stopped(ctx.claimed(), ctx.stop_signal().cause())
        }
    }
}

/// Returns the outcome of a run that the engine stopped.
pub(super) fn stopped(job: &Claimed, cause: Option<StopCause>) -> Outcome {
    match cause {
        Some(StopCause::Timeout) => {
            Outcome::Failed(Box::new(Classifier::timeout(job.spec.options.timeout)))
        }
        _ => Outcome::Released,
    }
}

/// Returns the output to store. If it is too large or not serializable, the job gets a warning instead of failing.
fn keep(
    core: &Core,
    ctx: &JobContext,
    output: Output,
    warnings: &mut Vec<String>,
) -> Option<String> {
    let limit = core.config.output_limit;
    match output {
        Output::Json(Some(json)) | Output::DomainFailure(json) if json.len() > limit => {
            warnings
                .push(format!("{NOT_KEPT}: it takes {} bytes, the limit is {limit}", json.len()));
            None
        }
        Output::Json(json) => json,
        Output::DomainFailure(json) => Some(json),
        Output::Unserializable(why) => {
            let why = ctx.classifier().line(&why);
            warnings.push(format!("{NOT_KEPT}: it cannot be written as JSON: {why}"));
            None
        }
    }
}
