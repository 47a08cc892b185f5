//! Starting and stopping a worker.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::declarations::declare_all;
use super::engine::engine;
use super::mailbox::Message;
use super::shared::Shared;
use super::signals::{self, Signals};
use super::status::{WorkerStats, liveness, readiness, stats};
use super::stopped::{EngineDied, Stopped};
use crate::client::Ratchet;
use crate::job::{InjectRequirement, Registration};
use crate::runtime::Core;
use crate::runtime::{DedicatedEngineThread, Health, Spawn, WorkerStatus};
use ratchet_store::StoreError;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::NodeId;

/// A handle to a running worker. Dropping it does not stop the worker; call [`Worker::stop`].
///
/// ```
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), Box<dyn std::error::Error>> {
/// let worker = ratchet.start().await?;
/// worker.run_until_signal().await?; // SIGTERM or SIGINT; an error if the engine has died
/// println!("{} jobs have succeeded", worker.stats().succeeded);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "keep the worker to stop it in good order"]
pub struct Worker {
    shared: Arc<Shared>,
}

impl Ratchet {
    /// Starts a worker in this process.
    ///
    /// The worker serves the queues that its jobs declare and those that are configured. Handlers run on the current
    /// tokio runtime. The engine runs on a thread that handlers cannot block.
    pub async fn start(&self) -> Result<Worker, StartError> {
        let handlers = tokio::runtime::Handle::try_current().map_err(|_| StartError::NoRuntime)?;
        self.start_on(DedicatedEngineThread::new(handlers)).await
    }

    /// Starts a worker like [`Self::start`], but `spawn` decides where the engine and the handlers run.
    pub async fn start_on(&self, spawn: impl Spawn) -> Result<Worker, StartError> {
        crate::failure::install_hook();
        let core = &self.core;
        let missing = missing_states(core);
        if !missing.is_empty() {
            return Err(StartError::MissingStates(missing));
        }
        let (jobs, absent): (Vec<_>, Vec<_>) =
            core.resolver.all().into_iter().partition(Registration::is_implemented);
        report_absent(core, &absent)?;
        if jobs.is_empty() {
            return Err(StartError::NoJobs);
        }
        let queues = served_queues(core, &jobs)?;
        let shared =
            Arc::new(Shared::new(Arc::clone(core), Arc::new(spawn), queues.into_iter().collect()));
        let joined = core.clock.monotonic();
        core.store.join(shared.info(), core.config.lease).await?;
        crash_point(CrashPoint::NodeJoined);
        declare_all(core, shared.node(), &shared.declarations).await?;
        shared.declared.store(true, Ordering::Relaxed);
        shared.log_start(&jobs);
        shared.record_tick();
        let home = core.store.runtime();
        shared.spawn.engine(engine(&shared, joined), home).map_err(StartError::Thread)?;
        let status: Arc<dyn WorkerStatus> = Arc::clone(&shared) as _;
        core.workers.add(Arc::downgrade(&status));
        Ok(Worker { shared })
    }
}

impl Worker {
    /// Stops the worker gracefully: it claims nothing more, lets runs finish during the grace period, and returns the
    /// remaining jobs to the queue. Completes when the worker has stopped.
    pub async fn stop(&self) {
        self.shared.send(Message::Stop);
        self.stopped().await;
    }

    /// Stops the worker immediately: running jobs are returned to the queue without a grace period.
    pub async fn stop_now(&self) {
        self.shared.send(Message::StopNow);
        self.stopped().await;
    }

    /// Waits until the worker has stopped. Returns whether it was stopped on request, has stopped by itself, or its
    /// engine died. [`Self::stats`] tells what it has done.
    ///
    /// ```
    /// # mod ratchet { pub use ratchet_core as runtime; }
    /// # async fn demo(worker: ratchet_core::Worker) {
    /// use ratchet::runtime::Stopped;
    ///
    /// match worker.stopped().await {
    ///     Stopped::Died(died) => eprintln!("{died}"), // exit, so that the supervisor restarts the process
    ///     reason => println!("{reason:?}"),
    /// }
    /// # }
    /// ```
    pub async fn stopped(&self) -> Stopped {
        self.shared.over.cancelled().await;
        let shared = &self.shared;
        match (shared.died.get(), shared.completed.get(), shared.stop_request.get()) {
            (Some(died), ..) => Stopped::Died(died.clone()),
            (None, Some(completion), _) => Stopped::Completed(*completion),
            (None, None, Some(request)) => Stopped::ByOperator(request.clone()),
            (None, None, None) => Stopped::Requested,
        }
    }

    /// Runs until SIGTERM or SIGINT, then stops gracefully. A second signal stops immediately. Also returns when the
    /// worker has stopped by itself, see [`RunMode`](crate::RunMode).
    ///
    /// If handlers still hold their threads after a second signal, the process exits with 128 plus the number of the
    /// signal, because the runtime would wait for them. Their jobs have been returned to the queue. From the third
    /// signal on, and after this function has returned, every signal ends the process at once.
    ///
    /// If the engine dies, this returns an error that contains an [`EngineDied`]. Exit the process with it, so that the
    /// supervisor restarts the process.
    pub async fn run_until_signal(&self) -> std::io::Result<()> {
        let mut signals = Signals::listen()?;
        tokio::select! {
            stopped = self.stopped() => return ended(stopped),
            _ = signals.next() => {}
        }
        tracing::info!("stopping; a second signal stops immediately");
        self.shared.send(Message::Stop);
        let signal = tokio::select! {
            stopped = self.stopped() => {
                signals::exit_on_next()?;
                self.report_runaways();
                return ended(stopped);
            }
            signal = signals.next() => signal,
        };
        tracing::warn!("stopping immediately; another signal ends the process");
        signals::exit_on_next()?;
        self.shared.send(Message::StopNow);
        let stopped = self.stopped().await;
        if self.report_runaways() {
            signals::exit(signal);
        }
        ended(stopped)
    }

    /// Logs handlers that still hold their threads although the worker has stopped. Returns whether there are any.
    fn report_runaways(&self) -> bool {
        let runaways = self.stats().runaways;
        if runaways > 0 {
            tracing::warn!(
                runaways,
                "the worker has stopped, but handlers still hold their threads; their jobs were returned to the queue"
            );
        }
        runaways > 0
    }

    /// Returns the id of this worker in the cluster. It changes if the lease expires.
    pub fn node(&self) -> NodeId {
        self.shared.node()
    }

    /// Returns the queues that this worker serves.
    pub fn queues(&self) -> &[String] {
        &self.shared.queues
    }

    /// Returns the counters of this worker.
    pub fn stats(&self) -> WorkerStats {
        stats(&self.shared)
    }

    /// Returns how many times user code other than handlers has panicked in this runtime, by component: `retry policy`,
    /// `sanitizer`, `middleware`, `hook`, `sink`, `health check`, `condition`, `resolver`, `observer`.
    pub fn panics(&self) -> BTreeMap<&'static str, u64> {
        self.shared.core.panics.by_component()
    }

    /// Returns whether the engine is alive, the claim loop makes progress and a handler thread is free. If not, restart
    /// the process.
    pub fn liveness(&self) -> Health {
        liveness(&self.shared)
    }

    /// Returns whether the worker can take work: it is live and not stopping, its lease holds, the store works, no sink
    /// blocks, and the health checks pass.
    ///
    /// ```
    /// # async fn demo(worker: ratchet_core::Worker) {
    /// let health = worker.readiness();
    /// if !health.ok {
    ///     println!("not ready: {}", health.problems.join("; "));
    /// }
    /// # }
    /// ```
    pub fn readiness(&self) -> Health {
        readiness(&self.shared)
    }
}

/// Converts the death of the engine to an error.
fn ended(stopped: Stopped) -> std::io::Result<()> {
    match stopped {
        Stopped::Requested | Stopped::ByOperator(_) | Stopped::Completed(_) => Ok(()),
        Stopped::Died(died) => Err(std::io::Error::other::<EngineDied>(died)),
    }
}

/// Returns the queues that a worker serves: those of its jobs and the configured ones, limited by `only_queues` and
/// `except_queues`.
fn served_queues(core: &Core, jobs: &[Registration]) -> Result<BTreeSet<String>, StartError> {
    let config = &core.config;
    let mut queues = config.only_queues.clone();
    if queues.is_empty() {
        let declared = jobs.iter().map(|job| config.defaults.queue_of(&job.def).to_owned());
        queues = declared.chain(config.queues.keys().cloned()).collect();
    }
    queues.retain(|queue| !config.except_queues.contains(queue));
    if queues.is_empty() { Err(StartError::NoQueues) } else { Ok(queues) }
}

/// Reports the jobs that are declared without a body and have no implementation in this program.
fn report_absent(core: &Core, absent: &[Registration]) -> Result<(), StartError> {
    if core.config.require_implementations && !absent.is_empty() {
        let job = |job: &Registration| format!("`{}` ({})", job.def.name, job.def.location);
        return Err(StartError::NotImplemented(absent.iter().map(job).collect()));
    }
    for job in absent {
        tracing::info!(job = job.def.name, declared = %job.def.location, "a declared job has no implementation in this program, so this worker does not run it");
    }
    Ok(())
}

/// Returns a message for every state that a job needs and that is not registered.
fn missing_states(core: &Core) -> Vec<String> {
    let mut missing = Vec::new();
    for job in core.resolver.all() {
        for injection in job.def.injections {
            if let InjectRequirement::State { id, name } = (injection.need)()
                && !core.states.contains(id)
            {
                missing
                    .push(format!("job `{}` ({}) needs `{name}`", job.def.name, job.def.location));
            }
        }
    }
    missing
}

/// An error returned when a worker cannot start.
///
/// ```
/// # mod ratchet { pub use ratchet_core::StartError; }
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), ratchet_core::StartError> {
/// use ratchet::StartError;
///
/// match ratchet.start().await {
///     Ok(worker) => println!("node {} serves {:?}", worker.node(), worker.queues()),
///     Err(StartError::Store(error)) if error.is_transient() => println!("try again: {error}"),
///     Err(error) => return Err(error), // the program must be changed
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// States that jobs need and that are not registered, one message each.
    #[error("a worker cannot start; call `.state(value)` on the builder for each of these:\n  {}", .0.join("\n  "))]
    MissingStates(Vec<String>),
    /// No job is registered.
    #[error(
        "a worker cannot start: no job is registered; if another crate defines them, name it in this program (`use my_jobs as _;`)"
    )]
    NoJobs,
    /// `except_queues` contains every queue of the jobs and of the configuration.
    #[error("a worker cannot start: `except_queues` excludes every queue that it would serve")]
    NoQueues,
    /// Declared jobs have no implementation in this program, although
    /// [`require_implementations`](crate::Builder::require_implementations) was set.
    #[error("a worker cannot start; write `#[job(implements = …)]` for each of these declared jobs, or link the crate that does:\n  {}", .0.join("\n  "))]
    NotImplemented(Vec<String>),
    /// There is no tokio runtime for the handlers.
    #[error("a worker cannot start outside of a tokio runtime: its handlers need one")]
    NoRuntime,
    /// The engine's thread could not be started.
    #[error("the engine's thread could not be started: {0}")]
    Thread(std::io::Error),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
