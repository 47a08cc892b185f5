//! [`VERBS`]: every operation of an operator, as data.

use serde::Serialize;

/// What an operator must be allowed to do in order to use a [`Verb`].
///
/// ```
/// # mod ratchet { pub use ratchet_core as manage; }
/// use ratchet::manage::{Capability, VERBS};
///
/// // What somebody can do who may see everything and change jobs.
/// let may = [Capability::See, Capability::ActJobs];
/// let allowed: Vec<_> = VERBS.iter().filter(|verb| may.contains(&verb.capability)).collect();
/// assert!(allowed.iter().any(|verb| verb.name == "jobs.retry"));
/// assert!(allowed.iter().all(|verb| verb.name != "archive.purge"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Capability {
    /// To see jobs, queues, schedules and nodes, without arguments.
    See,
    /// To change jobs.
    ActJobs,
    /// To change queues.
    ActQueues,
    /// To change breakers.
    ActBreakers,
    /// To change schedules.
    ActSchedules,
    /// To change chains, batches and workflows.
    ActFlows,
    /// To make nodes quiet and to stop them.
    ActNodes,
    /// To change many jobs at once.
    Bulk,
    /// To see the secrets of jobs. Each use is recorded in the audit trail.
    SeeSecrets,
    /// To submit jobs.
    Submit,
    /// To delete what cannot be restored.
    Purge,
    /// To change the store itself.
    Administer,
}

/// An operation of an operator.
///
/// ```
/// # mod ratchet { pub use ratchet_core as manage; }
/// use ratchet::manage::VERBS;
///
/// // What can change anything, and what an operator must be allowed to do for it.
/// for verb in VERBS.iter().filter(|verb| verb.changes) {
///     println!("{} needs {:?}", verb.name, verb.capability);
/// }
/// # assert!(VERBS.iter().any(|verb| verb.changes) && VERBS.iter().any(|verb| !verb.changes));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Verb {
    /// The name: an object and an action, such as `jobs.retry`.
    pub name: &'static str,
    /// What the operator must be allowed to do.
    pub capability: Capability,
    /// Whether the verb changes anything. What is recorded in the audit trail changes it.
    pub changes: bool,
}

const fn reads(name: &'static str) -> Verb {
    Verb { name, capability: Capability::See, changes: false }
}

const fn changes(name: &'static str, capability: Capability) -> Verb {
    Verb { name, capability, changes: true }
}

/// Every operation, ordered by name. Each front end offers each of them, and tests compare the lists.
pub const VERBS: [Verb; 83] = [
    reads("alerts.list"),
    reads("archive.export"),
    reads("archive.list"),
    changes("archive.purge", Capability::Purge),
    reads("archive.status"),
    reads("audit.list"),
    reads("audit.verify"),
    changes("breakers.close", Capability::ActBreakers),
    reads("breakers.list"),
    changes("breakers.open", Capability::ActBreakers),
    changes("breakers.reset", Capability::ActBreakers),
    changes("breakers.set", Capability::ActBreakers),
    reads("breakers.show"),
    reads("catalog.list"),
    reads("catalog.show"),
    reads("doctor"),
    reads("erasures.preview"),
    changes("erasures.start", Capability::Purge),
    changes("failures.acknowledge", Capability::ActJobs),
    changes("failures.ignore", Capability::ActJobs),
    reads("failures.list"),
    changes("failures.redrive", Capability::Bulk),
    changes("failures.reopen", Capability::ActJobs),
    changes("failures.resolve", Capability::ActJobs),
    reads("failures.show"),
    changes("flows.cancel", Capability::ActFlows),
    reads("flows.draw"),
    reads("flows.list"),
    reads("flows.show"),
    changes("jobs.cancel", Capability::ActJobs),
    reads("jobs.count"),
    changes("jobs.edit", Capability::Submit),
    changes("jobs.enqueue", Capability::Submit),
    reads("jobs.explain"),
    reads("jobs.export"),
    reads("jobs.list"),
    reads("jobs.log"),
    changes("jobs.move", Capability::ActJobs),
    changes("jobs.pause", Capability::ActJobs),
    changes("jobs.reschedule", Capability::ActJobs),
    changes("jobs.resume", Capability::ActJobs),
    changes("jobs.retry", Capability::ActJobs),
    changes("jobs.reveal", Capability::SeeSecrets),
    reads("jobs.runs"),
    reads("jobs.show"),
    reads("jobs.wait"),
    changes("ledger.purge", Capability::Purge),
    reads("nodes.list"),
    changes("nodes.quiet", Capability::ActNodes),
    changes("nodes.resume", Capability::ActNodes),
    changes("nodes.stop", Capability::ActNodes),
    changes("operations.abort", Capability::Bulk),
    reads("operations.list"),
    changes("operations.pause", Capability::Bulk),
    reads("operations.preview"),
    changes("operations.resume", Capability::Bulk),
    reads("operations.show"),
    changes("operations.start", Capability::Bulk),
    reads("operations.watch"),
    reads("pipelines.list"),
    reads("pipelines.show"),
    changes("queues.limit", Capability::ActQueues),
    reads("queues.list"),
    changes("queues.pause", Capability::ActQueues),
    changes("queues.reset", Capability::ActQueues),
    changes("queues.resume", Capability::ActQueues),
    reads("queues.show"),
    changes("rejects.forget", Capability::Purge),
    reads("rejects.list"),
    reads("rejects.sample"),
    reads("rejects.trends"),
    changes("schedules.edit", Capability::ActSchedules),
    reads("schedules.list"),
    reads("schedules.next"),
    changes("schedules.pause", Capability::ActSchedules),
    changes("schedules.remove", Capability::ActSchedules),
    changes("schedules.resume", Capability::ActSchedules),
    changes("schedules.run", Capability::ActSchedules),
    reads("stats"),
    reads("status"),
    changes("unreadable.drop", Capability::Purge),
    reads("unreadable.list"),
    changes("unreadable.repair", Capability::Administer),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o_01_verbs_are_ordered_and_have_distinct_names() {
        assert!(VERBS.is_sorted_by(|a, b| a.name < b.name));
        for verb in VERBS {
            assert_eq!(verb.changes, verb.capability != Capability::See, "{}", verb.name);
        }
    }
}
