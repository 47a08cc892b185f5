//! Propagates the successes of steps that were settled on the fast path through their graphs.

use std::collections::HashSet;

use ratchet_store::model::{GraphEffects, JobState, Settled, Settlement};
use ratchet_store::rules::graph::GraphEvent;

use super::PostCommit;
use crate::fault::Fault;
use crate::leases::Place;
use crate::store::Inner;
use sqlx::PgConnection;

/// A plain success with its index in the batch and its position in its lease.
pub(super) type Plain<'a> = (usize, &'a Settlement, Place);

/// Returns whether one of them is a step.
pub(super) fn any_step(plain: &[Plain<'_>]) -> bool {
    plain.iter().any(|(_, _, place)| place.step.is_some())
}

impl Inner {
    /// Propagates the applied successes. The caller must have locked their graphs before their leases.
    pub(super) async fn propagate_plain(
        &self,
        db: &mut PgConnection,
        plain: &[Plain<'_>],
        settled: &mut [Option<Settled>],
        post_commit: &mut PostCommit,
    ) -> Result<(), Fault> {
        let (mut first, mut events) = (None, Vec::new());
        for (index, settlement, place) in plain {
            let (Some(step), Some(Settled::Applied(applied))) = (place.step, &settled[*index])
            else {
                continue;
            };
            first = first.or(Some((*index, applied.at.as_microsecond())));
            let member = step.member(settlement.token.job, "", JobState::Succeeded);
            events.push(GraphEvent::Ended {
                member,
                condition_results: settlement.condition_results.clone(),
            });
        }
        if let Some((index, now)) = first {
            let effects = self.propagate(db, events, now, post_commit).await?;
            if let Some(Settled::Applied(applied)) = &mut settled[index] {
                applied.effects = effects;
            }
        }
        Ok(())
    }
}

/// Merges the changes of two graph walks of one commit, and reports them with the first settlement that has any. The
/// second walk has the newer state of a group. Reported before the first, the progress of the group would go backwards.
pub(super) fn report_as_one_walk(settled: &mut [Option<Settled>], second: &HashSet<usize>) {
    let (mut first, mut early, mut late) = (None, GraphEffects::default(), GraphEffects::default());
    for (index, settled) in settled.iter_mut().enumerate() {
        let Some(Settled::Applied(applied)) = settled else { continue };
        if applied.effects.is_empty() {
            continue;
        }
        first.get_or_insert(index);
        let found = std::mem::take(&mut applied.effects);
        if second.contains(&index) { late.append(found) } else { early.append(found) }
    }
    let newer: HashSet<_> = late.groups.iter().map(|group| group.id).collect();
    early.groups.retain(|group| !newer.contains(&group.id));
    early.append(late);
    if let Some(Settled::Applied(applied)) = first.and_then(|index| settled[index].as_mut()) {
        applied.effects = early;
    }
}
