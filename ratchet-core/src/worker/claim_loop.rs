//! The claim loop: claims jobs, launches their runs, checks their deadlines and settles them.
//!
//! Several exchanges with the store may be in flight, so that one can make progress while another waits for the disk.
//! Meanwhile the loop continues to handle deadlines and messages. A store that hangs therefore delays only claims and
//! settlements.

mod next_exchange;
mod rejection;
mod runaway;
mod stop;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use tokio::sync::broadcast;

use self::next_exchange::Competition;
use self::runaway::Undecided;
use self::stop::Stop;
use super::attempt::AttemptResult;
use super::capacity::QueueCapacity;
use super::claim_pacing::ClaimPacer;
use super::exchange::{Exchange, Exchanged};
use super::launch::Launched;
use super::mailbox::Message;
use super::publish::job_ref;
use super::run_limits::RunLimits;
use super::running::{Due, Run, RunningJobs};
use super::settler::{PendingSettlement, Settler};
use super::shared::Shared;
use super::suspects::RunningSuspects;
use crate::events::Event;
use ratchet_store::Wake;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{ClaimReply, Claimed, Settlement, Suspicion, Token};

/// The loop and the state that only it may access.
#[derive(Debug)]
pub(super) struct ClaimLoop {
    shared: Arc<Shared>,
    /// `None` if the store has closed the channel. The loop then relies on polling.
    wakes: Option<broadcast::Receiver<Wake>>,
    capacity: QueueCapacity,
    running_jobs: RunningJobs,
    settler: Settler,
    pacer: ClaimPacer,
    /// Runs that ended late or were canceled. The store may now release their slots and keys.
    holds_to_release: Vec<Token>,
    /// Runs whose settlement as lingering is not confirmed yet. Their slots must not be released before: the release
    /// would have no effect, and the later settlement would hold the slots until the node leaves.
    unsettled_lingering: BTreeSet<Token>,
    suspects: RunningSuspects,
    /// A claim skipped a due job because it must run isolated. Let all runs finish, then claim it.
    isolated_waiting: bool,
    competition: Competition,
    in_flight: InFlight,
    /// Runs whose handler does not stop and that wait for the verdict on their outcome.
    undecided: FuturesUnordered<Undecided>,
    limits: RunLimits,
    stop: Option<Stop>,
}

/// The exchanges and claims in flight.
#[derive(Debug, Default)]
struct InFlight {
    exchanges: usize,
    claims: usize,
}

/// How many exchanges may be in flight.
const MAX_EXCHANGES: usize = 3;

impl ClaimLoop {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let wakes = Some(shared.core.store.subscribe_wakeups());
        let mut capacity = QueueCapacity::new(&shared.queues, &shared.core.config);
        // Guarded queues stay closed until the first health checks have passed.
        let guarded = |queue: &&String| shared.core.checks.iter().any(|check| check.guards(queue));
        capacity.checked(&shared.queues.iter().filter(guarded).cloned().collect(), 0);
        let poll = shared.core.config.poll_interval;
        let suspects = RunningSuspects::new(shared.core.config.isolate_after_crashes);
        let limits = RunLimits::new(&shared.core.config, shared.core.clock.monotonic());
        Self {
            shared,
            wakes,
            capacity,
            running_jobs: RunningJobs::default(),
            settler: Settler::default(),
            pacer: ClaimPacer::new(poll),
            holds_to_release: Vec::new(),
            unsettled_lingering: BTreeSet::new(),
            suspects,
            isolated_waiting: false,
            competition: Competition::default(),
            in_flight: InFlight::default(),
            undecided: FuturesUnordered::new(),
            limits,
            stop: None,
        }
    }

    /// Runs until the worker has stopped.
    pub(super) async fn run(mut self) {
        let shared = Arc::clone(&self.shared);
        let mut exchanges = FuturesUnordered::<Exchange>::new();
        loop {
            shared.record_tick();
            for message in shared.mailbox.take() {
                self.take(message);
            }
            self.watch_the_clock();
            if self.is_done() {
                break;
            }
            while self.in_flight.exchanges < MAX_EXCHANGES
                && let Some(exchange) = self.next_exchange()
            {
                self.in_flight.exchanges += 1;
                exchanges.push(exchange);
            }
            let timer = self.shared.core.clock.sleep(self.next_wait());
            let wake_threshold = self.wake_threshold();
            tokio::select! {
                biased;
                Some(done) = exchanges.next() => {
                    self.in_flight.exchanges -= 1;
                    self.exchanged(done);
                }
                Some(decided) = self.undecided.next() => self.settler.push(decided, self.now()),
                () = shared.mailbox.wait_for(wake_threshold) => {}
                wake = next_wake(self.wakes.as_mut()) => {
                    self.wake(wake);
                    // A batch can send hundreds of wake-ups at once. Handle them in one iteration.
                    while let Some(Ok(wake)) = self.wakes.as_mut().map(broadcast::Receiver::try_recv) {
                        self.wake(Ok(wake));
                    }
                }
                () = timer => {}
            }
        }
        self.leave().await;
    }

    fn now(&self) -> Duration {
        self.shared.core.clock.monotonic()
    }

    /// Handles soft timeouts, runs that do not stop, and the end of the grace period of a stopping worker.
    fn watch_the_clock(&mut self) {
        let now = self.now();
        let core = Arc::clone(&self.shared.core);
        for due in self.running_jobs.tick(now, &core.config) {
            match due {
                Due::Soft(job, after) => {
                    tracing::warn!(job.id = %job.id(), job.name = %job.spec.name, ?after, "a run has used most of its timeout");
                    core.meter.soft_timeout(&job);
                    core.events.publish(|| Event::SoftTimeout { job: job_ref(&job), after });
                }
                Due::Runaway(token, cause) => self.give_up_on(token, cause, now),
            }
        }
        if self.capacity.end_rests(now) {
            self.shared.set_resting(self.capacity.rests());
            self.pacer.on_wakeup();
        }
        self.complete_if_done(now);
        self.count();
        if let Some(stop) = self.stop.filter(|stop| !stop.released && now >= stop.until) {
            self.running_jobs.release_all(now, &core.config);
            self.stop = Some(Stop { released: true, ..stop });
        }
    }

    fn exchanged(&mut self, done: Exchanged) {
        let now = self.now();
        let shared = Arc::clone(&self.shared);
        let requested = done.requested();
        let refused = !done.still_held.is_empty();
        self.holds_to_release.extend(done.still_held);
        for token in done.lingering {
            self.unsettled_lingering.remove(&token);
        }
        let mut reserved = false;
        if let Some(asked) = &done.asked {
            self.in_flight.claims -= 1;
            reserved = self.suspects.answered(asked.suspects);
            let claimed = done.claimed.as_ref().map(claimed_by_queue);
            self.capacity.answered(&asked.queues, claimed.as_ref());
        }
        if done.claimed.is_none() && done.asked.is_some() {
            self.limits.answered(requested, None);
        }
        if done.failed {
            self.settler.failed(done.unsettled, now, shared.core.entropy.next_u64());
            self.pacer.assume_work();
            return;
        }
        if done.settled {
            self.settler.done();
        }
        self.settler.blocked(done.blocked, now);
        if refused {
            // Back off, so that a store that is down is not called without a pause.
            self.settler.failed(Vec::new(), now, shared.core.entropy.next_u64());
        }
        self.competition.seen(done.competing);
        let Some(reply) = done.claimed else { return };
        self.isolated_waiting = reply.isolated_waiting;
        shared.counters.claimed.fetch_add(reply.jobs.len() as u64, Ordering::Relaxed);
        shared.core.meter.claimed(reply.jobs.len());
        let seed = shared.core.entropy.next_u64();
        self.pacer.on_reply(now, !reply.jobs.is_empty(), reply.next_due, seed);
        if reply.suspects_waiting && !reserved {
            // Another claim held the reservation. It may have been answered before these jobs were due.
            self.pacer.assume_work();
        }
        // While the claim was in flight, the worker may have begun to stop, fenced itself, become quiet, or lost
        // its last free thread.
        let closed = self.stop.is_some()
            || shared.fenced.load(Ordering::Relaxed)
            || shared.quiet.load(Ordering::Relaxed)
            || shared.stalled.load(Ordering::Relaxed);
        let node = shared.node();
        let mut launched = Vec::with_capacity(reply.jobs.len());
        if !reply.jobs.is_empty() {
            crash_point(CrashPoint::ClaimAnswered);
        }
        for job in reply.jobs {
            // Claimed under a node id whose lease has expired since. Another node may already have rescued the job.
            let lost = job.node != node;
            if closed || lost || self.capacity.is_closed(&job.spec.queue) {
                self.give_back(job, now);
                continue;
            }
            launched.push(self.launch(job, now));
        }
        self.limits.answered(requested, Some(u32::try_from(launched.len()).unwrap_or(u32::MAX)));
        if launched.is_empty() {
            self.note_empty_claim(!done.settled && !closed);
        }
        shared.start(launched);
        self.count();
    }

    /// Returns a job whose handler was not started to the queue.
    fn give_back(&mut self, job: Claimed, now: Duration) {
        let settlement = Settlement::release(job.token);
        self.settler.push(PendingSettlement { job: Arc::new(job), settlement }, now);
    }

    fn launch(&mut self, job: Claimed, now: Duration) -> Launched {
        let job = Arc::new(job);
        self.capacity.acquire(&job.spec.queue);
        if self.suspects.started(job.token, job.crashes) == Suspicion::Isolated {
            tracing::warn!(job.id = %job.id(), job.name = %job.spec.name, crashes = job.crashes, "a job runs isolated because workers have crashed while it ran; this worker claims no other job meanwhile");
        }
        let core = &self.shared.core;
        core.events.submitted(job.id());
        core.events.publish(|| Event::Started {
            job: job_ref(&job),
            attempt: job.attempt(),
            queue_wait: job.queue_wait(),
        });
        let in_flight = core.meter.started(&job);
        let (ctx, launched) = self.shared.launch(job);
        self.running_jobs.insert(ctx, in_flight, now);
        launched
    }

    fn take(&mut self, message: Message) {
        let now = self.now();
        let shared = Arc::clone(&self.shared);
        match message {
            Message::Ended { token, ended } => self.ended(token, ended, now),
            Message::ThreadExited(token) => {
                if self.running_jobs.is_runaway(token) {
                    self.land(token);
                    self.holds_to_release.push(token);
                }
            }
            Message::Cancel(token) => self.running_jobs.cancel(token, now, &shared.core.config),
            Message::Fence => {
                shared.fenced.store(true, Ordering::Relaxed);
                self.running_jobs.release_all(now, &shared.core.config);
            }
            Message::Unfence => {
                shared.fenced.store(false, Ordering::Relaxed);
                self.pacer.assume_work();
            }
            Message::Quiet => shared.quiet.store(true, Ordering::Relaxed),
            Message::Resume => {
                shared.quiet.store(false, Ordering::Relaxed);
                self.pacer.assume_work();
            }
            Message::Health { closed, seen, results } => {
                if self.capacity.checked(&closed, seen) {
                    self.pacer.on_wakeup();
                }
                shared.set_checked(results);
            }
            Message::Swept => {
                self.limits.swept();
                self.pacer.assume_work();
            }
            Message::Stop => self.begin_stop(now, shared.core.config.shutdown_grace),
            Message::StopNow => self.begin_stop(now, Duration::ZERO),
        }
    }

    /// Handles the end of a handler's task.
    fn ended(&mut self, token: Token, ended: AttemptResult, now: Duration) {
        if self.running_jobs.is_runaway(token) {
            // The run was already settled without its handler.
            self.land(token);
            self.holds_to_release.push(token);
            return;
        }
        let lingering = match &ended {
            AttemptResult::Settle(settlement) => settlement.lingering,
            AttemptResult::Discard { lingering } => *lingering,
        };
        let Some(run) = (if lingering {
            self.linger(token)
        } else {
            self.land(token).map(|run| Arc::clone(run.job()))
        }) else {
            return;
        };
        match ended {
            AttemptResult::Settle(settlement) => {
                self.note_rejection(&run, &settlement.verdict, now);
                if settlement.lingering {
                    self.unsettled_lingering.insert(token);
                }
                self.settler.push(PendingSettlement { job: run, settlement: *settlement }, now);
            }
            AttemptResult::Discard { lingering } => {
                self.shared.core.meter.canceled_run(&run);
                if !lingering {
                    self.holds_to_release.push(token);
                }
            }
        }
    }

    /// Keeps the slot of a run whose blocking thread is still running.
    fn linger(&mut self, token: Token) -> Option<Arc<Claimed>> {
        self.running_jobs.mark_runaway(token);
        self.running_jobs.get(token).map(|run| Arc::clone(run.job()))
    }

    fn land(&mut self, token: Token) -> Option<Run> {
        let run = self.running_jobs.remove(token)?;
        self.shared.runs().remove(&token);
        self.capacity.release(&run.job().spec.queue);
        if self.suspects.ended(token) {
            self.pacer.assume_work();
        }
        Some(run)
    }

    fn wake(&mut self, wake: Result<Wake, broadcast::error::RecvError>) {
        match wake {
            Ok(Wake::Work { queue }) if self.shared.queues.contains(&queue) => {
                self.capacity.announce(&queue);
                self.pacer.on_wakeup();
            }
            Ok(Wake::Unblocked) => self.pacer.on_wakeup(),
            Ok(Wake::Canceled(token)) => self.take(Message::Cancel(token)),
            Ok(_) => {}
            // Wake-ups were missed, and one may have announced work.
            Err(broadcast::error::RecvError::Lagged(_)) => self.pacer.assume_work(),
            Err(broadcast::error::RecvError::Closed) => self.wakes = None,
        }
    }

    fn count(&self) {
        let counters = &self.shared.counters;
        counters.held.store(self.settler.len() as u64, Ordering::Relaxed);
        counters.running.store(u64::from(self.capacity.running()), Ordering::Relaxed);
        counters.suspects.store(self.suspects.len() as u64, Ordering::Relaxed);
        counters.runaways.store(self.running_jobs.runaways() as u64, Ordering::Relaxed);
    }
}

/// Counts the jobs of a reply by queue.
fn claimed_by_queue(reply: &ClaimReply) -> BTreeMap<&str, u32> {
    let mut claimed = BTreeMap::new();
    for job in &reply.jobs {
        *claimed.entry(job.spec.queue.as_str()).or_default() += 1;
    }
    claimed
}

async fn next_wake(
    wakes: Option<&mut broadcast::Receiver<Wake>>,
) -> Result<Wake, broadcast::error::RecvError> {
    match wakes {
        Some(wakes) => wakes.recv().await,
        None => std::future::pending().await,
    }
}
