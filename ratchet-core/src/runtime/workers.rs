//! [`Workers`]: the workers of a process, for its health and its metrics.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use super::Health;

/// What a worker reports about itself.
pub(crate) trait WorkerStatus: fmt::Debug + Send + Sync {
    /// Returns whether the worker has stopped as it was requested.
    fn is_over(&self) -> bool;

    /// Returns whether the engine works. Must not use the store.
    fn liveness(&self) -> Health;

    /// Returns whether the worker can take work. Must not use the store.
    fn readiness(&self) -> Health;

    /// Returns the gauges of the worker.
    fn gauges(&self) -> WorkerGauges;
}

/// The gauges of a worker.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WorkerGauges {
    pub(crate) capacity: u32,
    pub(crate) runaways: u64,
    pub(crate) suspects: u64,
    pub(crate) unreadable: u64,
    /// Outcomes that are not stored yet.
    pub(crate) held: u64,
    pub(crate) lease_left: Duration,
    pub(crate) sweep_age: Duration,
}

/// The workers that were started in this process.
#[derive(Debug, Default)]
pub(crate) struct Workers(Mutex<Vec<Weak<dyn WorkerStatus>>>);

impl Workers {
    pub(crate) fn add(&self, worker: Weak<dyn WorkerStatus>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
    }

    /// Returns the workers that have not stopped.
    pub(crate) fn all(&self) -> Vec<Arc<dyn WorkerStatus>> {
        let mut workers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = Vec::new();
        workers.retain(|worker| {
            let worker = worker.upgrade().filter(|worker| !worker.is_over());
            let is_there = worker.is_some();
            all.extend(worker);
            is_there
        });
        all
    }

    /// Returns whether every worker is live. A process without a worker is live.
    pub(crate) fn liveness(&self) -> Health {
        let all = self.all();
        let live = all.iter().map(|worker| worker.liveness());
        live.reduce(Health::and).unwrap_or_else(|| Health::of(Vec::new(), Vec::new()))
    }

    /// Returns whether every worker is ready. A process without a worker is not ready.
    pub(crate) fn readiness(&self) -> Health {
        let all = self.all();
        let ready = all.iter().map(|worker| worker.readiness());
        ready.reduce(Health::and).unwrap_or_else(|| {
            let problem = "no worker is running in this process".to_owned();
            Health { problems: vec![problem], ..Health::default() }
        })
    }
}
