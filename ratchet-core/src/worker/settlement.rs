//! Builds the settlement of a run.

use std::time::Duration;

use ratchet_store::model::{Claimed, NewJob, RunNotes, Settlement};

use crate::decide::{Outcome, Policies, after_probe, decide, follow_up};
use crate::runtime::Core;

/// Decides on an outcome and builds the settlement with everything that commits with it.
pub(super) fn of_run(
    core: &Core,
    policies: &Policies,
    job: &Claimed,
    outcome: Outcome,
    duration: Duration,
    notes: RunNotes,
    spawned: Vec<NewJob>,
) -> Settlement {
    let sample = core.sample(job, &outcome);
    let succeeded = matches!(outcome, Outcome::Done { .. });
    let outcome = after_probe(outcome, sample.as_ref(), core.entropy.next_u64());
    let verdict = decide(job, &outcome, policies, core.entropy.next_u64());
    let mut settlement = Settlement::new(job.token, verdict, outcome.in_history());
    settlement.sample = sample;
    settlement.duration = duration;
    settlement.notes = notes;
    // Children are stored only with a success.
    if succeeded {
        settlement.spawned = spawned;
    }
    follow_up(job, &mut settlement, policies, || core.ids.job());
    settlement
}
