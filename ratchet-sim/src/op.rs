//! The operations of the store.

/// An operation of the store, as named in the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    Now,
    Insert,
    InsertGraph,
    Extend,
    Claim,
    Settle,
    SettleAndClaim,
    /// The same settle call, delivered a second time.
    SettleAgain,
    Report,
    LetGo,
    Join,
    Heartbeat,
    Leave,
    Orphans,
    Lead,
    Declare,
    Purge,
    Archive,
    PurgeArchive,
    /// Pause, resume, cancel or reschedule.
    Command,
    /// A manual retry or a redrive: the only commands that make an ended job live again.
    Revive,
    UpdateQueue,
    UpdateBreaker,
    Schedules,
    DueSchedules,
    WriteSchedule,
    WriteStats,
    FoldStats,
    WriteGauges,
    PurgeStats,
    Read,
    /// Not a store call: a handler started or ended.
    Handler,
}

impl Op {
    /// Returns whether the operation can change the state of a job.
    pub(crate) fn moves(self) -> bool {
        matches!(
            self,
            Self::Insert
                | Self::InsertGraph
                | Self::Extend
                | Self::Claim
                | Self::Settle
                | Self::SettleAndClaim
                | Self::SettleAgain
                | Self::Command
                | Self::Revive
                | Self::WriteSchedule
        )
    }
}
