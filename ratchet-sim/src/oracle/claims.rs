//! Checks claims and settlements: every run belongs to one claim, and every claim to a node with a valid lease.

use std::time::Duration;

use jiff::Timestamp;
use ratchet_memory::Inspection;
use ratchet_store::model::{
    AttemptOutcome, ClaimReply, ClaimRequest, Claimed, Heartbeat, NodeId, Settled, Settlement,
    Verdict,
};

use super::{Oracle, RunEnd};
use crate::exec::Owner;

impl Oracle {
    pub(crate) fn joined(
        &mut self,
        view: &Inspection<'_>,
        owner: Owner,
        node: NodeId,
        lease: Duration,
    ) {
        // A delayed join may arrive after the node has given up this id and joined with the next one.
        let newer = self.names.get(&owner).is_none_or(|(name, _)| *name < node);
        self.note(|| {
            format!("joins as {node}{}", if newer { "" } else { ", a name it has given up" })
        });
        if newer {
            self.names.insert(owner, (node, view.now()));
        }
        self.renewed(view, node, lease);
    }

    fn renewed(&mut self, view: &Inspection<'_>, node: NodeId, lease: Duration) {
        self.leases.insert(node, later(view.now(), lease));
    }

    pub(crate) fn beat(
        &mut self,
        view: &Inspection<'_>,
        node: NodeId,
        lease: Duration,
        beat: &Heartbeat,
    ) {
        let holds = self.holds(node, view.now());
        match beat {
            Heartbeat::Renewed { .. } if !holds => {
                self.accuse(|| format!("the lease of {node} ran out and was renewed"));
            }
            Heartbeat::Lost if holds => {
                self.accuse(|| format!("the lease of {node} holds and was called lost"));
            }
            Heartbeat::Renewed { .. } => self.renewed(view, node, lease),
            Heartbeat::Lost => {}
        }
    }

    pub(crate) fn left(&mut self, node: NodeId) {
        self.leases.remove(&node);
    }

    pub(super) fn holds(&self, node: NodeId, now: Timestamp) -> bool {
        self.leases.get(&node).is_some_and(|until| *until > now)
    }

    pub(crate) fn claimed(
        &mut self,
        view: &Inspection<'_>,
        owner: Owner,
        request: &ClaimRequest,
        reply: &ClaimReply,
    ) {
        let now = view.now();
        for job in &reply.jobs {
            self.note(|| format!("claims {} run {}", job.id(), job.run));
            self.check_order(job, view);
            if !self.holds(request.node, now) {
                self.accuse(|| {
                    format!("{} was given to {}, which has no lease", job.id(), job.node)
                });
            }
            if job.due > now {
                self.accuse(|| format!("{} was claimed before it was due", job.id()));
            }
            if let Some(other) = self.holding.insert(job.id(), job.clone()) {
                self.accuse(|| {
                    format!("{} is held by {} and was given to {}", job.id(), other.node, job.node)
                });
            }
            let waits = self.shadow(job.id()).is_some_and(|shadow| shadow.waits);
            if waits && view.jobs().any(|row| row.id == job.id() && row.wait.is_some()) {
                self.accuse(|| format!("{} was claimed while it waits for its parents", job.id()));
            }
            self.run_claimed(owner, job);
            self.gate_passed(job, now);
        }
    }

    /// Checks after every commit that each running job belongs to the node that claimed it last.
    pub(super) fn check_holders(&mut self, view: &Inspection<'_>) {
        let wrong = self.holding.values().find(|run| view.token(run.id()) != Some(run.token));
        let wrong = wrong.map(Claimed::id);
        let running = self.shadows.iter().filter(|it| it.state == ratchet_core::JobState::Running);
        let (running, given) = (running.count(), self.holding.len());
        if wrong.is_some() || running != given {
            self.accuse(|| {
                format!("{running} jobs run, {given} were given out; wrong is {wrong:?}")
            });
        }
    }

    pub(crate) fn settled(
        &mut self,
        view: &Inspection<'_>,
        sent: &[Settlement],
        settled: &[Settled],
    ) {
        if sent.len() != settled.len() {
            self.accuse(|| "a batch was answered in part".to_owned());
        }
        for (settlement, settled) in sent.iter().zip(settled) {
            let token = settlement.token;
            let current = self.holding.get(&token.job).filter(|run| run.token == token).cloned();
            let verdict = word(&settlement.verdict);
            match (settled, current) {
                (Settled::Applied(_), Some(run)) => {
                    self.note(|| format!("{verdict} {} run {}", token.job, run.run));
                    self.holding.remove(&token.job);
                    self.count_applied(&settlement.verdict);
                    self.judge_settle(view, settlement, &run);
                    self.sampled(view, settlement);
                }
                (Settled::Applied(_), None) => {
                    self.accuse(|| format!("a stale token moved {}: {verdict}", token.job));
                }
                (Settled::Stale { .. }, Some(run)) => {
                    self.accuse(|| format!("{} run {} was called stale", token.job, run.run));
                }
                (Settled::Stale { .. }, None) => {
                    self.note(|| format!("stale: {verdict} {}", token.job));
                }
                (Settled::Blocked { .. }, _) => {
                    self.accuse(|| format!("{} was blocked without a cause", token.job));
                }
            }
        }
        self.check_breakers(view);
    }

    /// Checks that the settlement matches how the handler ended, or that the node's lease has expired.
    fn judge_settle(&mut self, view: &Inspection<'_>, settlement: &Settlement, run: &Claimed) {
        let (id, now) = (run.id(), view.now());
        if settlement.outcome == AttemptOutcome::Crashed {
            if self.holds(run.node, now) {
                self.accuse(|| format!("{id} was rescued from {}, whose lease holds", run.node));
            }
            return;
        }
        let end = self.run_end(id, run.run);
        let fits = match (&settlement.verdict, end) {
            (Verdict::Succeed { .. }, end) => end == Some(RunEnd::Ok),
            (Verdict::Rescue { .. }, _) => false,
            // A thread cannot be stopped, so a blocking handler may return after its run was abandoned.
            (_, Some(RunEnd::Ok)) => &*run.spec.name == "sim.block",
            _ => true,
        };
        if !fits {
            let verdict = word(&settlement.verdict);
            self.accuse(|| {
                format!("{id} run {} ended as {end:?} and was settled: {verdict}", run.run)
            });
        }
    }
}

fn later(now: Timestamp, by: Duration) -> Timestamp {
    now.checked_add(by).unwrap_or(now)
}

/// Returns the name of a verdict, for the trace.
pub(super) fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Succeed { .. } => "succeed",
        Verdict::Retry { .. } => "retry",
        Verdict::Defer { .. } => "defer",
        Verdict::Release => "release",
        Verdict::Rescue { .. } => "rescue",
        Verdict::Fail { .. } => "fail",
    }
}
