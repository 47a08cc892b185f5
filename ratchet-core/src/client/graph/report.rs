//! [`GroupReport`]: the ended group, injected into its callback.

use crate::job::JobContext;
use crate::job::{Inject, InjectError, InjectRequirement};
use ratchet_store::model::{GroupCounts, GroupId, GroupKind, GroupState};

/// The group that a callback follows: `#[inject] batch: GroupReport`.
///
/// ```
/// # mod ratchet { pub use ratchet_core as graph; pub use ratchet_store::model; }
/// use ratchet::graph::GroupReport;
/// use ratchet::model::{GroupCounts, GroupState};
///
/// // The function of a callback. With `#[job]`, its argument is `#[inject] batch: GroupReport`.
/// fn summary(batch: GroupReport) -> String {
///     format!("{}: {} of {} succeeded", batch.name, batch.counts.succeeded, batch.counts.total)
/// }
///
/// let mut counts = GroupCounts::of(10);
/// (counts.succeeded, counts.failed) = (9, 1);
/// let report = GroupReport::for_test("import", GroupState::Failed, counts);
/// assert_eq!(summary(report), "import: 9 of 10 succeeded");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupReport {
    /// The id of the group.
    pub id: GroupId,
    /// Whether it is a chain, batch or workflow.
    pub kind: GroupKind,
    /// The name of the group.
    pub name: String,
    /// The final state of the group.
    pub state: GroupState,
    /// The number of members by outcome.
    pub counts: GroupCounts,
}

impl GroupReport {
    /// Creates a report for calling the bare function of a callback in a unit test.
    pub fn for_test(name: impl Into<String>, state: GroupState, counts: GroupCounts) -> Self {
        let id = GroupId::from_uuid(uuid::Uuid::nil());
        Self { id, kind: GroupKind::Batch, name: name.into(), state, counts }
    }
}

impl Inject for GroupReport {
    fn need() -> InjectRequirement {
        InjectRequirement::Group
    }

    fn inject(ctx: &JobContext) -> Result<Self, InjectError> {
        let refused = || InjectError {
            wanted: "GroupReport".to_owned(),
            why: "this job does not run as the callback of a batch, chain or workflow".to_owned(),
        };
        let group = ctx.ended_group().ok_or_else(refused)?;
        Ok(Self {
            id: group.id,
            kind: group.kind,
            name: group.name.clone(),
            state: group.state,
            counts: group.counts,
        })
    }
}
