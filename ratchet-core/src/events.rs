//! What happened, told after the commit.

mod progress;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use self::progress::Progress;
use crate::model::{
    BreakerChange, CancelCause, Deferral, Envelope, FailureRecord, GroupCounts, GroupId, GroupKind,
    GroupRecord, JobId, NewJob, NodeId, Vertex,
};

/// The job an event speaks of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRef {
    /// The job.
    pub id: JobId,
    /// Its name.
    pub name: Arc<str>,
    /// Its queue.
    pub queue: Arc<str>,
}

impl JobRef {
    /// References to new jobs. Neighbours of one name and queue share them: ten thousand children cost no more than one.
    pub(crate) fn of_all(jobs: &[NewJob]) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::with_capacity(jobs.len());
        for NewJob { id, spec, .. } in jobs {
            let alike = |last: &&Self| *last.name == *spec.name && *last.queue == *spec.queue;
            let (name, queue) = match all.last().filter(alike) {
                Some(last) => (Arc::clone(&last.name), Arc::clone(&last.queue)),
                None => (spec.name.as_str().into(), spec.queue.as_str().into()),
            };
            all.push(Self { id: *id, name, queue });
        }
        all
    }
}

/// The chain, batch or workflow an event speaks of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupRef {
    /// The group.
    pub id: GroupId,
    /// What kind.
    pub kind: GroupKind,
    /// What it is called.
    pub name: Arc<str>,
}

/// What happened. Published after the store has committed it, never before.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A job was stored.
    Submitted {
        /// The job.
        job: JobRef,
    },
    /// A run began.
    Started {
        /// The job.
        job: JobRef,
        /// The number of the attempt; the first is 1.
        attempt: u32,
        /// How long it had waited since it was due.
        queue_wait: Duration,
    },
    /// A job succeeded.
    Succeeded {
        /// The job.
        job: JobRef,
        /// How long the run took.
        duration: Duration,
    },
    /// An attempt failed.
    Failed {
        /// The job.
        job: JobRef,
        /// The number of the attempt.
        attempt: u32,
        /// What went wrong.
        error: FailureRecord,
        /// Whether another attempt follows.
        will_retry: bool,
    },
    /// Another attempt is scheduled.
    Retrying {
        /// The job.
        job: JobRef,
        /// The number of the attempt that failed.
        attempt: u32,
        /// What went wrong.
        error: FailureRecord,
        /// When the next attempt is due.
        next: Timestamp,
    },
    /// A job went to the dead-letter queue.
    DeadLettered {
        /// The job.
        job: JobRef,
        /// Its terminal envelope.
        envelope: Box<Envelope>,
    },
    /// A job was called off.
    Canceled {
        /// The job.
        job: JobId,
        /// Why.
        cause: CancelCause,
    },
    /// A job was set aside.
    Paused {
        /// The job.
        job: JobId,
    },
    /// A job was let go on.
    Resumed {
        /// The job.
        job: JobId,
    },
    /// A failed job is tried again from the start.
    Retried {
        /// The job.
        job: JobId,
    },
    /// A handler asked for more time.
    Snoozed {
        /// The job.
        job: JobRef,
        /// When it is due again.
        next: Timestamp,
    },
    /// A handler could not take a job, or its breaker was open.
    Rejected {
        /// The job.
        job: JobRef,
        /// What put it off.
        by: Deferral,
        /// Why, in words.
        why: String,
        /// When it is due again.
        next: Timestamp,
    },
    /// A worker that stops gave a job back.
    Released {
        /// The job.
        job: JobRef,
    },
    /// A run took longer than its timeout.
    TimedOut {
        /// The job.
        job: JobRef,
        /// The timeout.
        limit: Duration,
        /// The handler could not be stopped and still runs.
        runaway: bool,
    },
    /// A run has used most of its time.
    SoftTimeout {
        /// The job.
        job: JobRef,
        /// How long it has run.
        after: Duration,
    },
    /// A job of a dead worker was brought back, or given up as poison.
    Orphaned {
        /// The job.
        job: JobRef,
        /// The node that died.
        node: NodeId,
        /// How often this job has lost its worker.
        crashes: u32,
    },
    /// A run ended after somebody else had moved its job; what it returned was discarded.
    Stale {
        /// The job.
        job: JobRef,
    },
    /// The callback of a job failed for good.
    CallbackFailed {
        /// The callback.
        job: JobRef,
        /// The job it was to follow.
        parent: JobId,
    },
    /// The breaker of a service opened: its jobs wait.
    BreakerOpened {
        /// The service.
        service: String,
        /// When probes are let through; without it, when an operator says so.
        until: Option<Timestamp>,
    },
    /// The breaker of a service closed.
    BreakerClosed {
        /// The service.
        service: String,
    },
    /// A child of a batch has ended, and others have not.
    BatchProgress {
        /// The batch.
        group: GroupRef,
        /// How its children stand.
        counts: GroupCounts,
    },
    /// The last child of a batch has ended.
    BatchCompleted {
        /// The batch.
        group: GroupRef,
        /// How its children ended.
        counts: GroupCounts,
    },
    /// Every step of a chain has succeeded.
    ChainCompleted {
        /// The chain.
        group: GroupRef,
    },
    /// A step of a chain has failed, and the rest was called off.
    ChainFailed {
        /// The chain.
        group: GroupRef,
        /// What that goes back to.
        root_cause: Option<Vertex>,
    },
    /// A workflow has come to its end, and no step has failed.
    WorkflowCompleted {
        /// The workflow.
        group: GroupRef,
    },
    /// A workflow has come to its end, and a step has failed.
    WorkflowFailed {
        /// The workflow.
        group: GroupRef,
        /// What that goes back to.
        root_cause: Option<Vertex>,
    },
    /// A chain or workflow was called off, or a step of it was.
    GroupCanceled {
        /// The group.
        group: GroupRef,
    },
    /// A settled run left something undone: an oversized result, a child whose key was taken.
    Warning {
        /// The job.
        job: JobRef,
        /// What.
        warning: String,
    },
}

impl Event {
    pub(crate) fn of_breaker(service: &str, change: BreakerChange) -> Self {
        let service = service.to_owned();
        match change {
            BreakerChange::Opened { until } => Self::BreakerOpened { service, until },
            BreakerChange::Closed => Self::BreakerClosed { service },
        }
    }

    /// The job it speaks of; `None` if it speaks of a group or a service.
    pub fn job_id(&self) -> Option<JobId> {
        match self {
            Self::Submitted { job }
            | Self::Started { job, .. }
            | Self::Succeeded { job, .. }
            | Self::Failed { job, .. }
            | Self::Retrying { job, .. }
            | Self::DeadLettered { job, .. }
            | Self::Snoozed { job, .. }
            | Self::Rejected { job, .. }
            | Self::Released { job }
            | Self::TimedOut { job, .. }
            | Self::SoftTimeout { job, .. }
            | Self::Orphaned { job, .. }
            | Self::Stale { job }
            | Self::CallbackFailed { job, .. }
            | Self::Warning { job, .. } => Some(job.id),
            Self::Canceled { job, .. }
            | Self::Paused { job }
            | Self::Resumed { job }
            | Self::Retried { job } => Some(*job),
            Self::BatchProgress { .. }
            | Self::BatchCompleted { .. }
            | Self::ChainCompleted { .. }
            | Self::ChainFailed { .. }
            | Self::WorkflowCompleted { .. }
            | Self::WorkflowFailed { .. }
            | Self::GroupCanceled { .. }
            | Self::BreakerOpened { .. }
            | Self::BreakerClosed { .. } => None,
        }
    }
}

/// The broadcast of events. Publishing never waits: a subscriber that falls behind loses the oldest and is told.
#[derive(Debug, Clone)]
pub(crate) struct Events {
    /// Made for the first subscriber: its room takes a megabyte, and most processes have none.
    sender: Arc<OnceLock<broadcast::Sender<Event>>>,
    lagged: Arc<AtomicU64>,
    /// Submits on their way to the store. A worker of this process may claim a job before its submit has heard of the
    /// commit; then the worker tells of the submit, so that `Submitted` always comes before `Started`.
    submitting: Arc<Mutex<BTreeMap<JobId, JobRef>>>,
    progress: Arc<Mutex<Progress>>,
}

impl Events {
    /// How many events a subscriber may be behind.
    const ROOM: usize = 4096;

    pub(crate) fn new() -> Self {
        Self {
            sender: Arc::default(),
            lagged: Arc::default(),
            submitting: Arc::default(),
            progress: Arc::default(),
        }
    }

    /// Publishes what `event` makes, if anybody listens.
    pub(crate) fn publish(&self, event: impl FnOnce() -> Event) {
        if let Some(sender) = self.heard() {
            // The last subscriber may have gone in between; nobody is there to miss it.
            let _ = sender.send(event());
        }
    }

    /// The sender, if anybody listens.
    fn heard(&self) -> Option<&broadcast::Sender<Event>> {
        self.sender.get().filter(|sender| sender.receiver_count() > 0)
    }

    /// Submits are about to go to the store. What has not been told when the guard goes came to nothing.
    pub(crate) fn expect_submits(&self, jobs: impl Iterator<Item = JobRef>) -> Expected<'_> {
        let mut ids = Vec::new();
        if self.heard().is_some() {
            let mut submitting = self.submitting();
            for job in jobs {
                ids.push(job.id);
                submitting.insert(job.id, job);
            }
        }
        Expected { events: self, ids }
    }

    /// A submit is committed, says its caller or a worker that has claimed the job. Told once.
    pub(crate) fn submitted(&self, id: JobId) {
        if let Some(job) = self.submitting().remove(&id) {
            self.publish(|| Event::Submitted { job });
        }
    }

    /// A settle has moved a batch. Told unless something newer was: the lock is held until it is said.
    pub(crate) fn progressed(&self, batch: &GroupRecord, event: Event) {
        if self.heard().is_some() {
            let mut progress = self.progress();
            let news = progress.is_news(batch.id, batch.counts.ended());
            if news || batch.state.is_ended() {
                self.publish(|| event);
            }
        }
    }

    /// An order has changed a batch: it may be less far than it was told to be.
    pub(crate) fn ordered(&self, batch: GroupId) {
        self.progress().forget(batch);
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn submitting(&self) -> MutexGuard<'_, BTreeMap<JobId, JobRef>> {
        self.submitting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn subscribe(&self) -> EventStream {
        let sender = self.sender.get_or_init(|| broadcast::channel(Self::ROOM).0);
        EventStream { receiver: sender.subscribe(), lagged: Arc::clone(&self.lagged) }
    }

    pub(crate) fn lagged(&self) -> u64 {
        self.lagged.load(Ordering::Relaxed)
    }
}

/// Submits on their way; also gone when the caller drops its future half-way.
pub(crate) struct Expected<'a> {
    events: &'a Events,
    ids: Vec<JobId>,
}

impl Drop for Expected<'_> {
    fn drop(&mut self) {
        if !self.ids.is_empty() {
            let mut submitting = self.events.submitting();
            for id in &self.ids {
                submitting.remove(id);
            }
        }
    }
}

/// A subscription to events of this process, from now on.
#[derive(Debug)]
pub struct EventStream {
    receiver: broadcast::Receiver<Event>,
    lagged: Arc<AtomicU64>,
}

impl EventStream {
    /// The next event; `None` when the runtime is gone. Events lost to slowness are skipped and counted.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            match self.receiver.recv().await {
                Ok(event) => return Some(event),
                Err(RecvError::Lagged(missed)) => {
                    self.lagged.fetch_add(missed, Ordering::Relaxed);
                }
                Err(RecvError::Closed) => return None,
            }
        }
    }

    /// The next event that has already happened, without waiting.
    pub fn try_next(&mut self) -> Option<Event> {
        loop {
            match self.receiver.try_recv() {
                Ok(event) => return Some(event),
                Err(broadcast::error::TryRecvError::Lagged(missed)) => {
                    self.lagged.fetch_add(missed, Ordering::Relaxed);
                }
                Err(_) => return None,
            }
        }
    }
}
