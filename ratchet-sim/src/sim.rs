//! Runs one schedule: a cluster, its clients, and the planned faults.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use fastrand::Rng;
use jiff::SignedDuration;
use ratchet_core::{Clock as _, Ratchet, SeededEntropy};

use crate::chaos::{Chaos, plan};
use crate::clock::NodeClock;
use crate::exec::{CLIENTS, Executor, Owner};
use crate::jobs::{self, Stage};
use crate::spawn::NodeSpawn;
use crate::wire::FaultyStore;
use crate::workload::Client;
use crate::world::World;
use crate::{Options, Report};

/// The time within which all work must be done after the faults have ended.
const TIMEOUT: Duration = Duration::from_mins(10);

/// The number of turns without time passing that counts as a busy loop.
const SPIN: u32 = 20_000;

/// The state of one schedule.
pub(crate) struct Sim {
    seed: u64,
    world: Arc<World>,
    executor: Executor,
    rng: Rng,
    client: Arc<Client>,
    /// The incarnation that runs in each place; `None` while there is none.
    places: Vec<Option<Owner>>,
    incarnations: Owner,
    agenda: BTreeMap<(Duration, u64), Chaos>,
    made: u64,
    calm_since: Option<Duration>,
}

impl Sim {
    pub(crate) fn new(seed: u64, options: Options) -> Self {
        let world = Arc::new(World::new(seed, options));
        world.oracle().talkative = options.trace;
        // A separate random stream, so that the plan does not depend on the faults of the wires.
        let mut rng = Rng::with_seed(seed ^ 0x5EED_0F7A_5C4E_D01E);
        let places = rng.usize(3..5);
        let ratchet = ratchet(&world, CLIENTS, seed, &mut rng);
        let client = Arc::new(Client::new(Arc::clone(&world), ratchet));
        let mut sim = Self {
            seed,
            world,
            executor: Executor::default(),
            client,
            places: vec![None; places],
            incarnations: CLIENTS,
            agenda: BTreeMap::new(),
            made: 0,
            calm_since: None,
            rng,
        };
        for place in 0..places {
            sim.later(Duration::ZERO, Chaos::Start(place));
        }
        for (at, chaos) in plan(&mut sim.rng, places) {
            sim.later(at, chaos);
        }
        sim
    }

    fn later(&mut self, delay: Duration, chaos: Chaos) {
        self.made += 1;
        self.agenda.insert((self.world.clock.monotonic() + delay, self.made), chaos);
    }

    /// Runs the schedule to its end.
    pub(crate) fn run(mut self) -> Report {
        let mut turns = 0;
        while !self.is_over() {
            self.spawn_all();
            if self.world.happen() || self.executor.turn(&mut self.rng) {
                turns += 1;
                if turns > SPIN {
                    self.world.oracle().accuse(|| format!("{SPIN} turns without a moment passing"));
                }
                continue;
            }
            turns = 0;
            self.bury_stopped();
            if !self.advance() {
                self.world.oracle().accuse(|| "nothing will ever happen again".to_owned());
            }
        }
        let report = self.report();
        // Tasks, workers and events refer to the world, and the world to them.
        drop(self.executor);
        self.world.end();
        report
    }

    fn spawn_all(&mut self) {
        for (owner, task) in self.world.take_spawned() {
            if !self.world.network().dead.contains(&owner) {
                self.executor.spawn(owner, task);
            }
        }
    }

    /// Advances time to the next event. Returns `false` if there is none.
    fn advance(&mut self) -> bool {
        let planned = self.agenda.keys().next().map(|(at, _)| *at);
        let Some(at) = [planned, self.world.next()].into_iter().flatten().min() else {
            return false;
        };
        let now = self.world.clock.monotonic();
        self.world.clock.advance(at.saturating_sub(now));
        self.world.trace().at(at);
        if planned == Some(at)
            && let Some((_, chaos)) = self.agenda.pop_first()
        {
            self.strike(chaos);
        }
        true
    }

    fn is_over(&self) -> bool {
        let mut oracle = self.world.oracle();
        if oracle.violation().is_some() {
            return true;
        }
        let Some(since) = self.calm_since else { return false };
        let world = &self.world;
        let waited = world.clock.monotonic().saturating_sub(since);
        // The check is expensive, so it only runs every 5 ms of virtual time.
        if !waited.as_millis().is_multiple_of(5) {
            return false;
        }
        let restless = world.store.inspect(|view| oracle.restless(&view));
        match restless {
            None => {
                world.store.inspect(|view| oracle.judge_end(&view));
                true
            }
            Some(what) if waited > TIMEOUT => {
                oracle
                    .accuse(|| format!("{TIMEOUT:?} after the faults this has not ended: {what}"));
                true
            }
            Some(_) => false,
        }
    }

    fn report(&self) -> Report {
        let mut oracle = self.world.oracle();
        let mut trace = self.world.trace();
        let shortest = crate::MIN_STEPS;
        if trace.steps() < shortest {
            let steps = trace.steps();
            oracle.accuse(|| format!("the schedule has {steps} steps, less than {shortest}"));
        }
        let virtual_time = self.world.clock.monotonic();
        let (counted, ended) = oracle.judge_stats(&self.world);
        Report {
            seed: self.seed,
            counted,
            ended,
            steps: trace.steps(),
            nodes: self.incarnations,
            handlers: oracle.handlers_begun(),
            virtual_time,
            hash: trace.hash(),
            violation: oracle.violation().map(ToOwned::to_owned),
            lines: trace.take_lines(),
        }
    }

    fn owner(&self, place: usize) -> Option<Owner> {
        self.places.get(place).copied().flatten()
    }

    fn strike(&mut self, chaos: Chaos) {
        self.world.trace().tell(|| format!("* {chaos:?}"));
        match chaos {
            Chaos::Act => {
                let client = Arc::clone(&self.client);
                self.executor.spawn(CLIENTS, Box::pin(async move { client.act().await }));
            }
            Chaos::Pause(place, long) => {
                if let Some(owner) = self.owner(place) {
                    self.executor.freeze(owner);
                    self.world.oracle().pause(owner);
                    self.later(long, Chaos::Thaw(place));
                }
            }
            Chaos::Thaw(place) => {
                if let Some(owner) = self.owner(place) {
                    self.executor.thaw(owner);
                }
            }
            Chaos::Kill(place, long) => {
                if let Some(owner) = self.places[place].take() {
                    self.bury(owner);
                    self.later(long, Chaos::Start(place));
                }
            }
            Chaos::Stop(place) => self.stop(place),
            Chaos::Start(place) => {
                if self.places[place].is_none() {
                    self.start(place);
                }
            }
            Chaos::Cut(place, cut, long) => {
                if let Some(owner) = self.owner(place) {
                    self.world.network().cuts.insert(owner, cut);
                    self.later(long, Chaos::Heal(place));
                }
            }
            Chaos::Heal(place) => {
                if let Some(owner) = self.owner(place) {
                    self.world.network().cuts.remove(&owner);
                }
            }
            Chaos::Storm(storm, long) => {
                self.world.network().weather.storm = Some(storm);
                self.later(long, Chaos::Clear);
            }
            Chaos::Clear => self.world.network().weather.storm = None,
            // Extend a schedule with too few steps.
            Chaos::Calm if self.world.trace().steps() < crate::MIN_STEPS => {
                for _ in 0..3 {
                    let at = Duration::from_millis(self.rng.u64(..2_000));
                    self.later(at, Chaos::Act);
                }
                self.later(Duration::from_secs(2), Chaos::Calm);
            }
            Chaos::Calm => self.calm(),
        }
    }

    /// Ends all faults. From here on, all open work must finish.
    fn calm(&mut self) {
        {
            let mut network = self.world.network();
            network.weather.calm = true;
            network.cuts.clear();
        }
        self.agenda.clear();
        for place in 0..self.places.len() {
            match self.places[place] {
                Some(owner) => self.executor.thaw(owner),
                None => self.start(place),
            }
        }
        let client = Arc::clone(&self.client);
        let world = Arc::clone(&self.world);
        self.executor.spawn(
            CLIENTS,
            Box::pin(async move {
                // Run it twice, because an earlier request may still have been in flight.
                for _ in 0..2 {
                    client.put_in_order().await;
                    world.clock.sleep(Duration::from_secs(8)).await;
                }
            }),
        );
        self.calm_since = Some(self.world.clock.monotonic());
    }

    fn start(&mut self, place: usize) {
        self.incarnations += 1;
        let owner = self.incarnations;
        self.places[place] = Some(owner);
        let ratchet = ratchet(&self.world, owner, self.seed, &mut self.rng);
        let world = Arc::clone(&self.world);
        self.executor.spawn(
            owner,
            Box::pin(async move {
                // Restart a worker that fails to start, like a process supervisor.
                loop {
                    let spawn = NodeSpawn { world: Arc::clone(&world), owner };
                    if let Ok(worker) = ratchet.start_on(spawn).await {
                        let mut workers =
                            world.workers.lock().unwrap_or_else(PoisonError::into_inner);
                        workers.insert(owner, worker);
                        return;
                    }
                    world.clock.sleep(Duration::from_millis(300)).await;
                }
            }),
        );
    }

    /// Simulates a rolling restart: the old process stops gracefully while the new one is already running.
    fn stop(&mut self, place: usize) {
        let Some(owner) = self.places[place].take() else { return };
        let workers = self.world.workers.lock().unwrap_or_else(PoisonError::into_inner);
        let worker = workers.get(&owner).cloned();
        drop(workers);
        match worker {
            Some(worker) => {
                let world = Arc::clone(&self.world);
                self.executor.thaw(owner);
                self.executor.spawn(
                    owner,
                    Box::pin(async move {
                        worker.stop().await;
                        world.stopped.lock().unwrap_or_else(PoisonError::into_inner).push(owner);
                    }),
                );
            }
            None => self.bury(owner),
        }
        self.start(place);
    }

    /// Removes the processes that have stopped, including threads that they could not stop.
    fn bury_stopped(&mut self) {
        let stopped = {
            let mut stopped = self.world.stopped.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *stopped)
        };
        stopped.into_iter().for_each(|owner| self.bury(owner));
    }

    fn bury(&mut self, owner: Owner) {
        {
            let mut network = self.world.network();
            network.dead.insert(owner);
            network.cuts.remove(&owner);
        }
        self.executor.kill(owner);
        self.world.workers.lock().unwrap_or_else(PoisonError::into_inner).remove(&owner);
    }
}

/// Builds the runtime of one process, with its own wire, clock and entropy, and the shared store.
fn ratchet(world: &Arc<World>, owner: Owner, seed: u64, rng: &mut Rng) -> Ratchet {
    // The wall clock is up to five minutes off, in either direction.
    let skew = SignedDuration::from_millis(rng.i64(-300_000..300_000));
    let uptime = Duration::from_millis(rng.u64(..1_000_000));
    let clock = NodeClock { base: world.clock.clone(), skew, uptime };
    let store = FaultyStore::new(Arc::clone(world), owner);
    let built = Ratchet::builder(store)
        .clock(clock)
        .entropy(SeededEntropy::new(crate::trace::mix(seed ^ u64::from(owner) << 48)))
        .state(Stage { world: Arc::clone(world), owner })
        .jobs(jobs::all())
        .binary_version("sim")
        .concurrency(4)
        .lease(Duration::from_secs(3))
        .queue("rated", |queue| queue.rate(4, Duration::from_secs(1)))
        .queue("side", |queue| queue.cluster_concurrency(6).rate_per_key(3, Duration::from_secs(1)))
        .config(|config| {
            config.poll_interval = (Duration::from_millis(100), Duration::from_secs(1));
            config.cancel_grace = Duration::from_millis(300);
            config.runaway_after = Duration::from_millis(200);
            config.shutdown_grace = Duration::from_secs(1);
        })
        .build();
    let built = futures_util::FutureExt::now_or_never(built);
    built.expect("building waits for nothing").expect("the settings can work")
}
