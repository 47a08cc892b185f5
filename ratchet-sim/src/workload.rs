//! The actions of clients, at times derived from the seed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fastrand::Rng;
use ratchet_core::{
    AfterFailure, Bulk, BulkVerb, Canary, Clock as _, Enqueue, Filter, GroupHandle, Job, JobHandle,
    Priority, Ratchet, Redrive, StepOptions, SubmitError,
};
use ratchet_store::Store as _;
use ratchet_store::model::{Due, JobId};

use crate::jobs::{Block, Deed, Note, Pay, Step, Tally, Work};
use crate::world::World;

/// A process that submits jobs and commands, but runs no worker.
pub(crate) struct Client {
    pub(crate) world: Arc<World>,
    pub(crate) ratchet: Ratchet,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    jobs: Vec<JobId>,
    groups: Vec<GroupHandle>,
    /// The number of the next submit.
    next: u64,
}

/// The base of the numbers of submits with an idempotency key: the number is the base plus the key.
const KEYED: u64 = 900_000;

impl Client {
    pub(crate) fn new(world: Arc<World>, ratchet: Ratchet) -> Self {
        Self { world, ratchet, known: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn random<T>(&self, draw: impl FnOnce(&mut Rng) -> T) -> T {
        self.world.random(draw)
    }

    fn number(&self) -> u64 {
        let mut known = self.known();
        known.next += 1;
        known.next
    }

    fn asked(&self, numbers: &[u64], once: bool) {
        let mut oracle = self.world.oracle();
        numbers.iter().for_each(|number| oracle.ledger.asked(*number, once));
    }

    /// Performs a random action.
    pub(crate) async fn act(&self) {
        match self.random(|rng| rng.u8(..40)) {
            0..=8 => self.one().await,
            9..=10 => self.bulk().await,
            11..=14 => self.pay().await,
            15..=16 => self.block().await,
            17..=18 => self.chain().await,
            19..=21 => self.batch().await,
            22..=24 => self.workflow().await,
            25..=26 => self.open_batch().await,
            27..=37 => self.command().await,
            _ => self.gate().await,
        }
    }

    fn deeds(&self) -> Vec<Deed> {
        self.random(|rng| {
            let deeds = rng.usize(..5);
            (0..deeds).map(|_| deed(rng)).collect()
        })
    }

    async fn one(&self) {
        let keyed = self.random(|rng| (rng.u8(..5) == 0).then(|| rng.u64(..3)));
        let number = keyed.map_or_else(|| self.number(), |key| KEYED + key);
        // Submits with the same key must have the same arguments.
        let deeds =
            if keyed.is_some() { vec![Deed::Fail(20), Deed::Done(30)] } else { self.deeds() };
        let dress = self.random(|rng| Dress::draw(rng, keyed));
        for _ in 0..3 {
            self.asked(&[number], keyed.is_some());
            let job = Work { number, deeds: deeds.clone() };
            if !self.heard(number, dress.on(self.ratchet.enqueue(job)).await) {
                return;
            }
        }
    }

    /// Records an answer. Returns whether the client should try again.
    fn heard<J: Job>(&self, number: u64, answer: Result<JobHandle<J>, SubmitError>) -> bool {
        match answer {
            Ok(handle) => {
                self.world.oracle().ledger.reported(number, handle.id());
                self.known().jobs.push(handle.id());
                false
            }
            Err(error) => matches!(error, SubmitError::Store(_)),
        }
    }

    async fn bulk(&self) {
        let jobs: Vec<_> =
            (0..3).map(|_| Work { number: self.number(), deeds: self.deeds() }).collect();
        self.asked(&jobs.iter().map(|job| job.number).collect::<Vec<_>>(), false);
        if let Ok(answers) = self.ratchet.enqueue_many(jobs).await {
            self.known().jobs.extend(answers.iter().map(JobHandle::id));
        }
    }

    async fn pay(&self) {
        let down = self.random(Rng::bool);
        for _ in 0..3 {
            let number = self.number();
            self.asked(&[number], false);
            let deeds = if down {
                vec![Deed::Fail(10), Deed::Fail(30), Deed::Fail(5)]
            } else {
                self.deeds()
            };
            let _ = self.heard(number, self.ratchet.enqueue(Pay { number, deeds }).await);
        }
    }

    async fn block(&self) {
        let number = self.number();
        self.asked(&[number], false);
        let mut deeds = self.deeds();
        deeds.retain(|deed| matches!(deed, Deed::Done(_) | Deed::Fail(_) | Deed::Panic(_)));
        let job = self.ratchet.enqueue(Block { number, deeds });
        let job = if self.random(Rng::bool) { job.concurrency_key("two", 2) } else { job };
        let _ = self.heard(number, job.await);
    }

    fn work(&self) -> Work {
        let number = self.number();
        self.asked(&[number], false);
        Work { number, deeds: self.deeds() }
    }

    fn step(&self) -> Step {
        let number = self.number();
        self.asked(&[number], false);
        Step { number, deeds: self.deeds() }
    }

    fn tally(&self) -> Tally {
        let number = self.number();
        self.asked(&[number], false);
        Tally { number }
    }

    async fn chain(&self) {
        let chain = self.ratchet.chain(self.work()).then(self.step()).then(self.step());
        if let Ok(chain) = chain.await {
            self.known().groups.push(chain.group().clone());
        }
    }

    async fn batch(&self) {
        let jobs: Vec<_> = (0..self.random(|rng| rng.usize(..5))).map(|_| self.work()).collect();
        let batch = self.ratchet.batch("batch").jobs(jobs);
        let batch = batch.on_complete(self.tally()).on_success(self.tally());
        if let Ok(batch) = batch.await {
            self.known().groups.push(batch);
        }
    }

    async fn open_batch(&self) {
        let batch = self.ratchet.batch("open").job(self.work()).open().on_complete(self.tally());
        let Ok(batch) = batch.await else { return };
        self.known().groups.push(batch.clone());
        let more = vec![self.work(), self.work()];
        let _ = batch.add(more).await;
        let _ = batch.seal().await;
    }

    async fn workflow(&self) {
        let mut flow = self.ratchet.workflow("flow");
        let first = flow.step("first", self.work(), |step| step);
        let left = flow.step("left", self.step(), |step| step.after(&first));
        let right = flow.step("right", self.work(), |step| step.after(&first));
        let any = self.random(Rng::bool);
        flow.step("in", self.work(), |step: StepOptions<'_, Work>| {
            let step = step.wait_for(&left).wait_for(&right);
            if any { step.any() } else { step }
        });
        flow.step("sorry", self.work(), |step| step.after_failure(&right));
        flow.step("last", self.work(), |step| step.after_end(&left));
        flow.on_success(self.tally());
        if let Ok(flow) = flow.await {
            self.known().groups.push(flow);
        }
    }

    async fn command(&self) {
        let (job, group) = {
            let known = self.known();
            let job = self.random(|rng| rng.choice(&known.jobs).copied());
            (job, self.random(|rng| rng.choice(&known.groups).cloned()))
        };
        let Some(id) = job else { return };
        let ratchet = &self.ratchet;
        match self.random(|rng| rng.u8(..12)) {
            0..=2 => drop(ratchet.jobs().cancel(id).await),
            3..=4 => drop(ratchet.jobs().pause(id).await),
            5 => drop(ratchet.jobs().resume(id).await),
            6..=7 => drop(ratchet.jobs().retry(id).await),
            8 => drop(ratchet.jobs().reschedule(id, Due::In(Duration::from_millis(700))).await),
            9 if self.random(Rng::bool) => self.operation().await,
            9 => drop(ratchet.jobs().redrive(Redrive::new(Filter::any()).limit(5)).await),
            _ => {
                let Some(group) = group else { return };
                if self.random(Rng::bool) {
                    drop(group.cancel().await);
                } else if let Ok(members) = self.world.store.members(group.id(), None, 50).await {
                    self.known().jobs.extend(members.into_iter().map(|member| member.id));
                }
            }
        }
    }

    /// Starts a bulk operation, and sometimes pauses, resumes or aborts it.
    async fn operation(&self) {
        let operations = self.ratchet.operations();
        let verb =
            if self.random(|rng| rng.u8(..4)) == 0 { BulkVerb::Resume } else { BulkVerb::Retry };
        let Ok(preview) = operations.preview(verb, &Filter::any()).await else { return };
        let mut bulk = Bulk::of(preview);
        if self.random(Rng::bool) {
            bulk = bulk.pace(2);
        }
        if self.random(Rng::bool) {
            bulk = bulk.canary(Canary::new(1).max_failed_percent(100));
        }
        let Ok(started) = operations.start(bulk).await else { return };
        let pause = Duration::from_millis(self.random(|rng| rng.u64(..3000)));
        self.world.clock.sleep(pause).await;
        match self.random(|rng| rng.u8(..4)) {
            0 => drop(operations.abort(started.id).await),
            1 => {
                drop(operations.pause(started.id).await);
                self.world.clock.sleep(pause).await;
                drop(operations.resume(started.id).await);
            }
            _ => {}
        }
    }

    async fn gate(&self) {
        let (ratchet, pause) =
            (&self.ratchet, Duration::from_millis(self.random(|rng| rng.u64(..3000))));
        if self.random(Rng::bool) {
            drop(ratchet.queues().pause("side").await);
            self.world.clock.sleep(pause).await;
            drop(ratchet.queues().resume("side").await);
        } else {
            drop(ratchet.breakers().open("pay", Some(pause)).await);
        }
    }

    /// Cleans up after the faults, as an operator would, so that nothing stays paused, open or unsealed.
    pub(crate) async fn put_in_order(&self) {
        let ratchet = &self.ratchet;
        drop(ratchet.queues().resume("side").await);
        drop(ratchet.breakers().close("pay").await);
        drop(ratchet.schedules().pause("sim.tick").await);
        // Read the groups and jobs from the store, because the answer to a submit may have been lost.
        let (open, paused) = self.world.store.inspect(|view| {
            let open = view.groups().filter(|group| !group.sealed).map(|group| group.id);
            let paused = view.jobs().filter(|job| job.state == ratchet_core::JobState::Paused);
            (open.collect::<Vec<_>>(), paused.map(|job| job.id).collect::<Vec<_>>())
        });
        for id in open {
            drop(ratchet.group(id).seal().await);
        }
        for id in paused {
            drop(ratchet.jobs().resume(id).await);
        }
    }
}

/// The options of one submit.
struct Dress {
    queue: &'static str,
    priority: Priority,
    keyed: Option<u64>,
    delay: u64,
    dice: u8,
}

impl Dress {
    fn draw(rng: &mut Rng, keyed: Option<u64>) -> Self {
        let queue = ["main", "side", "rated"][rng.usize(..3)];
        let priority = [Priority::Low, Priority::Normal, Priority::High][rng.usize(..3)];
        Self { queue, priority, keyed, delay: rng.u64(..3000), dice: rng.u8(..12) }
    }

    fn on<'a>(&self, job: Enqueue<'a, Work>) -> Enqueue<'a, Work> {
        let job = job.queue(self.queue).priority(self.priority);
        let job = match self.keyed {
            Some(key) => job.idempotency_key(format!("once-{key}")),
            None => job,
        };
        match self.dice {
            0 if self.delay.is_multiple_of(3) => job.ordered_by("serial", AfterFailure::Skip),
            0..=2 => job.concurrency_key("one", 1),
            3..=4 => job.concurrency_key("two", 2),
            5 => job.delay(Duration::from_millis(self.delay)),
            6 => job.business_key(format!("order-{}", self.delay % 2)),
            // With both keys, the answer may be another job, which the ledger cannot handle.
            7 if self.keyed.is_none() => job.business_key("order-0").or_existing(),
            8 => job.on_success(Note {}),
            9 => job.business_key("order-1").concurrency_key("one", 1),
            11 if self.keyed.is_none() => job.business_key("index").coalesce(),
            10 => job.expires_in(Duration::from_millis(self.delay + 1)),
            _ => job,
        }
    }
}

fn deed(rng: &mut Rng) -> Deed {
    let millis = [5, 50, 400, 1500][rng.usize(..4)];
    match rng.u8(..20) {
        0..=8 => Deed::Done(millis),
        9..=11 => Deed::Fail(millis),
        12 => Deed::Panic(millis),
        13 => Deed::Fatal(millis),
        14 => Deed::Snooze(millis),
        15 => Deed::Reject,
        16 => Deed::Hang,
        17 => Deed::Report(millis),
        _ => Deed::Spawn(rng.u64(1..3), millis),
    }
}
