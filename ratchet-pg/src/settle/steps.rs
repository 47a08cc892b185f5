//! What follows from successes of steps that were settled in passing.

use ratchet_core::graph::Seed;
use ratchet_core::model::{JobState, Settled, Settlement};
use sqlx::PgConnection;

use super::News;
use crate::leases::Place;
use crate::store::{Fault, Inner};

/// A success with its place in the batch and in its lease.
pub(super) type Plain<'a> = (usize, &'a Settlement, Place);

/// Whether one of them is part of a graph.
pub(super) fn any_step(plain: &[Plain<'_>]) -> bool {
    plain.iter().any(|(_, _, place)| place.step.is_some())
}

impl Inner {
    /// Carries out what follows from those that were applied. Their graphs were locked before their leases.
    pub(super) async fn ripple_plain(
        &self,
        db: &mut PgConnection,
        plain: &[Plain<'_>],
        settled: &mut [Option<Settled>],
        news: &mut News,
    ) -> Result<(), Fault> {
        let (mut first, mut seeds) = (None, Vec::new());
        for (index, settlement, place) in plain {
            let (Some(step), Some(Settled::Applied(applied))) = (place.step, &settled[*index])
            else {
                continue;
            };
            first = first.or(Some((*index, applied.at.as_microsecond())));
            let member = step.member(settlement.token.job, "", JobState::Succeeded);
            seeds.push(Seed::Ended { member, answers: settlement.answers.clone() });
        }
        if let Some((index, now)) = first {
            let ripples = self.ripple(db, seeds, now, news).await?;
            if let Some(Settled::Applied(applied)) = &mut settled[index] {
                applied.ripples = ripples;
            }
        }
        Ok(())
    }
}
