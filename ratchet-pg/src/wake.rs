//! Hints: to this process at once, to the others by `NOTIFY`, a few milliseconds' worth at a time.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use ratchet_core::model::{JobId, LeaseId, Token};
use ratchet_core::store::Wake;
use tokio::sync::{broadcast, mpsc};
use uuid::Uuid;

use crate::error::store_error;
use crate::home::in_time;
use crate::sql::Sql;
use crate::sqlx::postgres::PgListener;
use crate::sqlx::{self, PgPool};

/// How many hints a slow listener may be behind before it loses some. Losing one costs a poll.
const KEPT: usize = 1024;

/// The first hint goes out at once, those after it together after this long.
const PACE: Duration = Duration::from_millis(4);

/// More ends than this in one round are left to those who wait to find by looking: a drain is not held up by hints.
const MOST_ENDS: usize = 64;

/// How long the test of the listener may take at the start.
const SELF_TEST: Duration = Duration::from_secs(3);

/// Where hints go.
#[derive(Debug)]
pub(crate) struct Wakes {
    /// Marks what this process has sent, so that it does not hear itself.
    origin: String,
    here: broadcast::Sender<Wake>,
    /// To the task that tells the others; none in poll-only mode.
    elsewhere: Option<mpsc::UnboundedSender<Wake>>,
}

impl Wakes {
    pub(crate) fn new(elsewhere: Option<mpsc::UnboundedSender<Wake>>) -> Self {
        let (here, _) = broadcast::channel(KEPT);
        Self { origin: format!("{:016x}", fastrand::u64(..)), here, elsewhere }
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Wake> {
        self.here.subscribe()
    }

    /// Tells what was committed.
    pub(crate) fn send(&self, wakes: impl IntoIterator<Item = Wake>) {
        let mut ends = 0;
        for wake in wakes {
            let end = matches!(wake, Wake::Finished(_));
            ends += usize::from(end);
            if let Some(elsewhere) = self.elsewhere.as_ref().filter(|_| !end || ends <= MOST_ENDS) {
                // The task is gone only when the store is.
                let _ = elsewhere.send(wake.clone());
            }
            // Nobody listens: nobody needs the hint.
            let _ = self.here.send(wake);
        }
    }

    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }
}

/// A hint as others can read it.
pub(crate) fn line(origin: &str, wake: &Wake) -> Option<String> {
    Some(match wake {
        Wake::Work { queue } => format!("{origin} w {queue}"),
        Wake::Canceled(token) => {
            let (job, lease) = (token.job.uuid().simple(), token.lease.uuid().simple());
            format!("{origin} c {job} {lease} {}", token.version)
        }
        Wake::Finished(job) => format!("{origin} f {}", job.uuid().simple()),
        Wake::Unblocked => format!("{origin} u -"),
        _ => return None,
    })
}

/// The hints in a line, unless this process has sent it.
fn read(origin: &str, line: &str) -> Vec<Wake> {
    let Some((from, body)) = line.split_once(' ') else { return Vec::new() };
    let Some((kind, rest)) = body.split_once(' ').filter(|_| from != origin) else {
        return Vec::new();
    };
    let uuid = |text: &str| Uuid::try_parse(text).ok();
    match kind {
        "w" => vec![Wake::Work { queue: rest.to_owned() }],
        "u" => vec![Wake::Unblocked],
        "f" => {
            let ids = rest.split(' ').filter_map(uuid);
            ids.map(|id| Wake::Finished(JobId::from_uuid(id))).collect()
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
            token().map(Wake::Canceled).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Passes hints on to the other processes until the store is gone.
pub(crate) async fn tell_others(
    (pool, sql, channel, origin): (PgPool, Arc<Sql>, String, String),
    (longest, doubt): (Duration, Arc<AtomicU32>),
    mut hints: mpsc::UnboundedReceiver<Wake>,
) {
    while let Some(first) = hints.recv().await {
        let mut round = Round::default();
        round.add(first);
        while let Ok(hint) = hints.try_recv() {
            round.add(hint);
        }
        let sent = sqlx::query(sql.notify()).bind(&channel).bind(round.lines(&origin));
        let sent = async { sent.execute(&pool).await.map_err(store_error) };
        if let Err(error) = in_time(longest, &doubt, sent).await {
            tracing::debug!(%error, "hints could not be sent; the others will find out by polling");
        }
        tokio::time::sleep(PACE).await;
    }
}

/// What goes out together.
#[derive(Default)]
struct Round {
    queues: BTreeSet<String>,
    canceled: Vec<Token>,
    finished: Vec<JobId>,
    unblocked: bool,
}

impl Round {
    fn add(&mut self, hint: Wake) {
        match hint {
            Wake::Work { queue } => {
                self.queues.insert(queue);
            }
            Wake::Canceled(token) => self.canceled.push(token),
            Wake::Unblocked => self.unblocked = true,
            Wake::Finished(job) if self.finished.len() < MOST_ENDS => self.finished.push(job),
            _ => {}
        }
    }

    fn lines(self, origin: &str) -> Vec<String> {
        let queues = self.queues.into_iter().map(|queue| Wake::Work { queue });
        let canceled = self.canceled.into_iter().map(Wake::Canceled);
        let unblocked = self.unblocked.then_some(Wake::Unblocked);
        let mut lines: Vec<_> = queues
            .chain(canceled)
            .chain(unblocked)
            .filter_map(|wake| line(origin, &wake))
            .collect();
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
                for wake in read(&origin, notification.payload()) {
                    let _ = wakes.here.send(wake);
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
            Wake::Work { queue: "a".to_owned() },
            Wake::Canceled(token),
            Wake::Unblocked,
            Wake::Finished(job),
        ];
        let mut round = Round::default();
        hints.iter().cloned().for_each(|hint| round.add(hint));
        let lines = round.lines("me");
        let heard: Vec<_> = lines.iter().flat_map(|line| read("you", line)).collect();
        assert_eq!(heard, hints);
        assert!(lines.iter().all(|line| read("me", line).is_empty()));
    }

    #[test]
    fn nonsense_is_no_hint() {
        for line in ["", "x", "x y", "x c 1 2", "x f z", "x t 1"] {
            assert!(read("me", line).is_empty(), "{line}");
        }
    }
}
