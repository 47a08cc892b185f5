//! Starting and stopping a worker.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::engine::{EngineDied, Stopped, engine};
use super::status::{Health, WorkerStats, liveness, readiness, stats};
use super::recurring::declare_all;
use super::shared::{Message, Shared};
use super::signals::Signals;
use crate::client::{Core, Ratchet};
use crate::crash::{CrashPoint, crash_point};
use crate::job::Need;
use crate::model::{NodeId, QueueUpdate};
use crate::env::{DedicatedEngineThread, Spawn};
use crate::store::StoreError;

/// A running worker. Dropping this handle does not stop it; [`Worker::stop`] does.
#[derive(Debug, Clone)]
#[must_use = "keep the worker to stop it in good order"]
pub struct Worker {
    shared: Arc<Shared>,
}

impl Ratchet {
    /// Starts a worker in this process.
    ///
    /// It serves the queues its jobs declare and those configured. Handlers run on the current tokio runtime, the engine
    /// on a thread that they cannot block.
    pub async fn start(&self) -> Result<Worker, StartError> {
        let handlers = tokio::runtime::Handle::try_current().map_err(|_| StartError::NoRuntime)?;
        self.start_on(DedicatedEngineThread::new(handlers)).await
    }

    /// Like [`Self::start`], with a say in where engine and handlers run.
    pub async fn start_on(&self, spawn: impl Spawn) -> Result<Worker, StartError> {
        crate::failure::install_hook();
        let core = &self.core;
        let missing = missing_states(core);
        if !missing.is_empty() {
            return Err(StartError::MissingStates(missing));
        }
        let jobs = core.resolver.all();
        if jobs.is_empty() {
            return Err(StartError::NoJobs);
        }
        let declared = jobs.iter().map(|job| job.def.queue.to_owned());
        let queues: BTreeSet<String> = declared.chain(core.config.queues.keys().cloned()).collect();
        let shared =
            Arc::new(Shared::new(Arc::clone(core), Arc::new(spawn), queues.into_iter().collect()));
        for (name, queue) in &core.config.queues {
            if !queue.cluster.is_empty() {
                core.store.update_queue(name, QueueUpdate::Limit(queue.cluster)).await?;
            }
        }
        core.store.join(shared.info(), core.config.lease).await?;
        crash_point(CrashPoint::NodeJoined);
        declare_all(core).await?;
        tracing::info!(
            node = %shared.node(), queues = ?shared.queues, jobs = ?jobs.iter().map(|job| job.def.name).collect::<Vec<_>>(),
            "a worker starts"
        );
        shared.record_tick();
        let home = core.store.home();
        shared.spawn.engine(engine(&shared), home).map_err(StartError::Thread)?;
        Ok(Worker { shared })
    }
}

impl Worker {
    /// Stops in good order: claims nothing more, lets runs finish for the grace time, gives the rest back. Completes when
    /// all of that is done.
    pub async fn stop(&self) {
        self.shared.send(Message::Stop);
        self.stopped().await;
    }

    /// Stops at once: gives back what runs, without a grace time.
    pub async fn stop_now(&self) {
        self.shared.send(Message::StopNow);
        self.stopped().await;
    }

    /// Completes when the worker has stopped, and tells why: because it was asked to, or because its engine died.
    pub async fn stopped(&self) -> Stopped {
        self.shared.over.cancelled().await;
        match self.shared.died.get() {
            Some(died) => Stopped::Died(died.clone()),
            None => Stopped::Requested,
        }
    }

    /// Runs until SIGTERM or SIGINT, then stops in good order. A second signal stops at once.
    ///
    /// If the engine dies, this returns an error that holds an [`EngineDied`]: end the process with it, so that whoever
    /// supervises it starts it again.
    pub async fn run_until_signal(&self) -> std::io::Result<()> {
        let mut signals = Signals::listen()?;
        tokio::select! {
            stopped = self.stopped() => return ended(stopped),
            () = signals.next() => {}
        }
        tracing::info!("asked to stop; a second signal stops at once");
        self.shared.send(Message::Stop);
        tokio::select! {
            stopped = self.stopped() => return ended(stopped),
            () = signals.next() => {}
        }
        self.shared.send(Message::StopNow);
        ended(self.stopped().await)
    }

    /// The identity of this worker in the cluster.
    pub fn node(&self) -> NodeId {
        self.shared.node()
    }

    /// The queues it serves.
    pub fn queues(&self) -> &[String] {
        &self.shared.queues
    }

    /// What it has done so far.
    pub fn stats(&self) -> WorkerStats {
        stats(&self.shared)
    }

    /// How often user code that fails no attempt has panicked in this runtime, by component: `retry policy`, `sanitizer`,
    /// `middleware`, `sink`, `health check`, `condition`, `resolver`.
    pub fn panics(&self) -> BTreeMap<&'static str, u64> {
        self.shared.core.panics.by_component()
    }

    /// Whether the claim loop turns and some handler thread is free. If not, restart the process.
    pub fn liveness(&self) -> Health {
        liveness(&self.shared)
    }

    /// Whether it takes work.
    pub fn readiness(&self) -> Health {
        readiness(&self.shared)
    }
}

/// An engine that died is an error.
fn ended(stopped: Stopped) -> std::io::Result<()> {
    match stopped {
        Stopped::Requested => Ok(()),
        Stopped::Died(died) => Err(std::io::Error::other::<EngineDied>(died)),
    }
}

/// Every state that some job needs and nobody registered.
fn missing_states(core: &Core) -> Vec<String> {
    let mut missing = Vec::new();
    for job in core.resolver.all() {
        for injection in job.def.injections {
            if let Need::State { id, name } = (injection.need)()
                && !core.states.contains(id)
            {
                missing
                    .push(format!("job `{}` ({}) needs `{name}`", job.def.name, job.def.location));
            }
        }
    }
    missing
}

/// A worker could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// States that jobs need and nobody registered, all of them.
    #[error("a worker cannot start; call `.state(value)` on the builder for each of these:\n  {}", .0.join("\n  "))]
    MissingStates(Vec<String>),
    /// No job is registered.
    #[error(
        "a worker cannot start: no job is registered; if another crate defines them, name it in this program (`use my_jobs as _;`)"
    )]
    NoJobs,
    /// There is no tokio runtime for the handlers.
    #[error("a worker cannot start outside of a tokio runtime: its handlers need one")]
    NoRuntime,
    /// The engine's thread could not be started.
    #[error("the engine's thread could not be started: {0}")]
    Thread(#[source] std::io::Error),
    /// The store failed.
    #[error("a worker cannot start: {0}")]
    Store(#[from] StoreError),
}
