//! Events of a process, published after the commit.

mod progress;

use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use self::progress::Progress;
use ratchet_store::model::{
    BreakerChange, CancelCause, Deferral, Envelope, FailureRecord, GroupCounts, GroupId, GroupKind,
    GroupRecord, JobId, NewJob, NodeId, Vertex,
};

/// The job that an event is about.
///
/// ```
/// # mod ratchet { pub use ratchet_core::{self as manage, *}; }
/// use ratchet::Event;
/// use ratchet::manage::JobRef;
///
/// fn dead_letter(event: &Event) -> Option<&JobRef> {
///     if let Event::DeadLettered { job, .. } = event { Some(job) } else { None }
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JobRef {
    /// The id of the job.
    pub id: JobId,
    /// The name of the job.
    pub name: Arc<str>,
    /// The queue of the job.
    pub queue: Arc<str>,
}

impl JobRef {
    /// Creates references to new jobs. Consecutive jobs with the same name and queue share their strings.
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

/// The chain, batch or workflow that an event is about.
///
/// ```
/// # mod ratchet { pub use ratchet_core::*; }
/// # async fn demo(ratchet: ratchet_core::Ratchet) {
/// use ratchet::Event;
///
/// let mut events = ratchet.events();
/// while let Some(event) = events.next().await {
///     if let Event::BatchProgress { group, counts } = event {
///         println!("{} {}: {:.0} %", group.kind, group.name, counts.percent());
///     }
/// }
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GroupRef {
    /// The id of the group.
    pub id: GroupId,
    /// The kind of group.
    pub kind: GroupKind,
    /// The name of the group.
    pub name: Arc<str>,
}

/// An event. Published after the store has committed it, never before.
///
/// ```
/// # mod ratchet { pub use ratchet_core::*; }
/// use ratchet::{Event, JobId};
///
/// // What a page shows live about one job.
/// fn news(event: &Event, shown: JobId) -> Option<String> {
///     match event {
///         event if event.job_id() != Some(shown) => None,
///         Event::Started { attempt, .. } => Some(format!("attempt {attempt} has started")),
///         Event::Retrying { error, next, .. } => Some(format!("{}, again at {next}", error.message)),
///         Event::Succeeded { duration, .. } => Some(format!("it succeeded after {duration:?}")),
///         _ => None,
///     }
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// A job was stored.
    Submitted {
        /// The submitted job.
        job: JobRef,
    },
    /// A run started.
    Started {
        /// The job that runs.
        job: JobRef,
        /// The number of the attempt, starting at 1.
        attempt: u32,
        /// How long the job had waited since it was due.
        queue_wait: Duration,
    },
    /// A job succeeded.
    Succeeded {
        /// The job that succeeded.
        job: JobRef,
        /// How long the run took.
        duration: Duration,
    },
    /// An attempt failed.
    ///
    /// Every failed attempt publishes this event. If another attempt follows, [`Event::Retrying`] comes after it with the
    /// time of that attempt, so a subscriber that counts failures must ignore one of the two.
    Failed {
        /// The job whose attempt failed.
        job: JobRef,
        /// The number of the failed attempt.
        attempt: u32,
        /// The failure.
        error: FailureRecord,
        /// Whether another attempt follows.
        will_retry: bool,
    },
    /// Another attempt is scheduled.
    Retrying {
        /// The job that is retried.
        job: JobRef,
        /// The number of the failed attempt.
        attempt: u32,
        /// The failure.
        error: FailureRecord,
        /// When the next attempt is due.
        next: Timestamp,
    },
    /// A job went to the dead-letter queue.
    DeadLettered {
        /// The job that failed.
        job: JobRef,
        /// The terminal envelope.
        envelope: Box<Envelope>,
    },
    /// A job was canceled.
    Canceled {
        /// The canceled job.
        job: JobId,
        /// Why it was canceled.
        cause: CancelCause,
    },
    /// A job was paused.
    Paused {
        /// The paused job.
        job: JobId,
    },
    /// A job was resumed.
    Resumed {
        /// The resumed job.
        job: JobId,
    },
    /// A failed job was retried manually.
    Retried {
        /// The retried job.
        job: JobId,
    },
    /// A handler requested to run again later.
    Snoozed {
        /// The deferred job.
        job: JobRef,
        /// When the job is due again.
        next: Timestamp,
    },
    /// A handler could not accept a job, or its breaker was open.
    Rejected {
        /// The deferred job.
        job: JobRef,
        /// The kind of deferral.
        by: Deferral,
        /// The reason as text.
        why: String,
        /// When the job is due again.
        next: Timestamp,
    },
    /// A worker returned a job to the queue at shutdown.
    Released {
        /// The released job.
        job: JobRef,
    },
    /// A run exceeded its timeout.
    TimedOut {
        /// The job that timed out.
        job: JobRef,
        /// The timeout.
        limit: Duration,
        /// Whether the handler could not be stopped and is still running.
        runaway: bool,
    },
    /// A run exceeded its soft timeout.
    SoftTimeout {
        /// The job that is still running.
        job: JobRef,
        /// How long it has run.
        after: Duration,
    },
    /// A job of a dead worker was rescued or became a dead letter.
    Orphaned {
        /// The orphaned job.
        job: JobRef,
        /// The node that died.
        node: NodeId,
        /// The number of crashes of this job.
        crashes: u32,
    },
    /// The result of a run was discarded, because the job had moved on in the meantime.
    Stale {
        /// The job of the run.
        job: JobRef,
    },
    /// The callback of a job failed permanently.
    CallbackFailed {
        /// The callback job.
        job: JobRef,
        /// The job that had finished.
        parent: JobId,
    },
    /// The breaker of a service opened. Its jobs wait.
    BreakerOpened {
        /// The name of the service.
        service: String,
        /// When the breaker half-opens; `None` if it stays open until an operator closes it.
        until: Option<Timestamp>,
    },
    /// The breaker of a service closed.
    BreakerClosed {
        /// The name of the service.
        service: String,
    },
    /// A watched schedule has not succeeded for too long.
    ScheduleOverdue {
        /// The name of the schedule.
        schedule: String,
        /// The last success, or when the watch began.
        since: Timestamp,
    },
    /// A child of a batch has ended, and others have not.
    BatchProgress {
        /// The batch that made progress.
        group: GroupRef,
        /// The number of children, by how they ended.
        counts: GroupCounts,
    },
    /// All children of a batch have ended.
    BatchCompleted {
        /// The batch that ended.
        group: GroupRef,
        /// The number of children, by how they ended.
        counts: GroupCounts,
    },
    /// All steps of a chain have succeeded.
    ChainCompleted {
        /// The chain that completed.
        group: GroupRef,
    },
    /// A step of a chain has failed, and the remaining steps were canceled.
    ChainFailed {
        /// The chain that failed.
        group: GroupRef,
        /// The origin of the failure.
        root_cause: Option<Vertex>,
    },
    /// A workflow has ended without a failed step.
    WorkflowCompleted {
        /// The workflow that completed.
        group: GroupRef,
    },
    /// A workflow has ended with a failed step.
    WorkflowFailed {
        /// The workflow that failed.
        group: GroupRef,
        /// The origin of the failure.
        root_cause: Option<Vertex>,
    },
    /// A chain or workflow was canceled, or one of its steps was.
    GroupCanceled {
        /// The canceled group.
        group: GroupRef,
    },
    /// A run was settled with a problem, such as an oversized result or a child whose key was taken.
    Warning {
        /// The job with the warning.
        job: JobRef,
        /// A description of the problem.
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

    /// Returns the id of the job that the event is about, or `None` if it is about a group, a service or a
    /// schedule.
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
            | Self::BreakerClosed { .. }
            | Self::ScheduleOverdue { .. } => None,
        }
    }
}

/// The broadcast of events. Publishing never blocks: a subscriber that falls behind loses the oldest events, which are
/// counted.
#[derive(Debug, Clone)]
pub(crate) struct Events {
    /// Created for the first subscriber, because its buffer takes about a megabyte and most processes have none.
    sender: Arc<OnceLock<broadcast::Sender<Event>>>,
    lagged: Arc<AtomicU64>,
    /// Submissions in flight. A worker of this process may claim a job before its submission has received the reply to
    /// its commit. The worker then publishes `Submitted`, so that it always precedes `Started`.
    submitting: Arc<Mutex<BTreeMap<JobId, JobRef>>>,
    progress: Arc<Mutex<Progress>>,
}

impl Events {
    /// The number of events buffered per subscriber.
    const ROOM: usize = 4096;

    pub(crate) fn new() -> Self {
        Self {
            sender: Arc::default(),
            lagged: Arc::default(),
            submitting: Arc::default(),
            progress: Arc::default(),
        }
    }

    /// Publishes the event returned by `event`, if there are subscribers.
    pub(crate) fn publish(&self, event: impl FnOnce() -> Event) {
        if let Some(sender) = self.heard() {
            // An error means that the last subscriber has just left.
            let _ = sender.send(event());
        }
    }

    /// Returns the sender if there are subscribers.
    fn heard(&self) -> Option<&broadcast::Sender<Event>> {
        self.sender.get().filter(|sender| sender.receiver_count() > 0)
    }

    /// Registers submissions before they are sent to the store. When the guard is dropped, those not published yet are
    /// discarded.
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

    /// Publishes `Submitted` once, when the caller or a worker that claimed the job knows that it is committed.
    pub(crate) fn submitted(&self, id: JobId) {
        if let Some(job) = self.submitting().remove(&id) {
            self.publish(|| Event::Submitted { job });
        }
    }

    /// Publishes the progress of a batch, unless newer progress was published. The lock is held until the event is
    /// sent.
    pub(crate) fn progressed(&self, batch: &GroupRecord, event: Event) {
        if self.heard().is_some() {
            let mut progress = self.progress();
            let news = progress.is_news(batch.id, batch.counts.ended());
            if news || batch.state.is_ended() {
                self.publish(|| event);
            }
        }
    }

    /// Resets the progress of a batch after a command, which may have reduced it.
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

/// Registered submissions. Also removed if the caller drops its future before the submission completes.
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

/// A subscription to the events of this process, starting with the next one.
///
/// ```
/// # mod ratchet { pub use ratchet_core::Event; }
/// # async fn demo(ratchet: ratchet_core::Ratchet) {
/// use ratchet::Event;
///
/// let mut events = ratchet.events();
/// while let Some(event) = events.next().await {
///     if let Event::Succeeded { job, .. } = event {
///         println!("{} has succeeded", job.name);
///     }
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct EventStream {
    receiver: broadcast::Receiver<Event>,
    lagged: Arc<AtomicU64>,
}

impl EventStream {
    /// Waits for the next event. Returns `None` when the runtime is gone. Events lost because the subscriber was too
    /// slow are skipped and counted.
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

    /// Like [`Self::next`], but blocks the thread.
    pub(crate) fn blocking_next(&mut self) -> Option<Event> {
        loop {
            match self.receiver.blocking_recv() {
                Ok(event) => return Some(event),
                Err(RecvError::Lagged(missed)) => {
                    self.lagged.fetch_add(missed, Ordering::Relaxed);
                }
                Err(RecvError::Closed) => return None,
            }
        }
    }

    /// Returns the next event without waiting, or `None` if there is none.
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
