//! [`GroupReport`]: the ended group, injected into its callback.

use crate::job::JobContext;
use crate::job::{Inject, InjectError, InjectRequirement};
use ratchet_store::model::{GroupCounts, GroupId, GroupKind, GroupState};

/// The group that a callback follows: `#[inject] batch: GroupReport`.
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
