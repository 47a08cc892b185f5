//! Builds the settlement of a run, with everything that commits with it.

use std::time::Duration;

use ratchet_store::model::{
    Claimed, NewGraph, NewHandOff, NewJob, NewReject, RunNotes, Settlement, TraceContext,
};

use super::dead_letter;
use crate::decide::{Outcome, Policies, after_probe, decide, follow_up};
use crate::runtime::Core;

/// What a run leaves behind besides its outcome.
#[derive(Debug, Default, Clone)]
pub(super) struct RunEffects {
    pub(super) notes: RunNotes,
    pub(super) spawned: Vec<NewJob>,
    pub(super) graphs: Vec<NewGraph>,
    pub(super) rejects: Vec<NewReject>,
    pub(super) hand_offs: Vec<NewHandOff>,
    /// What full pipelines have refused.
    pub(super) refused_hand_offs: Vec<(String, u64)>,
    /// The results of the conditions on the edges that leave a step.
    pub(super) condition_results: Vec<(String, bool)>,
    /// The handler could not be stopped and is still running.
    pub(super) lingering: bool,
    /// The trace context of the run.
    pub(super) trace: Option<TraceContext>,
}

/// Decides on an outcome and builds the settlement.
pub(super) fn of_run(
    core: &Core,
    policies: &Policies,
    job: &Claimed,
    outcome: Outcome,
    duration: Duration,
    effects: RunEffects,
) -> Settlement {
    let sample = core.sample(job, &outcome);
    let succeeded = matches!(outcome, Outcome::Done { .. });
    let outcome = after_probe(outcome, sample.as_ref(), core.entropy.next_u64());
    let mut verdict = decide(job, &outcome, duration, policies, core.entropy.next_u64());
    dead_letter::complete(core, &job.spec, &mut verdict, dead_letter::host());
    let mut settlement = Settlement::new(job.token, verdict, outcome.in_history());
    settlement.sample = sample;
    settlement.duration = duration;
    settlement.notes = effects.notes;
    settlement.notes.confidential = job.spec.confidential();
    settlement.rejects = effects.rejects;
    settlement.refused_hand_offs = effects.refused_hand_offs;
    settlement.condition_results = effects.condition_results;
    settlement.lingering = effects.lingering;
    // Jobs, graphs and hand-offs are stored only with a success.
    if succeeded {
        settlement.spawned = effects.spawned;
        settlement.graphs = effects.graphs;
        settlement.hand_offs = effects.hand_offs;
    }
    follow_up(job, &mut settlement, policies, || core.ids.job());
    if let Some(trace) = effects.trace {
        let callbacks = settlement.spawned.iter_mut().filter(|job| job.spec.finished.is_some());
        callbacks.for_each(|callback| callback.spec.trace = Some(Box::new(trace.clone())));
    }
    settlement
}
