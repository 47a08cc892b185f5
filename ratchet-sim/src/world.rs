//! The shared state of a simulation: the store and its clock, the network, the random numbers, and the oracle.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fastrand::Rng;
use ratchet_core::{Clock as _, Task, VirtualClock, Worker};
use ratchet_memory::Inspection;
use ratchet_memory::MemoryStore;
use ratchet_store::{Store as _, Wake};
use tokio::sync::broadcast;

use crate::exec::Owner;
use crate::faults::{Cut, Weather};
use crate::op::Op;
use crate::oracle::Oracle;
use crate::trace::Trace;
use crate::{Bug, Options};

/// An event at the store's end of the wire.
type Event = Box<dyn FnOnce(&Arc<World>) + Send>;

/// The shared state of a simulation. There is only one thread; the locks exist because the engine's traits require
/// `Send` and `Sync`.
pub(crate) struct World {
    pub(crate) clock: VirtualClock,
    pub(crate) store: MemoryStore,
    pub(crate) bug: Option<Bug>,
    rng: Mutex<Rng>,
    events: Mutex<Events>,
    network: Mutex<Network>,
    oracle: Mutex<Oracle>,
    trace: Mutex<Trace>,
    /// The workers that have started, and the owners that have stopped gracefully.
    pub(crate) workers: Mutex<BTreeMap<Owner, Worker>>,
    pub(crate) stopped: Mutex<Vec<Owner>>,
}

#[derive(Default)]
struct Events {
    at: BTreeMap<(Duration, u64), Event>,
    made: u64,
    spawned: Vec<(Owner, Task)>,
}

/// The wires between the nodes and the store.
pub(crate) struct Network {
    pub(crate) weather: Weather,
    pub(crate) cuts: BTreeMap<Owner, Cut>,
    pub(crate) dead: BTreeSet<Owner>,
    hints: broadcast::Receiver<Wake>,
    listeners: Vec<(Owner, broadcast::Sender<Wake>)>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl World {
    pub(crate) fn new(seed: u64, options: Options) -> Self {
        let mut rng = Rng::with_seed(seed);
        let clock = VirtualClock::new();
        let store = MemoryStore::with_clock(Arc::new(clock.clone()));
        let network = Network {
            weather: Weather::forecast(&mut rng),
            cuts: BTreeMap::new(),
            dead: BTreeSet::new(),
            hints: store.subscribe_wakeups(),
            listeners: Vec::new(),
        };
        Self {
            clock,
            store,
            bug: options.bug,
            rng: Mutex::new(rng),
            events: Mutex::default(),
            network: Mutex::new(network),
            oracle: Mutex::new(Oracle::default()),
            trace: Mutex::new(Trace::new(options.trace)),
            workers: Mutex::default(),
            stopped: Mutex::default(),
        }
    }

    pub(crate) fn random<T>(&self, draw: impl FnOnce(&mut Rng) -> T) -> T {
        draw(&mut locked(&self.rng))
    }

    pub(crate) fn network(&self) -> MutexGuard<'_, Network> {
        locked(&self.network)
    }

    pub(crate) fn oracle(&self) -> MutexGuard<'_, Oracle> {
        locked(&self.oracle)
    }

    pub(crate) fn trace(&self) -> MutexGuard<'_, Trace> {
        locked(&self.trace)
    }

    pub(crate) fn spawn(&self, owner: Owner, task: Task) {
        locked(&self.events).spawned.push((owner, task));
    }

    pub(crate) fn take_spawned(&self) -> Vec<(Owner, Task)> {
        std::mem::take(&mut locked(&self.events).spawned)
    }

    /// Schedules an event after a delay.
    pub(crate) fn after(&self, delay: Duration, event: impl FnOnce(&Arc<Self>) + Send + 'static) {
        let at = self.clock.monotonic() + delay;
        let mut events = locked(&self.events);
        events.made += 1;
        let made = events.made;
        events.at.insert((at, made), Box::new(event));
    }

    /// Returns the time of the next event or sleeper.
    pub(crate) fn next(&self) -> Option<Duration> {
        let now = self.clock.monotonic();
        let event = locked(&self.events).at.keys().next().map(|(at, _)| *at);
        let sleeper = self.clock.next_wake().map(|pause| now + pause);
        [event, sleeper].into_iter().flatten().min()
    }

    /// Drops everything that refers to the world, so that the world itself can be dropped.
    pub(crate) fn end(&self) {
        let workers = std::mem::take(&mut *locked(&self.workers));
        let events = std::mem::take(&mut *locked(&self.events));
        // Dropped without the locks, which some of them take.
        drop((workers, events));
    }

    /// Runs one due event. Returns whether there was one.
    pub(crate) fn happen(self: &Arc<Self>) -> bool {
        let now = self.clock.monotonic();
        let event = {
            let mut events = locked(&self.events);
            match events.at.first_key_value() {
                Some(((at, _), _)) if *at <= now => events.at.pop_first(),
                _ => None,
            }
        };
        event.map(|(_, event)| event(self)).is_some()
    }

    /// Executes a store call and checks its result. This is one step.
    pub(crate) fn commit<T>(
        self: &Arc<Self>,
        owner: Owner,
        op: Op,
        verb: impl FnOnce(&MemoryStore) -> T,
        judge: impl FnOnce(&mut Oracle, &Inspection<'_>, &T),
    ) -> T {
        let answer = verb(&self.store);
        {
            let mut oracle = self.oracle();
            self.store.inspect(|view| {
                judge(&mut oracle, &view, &answer);
                if op.moves() {
                    oracle.look(op, &view);
                }
            });
            let digest = oracle.take_digest();
            let mut trace = self.trace();
            trace.step(self.clock.monotonic(), owner, op, digest);
            trace.tell(|| oracle.take_news());
        }
        self.pass_on_hints();
        answer
    }

    /// Returns a receiver of the wake-ups that reach this owner.
    pub(crate) fn listen(&self, owner: Owner) -> broadcast::Receiver<Wake> {
        const KEPT: usize = 64;
        let (sender, receiver) = broadcast::channel(KEPT);
        self.network().listeners.push((owner, sender));
        receiver
    }

    /// Forwards the store's wake-ups. Some are delayed, some are lost.
    fn pass_on_hints(&self) {
        let mut network = self.network();
        while let Ok(wake) = network.hints.try_recv() {
            let network = &mut *network;
            let dead = &network.dead;
            network.listeners.retain(|(owner, _)| !dead.contains(owner));
            for (_, sender) in &network.listeners {
                let fate = self.random(|rng| network.weather.hint(rng));
                let (sender, wake) = (sender.clone(), wake.clone());
                match fate {
                    None => {}
                    Some(Duration::ZERO) => drop(sender.send(wake)),
                    Some(late) => self.after(late, move |_| drop(sender.send(wake))),
                }
            }
        }
    }
}
