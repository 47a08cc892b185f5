//! [`ACTIONS`]: every verb that changes something, with the words of its page.

/// What an action changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// A job: field `job`.
    Job,
    /// A queue: field `queue`.
    Queue,
    /// A breaker: field `service`.
    Breaker,
    /// A schedule: field `schedule`.
    Schedule,
    /// A chain, batch or workflow: field `flow`.
    Flow,
    /// Failed jobs: field `filter`.
    Failures,
    /// A group of failed jobs: field `group`, the name and the fingerprint.
    Group,
    /// A job whose row cannot be read: field `job`.
    Row,
    /// The rejected items of a job: field `job`.
    Rejects,
    /// A new job: field `name`.
    New,
    /// A node: field `node`.
    Node,
    /// A bulk operation: field `operation`.
    Operation,
    /// Jobs that a new bulk operation changes: field `filter`.
    Bulk,
    /// The archived jobs of a state: field `state`.
    Archive,
    /// A tenant or a correlation id: field `subject`.
    Erasure,
    /// Idempotency keys, or their digests: field `keys`.
    Ledger,
}

impl Target {
    /// Returns the field that names the target.
    pub(crate) const fn field(self) -> &'static str {
        match self {
            Self::Job | Self::Row | Self::Rejects => "job",
            Self::Queue => "queue",
            Self::Breaker => "service",
            Self::Schedule => "schedule",
            Self::Flow => "flow",
            Self::Failures | Self::Bulk => "filter",
            Self::New => "name",
            Self::Node => "node",
            Self::Group => "group",
            Self::Operation => "operation",
            Self::Archive => "state",
            Self::Erasure => "subject",
            Self::Ledger => "keys",
        }
    }
}

/// A setting of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
    pub(crate) hint: &'static str,
    pub(crate) required: bool,
}

const fn field(name: &'static str, label: &'static str, hint: &'static str) -> Field {
    Field { name, label, hint, required: false }
}

const fn required(name: &'static str, label: &'static str, hint: &'static str) -> Field {
    Field { name, label, hint, required: true }
}

/// A verb that changes something.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Action {
    /// The name in `ratchet_core::VERBS`.
    pub(crate) verb: &'static str,
    /// The label of its button.
    pub(crate) label: &'static str,
    /// The title of the page that confirms it.
    pub(crate) title: &'static str,
    /// What has happened, after it.
    pub(crate) done: &'static str,
    /// Whether it ends or deletes something.
    pub(crate) ends: bool,
    pub(crate) target: Target,
    pub(crate) fields: &'static [Field],
}

const fn verb(
    verb: &'static str,
    label: &'static str,
    title: &'static str,
    done: &'static str,
    target: Target,
) -> Action {
    Action { verb, label, title, done, ends: false, target, fields: &[] }
}

impl Action {
    const fn ending(mut self) -> Self {
        self.ends = true;
        self
    }

    const fn with(mut self, fields: &'static [Field]) -> Self {
        self.fields = fields;
        self
    }
}

/// Every verb of `ratchet_core::VERBS` that changes something, ordered by name.
pub(crate) static ACTIONS: [Action; 41] = [
    verb(
        "archive.purge",
        "Delete",
        "Delete archived jobs",
        "deleted from the archive.",
        Target::Archive,
    )
    .ending()
    .with(&[required(
        "older_than",
        "Archived at least",
        "How long ago, such as 90d or 12h. 0s: all of them.",
    )]),
    verb("breakers.close", "Close", "Close a breaker", "The breaker is closed.", Target::Breaker),
    verb("breakers.open", "Open", "Open a breaker", "The breaker is open.", Target::Breaker)
        .with(&[field("for", "For how long", "Such as 10m. Empty: until it is closed.")]),
    verb(
        "breakers.reset",
        "Reset settings",
        "Reset a breaker",
        "The breaker has the settings that programs declare.",
        Target::Breaker,
    ),
    verb(
        "breakers.set",
        "Set",
        "Set a breaker",
        "The breaker has the new settings.",
        Target::Breaker,
    )
    .with(&[
        field("failure_rate", "Opens at", "The percentage of failed calls. Empty: as now."),
        field("window", "Of the last", "The number of calls. Empty: as now."),
        field("min_calls", "After at least", "The number of calls. Empty: as now."),
        field("open_for", "Open for", "Such as 30s. Empty: as now."),
        field("probes", "Trial runs", "How many must succeed. Empty: as now."),
    ]),
    verb(
        "erasures.start",
        "Erase",
        "Erase a tenant or a correlation id",
        "The erasure is started. A worker that leads maintenance runs it.",
        Target::Erasure,
    )
    .ending()
    .with(&[
        field("pace", "At most per second", "The number of jobs. Empty: as many as possible."),
        required("cutoff", "Cut-off", "The cut-off of the preview."),
        required("digest", "Digest", "The digest of the preview."),
    ]),
    verb(
        "failures.acknowledge",
        "Acknowledge",
        "Acknowledge failures",
        "The group is acknowledged.",
        Target::Group,
    ),
    verb("failures.ignore", "Ignore", "Ignore failures", "The group is ignored.", Target::Group)
        .with(&[field("for", "For how long", "Such as 7d. Empty: always.")]),
    verb("failures.redrive", "Retry all", "Retry failed jobs", "retried.", Target::Failures).with(
        &[
            field(
                "limit",
                "At most",
                "The number of jobs. Empty: 1000. Begin with a few to see whether they succeed.",
            ),
            field("pace", "Pause between batches of 100", "Such as 1s. Empty: 100ms."),
        ],
    ),
    verb("failures.reopen", "Reopen", "Reopen failures", "The group is open.", Target::Group),
    verb(
        "failures.resolve",
        "Resolve",
        "Resolve failures",
        "The group is resolved.",
        Target::Group,
    ),
    verb(
        "flows.cancel",
        "Cancel",
        "Cancel a flow",
        "Every member that had not ended is canceled.",
        Target::Flow,
    )
    .ending(),
    verb("jobs.cancel", "Cancel", "Cancel a job", "The job is canceled.", Target::Job).ending(),
    verb(
        "jobs.edit",
        "Edit and retry",
        "Edit and retry a job",
        "This job was submitted in place of the one that was edited.",
        Target::Job,
    )
    .with(&[field(
        "arguments",
        "Arguments",
        "A JSON object with one field per argument. A secret argument that is *** keeps its value.",
    )]),
    verb("jobs.enqueue", "Enqueue", "Enqueue a job", "The job is enqueued.", Target::New).with(&[
        field("arguments", "Arguments", "A JSON object with one field per argument."),
        field("in_queue", "Queue", "Empty: the queue of the job."),
        field("delay", "Delay", "Such as 30m. Empty: due now."),
        field("key", "Idempotency key", "A second job with the same key is not created."),
    ]),
    verb(
        "jobs.move",
        "Move",
        "Move a job",
        "The job waits in another place.",
        Target::Job,
    )
    .with(&[
        field("to_queue", "Queue", "Empty: the queue that it is in."),
        field("priority", "Priority", "One of lowest, low, normal, high and critical. Empty: as it is."),
    ]),
    verb("jobs.pause", "Pause", "Pause a job", "The job is paused.", Target::Job),
    verb(
        "jobs.reschedule",
        "Reschedule",
        "Reschedule a job",
        "The job has a new due time.",
        Target::Job,
    )
    .with(&[required(
        "due",
        "Due",
        "An instant such as 2026-11-18T08:00:00Z, a delay such as 30m, or now.",
    )]),
    verb("jobs.resume", "Resume", "Resume a job", "The job is resumed.", Target::Job),
    verb("jobs.retry", "Retry", "Retry a job", "The job is pending again.", Target::Job),
    verb(
        "jobs.reveal",
        "Reveal secrets",
        "Reveal the secrets of a job",
        "The secrets are shown, and this is recorded in the audit trail.",
        Target::Job,
    ),
    verb(
        "ledger.purge",
        "Delete keys",
        "Delete idempotency keys",
        "deleted.",
        Target::Ledger,
    )
    .ending()
    .with(&[
        field("tenant", "Tenant", "Empty: keys without a tenant."),
        field("prefix", "Begin with", "The beginning of the keys. Empty: all of them."),
        required("older_than", "Used at least", "How long ago, such as 90d or 12h."),
    ]),
    verb(
        "nodes.quiet",
        "Make quiet",
        "Make a node quiet",
        "The node claims no more jobs after its next heartbeat.",
        Target::Node,
    ),
    verb(
        "nodes.resume",
        "Resume",
        "Resume a node",
        "The node claims jobs again after its next heartbeat.",
        Target::Node,
    ),
    verb(
        "nodes.stop",
        "Stop",
        "Stop a node",
        "The node stops after its next heartbeat.",
        Target::Node,
    )
    .ending(),
    verb(
        "operations.abort",
        "Abort",
        "Abort an operation",
        "The operation is aborted. Jobs that it has changed remain changed.",
        Target::Operation,
    )
    .ending(),
    verb(
        "operations.pause",
        "Pause",
        "Pause an operation",
        "The operation is paused.",
        Target::Operation,
    ),
    verb(
        "operations.resume",
        "Resume",
        "Resume an operation",
        "The operation is resumed.",
        Target::Operation,
    ),
    verb(
        "operations.start",
        "Start",
        "Change many jobs",
        "The operation is started. A worker that leads maintenance runs it.",
        Target::Bulk,
    )
    .with(&[
        required(
            "action",
            "What to do",
            "One of retry, cancel, pause, resume, reschedule and move. Preview it again after a change.",
        ),
        field("due", "Due", "For reschedule: an instant, a delay such as 30m, or now."),
        field("to_queue", "To queue", "For move: the new queue. Empty: as it is."),
        field("priority", "Priority", "For move: lowest, low, normal, high or critical. Empty: as it is."),
        field("pace", "At most per second", "The number of jobs. Empty: as many as possible."),
        field("canary", "First", "The number of jobs to change before the rest. Empty: none."),
        field(
            "max_failed",
            "Continue if at most",
            "The percentage of these first jobs that may fail again. Empty: wait for you.",
        ),
        required("cutoff", "Cut-off", "The cut-off of the preview."),
        required("digest", "Digest", "The digest of the preview."),
    ]),
    verb(
        "queues.limit",
        "Set limits",
        "Limit a queue",
        "The queue has the new limits.",
        Target::Queue,
    )
    .with(&[
        field(
            "concurrency",
            "Running at once",
            "The maximum in the whole cluster. Empty: no limit.",
        ),
        field("rate", "Started per period", "Such as 50/s, 1000/m or 5/10s. Empty: no limit."),
        field(
            "rate_per_key",
            "Started per period for each concurrency key",
            "Such as 5/m. Jobs without a key are not affected. Empty: no limit.",
        ),
        field("fair", "Tenants in turn", "yes or no. One job of each tenant before a second one of any."),
    ]),
    verb("queues.pause", "Pause", "Pause a queue", "The queue is paused.", Target::Queue),
    verb(
        "queues.reset",
        "Reset limits",
        "Reset a queue",
        "The queue has the limits that programs declare.",
        Target::Queue,
    ),
    verb("queues.resume", "Resume", "Resume a queue", "The queue is resumed.", Target::Queue),
    verb(
        "rejects.forget",
        "Delete",
        "Delete rejected items",
        "The rejected items are deleted.",
        Target::Rejects,
    )
    .ending(),
    verb(
        "schedules.edit",
        "Edit",
        "Edit a schedule",
        "The schedule has new times.",
        Target::Schedule,
    )
    .with(&[
        field("cron", "Cron expression", "Such as 0 3 * * *. Empty: as now."),
        field("zone", "Time zone", "Such as Europe/Berlin. Empty: as now."),
    ]),
    verb(
        "schedules.pause",
        "Pause",
        "Pause a schedule",
        "The schedule is paused.",
        Target::Schedule,
    ),
    verb(
        "schedules.remove",
        "Remove",
        "Remove a schedule",
        "The schedule is removed.",
        Target::Schedule,
    )
    .ending(),
    verb(
        "schedules.resume",
        "Resume",
        "Resume a schedule",
        "The schedule is resumed.",
        Target::Schedule,
    ),
    verb(
        "schedules.run",
        "Run now",
        "Run a schedule now",
        "The job of the schedule is submitted.",
        Target::Schedule,
    ),
    verb(
        "unreadable.drop",
        "Delete",
        "Delete a job",
        "The job is deleted with its history and keys.",
        Target::Row,
    )
    .ending(),
    verb(
        "unreadable.repair",
        "Restore",
        "Restore a job",
        "The job is in its queue again.",
        Target::Row,
    ),
];

/// Returns the action of a verb.
pub(crate) fn action(verb: &str) -> Option<&'static Action> {
    ACTIONS.iter().find(|action| action.verb == verb)
}

/// Returns the actions on a kind of target.
pub(crate) fn of_target(target: Target) -> impl Iterator<Item = &'static Action> {
    ACTIONS.iter().filter(move |action| action.target == target)
}

#[cfg(test)]
mod tests {
    use ratchet_core::VERBS;

    use super::*;

    #[test]
    fn o_01_every_verb_that_changes_something_is_an_action() {
        let verbs: Vec<_> =
            VERBS.iter().filter(|verb| verb.changes).map(|verb| verb.name).collect();
        let actions: Vec<_> = ACTIONS.iter().map(|action| action.verb).collect();
        assert_eq!(actions, verbs);
    }
}
