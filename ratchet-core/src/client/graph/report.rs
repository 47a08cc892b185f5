//! What the callback of a group is told.

use crate::context::JobContext;
use crate::job::{Inject, InjectError, Need};
use crate::model::{GroupCounts, GroupId, GroupKind, GroupState};

/// The group whose end a callback follows: `#[inject] batch: GroupReport`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupReport {
    /// The group.
    pub id: GroupId,
    /// What kind.
    pub kind: GroupKind,
    /// What it is called.
    pub name: String,
    /// How it ended.
    pub state: GroupState,
    /// How its members ended.
    pub counts: GroupCounts,
}

impl GroupReport {
    /// A report for calling the bare function of a callback in a unit test.
    pub fn for_test(name: impl Into<String>, state: GroupState, counts: GroupCounts) -> Self {
        let id = GroupId::from_uuid(uuid::Uuid::nil());
        Self { id, kind: GroupKind::Batch, name: name.into(), state, counts }
    }
}

impl Inject for GroupReport {
    fn need() -> Need {
        Need::Group
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
