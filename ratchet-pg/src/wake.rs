//! Hints: sent to this process at once, and to other processes with `NOTIFY`, batched over a few milliseconds.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ratchet_store::Wake;
use ratchet_store::model::{JobId, LeaseId, Token};
use tokio::sync::{broadcast, mpsc};
use tokio::time::Instant;
use uuid::Uuid;

use crate::db;
use crate::error::store_error;
use crate::notify_throttle::{INTERVAL, NotifyThrottle};
use crate::runtime::in_time;
use crate::scan_start::Bounds;
use crate::sql::Sql;
use sqlx::PgPool;
use sqlx::postgres::PgListener;

/// The capacity of a hint channel. A slow receiver that falls behind further loses hints, which costs a poll.
const KEPT: usize = 1024;

/// The most ends sent in one round. Waiters find the rest by polling, so that hints do not slow down a drain.
const MOST_ENDS: usize = 64;

/// A process that waits for ends requests them again after this time. A request expires after twice this time.
const ASK: Duration = Duration::from_secs(5);

/// The time limit of the listener's test at startup.
const SELF_TEST: Duration = Duration::from_secs(3);

/// A hint. `first` is the sort key of the first job that was inserted into the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hint {
    pub(crate) wake: Wake,
    pub(crate) first: Option<i64>,
}

impl From<Wake> for Hint {
    fn from(wake: Wake) -> Self {
        Self { wake, first: None }
    }
}

impl Hint {
    /// Creates a hint that jobs were inserted into a queue, the first with this sort key.
    pub(crate) fn put(queue: String, first: i64) -> Self {
        Self { wake: Wake::Work { queue }, first: Some(first) }
    }
}

/// A message between processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Received {
    Hint(Hint),
    /// The sender waits for ends of jobs.
    Asks,
}

impl<T: Into<Hint>> From<T> for Received {
    fn from(hint: T) -> Self {
        Self::Hint(hint.into())
    }
}

/// Distributes hints to this process and to other processes.
#[derive(Debug)]
pub(crate) struct Wakes {
    /// Identifies this process, so that it ignores its own messages.
    origin: String,
    here: broadcast::Sender<Wake>,
    /// Receives the ends of jobs.
    ends: broadcast::Sender<Wake>,
    /// When another process last requested ends.
    asked: Mutex<Option<Instant>>,
    /// The channel to the task that notifies other processes. `None` in poll-only mode.
    elsewhere: Option<mpsc::UnboundedSender<Received>>,
    throttle: Arc<NotifyThrottle>,
    /// The bounds of this process, lowered when another process inserts jobs.
    bounds: Arc<Bounds>,
}

impl Wakes {
    pub(crate) fn new(
        elsewhere: Option<mpsc::UnboundedSender<Received>>,
        bounds: Arc<Bounds>,
    ) -> Self {
        let ((here, _), (ends, _)) = (broadcast::channel(KEPT), broadcast::channel(KEPT));
        let origin = format!("{:016x}", fastrand::u64(..));
        let throttle = Arc::default();
        Self { origin, here, ends, asked: Mutex::default(), elsewhere, throttle, bounds }
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Wake> {
        self.here.subscribe()
    }

    /// Subscribes to ends of jobs for as long as the receiver exists, and requests them from other processes.
    pub(crate) fn subscribe_to_ends(&self) -> broadcast::Receiver<Wake> {
        let ends = self.ends.subscribe();
        if let Some(elsewhere) = &self.elsewhere {
            let _ = elsewhere.send(Received::Asks);
        }
        ends
    }

    /// Returns a handle to check whether this process has a subscriber for ends.
    pub(crate) fn waiters(&self) -> broadcast::WeakSender<Wake> {
        self.ends.downgrade()
    }

    /// Sends the hints of a commit to this process and to other processes.
    pub(crate) fn send(&self, hints: impl IntoIterator<Item = impl Into<Hint>>) {
        let mut ends_elsewhere = if self.is_asked() { MOST_ENDS } else { 0 };
        let ends_here = self.ends.receiver_count() > 0;
        for hint in hints {
            let hint = hint.into();
            let end = matches!(hint.wake, Wake::Finished(_));
            if let Some(elsewhere) = self.elsewhere.as_ref().filter(|_| !end || ends_elsewhere > 0)
            {
                ends_elsewhere = ends_elsewhere.saturating_sub(usize::from(end));
                // The task ends only with the store.
                let _ = elsewhere.send(Received::Hint(hint.clone()));
            }
            // An error means that there is no receiver.
            if !end {
                let _ = self.here.send(hint.wake);
            } else if ends_here {
                let _ = self.ends.send(hint.wake);
            }
        }
    }

    /// Sends the hints of a commit to this process only, because other processes were notified by the commit.
    pub(crate) fn send_here(&self, hints: impl IntoIterator<Item = Hint>) {
        for hint in hints {
            let _ = self.here.send(hint.wake);
        }
    }

    /// Returns whether a commit may carry its hint: other processes may listen, and the last hint was long enough ago.
    pub(crate) fn may_hint(&self) -> bool {
        self.elsewhere.is_some() && self.throttle.is_free()
    }

    /// Returns the start of a message that this process has inserted jobs into a queue.
    pub(crate) fn put_by(&self) -> String {
        format!("{} {PUT}", self.origin)
    }

    pub(crate) fn throttle(&self) -> Arc<NotifyThrottle> {
        Arc::clone(&self.throttle)
    }

    /// Returns whether another process waits for ends.
    fn is_asked(&self) -> bool {
        let asked = *self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.is_some_and(|asked| asked.elapsed() < ASK * 2)
    }

    /// Handles a message of another process.
    fn heard(&self, received: Received) {
        let hint = match received {
            Received::Hint(hint) => hint,
            Received::Asks => {
                *self.asked.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
                return;
            }
        };
        if let (Wake::Work { queue }, Some(first)) = (&hint.wake, hint.first) {
            self.bounds.lower(queue, first);
        }
        let listeners = match hint.wake {
            Wake::Finished(_) => &self.ends,
            _ => &self.here,
        };
        let _ = listeners.send(hint.wake);
    }

    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }
}

/// The kind of message that reports inserted jobs.
const PUT: &str = "p";

/// Encodes a hint as a message.
pub(crate) fn line(origin: &str, hint: &Hint) -> Option<String> {
    Some(match &hint.wake {
        Wake::Work { queue } => match hint.first {
            Some(first) => format!("{origin} {PUT} {first} {queue}"),
            None => format!("{origin} w {queue}"),
        },
        Wake::Canceled(token) => {
            let (job, lease) = (token.job.uuid().simple(), token.lease.uuid().simple());
            format!("{origin} c {job} {lease} {}", token.version)
        }
        Wake::Finished(job) => format!("{origin} f {}", job.uuid().simple()),
        Wake::Unblocked => format!("{origin} u -"),
        _ => return None,
    })
}

/// Decodes a message. Ignores messages of this process.
fn read(origin: &str, line: &str) -> Vec<Received> {
    let Some((from, body)) = line.split_once(' ') else { return Vec::new() };
    let Some((kind, rest)) = body.split_once(' ').filter(|_| from != origin) else {
        return Vec::new();
    };
    let uuid = |text: &str| Uuid::try_parse(text).ok();
    match kind {
        "w" => vec![Wake::Work { queue: rest.to_owned() }.into()],
        PUT => {
            let put = rest
                .split_once(' ')
                .and_then(|(first, queue)| Some(Hint::put(queue.to_owned(), first.parse().ok()?)));
            put.map(Received::Hint).into_iter().collect()
        }
        "u" => vec![Wake::Unblocked.into()],
        "a" => vec![Received::Asks],
        "f" => {
            let ids = rest.split(' ').filter_map(uuid);
            ids.map(|id| Wake::Finished(JobId::from_uuid(id)).into()).collect()
        }
        "c" => {
            let mut parts = rest.split(' ');
            let mut token = || {
                Some(Token {
                    job: JobId::from_uuid(uuid(parts.next()?)?),
                    lease: LeaseId::from_uuid(uuid(parts.next()?)?),
                    version: parts.next()?.parse().ok()?,
                })
            };
            token().map(|token| Wake::Canceled(token).into()).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Sends hints to other processes.
pub(crate) struct HintSender {
    pub(crate) pool: PgPool,
    pub(crate) sql: Arc<Sql>,
    pub(crate) channel: String,
    /// The name of this process in the messages.
    pub(crate) origin: String,
    /// How long a statement may take.
    pub(crate) longest: Duration,
    /// Counts connections that may be dead.
    pub(crate) suspects: Arc<AtomicU32>,
    pub(crate) waiters: broadcast::WeakSender<Wake>,
    pub(crate) throttle: Arc<NotifyThrottle>,
}

impl HintSender {
    /// Sends hints until the store is dropped.
    pub(crate) async fn run(self, mut hints: mpsc::UnboundedReceiver<Received>) {
        let mut last_asked = Instant::now();
        loop {
            let mut round = Round::default();
            match tokio::time::timeout(ASK, hints.recv()).await {
                Ok(Some(first)) => round.add(first),
                Ok(None) => return,
                Err(_) => {}
            }
            tokio::time::sleep(self.throttle.wait()).await;
            while let Ok(hint) = hints.try_recv() {
                round.add(hint);
            }
            // If a subscriber still waits, request ends again.
            round.asks |= last_asked.elapsed() >= ASK
                && self.waiters.upgrade().is_some_and(|ends| ends.receiver_count() > 0);
            if round.asks {
                last_asked = Instant::now();
            }
            if round != Round::default() {
                self.send(round).await;
            }
        }
    }

    async fn send(&self, round: Round) {
        let sent = db::query(self.sql.notify()).bind(&self.channel).bind(round.lines(&self.origin));
        let sent = async { sent.execute(&self.pool).await.map_err(store_error) };
        if let Err(error) = in_time(self.longest, &self.suspects, sent).await {
            tracing::debug!(%error, "hints could not be sent; the others will find out by polling");
        }
    }
}

/// The hints that are sent together.
#[derive(Default, PartialEq)]
struct Round {
    /// Queues with the lowest sort key inserted, if known.
    queues: BTreeMap<String, Option<i64>>,
    canceled: Vec<Token>,
    finished: Vec<JobId>,
    unblocked: bool,
    asks: bool,
}

impl Round {
    fn add(&mut self, received: Received) {
        let hint = match received {
            Received::Hint(hint) => hint,
            Received::Asks => return self.asks = true,
        };
        match hint.wake {
            Wake::Work { queue } => {
                let first = self.queues.entry(queue).or_insert(hint.first);
                *first = [*first, hint.first].into_iter().flatten().min();
            }
            Wake::Canceled(token) => self.canceled.push(token),
            Wake::Unblocked => self.unblocked = true,
            Wake::Finished(job) if self.finished.len() < MOST_ENDS => self.finished.push(job),
            _ => {}
        }
    }

    fn lines(self, origin: &str) -> Vec<String> {
        let queues = self.queues.into_iter();
        let queues = queues.map(|(queue, first)| Hint { wake: Wake::Work { queue }, first });
        let canceled = self.canceled.into_iter().map(|token| Wake::Canceled(token).into());
        let unblocked = self.unblocked.then(|| Wake::Unblocked.into());
        let mut lines: Vec<_> = queues
            .chain(canceled)
            .chain(unblocked)
            .filter_map(|hint| line(origin, &hint))
            .collect();
        if self.asks {
            lines.push(format!("{origin} a -"));
        }
        if !self.finished.is_empty() {
            let mut ends = format!("{origin} f");
            for job in self.finished {
                let _ = write!(ends, " {}", job.uuid().simple());
            }
            lines.push(ends);
        }
        lines
    }
}

/// Listens until the store is dropped. A lost connection is replaced.
pub(crate) async fn listen(mut listener: PgListener, origin: String, here: std::sync::Weak<Wakes>) {
    let mut pause = INTERVAL;
    loop {
        let heard = listener.try_recv().await;
        let Some(wakes) = here.upgrade() else { return };
        match heard {
            Ok(Some(notification)) => {
                pause = INTERVAL;
                for received in read(&origin, notification.payload()) {
                    wakes.heard(received);
                }
            }
            // The connection was lost and restored. Missed hints are covered by polling.
            Ok(None) => {}
            // The store was closed, and the pool waits for this connection.
            Err(sqlx::Error::PoolClosed) => return,
            Err(error) => {
                tracing::warn!(%error, "cannot listen for hints; polling meanwhile");
                drop(wakes);
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(5));
            }
        }
    }
}

/// Returns a listener that has received a test notification, or `None` if it does not work, as behind a transaction
/// pooler.
pub(crate) async fn tested_listener(
    pool: &PgPool,
    sql: &Sql,
    channel: &str,
    origin: &str,
) -> Option<PgListener> {
    let test = async {
        let mut listener = PgListener::connect_with(pool).await?;
        listener.listen(channel).await?;
        let probe = format!("{origin} t {:x}", fastrand::u64(..));
        let probes = vec![probe.clone()];
        db::query(sql.notify()).bind(channel).bind(probes).execute(pool).await?;
        while listener.recv().await?.payload() != probe {}
        Ok::<_, sqlx::Error>(listener)
    };
    match tokio::time::timeout(SELF_TEST, test).await {
        Ok(Ok(listener)) => Some(listener),
        Ok(Err(error)) => {
            tracing::warn!(%error, "cannot listen for hints; polling instead");
            None
        }
        Err(_) => {
            tracing::warn!("a hint of our own did not arrive; polling instead");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_read_back_as_they_were() {
        let job = JobId::from_uuid(Uuid::from_u128(7));
        let token = Token { job, lease: LeaseId::from_uuid(Uuid::from_u128(8)), version: 9 };
        let hints = [
            Wake::Work { queue: "a".to_owned() }.into(),
            Hint::put("b c".to_owned(), -7).into(),
            Wake::Canceled(token).into(),
            Wake::Unblocked.into(),
            Received::Asks,
            Wake::Finished(job).into(),
        ];
        let mut round = Round::default();
        hints.iter().cloned().for_each(|hint| round.add(hint));
        let lines = round.lines("me");
        let heard: Vec<_> = lines.iter().flat_map(|line| read("you", line)).collect();
        assert_eq!(heard, hints);
        assert!(lines.iter().all(|line| read("me", line).is_empty()));
    }

    #[test]
    fn the_first_of_what_goes_out_together_is_told() {
        let mut round = Round::default();
        for first in [3, -7, 5] {
            round.add(Hint::put("a".to_owned(), first).into());
        }
        round.add(Wake::Work { queue: "a".to_owned() }.into());
        assert_eq!(round.lines("me"), ["me p -7 a"]);
    }

    #[test]
    fn nonsense_is_no_hint() {
        for line in ["", "x", "x y", "x p", "x p 1", "x p y z", "x c 1 2", "x f z", "x t 1"] {
            assert!(read("me", line).is_empty(), "{line}");
        }
    }
}
