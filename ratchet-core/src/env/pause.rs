//! Holding one thread at a point while another thread goes on: how two verbs of a store are interleaved in a test.
//!
//! Every connection of a store is used on the store's own thread. A test watches that thread, starts a verb, and holds it at
//! the n-th point that it passes: in front of a statement, before a commit, or after it. Meanwhile a second store on the same
//! database runs another verb.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

static WATCHED: LazyLock<Mutex<HashMap<ThreadId, Arc<Shared>>>> = LazyLock::new(Mutex::default);
static WATCHES: AtomicUsize = AtomicUsize::new(0);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    released: Condvar,
}

#[derive(Debug, Default)]
struct State {
    passed: Vec<&'static str>,
    ignored: &'static [&'static str],
    hold_at: Option<Place>,
    held: bool,
}

/// Where a thread is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// At the point with this index among all that it passes, counted from zero.
    Index(usize),
    /// At the first point with this name.
    Named(&'static str),
}

impl State {
    fn is_there(&self) -> bool {
        match &self.hold_at {
            None => false,
            Some(Place::Index(index)) => *index + 1 == self.passed.len(),
            Some(Place::Named(name)) => self.passed.last() == Some(name),
        }
    }
}

/// A thread whose points are recorded, and which can be held at one of them. Dropping it lets the thread go on.
#[derive(Debug)]
pub struct Watch {
    thread: ThreadId,
    shared: Arc<Shared>,
}

impl Watch {
    /// Watches a thread from now on, and holds it at this place.
    pub fn new(thread: ThreadId, hold_at: Option<Place>) -> Self {
        Self::except(thread, hold_at, &[])
    }

    /// Watches a thread, and neither records nor counts the points with these names: background tasks of the store pass them
    /// at any time.
    pub fn except(
        thread: ThreadId,
        hold_at: Option<Place>,
        ignored: &'static [&'static str],
    ) -> Self {
        let shared = Arc::new(Shared::default());
        *lock(&shared.state) = State { ignored, hold_at, ..State::default() };
        if lock(&WATCHED).insert(thread, Arc::clone(&shared)).is_none() {
            WATCHES.fetch_add(1, Ordering::SeqCst);
        }
        Self { thread, shared }
    }

    /// The names of the points that the thread has passed so far. The point at which it is held is the last one.
    pub fn passed(&self) -> Vec<&'static str> {
        lock(&self.shared.state).passed.clone()
    }

    /// Whether the thread is held right now.
    pub fn is_held(&self) -> bool {
        lock(&self.shared.state).held
    }

    /// Lets the thread go on. It is not held again.
    pub fn release(&self) {
        let mut state = lock(&self.shared.state);
        state.hold_at = None;
        state.held = false;
        self.shared.released.notify_all();
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.release();
        let mut watched = lock(&WATCHED);
        // A newer watch of the same thread stays.
        if watched.get(&self.thread).is_some_and(|shared| Arc::ptr_eq(shared, &self.shared)) {
            watched.remove(&self.thread);
            WATCHES.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Passes a point on the current thread.
pub(super) fn pass(name: &'static str) {
    if WATCHES.load(Ordering::SeqCst) == 0 {
        return;
    }
    let Some(shared) = lock(&WATCHED).get(&std::thread::current().id()).cloned() else { return };
    let mut state = lock(&shared.state);
    if state.ignored.contains(&name) {
        return;
    }
    state.passed.push(name);
    if state.is_there() {
        state.held = true;
        while state.held {
            state = shared.released.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_held_at_the_point_that_was_named() {
        let (send, receive) = std::sync::mpsc::channel();
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            wait.recv().expect("is told to go");
            pass("first");
            send.send("between").expect("is heard");
            pass("second");
            send.send("after").expect("is heard");
        });
        let watch = Watch::new(thread.thread().id(), Some(Place::Index(1)));
        go.send(()).expect("starts");
        assert_eq!(receive.recv(), Ok("between"));
        while !watch.is_held() {
            std::thread::yield_now();
        }
        assert_eq!(watch.passed(), ["first", "second"]);
        assert!(receive.try_recv().is_err(), "it is held");
        watch.release();
        assert_eq!(receive.recv(), Ok("after"));
        thread.join().expect("ends");
    }

    #[test]
    fn dropping_a_watch_lets_its_thread_go() {
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            wait.recv().expect("is told to go");
            pass("only");
        });
        let watch = Watch::new(thread.thread().id(), Some(Place::Named("only")));
        go.send(()).expect("starts");
        drop(watch);
        thread.join().expect("ends");
    }
}
