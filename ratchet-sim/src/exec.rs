//! A single-threaded executor. The seed decides the order in which tasks are polled; nodes can be frozen or killed.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};

use fastrand::Rng;
use ratchet_core::Task;

/// The owner of a task: the clients, or one incarnation of a node.
pub(crate) type Owner = u32;

/// The owner of client tasks. It is never killed.
pub(crate) const CLIENTS: Owner = 0;

/// The tasks of the simulation.
#[derive(Default)]
pub(crate) struct Executor {
    tasks: Vec<Option<Slot>>,
    ready: Arc<Mutex<Vec<usize>>>,
    frozen: BTreeSet<Owner>,
    /// Ready tasks of frozen nodes.
    parked: Vec<usize>,
}

struct Slot {
    owner: Owner,
    future: Task,
    waker: Waker,
    bell: Arc<Bell>,
}

/// The waker of a task: adds it to the ready list, at most once until it is polled.
struct Bell {
    id: usize,
    rung: AtomicBool,
    ready: Arc<Mutex<Vec<usize>>>,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.rung.swap(true, Ordering::Relaxed) {
            self.ready.lock().unwrap_or_else(PoisonError::into_inner).push(self.id);
        }
    }
}

impl Executor {
    pub(crate) fn spawn(&mut self, owner: Owner, future: Task) {
        let id = self.tasks.len();
        let bell =
            Arc::new(Bell { id, rung: AtomicBool::new(false), ready: Arc::clone(&self.ready) });
        bell.wake_by_ref();
        let waker = Waker::from(Arc::clone(&bell));
        self.tasks.push(Some(Slot { owner, future, waker, bell }));
    }

    /// Polls a random ready task. Returns whether there was one.
    pub(crate) fn turn(&mut self, rng: &mut Rng) -> bool {
        let Some(id) = self.pick(rng) else { return false };
        // Remove the task from its slot while it runs: a task that panics must not be polled again.
        let Some(mut slot) = self.tasks[id].take() else { return true };
        slot.bell.rung.store(false, Ordering::Relaxed);
        let mut context = Context::from_waker(&slot.waker);
        if slot.future.as_mut().poll(&mut context).is_pending() {
            self.tasks[id] = Some(slot);
        }
        true
    }

    fn pick(&mut self, rng: &mut Rng) -> Option<usize> {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        while !ready.is_empty() {
            let at = rng.usize(..ready.len());
            let id = ready.swap_remove(at);
            match &self.tasks[id] {
                Some(slot) if self.frozen.contains(&slot.owner) => self.parked.push(id),
                Some(_) => return Some(id),
                None => {}
            }
        }
        None
    }

    /// Stops polling the tasks of this node until it is thawed.
    pub(crate) fn freeze(&mut self, owner: Owner) {
        self.frozen.insert(owner);
    }

    pub(crate) fn thaw(&mut self, owner: Owner) {
        if self.frozen.remove(&owner) {
            let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
            ready.append(&mut self.parked);
        }
    }

    /// Kills the process of this node by dropping all its tasks.
    pub(crate) fn kill(&mut self, owner: Owner) {
        self.frozen.remove(&owner);
        for slot in &mut self.tasks {
            if slot.as_ref().is_some_and(|slot| slot.owner == owner) {
                *slot = None;
            }
        }
    }
}
