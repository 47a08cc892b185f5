//! The writer: takes all waiting requests, runs them in one transaction, and answers after the commit. Therefore many
//! callers share the cost of one commit, and an answer means that the change is durable.

use std::sync::Arc;
use std::time::Duration;

use ratchet_store::StoreErrorKind;
use ratchet_store::Wake;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::ErasedRows;
use sqlx::{AssertSqlSafe, Connection as _, Row as _, SqliteConnection};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::error::Fault;
use crate::file::Watch;
use crate::readers::Readers;
use crate::scrub::scrub;
use crate::session::{Effects, Session};
use crate::sql;
use crate::store::Shared;
use crate::verb::{AnyRequest, Kind};

/// The most requests per transaction. Longer transactions would delay callers and readers of the log.
const GROUP: usize = 256;

/// The writer and its connection. It ends when the last handle of the store is dropped.
pub(crate) struct Writer {
    pub(crate) conn: SqliteConnection,
    pub(crate) inbox: mpsc::UnboundedReceiver<Box<dyn AnyRequest>>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) max_skipped: usize,
    pub(crate) watch: Duration,
    /// The number of requests in the last transaction.
    pub(crate) last_group_len: usize,
    /// The version of the file at the last check. `None` before the first check.
    pub(crate) seen: Option<i64>,
    pub(crate) looked: Instant,
    pub(crate) file: Watch,
    /// The read connections, which the writer closes at the end.
    pub(crate) readers: Arc<Readers>,
    pub(crate) busy_timeout: Duration,
    /// When the writer last failed to truncate the log on a full disk.
    pub(crate) in_vain: Option<Instant>,
}

impl Writer {
    pub(crate) async fn run(mut self) {
        let mut group = Vec::new();
        loop {
            let listened = self.shared.wakes.receiver_count() > 0;
            tokio::select! {
                biased;
                count = self.inbox.recv_many(&mut group, GROUP) => {
                    if count == 0 {
                        break;
                    }
                    self.wait_for_more(&mut group);
                    self.carry_out(std::mem::take(&mut group)).await;
                }
                () = tokio::time::sleep_until(self.looked + self.watch), if listened => {}
                () = self.shared.listener.notified(), if !listened => {}
            }
            if listened && self.looked.elapsed() >= self.watch {
                self.look_for_others().await;
            }
        }
        // The last connection to close moves the log into the file. If two close at once, neither is the last, so they
        // are closed one after the other.
        for reader in self.readers.take() {
            let _ = reader.close().await;
        }
        self.shared.archive.close().await;
        if let Err(error) = self.conn.close().await {
            tracing::debug!(%error, "the job database was not closed cleanly; it recovers when it is opened again");
        }
    }

    /// Waits briefly for further requests, until the group is as large as the last one. Callers that were answered
    /// together send their next requests almost together, and the first should not pay for a commit of its own. After a
    /// group of one there is no wait.
    fn wait_for_more(&mut self, group: &mut Vec<Box<dyn AnyRequest>>) {
        const MOMENT: Duration = Duration::from_micros(40);
        for _ in 0..4 {
            if group.len() + self.inbox.len() >= self.last_group_len {
                break;
            }
            // Blocking is fine: this thread has nothing else to do.
            std::thread::sleep(MOMENT);
        }
        while group.len() < GROUP
            && let Ok(request) = self.inbox.try_recv()
        {
            group.push(request);
        }
        self.last_group_len = group.len();
    }

    async fn carry_out(&mut self, group: Vec<Box<dyn AnyRequest>>) {
        let beats = group.iter().any(|request| request.kind() == Kind::Heartbeat);
        if (beats || self.file.is_due())
            && let Err(fault) = self.file.look(&self.shared.files)
        {
            return fail(group, &fault);
        }
        let mut group = self.refuse_new_work(group);
        if group.is_empty() {
            return;
        }
        if group.iter().any(|request| request.kind() == Kind::Scrub)
            && let Err(error) = scrub(&mut self.conn).await
        {
            let fault = self.shared.fault(&error);
            let scrubs;
            (scrubs, group) = group.into_iter().partition(|request| request.kind() == Kind::Scrub);
            fail(scrubs, &fault);
        }
        let mut done = self.transaction(&mut group, false).await;
        if let Err((error, _)) = &done
            && self.shared.fault(error).kind == StoreErrorKind::Full
            && self.shorten_log().await
        {
            done = self.transaction(&mut group, false).await;
        }
        match done {
            Ok(effects) => self.publish(group, effects),
            // The transaction could not begin, so retrying each request by itself is useless.
            Err((error, true)) => fail(group, &self.shared.fault(&error)),
            // One request failed and nothing was written. Run each request by itself, so that only that one fails.
            Err((error, false)) => {
                // Records whether the file is damaged, before anything runs.
                self.shared.fault(&error);
                for request in self.refuse_new_work(group) {
                    let mut alone = vec![request];
                    match self.transaction(&mut alone, true).await {
                        Ok(effects) => self.publish(alone, effects),
                        Err((error, _)) => fail(alone, &self.shared.fault(&error)),
                    }
                }
            }
        }
    }

    /// Refuses new work once the file is known to be damaged, because its outcome could not be stored. Returns the
    /// remaining requests.
    fn refuse_new_work(&self, group: Vec<Box<dyn AnyRequest>>) -> Vec<Box<dyn AnyRequest>> {
        let Some(damage) = self.shared.damage.get() else { return group };
        let (new, others) = group.into_iter().partition(|request| request.kind() == Kind::NewWork);
        fail(new, damage);
        others
    }

    /// Moves the log into the file and truncates it, because the disk is full and the log may be the cause. Returns
    /// whether that freed space.
    async fn shorten_log(&mut self) -> bool {
        const NOT_BEFORE: Duration = Duration::from_secs(1);
        // Writes wait in the meantime, so do not wait long for readers.
        const FIRST_WAIT: Duration = Duration::from_millis(100);
        if self.in_vain.is_some_and(|tried| tried.elapsed() < NOT_BEFORE) {
            return false;
        }
        let busy_timeout_pragma = |wait: Duration| {
            AssertSqlSafe(format!("PRAGMA busy_timeout = {}", wait.as_millis().min(86_400_000)))
        };
        let shortened = sqlx::query(busy_timeout_pragma(FIRST_WAIT.min(self.busy_timeout)))
            .execute(&mut self.conn)
            .await;
        let moved = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").fetch_one(&mut self.conn).await;
        let restored =
            sqlx::query(busy_timeout_pragma(self.busy_timeout)).execute(&mut self.conn).await;
        if let Err(error) = shortened.and(restored) {
            tracing::debug!(%error, "the time to wait for other writers could not be changed");
        }
        match moved.and_then(|row| row.try_get::<i64, _>(0)) {
            // No reader or writer was in the way.
            Ok(0) => {
                self.in_vain = None;
                tracing::debug!(
                    file = %self.shared.path.display(),
                    "the disk is full; the write-ahead log of the job database was emptied to make room"
                );
                return true;
            }
            Ok(_) => tracing::debug!("the write-ahead log could not be emptied: it is being read"),
            Err(error) => tracing::debug!(%error, "the write-ahead log could not be emptied"),
        }
        self.in_vain = Some(Instant::now());
        false
    }

    /// Runs requests in one transaction. The flag of an error is set if the transaction could not begin.
    async fn transaction(
        &mut self,
        group: &mut [Box<dyn AnyRequest>],
        check_ids: bool,
    ) -> Result<Effects, (sqlx::Error, bool)> {
        sqlx::query("BEGIN IMMEDIATE")
            .execute(&mut self.conn)
            .await
            .map_err(|error| (error, true))?;
        let mut effects = Effects::default();
        match self.run_all(group, &mut effects, check_ids).await {
            Ok(()) => Ok(effects),
            Err(error) => {
                // If SQLite has already rolled back, this statement fails, which is fine.
                let _ = sqlx::query("ROLLBACK").execute(&mut self.conn).await;
                Err((error, false))
            }
        }
    }

    /// Runs requests and commits.
    async fn run_all(
        &mut self,
        group: &mut [Box<dyn AnyRequest>],
        effects: &mut Effects,
        check_ids: bool,
    ) -> Result<(), sqlx::Error> {
        let mut session = Session {
            conn: &mut self.conn,
            // Read under the write lock, so that later operations never see an earlier time.
            now: self.shared.clock.now(),
            templates: &self.shared.templates,
            effects,
            max_skipped: self.max_skipped,
            check_ids,
            damaged: self.shared.damage.get().is_some(),
            erased: ErasedRows::default(),
        };
        let (plain, others): (Vec<_>, Vec<_>) =
            group.iter_mut().partition(|request| !check_ids && request.plain_insert().is_some());
        let jobs: Vec<_> =
            plain.iter().filter_map(|request| request.plain_insert()).flatten().collect();
        if !jobs.is_empty() {
            session.insert_rows(&jobs).await?;
        }
        for request in plain {
            request.inserted();
        }
        for request in others {
            session.now = self.shared.clock.now();
            request.run(&mut session).await?;
        }
        crash_point(CrashPoint::CommitBefore);
        session.commit().await?;
        crash_point(CrashPoint::CommitAfter);
        Ok(())
    }

    fn publish(&self, group: Vec<Box<dyn AnyRequest>>, effects: Effects) {
        for (id, template) in effects.templates {
            self.shared.templates.add(id, template);
        }
        group.into_iter().for_each(AnyRequest::committed);
        for wake in effects.wakes {
            let listeners = match wake {
                Wake::Finished(_) => &self.shared.ends,
                _ => &self.shared.wakes,
            };
            // An error means that there is no receiver.
            let _ = listeners.send(wake);
        }
    }

    /// Sends wake-ups if another process or a transaction of the application has written to the file.
    async fn look_for_others(&mut self) {
        self.looked = Instant::now();
        // This version changes with commits of other connections, and never with commits of this one.
        let version = match sqlx::query("PRAGMA data_version").fetch_one(&mut self.conn).await {
            Ok(row) => row.try_get::<i64, _>(0).ok(),
            Err(_) => None,
        };
        if version.is_none() || version == self.seen {
            return;
        }
        self.seen = version;
        let Ok(queues) =
            sqlx::query(sql::count::LIST_WAITING_QUEUES).fetch_all(&mut self.conn).await
        else {
            return;
        };
        for queue in queues {
            if let Ok(queue) = queue.try_get(0) {
                let _ = self.shared.wakes.send(Wake::Work { queue });
            }
        }
    }
}

fn fail(group: Vec<Box<dyn AnyRequest>>, fault: &Fault) {
    for request in group {
        request.failed(fault.clone());
    }
}
