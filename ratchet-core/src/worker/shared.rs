//! [`Shared`]: the state shared by the parts of a worker, and the messages to the claim loop.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::app_check::AppCheck;
use super::dead_letter::host;
use super::declarations::declarations;
use super::deliver::delivery_limit;
use super::deliveries::Deliveries;
use super::mailbox::{Mailbox, Message};
use super::run_limits::Completion;
use super::stopped::EngineDied;
use super::trouble::Trouble;
use super::verdict_counters::VerdictCounters;
use crate::job::{JobContext, RunHost};
use crate::runtime::Core;
use crate::runtime::Spawn;
use ratchet_store::model::{
    CatalogEntry, Declarations, KnownJobs, NodeId, NodeInfo, NodeRequest, Token,
};

/// The state shared by the parts of a worker.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) core: Arc<Core>,
    /// The core, as the contexts of runs see it.
    pub(super) host: Arc<dyn RunHost>,
    pub(super) spawn: Arc<dyn Spawn>,
    pub(super) known: Arc<KnownJobs>,
    /// The entries of the catalog. Built once, because the types of all jobs are traced for them.
    catalog: Arc<Vec<CatalogEntry>>,
    /// What this program declares in its code.
    pub(super) declarations: Declarations,
    pub(super) queues: Vec<String>,
    /// Messages to the claim loop.
    pub(super) mailbox: Mailbox,
    /// Triggered when the worker begins to stop. Visible to handlers.
    pub(super) stopping: Arc<CancellationToken>,
    /// Triggered when the claim loop has ended. The other parts end with it.
    pub(super) over: CancellationToken,
    /// Set when the engine has died.
    pub(super) died: OnceLock<EngineDied>,
    /// Set when the worker has stopped by itself.
    pub(super) completed: OnceLock<Completion>,
    /// Claims or settlements that currently fail.
    pub(super) trouble: Trouble,
    /// Sweeps that currently fail.
    pub(super) sweep_trouble: Trouble,
    /// When the worker was created, by the monotonic clock.
    created: Duration,
    /// When the last renewal of the lease that succeeded was sent, in microseconds of the monotonic clock.
    renewed: AtomicU64,
    pub(super) deliveries: Deliveries,
    /// Triggered when a settlement has stored something for a sink.
    pub(super) delivery_stored: Notify,
    /// Triggered when a settlement has stored a hand-off.
    pub(super) handed_off: Notify,
    /// Something was stored while a round of deliveries was in progress.
    pub(super) deliver_again: AtomicBool,
    node: Mutex<NodeId>,
    /// The runs in progress, for reporting their notes and for aborting them.
    runs: Mutex<HashMap<Token, JobContext>>,
    /// No handler thread is free.
    pub(super) stalled: AtomicBool,
    /// The node claims nothing because its lease may have expired.
    pub(super) fenced: AtomicBool,
    /// Whether an operator has requested that the node claims no jobs.
    pub(super) quiet: AtomicBool,
    /// What an operator has requested of the node.
    request: Mutex<Option<NodeRequest>>,
    /// The request of an operator that has stopped the worker.
    pub(super) stop_request: OnceLock<NodeRequest>,
    /// The last results of the health checks of the application, and when they were returned.
    checked: Mutex<(Duration, Vec<AppCheck>)>,
    /// Messages about waiting jobs that no live worker knows.
    unknown_jobs: Mutex<Vec<String>>,
    /// How many jobs are set aside because their rows cannot be read.
    pub(super) unreadable_jobs: AtomicU64,
    /// Queues from which nothing is claimed because a handler has rejected its job: until when, and after how many
    /// rejections.
    resting: Mutex<Vec<(String, Duration, u32)>>,
    /// How many health checks were requested because a handler rejected its job.
    pub(super) check_requests: AtomicU64,
    pub(super) check_requested: Notify,
    /// Whether this worker has declared what its program declares.
    pub(super) declared: AtomicBool,
    pub(super) counters: Counters,
}

/// The counters reported as [`WorkerStats`](super::WorkerStats).
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) claimed: AtomicU64,
    pub(super) settled: AtomicU64,
    pub(super) stale: AtomicU64,
    pub(super) stuck: AtomicU64,
    pub(super) verdicts: VerdictCounters,
    pub(super) rescued: AtomicU64,
    pub(super) vanished: AtomicU64,
    /// Outcomes that wait to be stored.
    pub(super) held: AtomicU64,
    pub(super) running: AtomicU64,
    pub(super) runaways: AtomicU64,
    pub(super) suspects: AtomicU64,
    /// Monotonic time of the claim loop's last iteration, in microseconds.
    pub(super) last_tick: AtomicU64,
}

impl Shared {
    pub(super) fn new(core: Arc<Core>, spawn: Arc<dyn Spawn>, queues: Vec<String>) -> Self {
        let (node, created) = (core.ids.node(), core.clock.monotonic());
        let known = Arc::new(core.known_jobs());
        let catalog = Arc::new(super::catalog::entries(&core));
        let declarations = declarations(&core);
        let host: Arc<dyn RunHost> = Arc::new(Arc::clone(&core));
        Self {
            core,
            host,
            spawn,
            known,
            catalog,
            declarations,
            queues,
            mailbox: Mailbox::default(),
            stopping: Arc::default(),
            over: CancellationToken::new(),
            died: OnceLock::new(),
            completed: OnceLock::new(),
            trouble: Trouble::default(),
            sweep_trouble: Trouble::default(),
            created,
            renewed: AtomicU64::new(micros(created)),
            deliveries: Deliveries::default(),
            delivery_stored: Notify::new(),
            handed_off: Notify::new(),
            deliver_again: AtomicBool::new(false),
            node: Mutex::new(node),
            runs: Mutex::default(),
            stalled: AtomicBool::new(false),
            fenced: AtomicBool::new(false),
            quiet: AtomicBool::new(false),
            request: Mutex::default(),
            stop_request: OnceLock::new(),
            checked: Mutex::default(),
            unknown_jobs: Mutex::default(),
            unreadable_jobs: AtomicU64::default(),
            resting: Mutex::default(),
            check_requests: AtomicU64::new(0),
            check_requested: Notify::new(),
            declared: AtomicBool::new(false),
            counters: Counters::default(),
        }
    }

    pub(super) fn node(&self) -> NodeId {
        *self.node.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the node a new id, because an expired lease cannot be renewed.
    pub(super) fn rename(&self) -> NodeId {
        let node = self.core.ids.node();
        *self.node.lock().unwrap_or_else(PoisonError::into_inner) = node;
        node
    }

    pub(super) fn info(&self) -> NodeInfo {
        let mut node = NodeInfo::new(self.node());
        node.host = host().to_owned();
        node.pid = std::process::id();
        node.binary_version = self.core.policies.binary_version.clone();
        node.declarations = self.declarations.clone();
        node.queues = self.queues.iter().cloned().collect();
        node.known = Arc::clone(&self.known);
        node.catalog = Arc::clone(&self.catalog);
        node.declared = self.declared.load(Ordering::Relaxed);
        node.request = self.request();
        node
    }

    /// Returns what an operator has requested of the node.
    pub(super) fn request(&self) -> Option<NodeRequest> {
        self.request.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Remembers what an operator requests of the node. Returns what was requested before.
    pub(super) fn set_request(&self, request: Option<NodeRequest>) -> Option<NodeRequest> {
        let mut present = self.request.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *present, request)
    }

    /// How long a sink may block its thread before it is reported. A sink that waits without blocking times out
    /// earlier.
    pub(super) fn delivery_stall(&self) -> Duration {
        delivery_limit(&self.core.config).saturating_add(Duration::from_secs(5))
    }

    pub(super) fn send(&self, message: Message) {
        self.mailbox.send(message);
    }

    pub(super) fn runs(&self) -> MutexGuard<'_, HashMap<Token, JobContext>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the results of the health checks of the application.
    pub(super) fn set_checked(&self, results: Vec<AppCheck>) {
        fn problems(results: &[AppCheck]) -> Vec<&String> {
            results.iter().filter_map(|check| check.problem.as_ref()).collect()
        }
        let now = self.core.clock.monotonic();
        let mut checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        let (before, after) = (problems(&checked.1), problems(&results));
        if before != after {
            if after.is_empty() {
                tracing::info!("the worker is healthy again");
            } else {
                tracing::warn!(problems = ?after, "the worker is unhealthy");
            }
        }
        *checked = (now, results);
    }

    /// Returns the last results of the health checks of the application, and when they were returned.
    pub(super) fn checked(&self) -> (Duration, Vec<AppCheck>) {
        self.checked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set_unknown_jobs(&self, details: Vec<String>) {
        *self.unknown_jobs.lock().unwrap_or_else(PoisonError::into_inner) = details;
    }

    pub(super) fn unknown_jobs(&self) -> Vec<String> {
        self.unknown_jobs.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set_resting(&self, queues: Vec<(String, Duration, u32)>) {
        *self.resting.lock().unwrap_or_else(PoisonError::into_inner) = queues;
    }

    /// Returns a message for every queue that rests.
    pub(super) fn resting(&self) -> Vec<String> {
        let now = self.core.clock.monotonic();
        let resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
        let message = |(queue, until, rejections): &(String, Duration, u32)| {
            let left = until.saturating_sub(now);
            format!(
                "nothing is claimed from queue `{queue}` for {left:?}: {rejections} rejections in a row"
            )
        };
        resting.iter().map(message).collect()
    }

    pub(super) fn record_tick(&self) {
        self.counters.last_tick.store(micros(self.core.clock.monotonic()), Ordering::Relaxed);
    }

    /// Records a renewal of the lease that was sent at `sent`.
    pub(super) fn record_renewal(&self, sent: Duration) {
        self.renewed.store(micros(sent), Ordering::Relaxed);
    }

    /// Returns the time since the worker was created.
    pub(super) fn age(&self, now: Duration) -> Duration {
        now.saturating_sub(self.created)
    }

    /// Returns the time since the last renewal of the lease was sent.
    pub(super) fn since_renewal(&self) -> Duration {
        let renewed = Duration::from_micros(self.renewed.load(Ordering::Relaxed));
        self.core.clock.monotonic().saturating_sub(renewed)
    }

    pub(super) fn since_last_tick(&self) -> Duration {
        let last = Duration::from_micros(self.counters.last_tick.load(Ordering::Relaxed));
        self.core.clock.monotonic().saturating_sub(last)
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
