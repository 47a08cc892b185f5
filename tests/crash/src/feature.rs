//! The features that a process under test uses: the columns of the matrix.

/// A use case of the product that takes about a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Feature {
    Plain,
    Retry,
    DeadLetter,
    Chain,
    Batch,
    Workflow,
    Recurring,
    ConcurrencyKey,
    Keys,
    Callbacks,
    Children,
    Cancel,
    Transaction,
    Rescue,
    Migration,
    Create,
    Breaker,
    Limits,
    Snooze,
    Purge,
    Again,
    HandOff,
    Archive,
}

impl Feature {
    pub const ALL: [Self; 23] = [
        Self::Plain,
        Self::Retry,
        Self::DeadLetter,
        Self::Chain,
        Self::Batch,
        Self::Workflow,
        Self::Recurring,
        Self::ConcurrencyKey,
        Self::Keys,
        Self::Callbacks,
        Self::Children,
        Self::Cancel,
        Self::Transaction,
        Self::Rescue,
        Self::Migration,
        Self::Create,
        Self::Breaker,
        Self::Limits,
        Self::Snooze,
        Self::Purge,
        Self::Again,
        Self::HandOff,
        Self::Archive,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Retry => "retry",
            Self::DeadLetter => "dead-letter",
            Self::Chain => "chain",
            Self::Batch => "batch",
            Self::Workflow => "workflow",
            Self::Recurring => "recurring",
            Self::ConcurrencyKey => "slots",
            Self::Keys => "keys",
            Self::Callbacks => "callbacks",
            Self::Children => "children",
            Self::Cancel => "cancel",
            Self::Transaction => "in-tx",
            Self::Rescue => "rescue",
            Self::Migration => "migration",
            Self::Create => "create",
            Self::Breaker => "breaker",
            Self::Limits => "limits",
            Self::Snooze => "snooze",
            Self::Purge => "purge",
            Self::Again => "again",
            Self::HandOff => "hand-off",
            Self::Archive => "archive",
        }
    }

    pub fn meaning(self) -> &'static str {
        match self {
            Self::Plain => "eight jobs without anything special",
            Self::Retry => "jobs that fail twice and then succeed",
            Self::DeadLetter => "jobs that fail permanently: one alert, a dead letter each",
            Self::Chain => "two chains of three steps, each takes what the one before returned",
            Self::Batch => "a batch with a failing member and a callback that receives the counts",
            Self::Workflow => "a diamond: two steps after one, one after both",
            Self::Recurring => "a job that recurs every second, caught up with what was missed",
            Self::ConcurrencyKey => "jobs of which one may run at a time",
            Self::Keys => "every submit made twice with an idempotency key, and a business key",
            Self::Callbacks => "a callback for success, a callback for failure",
            Self::Children => "jobs that enqueue two more as part of their success",
            Self::Cancel => "waiting, running and chained jobs that are canceled",
            Self::Transaction => "submits in the caller's own transaction, beside a row of his",
            Self::Rescue => "the jobs of a process that was aborted before",
            Self::Migration => "a store of an older version with jobs in it is opened",
            Self::Create => "a store that does not exist yet is opened",
            Self::Breaker => {
                "a breaker opened by hand and by failures, tried by probes until it closes"
            }
            Self::Limits => "a queue of which one job may run at a time",
            Self::Snooze => "jobs that put themselves off twice",
            Self::Purge => "jobs with idempotency keys that are done, purged, and submitted again",
            Self::Again => "jobs that have failed permanently and are retried manually",
            Self::HandOff => "jobs that hand off to a pipeline, and the jobs that accept it",
            Self::Archive => {
                "jobs with idempotency keys that are done, archived, and submitted again"
            }
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|feature| feature.name() == name)
    }
}
