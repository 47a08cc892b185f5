//! What is asked of the store.

/// A verb of the store, as the trace names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    Now,
    Insert,
    InsertGraph,
    Extend,
    Claim,
    Settle,
    SettleAndClaim,
    /// The same settle once more, after its answer.
    SettleAgain,
    Report,
    LetGo,
    Join,
    Heartbeat,
    Leave,
    Orphans,
    Lead,
    Purge,
    /// Pause, resume, cancel, reschedule.
    Command,
    /// A manual retry or a re-drive: the only command after which an ended job lives again.
    Revive,
    UpdateQueue,
    UpdateBreaker,
    Schedules,
    DueSchedules,
    WriteSchedule,
    Read,
    /// Not the store: a handler began or ended.
    Handler,
}

impl Op {
    /// Whether it can move a job.
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
