//! The simulated jobs. The seed decides what each run does.

#![allow(clippy::unused_async, clippy::needless_pass_by_value)] // required by the signature of a job

use std::sync::Arc;
use std::time::Duration;

use ratchet_core::{
    Finished, GroupReport, Job, JobContext, JobError, Registration, State, fatal, reject, snooze,
};
use ratchet_macros::job;
use ratchet_store::model::{JobId, JobRecord};
use serde::{Deserialize, Serialize};

use crate::exec::Owner;
use crate::op::Op;
use crate::oracle::RunEnd;
use crate::world::World;

/// The behavior of one run. Times are in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) enum Deed {
    Done(u64),
    Fail(u64),
    Panic(u64),
    Fatal(u64),
    Snooze(u64),
    Reject,
    /// Ignores cancellation; only its timeout ends it.
    Hang,
    /// Saves a checkpoint and progress, works, then succeeds.
    Report(u64),
    /// Enqueues children, works, then succeeds.
    Spawn(u64, u64),
}

/// The arguments that most jobs share.
#[derive(Debug, Deserialize)]
pub(crate) struct Numbered {
    pub(crate) number: u64,
    #[serde(default)]
    deeds: Vec<Deed>,
}

impl Numbered {
    pub(crate) fn read(job: &JobRecord) -> Option<Self> {
        serde_json::from_slice(&job.spec.payload).ok()
    }

    /// Returns the number of children that the given run has if it succeeds; `None` if no run of the job has any.
    pub(crate) fn children(&self, run: u64) -> Option<usize> {
        self.deeds.iter().any(|deed| matches!(deed, Deed::Spawn(..))).then(|| {
            match deed(&self.deeds, run) {
                Deed::Spawn(children, _) => usize::try_from(children).unwrap_or(usize::MAX),
                _ => 0,
            }
        })
    }
}

/// Returns the behavior of a run. A run past the end of the list succeeds.
fn deed(deeds: &[Deed], run: u64) -> Deed {
    let at = usize::try_from(run.saturating_sub(1)).unwrap_or(usize::MAX);
    deeds.get(at).copied().unwrap_or(Deed::Done(1))
}

/// Reports the start and end of handlers to the oracle.
#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) world: Arc<World>,
    pub(crate) owner: Owner,
}

impl Stage {
    fn enter(&self, ctx: &JobContext) -> Performance {
        let key = ctx.transition_key();
        let run = key.rsplit(':').next().and_then(|run| run.parse().ok()).unwrap_or(0);
        let performance =
            Performance { stage: self.clone(), job: ctx.job_id(), run, how: RunEnd::NotOk };
        let world = &self.world;
        let now = world.store.inspect(|view| view.now());
        world.oracle().begin(self.owner, ctx.job_id(), run, now);
        world.handler_step(self.owner);
        performance
    }
}

/// One run of a handler. Dropping it reports the end of the run.
struct Performance {
    stage: Stage,
    job: JobId,
    run: u64,
    how: RunEnd,
}

impl Performance {
    fn end<T>(mut self, result: &Result<T, JobError>) {
        if result.is_ok() {
            self.how = RunEnd::Ok;
        }
    }
}

impl Drop for Performance {
    fn drop(&mut self) {
        let world = &self.stage.world;
        let now = world.store.inspect(|view| view.now());
        world.oracle().finish(self.job, self.run, self.how, now);
        world.handler_step(self.stage.owner);
    }
}

impl World {
    /// Records the start or end of a handler as a step.
    fn handler_step(&self, owner: Owner) {
        use ratchet_core::Clock as _;
        let (digest, news) = {
            let mut oracle = self.oracle();
            (oracle.take_digest(), oracle.take_news())
        };
        let mut trace = self.trace();
        trace.step(self.clock.monotonic(), owner, Op::Handler, digest);
        trace.tell(|| news);
    }
}

async fn perform(
    ctx: &JobContext,
    stage: &Stage,
    number: u64,
    deeds: &[Deed],
) -> Result<u64, JobError> {
    let performance = stage.enter(ctx);
    let result = play(ctx, number, deed(deeds, performance.run)).await;
    performance.end(&result);
    result
}

async fn play(ctx: &JobContext, number: u64, deed: Deed) -> Result<u64, JobError> {
    let work = |millis| ctx.sleep(Duration::from_millis(millis));
    match deed {
        Deed::Done(millis) => work(millis).await,
        Deed::Fail(millis) => {
            work(millis).await;
            return Err(JobError::msg("failed"));
        }
        Deed::Panic(millis) => {
            work(millis).await;
            std::panic::panic_any("a panic on purpose");
        }
        Deed::Fatal(millis) => {
            work(millis).await;
            return Err(fatal("fatal").into());
        }
        Deed::Snooze(millis) => return Err(snooze(Duration::from_millis(millis)).into()),
        Deed::Reject => return Err(reject("no room").into()),
        Deed::Hang => std::future::pending().await,
        Deed::Report(millis) => {
            ctx.set_checkpoint(&number)?;
            ctx.set_progress(50.0, "half");
            work(millis).await;
        }
        Deed::Spawn(children, millis) => {
            let of = format!("of:{}", ctx.job_id());
            for child in 0..children {
                // The number is unique to this run.
                let number = CHILDREN + number * 10_000 + run_of(ctx) * 10 + child;
                let job = Work { number, deeds: vec![Deed::Done(5)] };
                ctx.enqueue(job).tag("child").tag(of.clone()).await?;
            }
            work(millis).await;
        }
    }
    Ok(number)
}

fn run_of(ctx: &JobContext) -> u64 {
    let key = ctx.transition_key();
    key.rsplit(':').next().and_then(|run| run.parse().ok()).unwrap_or(0)
}

/// The lowest number of a child.
pub(crate) const CHILDREN: u64 = 1_000_000_000;

/// A single job, a child, or the first step of a group.
#[job(name = "sim.work", queue = "main", max_retries = 2, backoff = exponential("100ms", max = "1s"), timeout = "2s", crate = ::ratchet_core)]
pub(crate) async fn work(
    #[inject] ctx: JobContext,
    #[inject] stage: State<Stage>,
    number: u64,
    deeds: Vec<Deed>,
) -> Result<u64, JobError> {
    perform(&ctx, &stage, number, &deeds).await
}

/// A step that takes the output of the previous step.
#[job(name = "sim.step", queue = "side", max_retries = 1, backoff = exponential("100ms", max = "1s"), timeout = "2s", crate = ::ratchet_core)]
pub(crate) async fn step(
    #[inject] ctx: JobContext,
    #[inject] stage: State<Stage>,
    #[input] before: u64,
    number: u64,
    deeds: Vec<Deed>,
) -> Result<u64, JobError> {
    let _ = before;
    perform(&ctx, &stage, number, &deeds).await
}

/// Calls a service with a circuit breaker.
#[job(name = "sim.pay", queue = "side", max_retries = 3, backoff = exponential("50ms", max = "500ms"), timeout = "1s", crate = ::ratchet_core)]
#[circuit_breaker(service = "pay", min_calls = 3, window = 6, probes = 2, open_for = "1s")]
pub(crate) async fn pay(
    #[inject] ctx: JobContext,
    #[inject] stage: State<Stage>,
    number: u64,
    deeds: Vec<Deed>,
) -> Result<u64, JobError> {
    perform(&ctx, &stage, number, &deeds).await
}

/// Runs on a blocking thread.
#[job(name = "sim.block", queue = "main", blocking, max_retries = 1, backoff = exponential("100ms", max = "1s"), timeout = "2s", crate = ::ratchet_core)]
pub(crate) fn block(
    #[inject] ctx: JobContext,
    #[inject] stage: State<Stage>,
    number: u64,
    deeds: Vec<Deed>,
) -> Result<u64, JobError> {
    let performance = stage.enter(&ctx);
    let result = match deed(&deeds, performance.run) {
        Deed::Fail(_) => Err(JobError::msg("failed")),
        Deed::Panic(_) => std::panic::panic_any("a panic on purpose"),
        _ => Ok(number),
    };
    performance.end(&result);
    result
}

/// Receives the report of an ended group.
#[job(name = "sim.tally", queue = "side", max_retries = 9, backoff = exponential("100ms", max = "1s"), timeout = "2s", crate = ::ratchet_core)]
pub(crate) async fn tally(
    #[inject] ctx: JobContext,
    #[inject] stage: State<Stage>,
    #[inject] group: GroupReport,
    number: u64,
) -> Result<u64, JobError> {
    let performance = stage.enter(&ctx);
    let result = match group.counts {
        counts if counts.ended() <= counts.total => Ok(number),
        counts => Err(JobError::msg(format!("more ended than there are: {counts:?}"))),
    };
    performance.end(&result);
    result
}

/// A success callback of [`work`].
#[job(name = "sim.note", queue = "side", max_retries = 9, backoff = exponential("100ms", max = "1s"), timeout = "2s", crate = ::ratchet_core)]
pub(crate) async fn note(
    #[inject] ctx: JobContext,
    #[inject] stage: State<Stage>,
    #[inject] finished: Finished<Work>,
) {
    let performance = stage.enter(&ctx);
    performance.end(&finished.outcome.map_err(|_| JobError::msg("it failed")));
}

/// A recurring job.
#[job(name = "sim.tick", queue = "side", cron = "*/6 * * * * *", max_retries = 9, backoff = exponential("100ms", max = "1s"), timeout = "2s", crate = ::ratchet_core)]
pub(crate) async fn tick(#[inject] ctx: JobContext, #[inject] stage: State<Stage>) {
    stage.enter(&ctx).end(&Ok(()));
}

/// Returns all jobs of the simulation.
pub(crate) fn all() -> Vec<Registration> {
    vec![Work::JOB, Step::JOB, Pay::JOB, Block::JOB, Tally::JOB, Note::JOB, Tick::JOB]
}
