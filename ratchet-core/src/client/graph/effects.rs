//! Events for the propagation of a change through a graph.

use crate::events::{Event, GroupRef};
use crate::runtime::Core;
use ratchet_store::model::{GraphEffects, GroupKind, GroupRecord, GroupState};

/// Publishes events for the jobs that a commit canceled and for the groups that it changed.
pub(crate) fn publish_effects(core: &Core, effects: &GraphEffects) {
    for canceled in &effects.canceled {
        core.meter.canceled(canceled.cause);
        core.events.publish(|| Event::Canceled { job: canceled.job, cause: canceled.cause });
        if canceled.is_untaken_join() {
            tracing::warn!(
                job.id = %canceled.job,
                root = %canceled.root,
                "a step that waits for all of its parents was canceled: a branch before it was not taken; a join over \
                 alternative branches needs `any()`"
            );
        }
    }
    for group in &effects.groups {
        match event(group) {
            Some(event) if group.kind == GroupKind::Batch => core.events.progressed(group, event),
            Some(event) => core.events.publish(|| event),
            None => {}
        }
    }
}

fn event(record: &GroupRecord) -> Option<Event> {
    let group = GroupRef { id: record.id, kind: record.kind, name: record.name.as_str().into() };
    let root_cause = record.root_cause;
    let event = match (record.kind, record.state) {
        (GroupKind::Batch, state) if state.is_ended() => {
            Event::BatchCompleted { group, counts: record.counts }
        }
        (GroupKind::Batch, _) => Event::BatchProgress { group, counts: record.counts },
        (_, GroupState::Waiting | GroupState::Running) => return None,
        (GroupKind::Chain, GroupState::Succeeded) => Event::ChainCompleted { group },
        (GroupKind::Chain, GroupState::Failed) => Event::ChainFailed { group, root_cause },
        (GroupKind::Workflow, GroupState::Succeeded) => Event::WorkflowCompleted { group },
        (GroupKind::Workflow, GroupState::Failed) => Event::WorkflowFailed { group, root_cause },
        (GroupKind::Chain | GroupKind::Workflow, GroupState::Canceled) => {
            Event::GroupCanceled { group }
        }
    };
    Some(event)
}
