//! Pipelines that a job accepts: declarations, hand-offs and admissions.

use std::fmt::Write as _;

use ratchet_store::model::{
    Acceptor, Claimed, HandOffAdmission, JobId, NewAdmission, NewHandOff, NewJob, NodeId,
    Settlement,
};

use super::driver::{Driver, declarations, ok};
use super::op::How;

/// The pipelines of the test.
const PIPELINES: [&str; 2] = ["pages", "rows"];

/// Adds what a run hands off: a few keys, so that many are repeated. Most runs hand off nothing.
pub(super) fn hand_off(mut settlement: Settlement, run: &Claimed, how: How) -> Settlement {
    let bits = run.id().uuid().as_u128();
    if !bits.is_multiple_of(7) {
        return settlement;
    }
    let pipeline = PIPELINES[usize::from(bits.is_multiple_of(14))];
    match how {
        How::Succeed => {
            let key = (bits / 14 % 9).to_string();
            let mut hand_off = NewHandOff::new(pipeline, key, serde_json::json!({ "n": 1 }));
            hand_off.tenant.clone_from(&run.spec.tenant);
            settlement.hand_offs.push(hand_off);
        }
        How::Defer(_) => settlement.refused_hand_offs.push((pipeline.to_owned(), 1)),
        _ => {}
    }
    settlement
}

impl Driver<'_> {
    pub(super) async fn declare_pipelines(&self, node: NodeId, limits: &[Option<u32>]) -> String {
        let acceptor = |(pipeline, limit): (&str, &Option<u32>)| Acceptor {
            pipeline: pipeline.to_owned(),
            job: "mail".to_owned(),
            backlog_limit: *limit,
        };
        let acceptors: Vec<_> = PIPELINES.into_iter().zip(limits).map(acceptor).collect();
        let declarations = declarations(node.uuid().as_u128());
        format!("{:?}", ok(self.store.declare_pipelines(&declarations, &acceptors).await))
    }

    pub(super) async fn admit(&self, admissions: &[(u8, NewJob)]) -> String {
        let mut answers = String::new();
        for pipeline in PIPELINES {
            // One pipeline per job, because the id of a job is used once.
            let mine = |(_, job): &&(u8, NewJob)| {
                PIPELINES[usize::from(job.id.uuid().as_u128().is_multiple_of(2))] == pipeline
            };
            let admission =
                |(key, job): &(u8, NewJob)| NewAdmission { key: key.to_string(), job: job.clone() };
            let admissions = admissions.iter().filter(mine).map(admission).collect();
            let _ =
                write!(answers, "{:?}", ok(self.store.admit_hand_offs(pipeline, admissions).await));
        }
        answers
    }

    /// Returns what the store knows about the pipelines, without times.
    pub(super) async fn pipelines(&self) -> String {
        let mut reported = format!("\n{:?}", ok(self.store.pipelines(None).await));
        for pipeline in PIPELINES {
            let stats = ok(self.store.hand_off_stats(pipeline).await);
            let counts = (stats.backlog, stats.finished, stats.repeats, stats.admitted);
            let _ = write!(reported, "\n{pipeline} {counts:?}");
        }
        reported
    }

    /// Returns the hand-off of a job, without times.
    pub(super) async fn admission(&self, id: JobId) -> String {
        let found = ok(self.store.admission(id).await);
        let place = |HandOffAdmission { pipeline, key, from, .. }| (pipeline, key, from);
        format!("{:?}\n", found.map(place))
    }
}
