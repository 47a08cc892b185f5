//! Holds one operation at a point while another one runs.

use std::future::Future;
use std::thread::ThreadId;
use std::time::Duration;

use ratchet_pg::PgStore;
use ratchet_store::Store as _;
use ratchet_store::env::pause::{Place, Watch};
use sqlx::PgPool;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// The timeout of these tests.
const LONGEST: Duration = Duration::from_mins(1);

/// Statements of background tasks. Notifications are sent after the commit and outside of a transaction.
const BACKGROUND: &[&str] = &["notify"];

/// Returns the thread of a store's runtime.
pub(crate) async fn thread_of(store: &PgStore) -> ThreadId {
    let home = store.runtime().expect("the store has a thread");
    home.spawn(async { std::thread::current().id() }).await.expect("it runs")
}

/// An operation that is held at a point.
pub(crate) struct Held<T> {
    watch: Watch,
    task: JoinHandle<T>,
}

/// Starts an operation on the runtime of a store, and waits until it is held at this point.
pub(crate) async fn hold<T: Send + 'static>(
    store: &PgStore,
    point: &'static str,
    verb: impl Future<Output = T> + Send + 'static,
) -> Held<T> {
    let held = start(store, Some(Place::Named(point)), verb).await;
    let deadline = Instant::now() + LONGEST;
    while !held.watch.is_held() {
        let passed = held.watch.passed();
        assert!(!held.task.is_finished(), "it ended and did not pass `{point}`: {passed:?}");
        assert!(Instant::now() < deadline, "it did not come to `{point}`: {passed:?}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    held
}

/// Starts an operation on the runtime of a store. It is held if it reaches this place.
pub(crate) async fn start<T: Send + 'static>(
    store: &PgStore,
    place: Option<Place>,
    verb: impl Future<Output = T> + Send + 'static,
) -> Held<T> {
    let watch = Watch::except(thread_of(store).await, place, BACKGROUND);
    let task = store.runtime().expect("the store has a thread").spawn(verb);
    Held { watch, task }
}

impl<T> Held<T> {
    /// Waits until the operation is held or has ended. Returns whether it is held.
    pub(crate) async fn is_held(&self) -> bool {
        let deadline = Instant::now() + LONGEST;
        loop {
            if self.watch.is_held() {
                return true;
            }
            if self.task.is_finished() {
                return false;
            }
            assert!(Instant::now() < deadline, "it neither ends nor comes to its point");
            tokio::time::sleep(Duration::from_micros(300)).await;
        }
    }

    /// Returns whether the operation has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.task.is_finished()
    }

    /// Returns the points that the operation has passed.
    pub(crate) fn passed(&self) -> Vec<&'static str> {
        self.watch.passed()
    }

    /// Continues the operation and waits for its end.
    pub(crate) async fn finish(self) -> T {
        self.watch.release();
        let ended = tokio::time::timeout(LONGEST, self.task).await;
        ended.expect("it ends").expect("it does not panic")
    }
}

/// Waits until a task has ended or waits for a lock in the database. Returns whether it has ended.
pub(crate) async fn ended_or_waits<T>(pool: &PgPool, task: &JoinHandle<T>) -> bool {
    ended_or_waits_beside(pool, task, 0).await
}

/// Like [`ended_or_waits`], if `others` other sessions already wait for a lock.
pub(crate) async fn ended_or_waits_beside<T>(
    pool: &PgPool,
    task: &JoinHandle<T>,
    others: i64,
) -> bool {
    let waiting = "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let deadline = Instant::now() + LONGEST;
    loop {
        if task.is_finished() {
            return true;
        }
        let waiting: i64 = sqlx::query_scalar(waiting).fetch_one(pool).await.expect("an answer");
        if waiting > others {
            return task.is_finished();
        }
        assert!(Instant::now() < deadline, "it neither ends nor waits for a lock");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Runs a second operation while the first is held, to its end or until it waits. Then continues the first. Returns
/// both results.
pub(crate) async fn meet<A, B: Send + 'static>(
    pool: &PgPool,
    first: Held<A>,
    second: impl Future<Output = B> + Send + 'static,
) -> (A, B) {
    let (first, second, _) = meet_and_notice(pool, first, second).await;
    (first, second)
}

/// Like [`meet`]. Also returns whether the second operation had to wait.
pub(crate) async fn meet_and_notice<A, B: Send + 'static>(
    pool: &PgPool,
    first: Held<A>,
    second: impl Future<Output = B> + Send + 'static,
) -> (A, B, bool) {
    let second = tokio::spawn(second);
    let waited = !ended_or_waits(pool, &second).await;
    let first = first.finish().await;
    let second = tokio::time::timeout(LONGEST, second).await;
    (first, second.expect("the second verb ends").expect("it does not panic"), waited)
}
