//! Named points at which a process under test can be made to crash or freeze. There is one at every step with an
//! effect.
//!
//! Without the feature `crash-points`, a point compiles to nothing. With it, points are inert unless enabled by
//! environment variables:
//!
//! - `RATCHET_CRASH=settle.moved:2` aborts the process when it passes that point for the second time;
//! - `RATCHET_FREEZE=settle.before:1` stops the process there with SIGSTOP, until it receives SIGCONT;
//! - `RATCHET_CRASH_LOG=file` appends a line to that file whenever a point is passed.
//!
//! Within one process, a [`Watch`](super::pause::Watch) holds a single thread at a point while other threads continue.
//!
//! Not part of the public interface. It is used by `tests/crash` and the interleaving matrix of `ratchet-pg`.

macro_rules! points {
    ($($(#[doc = $meaning:literal])+ $point:ident = $name:literal,)+) => {
        /// A point at which a process under test can be made to crash.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum CrashPoint {
            $($(#[doc = $meaning])+ $point,)+
        }

        impl CrashPoint {
            /// All points, in the order in which a job passes them.
            pub const ALL: &'static [Self] = &[$(Self::$point,)+];

            /// Returns the name used in environment variables and tables.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$point => $name,)+ }
            }

            /// Returns a description of the point.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$point => concat!($($meaning,)+).trim_ascii(),)+ }
            }
        }
    };
}

points! {
    /// a migration's statements have run, it is not recorded
    MigrationApplied = "migration.applied",
    /// a migration is recorded, nothing is committed
    MigrationRecorded = "migration.recorded",
    /// every migration is committed, the store is not open yet
    MigrationCommitted = "migration.committed",
    /// a submit is about to ask the store
    SubmitBefore = "submit.before",
    /// keys are taken, their jobs are not stored
    InsertKeys = "insert.keys",
    /// jobs are stored, nothing is committed (but for a statement that is a commit of its own)
    InsertRows = "insert.rows",
    /// jobs are stored in the caller's own transaction
    InsertInTx = "insert.in_tx",
    /// groups of a graph are stored, the graph is not whole
    InsertGroups = "insert.groups",
    /// a submit is durable, the caller has no answer yet
    SubmitAnswered = "submit.answered",
    /// a claim is about to be sent
    ClaimBefore = "claim.before",
    /// jobs are taken, nothing is committed
    ClaimTaken = "claim.taken",
    /// a claim is durable, none of its jobs has been launched
    ClaimAnswered = "claim.answered",
    /// a handler is about to be called
    HandlerBefore = "handler.before",
    /// a handler has returned, nothing is decided
    HandlerAfter = "handler.after",
    /// the outcome of a run is decided, and only this process knows it
    SettleDecided = "settle.decided",
    /// a batch of outcomes is about to be sent
    SettleBefore = "settle.before",
    /// one member of a batch is settled, the next is not
    SettleMember = "settle.member",
    /// the line of the history is written, its job has not moved
    SettleHistory = "settle.history",
    /// jobs have ended or left their lease
    SettleMoved = "settle.moved",
    /// a job that is tried again waits for its time, nothing is committed
    SettleRetry = "settle.retry",
    /// dead letters and alerts are recorded
    SettleNotices = "settle.notices",
    /// keys and slots of what has ended are free
    SettleFreed = "settle.freed",
    /// what follows in a graph is known, nothing of it is written
    GraphWalked = "graph.walked",
    /// the next steps are released or canceled, no group is counted
    GraphReleased = "graph.released",
    /// groups are counted, what their edges came to is not written
    GraphCounted = "graph.counted",
    /// everything that follows in a graph is written
    GraphWritten = "graph.written",
    /// callbacks and children are stored
    SettleSpawned = "settle.spawned",
    /// a batch of outcomes is durable, the worker has not accounted for it
    SettleAnswered = "settle.answered",
    /// one statement that settles and claims is about to be sent
    ExchangeBefore = "exchange.before",
    /// one statement that settled and claimed is durable, its answer has not been read
    ExchangeAfter = "exchange.after",
    /// orphans are found, nothing is decided
    RescueFound = "rescue.found",
    /// what becomes of orphans is decided, nothing is sent
    RescueDecided = "rescue.decided",
    /// orphans are settled, no event is published yet
    RescueAnswered = "rescue.answered",
    /// hand-offs are held, none of their jobs is stored
    AdmitTaken = "admit.taken",
    /// hand-offs are admitted, their worker has not accounted for them
    AdmitAnswered = "admit.answered",
    /// a recurring job is due, its occurrences are made, nothing is sent
    FireDecided = "fire.decided",
    /// the schedule has advanced, its jobs are not stored
    FireMoved = "fire.moved",
    /// the schedule has advanced and its jobs are stored, nothing is committed
    FireStored = "fire.stored",
    /// a firing is durable, the caller does not know it yet
    FireAnswered = "fire.answered",
    /// a command is about to be sent
    CommandBefore = "command.before",
    /// a command is carried out, nothing is committed
    CommandDone = "command.done",
    /// a command is durable, the caller has no answer yet
    CommandAnswered = "command.answered",
    /// old jobs are removed, nothing is committed
    PurgeRemoved = "purge.removed",
    /// old jobs are in the archive and still where they were, if these are two commits
    ArchiveCopied = "archive.copied",
    /// old jobs are moved to the archive, nothing is committed
    ArchiveMoved = "archive.moved",
    /// a node has joined, it has claimed nothing
    NodeJoined = "node.joined",
    /// a node has renewed its lease
    NodeRenewed = "node.renewed",
    /// everything of a transaction is written, it is about to commit
    CommitBefore = "commit.before",
    /// a transaction is durable, the caller does not know it yet
    CommitAfter = "commit.after",
}

#[cfg(not(feature = "crash-points"))]
mod armed {
    /// Nothing: this build has no crash points.
    #[inline]
    pub const fn crash_point(_point: super::CrashPoint) {}

    /// Nothing: this build has no crash points.
    #[inline]
    pub const fn statement_point(_name: &'static str) {}
}

#[cfg(feature = "crash-points")]
mod armed {
    use std::fs::{File, OpenOptions};
    use std::io::Write as _;
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::CrashPoint;

    static PASSED: [AtomicU64; CrashPoint::ALL.len()] =
        [const { AtomicU64::new(0) }; CrashPoint::ALL.len()];
    static ORDERS: LazyLock<Orders> = LazyLock::new(Orders::read);

    struct Orders {
        die: Option<(CrashPoint, u64)>,
        freeze: Option<(CrashPoint, u64)>,
        log: Option<File>,
    }

    impl Orders {
        fn read() -> Self {
            let log = std::env::var_os("RATCHET_CRASH_LOG").map(|path| {
                let opened = OpenOptions::new().create(true).append(true).open(&path);
                opened
                    .unwrap_or_else(|error| panic!("RATCHET_CRASH_LOG cannot be written: {error}"))
            });
            Self { die: Self::place("RATCHET_CRASH"), freeze: Self::place("RATCHET_FREEZE"), log }
        }

        /// Parses a point, and the number of the pass at which it takes effect.
        fn place(variable: &str) -> Option<(CrashPoint, u64)> {
            let order = std::env::var(variable).ok()?;
            let parsed = order.rsplit_once(':').and_then(|(name, passing)| {
                let point = CrashPoint::ALL.iter().find(|point| point.name() == name)?;
                Some((*point, passing.parse().ok()?))
            });
            Some(parsed.unwrap_or_else(|| panic!("{variable} names no crash point: {order}")))
        }
    }

    /// Marks the point before a statement, at which a watched thread can be held.
    pub fn statement_point(name: &'static str) {
        crate::env::pause::pass(name);
    }

    /// Marks a crash point. Aborts or freezes the process if this pass of the point was selected.
    pub fn crash_point(point: CrashPoint) {
        crate::env::pause::pass(point.name());
        let orders = &*ORDERS;
        if orders.die.is_none() && orders.freeze.is_none() && orders.log.is_none() {
            return;
        }
        let passing = PASSED[point as usize].fetch_add(1, Ordering::SeqCst) + 1;
        if let Some(mut log) = orders.log.as_ref() {
            // A single write, so that the line is complete even if the process aborts.
            let _ = log.write_all(format!("{} {passing}\n", point.name()).as_bytes());
        }
        if orders.die == Some((point, passing)) {
            std::process::abort();
        }
        if orders.freeze == Some((point, passing)) {
            let me = std::process::id().to_string();
            let _ = std::process::Command::new("kill").args(["-STOP", &me]).status();
        }
    }
}

pub use armed::{crash_point, statement_point};

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::CrashPoint;

    #[test]
    fn names_are_unique_and_say_where() {
        let names: HashSet<_> = CrashPoint::ALL.iter().map(|point| point.name()).collect();
        assert_eq!(names.len(), CrashPoint::ALL.len());
        assert!(CrashPoint::ALL.iter().all(|point| !point.meaning().is_empty()));
    }
}
