//! Hints: to this process at once, to the others by `NOTIFY`, a few milliseconds' worth at a time.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ratchet_core::model::{JobId, LeaseId, Token};
use ratchet_core::store::Wake;
use tokio::sync::{broadcast, mpsc};
use tokio::time::Instant;
use uuid::Uuid;

use crate::bounds::Bounds;
use crate::error::store_error;
use crate::home::in_time;
use crate::pace::{PACE, Pace};
use crate::sql::Sql;
use crate::sqlx::postgres::PgListener;
use crate::sqlx::{self, PgPool};

/// How many hints a slow listener may be behind before it loses some. Losing one costs a poll.
const KEPT: usize = 1024;

/// More ends than this in one round are left to those who wait to find by looking: a drain is not held up by hints.
const MOST_ENDS: usize = 64;

/// Somebody who waits for ends asks for them again after this long; nobody tells them for twice as long without being asked.
const ASK: Duration = Duration::from_secs(5);

/// How long the test of the listener may take at the start.
const SELF_TEST: Duration = Duration::from_secs(3);

/// A hint, and where in its queue the first of the jobs stands that were put there.
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
    /// Jobs were put into a queue, the first of them there.
    pub(crate) fn put(queue: String, first: i64) -> Self {
        Self { wake: Wake::Work { queue }, first: Some(first) }
    }
}

/// What processes tell each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Told {
    Hint(Hint),
    /// Somebody here waits for ends.
    Asks,
}

impl<T: Into<Hint>> From<T> for Told {
    fn from(hint: T) -> Self {
        Self::Hint(hint.into())
    }
}

/// Where hints go.
#[derive(Debug)]
pub(crate) struct Wakes {
    /// Marks what this process has sent, so that it does not hear itself.
    origin: String,
    here: broadcast::Sender<Wake>,
    /// For those who wait for ends.
    ends: broadcast::Sender<Wake>,
    /// When another process has last asked for ends.
    asked: Mutex<Option<Instant>>,
    /// To the task that tells the others; none in poll-only mode.
    elsewhere: Option<mpsc::UnboundedSender<Told>>,
    pace: Arc<Pace>,
    /// Where the claims of this process begin: before what others have put in.
    bounds: Arc<Bounds>,
}

impl Wakes {
    pub(crate) fn new(elsewhere: Option<mpsc::UnboundedSender<Told>>, bounds: Arc<Bounds>) -> Self {
        let ((here, _), (ends, _)) = (broadcast::channel(KEPT), broadcast::channel(KEPT));
        let origin = format!("{:016x}", fastrand::u64(..));
        let pace = Arc::default();
        Self { origin, here, ends, asked: Mutex::default(), elsewhere, pace, bounds }
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Wake> {
        self.here.subscribe()
    }

    /// Ends are told for as long as the answer is kept; other processes are asked to tell theirs.
    pub(crate) fn subscribe_to_ends(&self) -> broadcast::Receiver<Wake> {
        let ends = self.ends.subscribe();
        if let Some(elsewhere) = &self.elsewhere {
            let _ = elsewhere.send(Told::Asks);
        }
        ends
    }

    /// Knows whether somebody waits for ends.
    pub(crate) fn waiters(&self) -> broadcast::WeakSender<Wake> {
        self.ends.downgrade()
    }

    /// Tells what was committed.
    pub(crate) fn send(&self, hints: impl IntoIterator<Item = impl Into<Hint>>) {
        let mut ends_elsewhere = if self.is_asked() { MOST_ENDS } else { 0 };
        let ends_here = self.ends.receiver_count() > 0;
        for hint in hints {
            let hint = hint.into();
            let end = matches!(hint.wake, Wake::Finished(_));
            if let Some(elsewhere) = self.elsewhere.as_ref().filter(|_| !end || ends_elsewhere > 0)
            {
                ends_elsewhere = ends_elsewhere.saturating_sub(usize::from(end));
                // The task is gone only when the store is.
                let _ = elsewhere.send(Told::Hint(hint.clone()));
            }
            // Nobody listens: nobody needs the hint.
            if !end {
                let _ = self.here.send(hint.wake);
            } else if ends_here {
                let _ = self.ends.send(hint.wake);
            }
        }
    }

    /// Tells what was committed to this process alone: the others have been told.
    pub(crate) fn send_here(&self, hints: impl IntoIterator<Item = Hint>) {
        for hint in hints {
            let _ = self.here.send(hint.wake);
        }
    }

    /// Whether a hint may go with a commit: there are others, and the last one was long enough ago.
    pub(crate) fn may_hint(&self) -> bool {
        self.elsewhere.is_some() && self.pace.is_free()
    }

    /// How a line begins that tells of jobs put into a queue by this process.
    pub(crate) fn put_by(&self) -> String {
        format!("{} {PUT}", self.origin)
    }

    pub(crate) fn pace(&self) -> Arc<Pace> {
        Arc::clone(&self.pace)
    }

    /// Whether another process waits for ends.
    fn is_asked(&self) -> bool {
        let asked = *self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.is_some_and(|asked| asked.elapsed() < ASK * 2)
    }

    /// Another process has told this.
    fn heard(&self, told: Told) {
        let hint = match told {
            Told::Hint(hint) => hint,
            Told::Asks => {
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

/// The kind of a line that tells of jobs put into a queue.
const PUT: &str = "p";

/// A hint as others can read it.
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

/// What a line says, unless this process has sent it.
fn read(origin: &str, line: &str) -> Vec<Told> {
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
            put.map(Told::Hint).into_iter().collect()
        }
        "u" => vec![Wake::Unblocked.into()],
        "a" => vec![Told::Asks],
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

/// Passes hints on to the other processes until the store is gone.
pub(crate) async fn tell_others(
    (pool, sql, channel, origin): (PgPool, Arc<Sql>, String, String),
    (longest, doubt): (Duration, Arc<AtomicU32>),
    mut hints: mpsc::UnboundedReceiver<Told>,
    (waiters, pace): (broadcast::WeakSender<Wake>, Arc<Pace>),
) {
    let mut last_asked = Instant::now();
    loop {
        let mut round = Round::default();
        match tokio::time::timeout(ASK, hints.recv()).await {
            Ok(Some(first)) => round.add(first),
            Ok(None) => return,
            Err(_) => {}
        }
        tokio::time::sleep(pace.wait()).await;
        while let Ok(hint) = hints.try_recv() {
            round.add(hint);
        }
        // Whoever has waited for so long asks again.
        round.asks |= last_asked.elapsed() >= ASK
            && waiters.upgrade().is_some_and(|ends| ends.receiver_count() > 0);
        if round.asks {
            last_asked = Instant::now();
        }
        if round == Round::default() {
            continue;
        }
        let sent = sqlx::query(sql.notify()).bind(&channel).bind(round.lines(&origin));
        let sent = async { sent.execute(&pool).await.map_err(store_error) };
        if let Err(error) = in_time(longest, &doubt, sent).await {
            tracing::debug!(%error, "hints could not be sent; the others will find out by polling");
        }
    }
}

/// What goes out together.
#[derive(Default, PartialEq)]
struct Round {
    /// With the first place that something was put at.
    queues: BTreeMap<String, Option<i64>>,
    canceled: Vec<Token>,
    finished: Vec<JobId>,
    unblocked: bool,
    asks: bool,
}

impl Round {
    fn add(&mut self, told: Told) {
        let hint = match told {
            Told::Hint(hint) => hint,
            Told::Asks => return self.asks = true,
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

/// Listens for as long as the store lives. The connection is made anew when it is lost.
pub(crate) async fn listen(mut listener: PgListener, origin: String, here: std::sync::Weak<Wakes>) {
    let mut pause = PACE;
    loop {
        let heard = listener.try_recv().await;
        let Some(wakes) = here.upgrade() else { return };
        match heard {
            Ok(Some(notification)) => {
                pause = PACE;
                for told in read(&origin, notification.payload()) {
                    wakes.heard(told);
                }
            }
            // The connection was lost and is back; what was missed in between is found by polling.
            Ok(None) => {}
            // The store was closed; it waits for this connection.
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

/// A listener that has been heard to work; none if it does not, as behind a transaction pooler.
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
        sqlx::query(sql.notify()).bind(channel).bind(probes).execute(pool).await?;
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
            Told::Asks,
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
