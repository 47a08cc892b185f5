//! Clocks: the system clock, and a virtual clock for tests.

use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::model::later;

/// A future that completes after a delay.
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The only source of time in the engine.
pub trait Clock: Send + Sync + fmt::Debug + 'static {
    /// Returns the wall-clock time, truncated to microseconds, the precision that stores can keep.
    fn now(&self) -> Timestamp;

    /// Returns the time since a fixed instant. Never goes backward; used to measure durations.
    fn monotonic(&self) -> Duration;

    /// Completes after `duration`.
    fn sleep(&self, duration: Duration) -> Sleep;
}

/// The clock of the operating system.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    start: Instant,
}

impl Default for SystemClock {
    #[allow(clippy::disallowed_methods)] // the engine's only access to the system clock
    fn default() -> Self {
        Self { start: Instant::now() }
    }
}

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods)] // the engine's only access to the system clock
    fn now(&self) -> Timestamp {
        micros(Timestamp::now())
    }

    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// A clock for tests that moves only when [`advance`](Self::advance) is called. Clones share the time.
///
/// ```
/// # mod ratchet { pub use ratchet_store::env; }
/// use std::time::Duration;
/// use ratchet::env::{Clock, VirtualClock};
///
/// let clock = VirtualClock::new();
/// let before = clock.now();
/// clock.advance(Duration::from_secs(60));
/// assert_eq!(clock.now().duration_since(before), jiff::SignedDuration::from_secs(60));
/// ```
#[derive(Clone)]
pub struct VirtualClock {
    shared: Arc<Mutex<Shared>>,
}

struct Shared {
    start: Timestamp,
    elapsed: Duration,
    sleepers: BTreeMap<(Duration, u64), Waker>,
    next: u64,
}

impl VirtualClock {
    /// Creates a clock that starts at 2026-01-01T12:00:00Z.
    pub fn new() -> Self {
        Self::starting_at(Timestamp::constant(1_767_268_800, 0))
    }

    /// Creates a clock that starts at the given instant.
    pub fn starting_at(start: Timestamp) -> Self {
        let shared = Shared {
            start: micros(start),
            elapsed: Duration::ZERO,
            sleepers: BTreeMap::new(),
            next: 0,
        };
        Self { shared: Arc::new(Mutex::new(shared)) }
    }

    /// Advances the time and wakes every sleeper that is due.
    pub fn advance(&self, duration: Duration) {
        let due = {
            let mut shared = self.lock();
            shared.elapsed = shared.elapsed.saturating_add(duration);
            let elapsed = shared.elapsed;
            let still_asleep = shared.sleepers.split_off(&(elapsed, u64::MAX));
            std::mem::replace(&mut shared.sleepers, still_asleep)
        };
        due.into_values().for_each(Waker::wake);
    }

    /// Returns the time until the next sleeper wakes, or `None` if there are no sleepers.
    pub fn next_wake(&self) -> Option<Duration> {
        let shared = self.lock();
        shared.sleepers.keys().next().map(|(at, _)| at.saturating_sub(shared.elapsed))
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for VirtualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for VirtualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VirtualClock").field("now", &self.now()).finish_non_exhaustive()
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        let shared = self.lock();
        micros(later(shared.start, shared.elapsed))
    }

    fn monotonic(&self) -> Duration {
        self.lock().elapsed
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        let until = self.monotonic().saturating_add(duration);
        Box::pin(VirtualSleep { clock: self.clone(), until, key: None })
    }
}

struct VirtualSleep {
    clock: VirtualClock,
    until: Duration,
    key: Option<(Duration, u64)>,
}

impl Future for VirtualSleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let clock = self.clock.clone();
        let mut shared = clock.lock();
        if shared.elapsed >= self.until {
            return Poll::Ready(());
        }
        let key = self.key.unwrap_or_else(|| {
            shared.next += 1;
            (self.until, shared.next)
        });
        self.key = Some(key);
        shared.sleepers.insert(key, cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for VirtualSleep {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.clock.lock().sleepers.remove(&key);
        }
    }
}

/// Truncates to microseconds, so that a time reads back unchanged from every store.
fn micros(instant: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(instant.as_microsecond()).unwrap_or(instant)
}
