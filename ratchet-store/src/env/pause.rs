//! Holds one thread at a point while another thread continues, so that a test can interleave two calls of a store.
//!
//! Every connection of a store is used on the store's own thread. A test watches that thread, starts a call, and holds
//! it at the n-th point: before a statement, before a commit, or after one. Meanwhile, a second store on the same
//! database executes another call.

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
    /// At the point with this index, counted from zero over all points that the thread passes.
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

/// Records the points that a thread passes, and can hold the thread at one of them. Dropping it releases the thread.
#[derive(Debug)]
pub struct Watch {
    thread: ThreadId,
    shared: Arc<Shared>,
}

impl Watch {
    /// Starts watching a thread, and holds it at this place.
    pub fn new(thread: ThreadId, hold_at: Option<Place>) -> Self {
        Self::except(thread, hold_at, &[])
    }

    /// Starts watching a thread, ignoring points with these names: background tasks of the store pass them at any time.
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

    /// Returns the names of the points that the thread has passed so far. If it is held, the last one is the point at
    /// which it is held.
    pub fn passed(&self) -> Vec<&'static str> {
        lock(&self.shared.state).passed.clone()
    }

    /// Returns `true` if the thread is currently held.
    pub fn is_held(&self) -> bool {
        lock(&self.shared.state).held
    }

    /// Lets the thread continue. It is not held again.
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
        // A newer watch of the same thread must stay registered.
        if watched.get(&self.thread).is_some_and(|shared| Arc::ptr_eq(shared, &self.shared)) {
            watched.remove(&self.thread);
            WATCHES.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Records that the current thread passes a point, and holds it there if requested.
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
            wait.recv().expect("may continue");
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
            wait.recv().expect("may continue");
            pass("only");
        });
        let watch = Watch::new(thread.thread().id(), Some(Place::Named("only")));
        go.send(()).expect("starts");
        drop(watch);
        thread.join().expect("ends");
    }
}
